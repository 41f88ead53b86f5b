/* The made-up batches of tfc check, and which of them a loss can be had of. */
#include "check/check.h"

#include <math.h>

const CheckBatch check_batches[] = {
    /* clang-format off */
    {"mixed lengths",   3, true,  {5, 5, 5}, {6, 6, 6}},
    {"longer sources",  3, false, {9, 7, 8}, {2, 3, 1}},
    {"longer targets",  3, false, {2, 1, 3}, {8, 9, 7}},
    {"equal lengths",   3, false, {4, 4, 4}, {4, 4, 4}},
    {"one token each",  3, false, {1, 1, 1}, {1, 1, 1}},
    {"one sentence",    1, false, {6},       {5}},
    {"an empty source", 3, false, {0, 3, 2}, {3, 2, 4}},
    {"an empty target", 3, false, {3, 4, 2}, {2, 0, 3}},
    /* clang-format on */
};
const int check_batch_count = sizeof check_batches / sizeof check_batches[0];

SyntheticOptions check_shape(const Check *check, const CheckBatch *batch)
{
    BatchLengths *lengths = ARENA_NEW(check->job->arena, BatchLengths);
    *lengths = (BatchLengths){batch->n, (int32_t *)batch->source, (int32_t *)batch->target};
    SyntheticOptions shape = {.batch = batch->n,
                              .ragged = batch->drawn,
                              .shares = check->shares,
                              .lengths = batch->drawn ? NULL : lengths,
                              .seed = check->seed};
    for (int64_t i = 0; i < batch->n; i++) {
        if (batch->source[i] > shape.source_length)
            shape.source_length = batch->source[i];
        if (batch->target[i] > shape.target_length)
            shape.target_length = batch->target[i];
    }
    return shape;
}

const char *check_without(Check *check, const char *list, const CheckBatch *batch)
{
    return arena_printf(check->job->arena, "%s%s %s", *list ? list : "; no finite loss on",
                        *list ? "," : "", batch->name);
}

static bool reads_floats(const Variant *v)
{
    bool reads = false;
    FOR_OPS (op, &v->meaning->body)
        reads |= op->kind == OP_input && dtype_is_float(op->results[0].type.dtype);
    return reads;
}

static bool find_usual(Check *check, Variant *gradient)
{
    check->passed_over = "";
    for (int i = 0; i < check_batch_count && !check->usual; i++) {
        SyntheticOptions shape = check_shape(check, &check_batches[i]);
        if (!variant_feed(check, gradient, &shape) || !variant_run(check, gradient))
            return false;
        if (isfinite(*(const double *)exec_output(gradient->exec, "loss")))
            check->usual = &check_batches[i];
        else
            check->passed_over = check_without(check, check->passed_over, &check_batches[i]);
    }
    return true;
}

bool check_choose_batch(Check *check, Variant *gradient)
{
    if (!find_usual(check, gradient))
        return false;
    if (!check->usual && reads_floats(gradient)) { /* it may read probabilities, or lengths */
        check->shares = true;
        if (!find_usual(check, gradient))
            return false;
        check->shares = check->usual != NULL;
    }
    if (check->shares)
        check->passed_over = arena_printf(check->job->arena,
                                          "; float inputs from 0 to 1: below 0 no loss is finite%s",
                                          check->passed_over);
    else if (check->usual && *check->passed_over)
        check->passed_over =
            arena_printf(check->job->arena, "; on %s%s", check->usual->name, check->passed_over);
    return true;
}
