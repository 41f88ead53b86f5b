/* What passes/dependence takes to be causal is so: computed of texts that end earlier, each element
 * at a position that is still there is what it was. By the oracle alone. */
#include "ir/builder.h"
#include "ir/layout.h"
#include "passes/dependence/dependence.h"
#include "tests/graphs/graphs.h"
#include "tests/graphs/grow.h"

#include <math.h>
#include <string.h>

enum { MOST_WATCHED = 12 };

static int64_t extent_of(const Batch *batch, Dim dim)
{
    return dim_is_const(dim) ? dim.size : batch->dims[dim.symbol].extent;
}

/* Where the element of these coordinates is stored; -1: the batch does not have it. */
static int64_t place_of(const Module *module, const Type *type, const Batch *batch,
                        const int64_t *at)
{
    Layout layout = layout_of(module, type);
    int64_t place = 0;
    for (int k = 0; k < layout.n; k++) {
        const Axis *axis = &layout.axes[k];
        int64_t i = at[axis->dim];
        if (axis->batch_dim < 0) {
            int64_t extent = extent_of(batch, axis->extent);
            if (i >= extent)
                return -1;
            place = place * extent + i;
            continue;
        }
        const BatchDim *tokens = &batch->dims[axis->extent.symbol];
        int64_t row = at[axis->batch_dim];
        if (row >= tokens->n || i >= tokens->lengths[row])
            return -1;
        for (int64_t r = 0; r < row; r++)
            place += tokens->lengths[r];
        place += i;
    }
    return place;
}

/* The next coordinates; false: there are no more. */
static bool step_coordinates(const Type *type, const Batch *batch, int64_t *at)
{
    for (int i = type->rank - 1; i >= 0; i--) {
        if (++at[i] < extent_of(batch, type->dims[i]))
            return true;
        at[i] = 0;
    }
    return false;
}

static bool has_coordinates(const Type *type, const Batch *batch)
{
    for (int i = 0; i < type->rank; i++)
        if (extent_of(batch, type->dims[i]) == 0)
            return false;
    return true;
}

/* The batch with each row's length of the symbol cut at random. */
static Batch cut_batch(const Module *module, const Batch *batch, int symbol, Rng *rng)
{
    Batch cut = *batch;
    BatchDim *dim = &cut.dims[symbol];
    dim->extent = 0;
    for (int r = 0; r < dim->n; r++) {
        if (rng_chance(rng, 85))
            dim->lengths[r] = rng_between(rng, 0, dim->lengths[r]);
        dim->extent = dim->lengths[r] > dim->extent ? dim->lengths[r] : dim->extent;
    }
    batch_make_dims(module, &cut);
    return cut;
}

/* Whether the type has the dimension, or one that is made of it. */
static bool follows(const Module *module, const Type *type, int symbol)
{
    for (int i = 0; i < type->rank; i++)
        if (is_made_of(module, type->dims[i].symbol, symbol))
            return true;
    return false;
}

/* What goes in, of the texts as they are cut. */
static Given cut_leaves(Opened *opened, const Given *full, const Batch *batch, const Batch *cut,
                        int symbol)
{
    const Module *module = opened->module;
    const OracleDim *dims = batch_dims(opened->arena, cut, (int)module->symbols.count);
    Given given = {full->n, ARENA_ARRAY(opened->arena, OracleTensor, full->n + 1)};
    for (int i = 0; i < full->n; i++) {
        OracleTensor *tensor = &given.tensors[i];
        const Type *type = &full->tensors[i].type;
        *tensor = full->tensors[i];
        if (!follows(module, type, symbol))
            continue;
        tensor->count = oracle_count(module, type, dims);
        tensor->data = ARENA_ARRAY(opened->arena, double, tensor->count + 1);
        int64_t at[MAX_RANK] = {0};
        if (has_coordinates(type, cut))
            do {
                int64_t from = place_of(module, type, batch, at),
                        to = place_of(module, type, cut, at);
                if (from >= 0 && to >= 0)
                    tensor->data[to] = full->tensors[i].data[from];
            } while (step_coordinates(type, cut, at));
    }
    return given;
}

