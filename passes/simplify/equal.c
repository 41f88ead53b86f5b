/* Equal ops with equal operands are computed once. */
#include "passes/pass.h"

#include "base/map.h"

#include <stdint.h>
#include <string.h>

static uint64_t hash_attr(uint64_t hash, const Attr *attr)
{
    switch (attr_info[attr->name].kind) {
    case STRING: return hash_string(hash, attr->s);
    case FLOAT: return hash_bytes(hash, &attr->f, sizeof attr->f);
    case INTS: return hash_bytes(hash, attr->ints, sizeof(int) * (size_t)attr->n);
    case DIMS: return hash; /* follows from the result's type, mostly */
    default: return hash_u64(hash, (uint64_t)attr->i);
    }
}

/* Words of eight bytes at once: a kind, an address, a number. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t hash_op(const Op *op)
{
    uint64_t hash = mix(HASH_SEED, op->kind);
    const Type *type = &op->results[0].type;
    hash = mix(hash, (uint64_t)type->dtype);
    for (int i = 0; i < type->rank; i++)
        hash = mix(hash, (uint64_t)type->dims[i].size ^ (uint64_t)type->dims[i].symbol << 48);
    for (int i = 0; i < op->n_args; i++)
        hash = mix(hash, (uint64_t)(uintptr_t)op->args[i]);
    for (int i = 0; i < op->n_attrs; i++)
        hash = hash_attr(hash, &op->attrs[i]);
    return hash;
}

static bool attr_equal(const Attr *a, const Attr *b)
{
    if (a->name != b->name)
        return false;
    switch (attr_info[a->name].kind) {
    case STRING: return !strcmp(a->s, b->s);
    case FLOAT: return !memcmp(&a->f, &b->f, sizeof a->f);
    case INTS: return a->n == b->n && !memcmp(a->ints, b->ints, sizeof(int) * (size_t)a->n);
    case DIMS:
        for (int i = 0; i < a->rank; i++)
            if (a->rank != b->rank || !dim_equal(a->dims[i], b->dims[i]))
                return false;
        return a->rank == b->rank;
    default: return a->i == b->i;
    }
}

static bool same_op(const Op *a, const Op *b)
{
    if (a->kind != b->kind || a->n_args != b->n_args || a->n_attrs != b->n_attrs ||
        !type_equal(&a->results[0].type, &b->results[0].type))
        return false;
    for (int i = 0; i < a->n_args; i++)
        if (a->args[i] != b->args[i])
            return false;
    for (int i = 0; i < a->n_attrs; i++)
        if (!attr_equal(&a->attrs[i], &b->attrs[i]))
            return false;
    return true;
}

/* Open-addressed set of the ops seen so far. */
typedef struct Seen {
    Op **slots;
    size_t mask;
} Seen;

static Op *find_or_add(Seen *seen, Op *op)
{
    for (size_t i = hash_op(op) & seen->mask;; i = (i + 1) & seen->mask) {
        if (!seen->slots[i]) {
            seen->slots[i] = op;
            return NULL;
        }
        if (same_op(seen->slots[i], op))
            return seen->slots[i];
    }
}

bool merge_equal_ops(Function *function)
{
    size_t n = 16;
    FOR_OPS (op, &function->body)
        n += 2;
    size_t size = 16;
    while (size < n * 2)
        size *= 2;
    Seen seen = {ARENA_ARRAY(function->module->arena, Op *, size), size - 1};
    bool changed = false;
    FOR_OPS (op, &function->body) {
        if (op_family(op) == FAMILY_effect || op_family(op) == FAMILY_region || op->n_results != 1)
            continue;
        Op *first = find_or_add(&seen, op);
        if (first) {
            if (op->n_args)
                first->loc = loc_join(function->module->arena, first->loc, op->loc);
            value_replace(op_result(op), op_result(first));
            block_remove(&function->body, op);
            changed = true;
        }
    }
    return changed;
}
