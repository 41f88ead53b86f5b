/* Values of leaves: made of the seed, the name and the element alone. */
#include "base/bf16.h"
#include "tests/graphs/graphs.h"

#include <math.h>
#include <string.h>

/* Seeds of one kind in eight give multiples of a quarter, so that elements are equal to each
 * other and to zero. */
static bool is_coarse(uint64_t seed) { return (seed & 7) == 0; }

/* Seeds of other kinds: all leaves hold the same numbers, so that their differences cancel; leaves
 * hold one number each, so that rows are equal; numbers are of many sizes, down to 2^-60. */
static bool is_shared(uint64_t seed) { return (seed & 7) == 1; }
static bool is_level(uint64_t seed) { return (seed & 7) == 2; }
static bool is_small(uint64_t seed) { return (seed & 7) == 3; }

uint64_t plain_seed(uint64_t seed) { return seed | 5; }

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++)
        hash = mix64(hash ^ (uint64_t)(unsigned char)*name);
    return hash;
}

double leaf_value(uint64_t seed, const char *name, ParamRole role, DType dtype, int64_t i)
{
    bool given = role == PARAM_FROZEN || role == PARAM_TRAINED;
    uint64_t from = given && is_shared(seed) ? 0 : hash_name(name),
             at = given && is_level(seed) ? 0 : (uint64_t)i;
    uint64_t bits = mix64(mix64(seed + 1) ^ from ^ mix64(at + 77));
    double x = (double)(bits >> 40) / (1 << 22) - 2; /* [-2, 2) in steps that an f32 holds */
    /* what derived functions read beside the model's own */
    if (!strcmp(name, "rate"))
        return (double)0.01f;
    if (!strcmp(name, "step") || !strcmp(name, "weight"))
        return 3;
    if (dtype == DT_I32)
        return (double)((int)(bits >> 40) % 11 - 1);
    if (dtype == DT_BOOL)
        return (double)(bits >> 40 & 1);
    if (is_coarse(seed))
        x = (double)((int)(bits >> 40) % 17 - 8) / 4;
    if (given && is_small(seed))
        x = ldexp(x, -(int)(bits % 61));
    if (role == PARAM_SLOT) /* of squares among others */
        x = x < 0 ? -x / 4 : x / 4;
    return dtype == DT_BF16 ? (double)bf16_to_float(bf16_from_float((float)x)) : x;
}

void store_value(DType dtype, void *data, int64_t i, double value)
{
    switch (dtype) {
    case DT_F64: ((double *)data)[i] = value; break;
    case DT_F32: ((float *)data)[i] = (float)value; break;
    case DT_BF16: ((uint16_t *)data)[i] = bf16_from_float((float)value); break;
    case DT_I32: ((int32_t *)data)[i] = (int32_t)value; break;
    default: ((uint8_t *)data)[i] = value != 0;
    }
}

double load_value(DType dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case DT_F64: return ((const double *)data)[i];
    case DT_F32: return (double)((const float *)data)[i];
    case DT_BF16: return (double)bf16_to_float(((const uint16_t *)data)[i]);
    case DT_I32: return ((const int32_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
    }
}

Given give_leaves(Opened *opened, const Case *c, const Batch *batch)
{
    const Module *module = opened->module;
    const OracleDim *dims = batch_dims(opened->arena, batch, (int)module->symbols.count);
    Given given = {0};
    FOR_OPS (op, &opened->function->body)
        given.n += op->kind == OP_input || op->kind == OP_param;
    given.tensors = ARENA_ARRAY(opened->arena, OracleTensor, given.n + 1);
    int n = 0;
    FOR_OPS (op, &opened->function->body) {
        if (op->kind != OP_input && op->kind != OP_param)
            continue;
        OracleTensor *tensor = &given.tensors[n++];
        tensor->name = op_string(op, ATTR_name);
        tensor->type = op->results[0].type;
        tensor->count = oracle_count(module, &tensor->type, dims);
        tensor->data = ARENA_ARRAY(opened->arena, double, tensor->count + 1);
        const ParamInfo *info = op->kind == OP_param ? module_param(module, tensor->name) : NULL;
        for (int64_t i = 0; i < tensor->count; i++)
            tensor->data[i] = leaf_value(c->seed, tensor->name, info ? info->role : PARAM_FROZEN,
                                         tensor->type.dtype, i);
    }
    return given;
}
