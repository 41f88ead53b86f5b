/* Leaves: what is given, constants, dimensions, random numbers. */
#include "oracle/interpreter.h"

#include "base/philox.h"

#include <assert.h>

static void fill_dense(Dense *out, Num x)
{
    for (int64_t i = 0; i < out->shape->count; i++)
        out->x[i] = x;
}

/* The one dimension that is not 1 (or the last). */
static int long_axis(const Shape *shape)
{
    int axis = shape->rank - 1;
    for (int i = 0; i < shape->rank; i++)
        if (!dim_is_one(shape->dims[i]))
            axis = i;
    return axis;
}

void interpret_const(Interpreter *in, const Op *op, Dense *out)
{
    double value = op_float(op, ATTR_value);
    Rounding r = rounding_for(in, op);
    fill_dense(out, out->dtype == DT_BOOL  ? num_exact(value != 0)
                    : out->dtype == DT_I32 ? num_exact(trunc(value))
                                           : num_given(&r, value));
}

void interpret_iota(Interpreter *in, const Op *op, Dense *out)
{
    (void)in, (void)op;
    const Shape *s = out->shape;
    int axis = long_axis(s);
    for (int64_t i = 0; i < s->count; i++)
        out->x[i] = num_exact((double)(i / s->stride[axis] % s->extent[axis]));
}

void interpret_size(Interpreter *in, const Op *op, Dense *out)
{
    int symbol = (int)op_int(op, ATTR_dim), batch = in->module->symbols.data[symbol].batch;
    int64_t n = in->run->dims[symbol].extent;
    if (batch != NO_SYMBOL) {
        n = 0;
        for (int64_t row = 0; row < in->run->dims[batch].extent; row++)
            n += in->run->dims[symbol].lengths[row];
    }
    Rounding r = rounding_for(in, op);
    fill_dense(out, num_given(&r, (double)n));
}

void interpret_lengths(Interpreter *in, const Op *op, Dense *out)
{
    const Shape *s = out->shape;
    const OracleDim *dim = &in->run->dims[op_int(op, ATTR_dim)];
    int axis = long_axis(s);
    Rounding r = rounding_for(in, op);
    for (int64_t i = 0; i < s->count; i++)
        out->x[i] = num_given(&r, dim->lengths[i / s->stride[axis] % s->extent[axis]]);
}

void interpret_training(Interpreter *in, const Op *op, Dense *out)
{
    (void)op;
    fill_dense(out, num_exact(in->run->training));
}

uint32_t philox_word(const Interpreter *in, int64_t site, int64_t element)
{
    const OracleRun *run = in->run;
    uint64_t group = (uint64_t)element / 4;
    const uint32_t key[2] = {(uint32_t)run->seed, (uint32_t)(run->seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)group,
                                 (uint32_t)(group >> 32) ^ (uint32_t)(run->step >> 32) << 16,
                                 (uint32_t)site, (uint32_t)run->step};
    uint32_t words[4];
    philox4x32(counter, key, words);
    return words[element % 4];
}

/* As many leading bits of the word as no rounding makes 1: 8 of bf16, else 24. */
void interpret_random(Interpreter *in, const Op *op, Dense *out)
{
    const int64_t *number = storage_numbers(in, out->shape);
    int bits = out->dtype == DT_BF16 ? 8 : 24;
    Rounding r = rounding_for(in, op);
    for (int64_t i = 0; i < out->shape->count; i++)
        if (dense_has(out, i)) {
            uint32_t word = philox_word(in, op_int(op, ATTR_site), number[i]);
            out->x[i] = num_given(&r, ldexp(word >> (32 - bits), -bits));
        }
}

static const OracleTensor *find_given(const OracleRun *run, const char *name)
{
    for (int i = 0; i < run->n_given; i++)
        if (!strcmp(run->given[i].name, name))
            return &run->given[i];
    return NULL;
}

/* That it is there, and large enough, is checked before (run.c). */
void interpret_input(Interpreter *in, const Op *op, Dense *out)
{
    const OracleTensor *given = find_given(in->run, op_string(op, ATTR_name));
    Rounding r = rounding_for(in, op);
    assert(given && given->count == out->shape->stored);
    for (int64_t i = 0; i < given->count; i++)
        out->x[out->shape->order ? out->shape->order[i] : i] = num_given(&r, given->data[i]);
}

void interpret_param(Interpreter *in, const Op *op, Dense *out) { interpret_input(in, op, out); }
