/* A text fed to decode_step in pieces gives the logits that the whole text has: by the oracle
 * alone. A model that is refused is none of this check's; that too much is refused, counts show. */
#include "ir/text.h"
#include "passes/clone.h"
#include "tests/graphs/graphs.h"

#include <math.h>
#include <string.h>

typedef struct Feed {
    Opened *opened;
    const Case *c;
    const OracleTensor *tokens, *logits; /* of the whole text */
    Given params; /* of decode_step: its leaves but tokens and caches, then these */
    int n_params, q, p;
    Batch batch;
    OracleTensors encoded; /* what encode gives: memories, and what caches begin with */
    int32_t fed[MAX_CASE_ROWS];
} Feed;

static const OracleTensor *tensor_named(const OracleTensor *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

static int64_t sum_of(const int32_t *lengths, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += lengths[i];
    return sum;
}

static void set_dim(Batch *batch, int symbol, int rows, const int32_t *lengths)
{
    BatchDim *dim = &batch->dims[symbol];
    dim->n = rows;
    dim->extent = 0;
    for (int r = 0; r < rows; r++) {
        dim->lengths[r] = lengths[r];
        dim->extent = lengths[r] > dim->extent ? lengths[r] : dim->extent;
    }
}

/* How many tokens each row is fed next; false: all were fed. */
static bool next_counts(const Feed *f, const BatchDim *text, Rng *rng, int32_t *counts)
{
    bool any = false;
    for (int r = 0; r < text->n; r++) {
        int left = text->lengths[r] - f->fed[r];
        counts[r] = left == 0 ? 0 : rng_chance(rng, 60) ? 1 : rng_between(rng, 1, left);
        any |= counts[r] > 0;
    }
    return any;
}

/* The last rows of each text: zeros at first, then what the step before made of them. */
static void take_ring(const Feed *f, OracleTensor *ring, const OracleTensor *old)
{
    ring->count = f->batch.dims[f->q].n;
    for (int d = 1; d < ring->type.rank; d++)
        ring->count *= ring->type.dims[d].size;
    ring->data = ARENA_ARRAY(f->opened->arena, double, ring->count + 1);
    if (old)
        memcpy(ring->data, old->data, (size_t)ring->count * sizeof *ring->data);
}

/* The caches with room for the new tokens behind those of each row: before the first step, behind
 * what encode gives. `last` is the batch of the step before. */
static void grow_caches(Feed *f, const OracleTensors *after, const Batch *last)
{
    for (int i = f->n_params + 1; i < f->params.n; i++) {
        OracleTensor *cache = &f->params.tensors[i];
        const OracleTensors *from_here = after ? after : &f->encoded;
        const OracleTensor *old = tensor_named(from_here->data, from_here->count, cache->name);
        if (dim_is_const(cache->type.dims[1])) {
            take_ring(f, cache, old);
            continue;
        }
        const BatchDim *dim = &f->batch.dims[cache->type.dims[1].symbol];
        const int32_t *past = dim->lengths,
                      *before = last->dims[cache->type.dims[1].symbol].lengths;
        const int rows = dim->n;
        int64_t now = sum_of(past, rows), width = 1;
        for (int d = 2; d < cache->type.rank; d++)
            width *= cache->type.dims[d].size;
        double *data = ARENA_ARRAY(f->opened->arena, double, now *width + 1);
        for (int64_t r = 0, to = 0, from = 0; r < rows; to += past[r], from += before[r], r++)
            if (old)
                memcpy(data + to * width, old->data + from * width,
                       (size_t)(before[r] * width) * sizeof *data);
        cache->data = data;
        cache->count = now * width;
    }
}

static void take_tokens(Feed *f, const BatchDim *text, const int32_t *counts)
{
    OracleTensor *fed = &f->params.tensors[f->n_params];
    int64_t n = 0, at = 0;
    fed->data = ARENA_ARRAY(f->opened->arena, double, sum_of(counts, text->n) + 1);
    for (int r = 0; r < text->n; at += text->lengths[r++])
        for (int i = 0; i < counts[r]; i++)
            fed->data[n++] = f->tokens->data[at + f->fed[r] + i];
    fed->count = n;
}

static Outcome compare_logits(const Feed *f, const OracleTensor *have, const BatchDim *text,
                              const int32_t *counts)
{
    const OracleTensor *want = f->logits;
    int64_t width = want->type.dims[want->type.rank - 1].size, at = 0, n = 0;
    for (int r = 0; r < text->n; at += text->lengths[r++])
        for (int64_t i = 0; i < counts[r] * width; i++, n++) {
            int64_t k = (at + f->fed[r]) * width + i;
            if (!oracle_agrees(want, k, have->data[n]) && !oracle_agrees(have, n, want->data[k]))
                return outcome(RESULT_DIFFERS, "steps",
                               "logit %lld of row %d is %.17g token by token, and %.17g at once",
                               (long long)i, r, have->data[n], want->data[k]);
        }
    return outcome_ok();
}

static Outcome feed_text(Feed *f, Rng *rng, Seen *seen)
{
    const BatchDim *text = &f->c->batches[0].dims[f->tokens->type.dims[1].symbol];
    int32_t counts[MAX_CASE_ROWS], past[MAX_CASE_ROWS];
    OracleRun run = {0};
    for (uint64_t step = 1; next_counts(f, text, rng, counts); step++) {
        const Batch last = f->batch;
        for (int r = 0; r < text->n; r++)
            past[r] = f->fed[r] + counts[r];
        set_dim(&f->batch, f->q, text->n, counts);
        set_dim(&f->batch, f->p, text->n, past);
        batch_make_dims(f->opened->module, &f->batch);
        grow_caches(f, step > 1 ? &run.assigned : NULL, &last);
        take_tokens(f, text, counts);
        if (!oracle_of(f->opened, f->c, &f->batch, &f->params, step, DT_F64, &run))
            return outcome_of_diags(RESULT_INVALID, &f->opened->diags, "steps");
        Outcome out = compare_logits(f, tensor_named(run.outputs.data, run.outputs.count, "logits"),
                                     text, counts);
        if (out.result != RESULT_OK)
            return out;
        memcpy(f->fed, past, sizeof past);
        seen->steps++;
    }
    return outcome_ok();
}

/* Runs encode, if there is one, of texts of which nothing was fed. */
static bool run_encode(Feed *f, const Given *whole, Function *encode)
{
    OracleRun run;
    if (!encode)
        return true;
    f->opened->function = encode;
    bool ok = oracle_of(f->opened, f->c, &f->batch, whole, 1, DT_F64, &run);
    f->encoded = run.outputs;
    return ok;
}

/* The step's leaves: params as in the whole run and what encode gives, then the tokens, then
 * caches. */
static void find_leaves(Feed *f, const Given *whole, const Function *step)
{
    Arena *arena = f->opened->arena;
    int n = 0, caches = 0;
    FOR_OPS (op, &step->body)
        n += op->kind == OP_input || op->kind == OP_param;
    f->params.tensors = ARENA_ARRAY(arena, OracleTensor, whole->n + n + 2 + (int)f->encoded.count);
    for (int i = 0; i < whole->n; i++)
        if (strcmp(whole->tensors[i].name, "tokens"))
            f->params.tensors[f->n_params++] = whole->tensors[i];
    for (size_t i = 0; i < f->encoded.count; i++)
        if (!strncmp(f->encoded.data[i].name, "memory.", 7))
            f->params.tensors[f->n_params++] = f->encoded.data[i];
    FOR_OPS (op, &step->body) {
        const char *name =
            op->kind == OP_input || op->kind == OP_param ? op_string(op, ATTR_name) : NULL;
        OracleTensor leaf = {.name = name};
        if (!name || (op->kind == OP_param && strncmp(name, "cache.", 6)) ||
            (op->kind == OP_input && strcmp(name, "tokens")))
            continue;
        leaf.type = op->results[0].type;
        f->params.tensors[op->kind == OP_input ? f->n_params : f->n_params + 1 + caches++] = leaf;
    }
    f->params.n = f->n_params + 1 + caches;
}

Outcome check_steps(const Case *c, const Run *run, Seen *seen)
{
    Opened opened;
    Outcome out = outcome_ok();
    Incremental incremental;
    Rng rng = {mix64(c->seed + 7)};
    if (!case_open(&opened, c, run))
        out = outcome_of_diags(RESULT_INVALID, &opened.diags, "before");
    Given whole = {0};
    OracleRun at_once;
    if (out.result == RESULT_OK) {
        whole = give_leaves(&opened, c, &c->batches[0]);
        if (!oracle_of(&opened, c, &c->batches[0], &whole, 1, DT_F64, &at_once))
            out = outcome_of_diags(RESULT_INVALID, &opened.diags, "whole");
    }
    if (out.result == RESULT_OK &&
        !derive_incremental(opened.module, "tokens", "logits", &incremental, &opened.diags)) {
        seen->undecodable++;
    } else if (out.result == RESULT_OK) {
        batch_expect_room(opened.module);
        Feed f = {.opened = &opened,
                  .c = c,
                  .tokens = tensor_named(whole.tensors, (size_t)whole.n, "tokens"),
                  .logits = tensor_named(at_once.outputs.data, at_once.outputs.count, "logits"),
                  .batch = c->batches[0]};
        const Op *fed = find_input(incremental.decode_step, "tokens");
        const int32_t none[MAX_CASE_ROWS] = {0};
        f.q = fed->results[0].type.dims[1].symbol;
        f.p = f.q + 1; /* added together */
        set_dim(&f.batch, f.q, (int)f.batch.dims[fed->results[0].type.dims[0].symbol].extent, none);
        f.batch.dims[f.p] = f.batch.dims[f.q];
        batch_make_dims(opened.module, &f.batch);
        bool ok =
            ir_verify(opened.module, &opened.diags) && run_encode(&f, &whole, incremental.encode);
        if (ok)
            find_leaves(&f, &whole, incremental.decode_step);
        opened.function = incremental.decode_step;
        out = ok ? feed_text(&f, &rng, seen)
                 : outcome_of_diags(RESULT_INVALID, &opened.diags, "decode_step");
    }
    case_close(&opened);
    return out;
}