static bool combines(const Op *op, int symbol)
{
    bool kind = op->kind == OP_dot || op_family(op) == FAMILY_reduce ||
                op_family(op) == FAMILY_norm || op->kind == OP_gather;
    for (int i = 0; i < op->n_args; i++)
        if (kind && type_find_dim(&op->args[i]->type, symbol) >= 0)
            return true;
    return false;
}

/* Makes outputs of values that are taken to be causal, those at which positions may meet first.
 * Returns how many. */
static int watch_causal(Opened *opened, int symbol, Rng *rng)
{
    Dependence *dependence = dependence_of(opened->function, symbol);
    Builder b = builder_at_end(opened->function);
    int n = 0;
    for (int sure = 1; sure >= 0; sure--)
        FOR_OPS (op, &opened->function->body) {
            if (n == MOST_WATCHED || op->n_results != 1 || combines(op, symbol) != sure ||
                op_family(op) == FAMILY_leaf || dependence_leak(dependence, op_result(op)) ||
                (!sure && !rng_chance(rng, 20)))
                continue;
            build_output(&b, arena_printf(opened->arena, "causal.%d", n++), op_result(op));
        }
    return n;
}

static Outcome compare_watched(const Module *module, const OracleTensor *full,
                               const OracleTensor *part, const Batch *batch, const Batch *cut,
                               Seen *seen)
{
    const Type *type = &full->type;
    int64_t at[MAX_RANK] = {0};
    if (!has_coordinates(type, cut))
        return outcome_ok();
    do {
        int64_t a = place_of(module, type, batch, at), b = place_of(module, type, cut, at);
        if (a < 0 || b < 0 || (full->exists && !full->exists[a]) ||
            (part->exists && !part->exists[b]) || isinf(full->error[a]) || isinf(part->error[b]))
            continue;
        seen->causal_elements++;
        if (!oracle_agrees(full, a, part->data[b]) && !oracle_agrees(part, b, full->data[a]))
            return outcome(RESULT_DIFFERS, "causal",
                           "%s is taken to be causal, but its element %lld is %.17g, and %.17g "
                           "where texts end earlier",
                           full->name, (long long)a, full->data[a], part->data[b]);
    } while (step_coordinates(type, cut, at));
    return outcome_ok();
}

static Outcome check_cut(Opened *opened, const Case *c, int symbol, Rng *rng, Seen *seen)
{
    const Batch *batch = &c->batches[0];
    Batch cut = cut_batch(opened->module, batch, symbol, rng);
    Given full = give_leaves(opened, c, batch),
          part = cut_leaves(opened, &full, batch, &cut, symbol);
    OracleRun whole, shorter;
    if (!oracle_of(opened, c, batch, &full, 1, DT_F64, &whole) ||
        !oracle_of(opened, c, &cut, &part, 1, DT_F64, &shorter))
        return outcome_of_diags(RESULT_INVALID, &opened->diags, "causal");
    for (size_t i = 0; i < whole.outputs.count; i++) {
        Outcome out = strncmp(whole.outputs.data[i].name, "causal.", 7)
                          ? outcome_ok()
                          : compare_watched(opened->module, &whole.outputs.data[i],
                                            &shorter.outputs.data[i], batch, &cut, seen);
        if (out.result != RESULT_OK)
            return out;
    }
    return outcome_ok();
}

Outcome check_causal(const Case *c, const Run *run, Seen *seen)
{
    static const char *const texts[] = {"S", "T"};
    Outcome out = outcome_ok();
    for (int t = 0; t < 2 && out.result == RESULT_OK; t++) {
        Opened opened;
        Rng rng = {mix64(c->seed + (uint64_t)t)};
        if (!case_open(&opened, c, run)) {
            out = outcome_of_diags(RESULT_INVALID, &opened.diags, "before");
        } else {
            int symbol = module_symbol(opened.module, texts[t]);
            int n = symbol != NO_SYMBOL ? watch_causal(&opened, symbol, &rng) : 0;
            seen->causal += n;
            for (int i = 0; i < 3 && n && out.result == RESULT_OK; i++)
                out = check_cut(&opened, c, symbol, &rng, seen);
        }
        case_close(&opened);
    }
    return out;
}
