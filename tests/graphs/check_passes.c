/* A function means the same before the passes and after each of them: by the oracle alone,
 * without code generation, so that the pass that is wrong is named. */
#include "ir/text.h"
#include "tests/graphs/graphs.h"

#include <math.h>
#include <string.h>

typedef struct Watch {
    const Case *c;
    const Run *run;
    Opened *opened;
    Seen *seen;
    Given given[MAX_BATCHES];
    OracleRun exact[MAX_BATCHES];   /* in the types as they stand */
    OracleRun rounded[MAX_BATCHES]; /* products in bf16 */
    uint64_t text;                  /* hash of the function as the last pass left it */
    bool in_half;                   /* pass precision has run */
    Outcome out;
} Watch;

static uint64_t text_hash(const Function *function)
{
    Text text = {0};
    ir_print_function(function, &text);
    uint64_t hash = hash_bytes(HASH_SEED, text.data, text.length);
    text_free(&text);
    return hash;
}

static const OracleTensor *find(const OracleTensors *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->data[i].name, name))
            return &list->data[i];
    return NULL;
}

/* Of two ways to the same number one may be exact where the other rounds: the bound of either will
 * do. */
static bool compare(Watch *w, const char *pass, const OracleTensors *want,
                    const OracleTensors *have)
{
    for (size_t t = 0; t < want->count; t++) {
        const OracleTensor *a = &want->data[t], *b = find(have, a->name);
        if (!b || b->count != a->count) {
            w->out = outcome(RESULT_DIFFERS, pass, "after %s there is no %s of %lld elements", pass,
                             a->name, (long long)a->count);
            return false;
        }
        for (int64_t i = 0; i < a->count; i++) {
            if (a->exists && !a->exists[i])
                continue;
            if (!oracle_agrees(a, i, b->data[i]) && !oracle_agrees(b, i, a->data[i])) {
                w->out = outcome(RESULT_DIFFERS, pass,
                                 "after %s element %lld of %s is %.17g, before the passes %.17g "
                                 "(tolerances %.3g and %.3g)",
                                 pass, (long long)i, a->name, b->data[i], a->data[i],
                                 oracle_tolerance(b, i), oracle_tolerance(a, i));
                return false;
            }
        }
    }
    return true;
}

static void after_pass(void *observer, const PassInfo *pass, Function *function)
{
    Watch *w = observer;
    if (w->out.result != RESULT_OK)
        return;
    if (!strcmp(pass->name, "precision") && w->run->precision == PRODUCTS_BF16)
        w->in_half = true;
    uint64_t text = text_hash(function);
    if (text == w->text)
        return;
    w->text = text;
    w->seen->passes[pass - pass_info]++;
    if (!ir_verify(w->opened->module, &w->opened->diags)) {
        w->out = outcome_of_diags(RESULT_INVALID, &w->opened->diags, pass->name);
        return;
    }
    for (int i = 0; i < w->c->n_batches; i++) {
        OracleRun now;
        const OracleRun *want = w->in_half ? &w->rounded[i] : &w->exact[i];
        if (!oracle_of(w->opened, w->c, &w->c->batches[i], &w->given[i], 1, DT_F64, &now)) {
            w->out = outcome_of_diags(RESULT_INVALID, &w->opened->diags, pass->name);
            return;
        }
        if (!strcmp(pass->name, "quantize")) /* the integers of the function from here on */
            w->exact[i] = now;
        if (!compare(w, pass->name, &want->outputs, &now.outputs) ||
            !compare(w, pass->name, &want->assigned, &now.assigned))
            return;
    }
}

static MemoryBudget budget_of(const Run *run, const Opened *opened, const Batch *batch)
{
    int n = (int)opened->module->symbols.count;
    DimSize *dims = ARENA_ARRAY(opened->arena, DimSize, n);
    for (int i = 0; i < n; i++) {
        const BatchDim *d = &batch->dims[i];
        int64_t total = d->n >= 0 ? 0 : d->extent;
        for (int r = 0; r < d->n; r++)
            total += d->lengths[r];
        dims[i] = (DimSize){opened->module->symbols.data[i].name, d->extent, total};
    }
    return (MemoryBudget){run->budget, dims, n};
}

bool lower_opened(const Run *run, Opened *opened, const Batch *batch, PipelineOptions options)
{
    MemoryBudget budget = budget_of(run, opened, batch);
    if (run->budget >= 0)
        options.budget = &budget;
    return pipeline_run(opened->function, &options, &opened->diags);
}

static bool begin(Watch *w)
{
    bool ok = true;
    for (int i = 0; ok && i < w->c->n_batches; i++) {
        const Batch *batch = &w->c->batches[i];
        w->given[i] = give_leaves(w->opened, w->c, batch);
        ok = oracle_of(w->opened, w->c, batch, &w->given[i], 1, DT_F64, &w->exact[i]);
        if (ok && w->run->precision == PRODUCTS_BF16)
            ok = oracle_of(w->opened, w->c, batch, &w->given[i], 1, DT_BF16, &w->rounded[i]);
    }
    return ok;
}

Outcome check_passes(const Case *c, const Run *run, Seen *seen)
{
    Opened opened;
    Watch w = {.c = c, .run = run, .opened = &opened, .seen = seen, .out = outcome_ok()};
    if (!case_open(&opened, c, run) || !begin(&w))
        w.out = outcome_of_diags(RESULT_INVALID, &opened.diags, "before");
    if (w.out.result == RESULT_OK) {
        w.text = text_hash(opened.function);
        PipelineOptions options = run_pipeline(run);
        options.observe = after_pass;
        options.observer = &w;
        if (!lower_opened(run, &opened, &c->batches[0], options) && w.out.result == RESULT_OK)
            w.out = outcome_of_diags(RESULT_INVALID, &opened.diags, "pipeline");
        note_function(opened.function, seen);
    }
    case_close(&opened);
    return w.out;
}
