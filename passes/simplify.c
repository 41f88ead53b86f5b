/* simplify: constants folded, identities removed, equal ops computed once, dead
 * ones dropped.
 *
 *   %1 = const {value = 1}
 *   %2 = mul %0, %1              %3 = exp %0
 *   %3 = exp %2            ⇒
 *   %4 = exp %0                  (uses of %4 read %3)
 *
 * Rewrites are exact in floating point: x·1, x+0, x−0, x/1, no reassociation.
 * Runs to a fixed point: one walk in order, since a rewrite only looks back.
 * Keeps: SSA order, effects. Requires: no regions. */
#include "passes/clone.h"
#include "passes/simplify.h"

#include "base/bf16.h"
#include "ir/fold.h"
#include "ir/infer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A constant's value; false if v is not one. */
static bool constant_of(const Value *v, double *value)
{
    if (v->op->kind != OP_const)
        return false;
    *value = op_float(v->op, ATTR_value);
    return true;
}

static bool is_constant(const Value *v, double value)
{
    double x;
    return constant_of(v, &x) && x == value;
}

static double round_to(DType type, double x)
{
    return type == DT_F32    ? (double)(float)x
           : type == DT_BF16 ? (double)bf16_to_float(bf16_from_float((float)x))
                             : x;
}

/* An elementwise op of constants is a constant. */
static Value *fold(Function *function, Op *op)
{
    double x[3], out;
    if (op_family(op) != FAMILY_elementwise || op->n_args > 3)
        return NULL;
    for (int i = 0; i < op->n_args; i++)
        if (!constant_of(op->args[i], &x[i]))
            return NULL;
    if (!fold_value(op->kind, op_result(op)->type.dtype, x, &out) ||
        (op_result(op)->type.dtype == DT_I32 && fabs(out) > INT32_MAX)) /* which wraps around */
        return NULL;
    Builder b = builder_before(function, &function->body, op);
    return build_const_of(&b, op_result(op)->type, round_to(op_result(op)->type.dtype, out));
}

/* `x` if it has the result's type: the op adds nothing to it. */
static Value *as_result(const Op *op, Value *x)
{
    return type_equal(&x->type, &op->results[0].type) ? x : NULL;
}

/* The operand that is left when the other is the op's neutral element. */
static Value *neutral(const Op *op)
{
    Value *a = op->args[0], *b = op->n_args > 1 ? op->args[1] : NULL;
    switch (op->kind) {
    case OP_add: return is_constant(b, 0) ? as_result(op, a) : is_constant(a, 0) ? as_result(op, b) : NULL;
    case OP_sub: return is_constant(b, 0) ? as_result(op, a) : NULL;
    case OP_mul: return is_constant(b, 1) ? as_result(op, a) : is_constant(a, 1) ? as_result(op, b) : NULL;
    case OP_div: case OP_pow: return is_constant(b, 1) ? as_result(op, a) : NULL;
    case OP_and: return is_constant(b, 1) ? as_result(op, a) : is_constant(a, 1) ? as_result(op, b) : NULL;
    case OP_or: return is_constant(b, 0) ? as_result(op, a) : is_constant(a, 0) ? as_result(op, b) : NULL;
    case OP_select:
        return is_constant(a, 1) ? as_result(op, b)
               : is_constant(a, 0) || op->args[1] == op->args[2] ? as_result(op, op->args[2]) : NULL;
    case OP_neg: return a->op->kind == OP_neg ? a->op->args[0] : NULL;
    case OP_not: return a->op->kind == OP_not ? a->op->args[0] : NULL;
    case OP_cast: case OP_stop: return as_result(op, a);
    case OP_reshape: case OP_broadcast: return as_result(op, a);
    case OP_dropout: return op_float(op, ATTR_rate) == 0 ? a : NULL;
    default: return NULL;
    }
}

/* Whether the one dimension of an iota or of lengths is one of the other type, too. */
static bool keeps_dimension(const Type *from, const Type *to)
{
    Dim along = dim_const(1);
    for (int i = 0; i < from->rank; i++)
        if (!dim_is_one(from->dims[i]))
            along = from->dims[i];
    for (int i = 0; i < to->rank; i++)
        if (dim_equal(to->dims[i], along))
            return true;
    return false;
}

/* iota and lengths may have ones around their dimension. */
static Value *respell_leaf(Builder *b, Op *leaf, const Type *type)
{
    SideTable none = side_new(b->function->module->arena);
    Op *copy = clone_op(b->function, leaf, &none);
    copy->results[0].type = *type;
    block_insert_before(b->block, b->before, copy);
    return op_result(copy);
}

/* (a b)' = b' a': a matrix that is only read transposed is made that way, so that
 * what is elementwise reads its rows. */
static Value *swap_product(Builder *b, const Op *transpose)
{
    Op *dot = transpose->args[0]->op;
    if (dot->kind != OP_dot || op_attr(dot, ATTR_dtype) || op_result(dot)->type.rank != 2 || op_attr(dot, ATTR_batch_a)->n ||
        op_attr(transpose, ATTR_perm)->ints[0] != 1 || value_use_count(op_result(dot)) != 1)
        return NULL;
    const Attr *ca = op_attr(dot, ATTR_contract_a), *cb = op_attr(dot, ATTR_contract_b);
    Value *x = dot->args[0], *y = dot->args[1];
    return y->type.rank == cb->n || x->type.rank == ca->n
               ? NULL /* both axes are one operand's */
               : build_dot(b, y, x, 0, NULL, NULL, ca->n, cb->ints, ca->ints);
}

/* Reshape of reshape, transpose of transpose or product, reductions along axes of
 * length 1, arithmetic on a broadcast. */
static Value *shorten(Function *function, Op *op)
{
    Value *x = op->n_args ? op->args[0] : NULL;
    Builder b = builder_before(function, &function->body, op);
    if (op->kind == OP_reshape && x->op->kind == OP_reshape)
        return build_reshape(&b, x->op->args[0], op_result(op)->type.rank, op_result(op)->type.dims);
    if (op->kind == OP_transpose && x->op->kind == OP_transpose) {
        const Attr *outer = op_attr(op, ATTR_perm), *inner = op_attr(x->op, ATTR_perm);
        int perm[MAX_RANK];
        for (int i = 0; i < outer->n; i++)
            perm[i] = inner->ints[outer->ints[i]];
        return build_transpose(&b, x->op->args[0], perm);
    }
    if (op->kind == OP_transpose && x->op->kind == OP_dot) {
        b.loc = x->op->loc;
        b.scope = x->op->scope;
        return swap_product(&b, op);
    }
    if (op->kind == OP_reduce_sum || op->kind == OP_reduce_max) {
        const Attr *axes = op_attr(op, ATTR_axes);
        int kept[MAX_RANK], n = 0;
        for (int i = 0; i < axes->n; i++)
            if (!dim_is_one(x->type.dims[axes->ints[i]]))
                kept[n++] = axes->ints[i];
        return n < axes->n ? build_reduce(&b, op->kind, x, n, kept) : NULL;
    }
    if (op->kind == OP_reshape && (x->op->kind == OP_iota || x->op->kind == OP_lengths) &&
        keeps_dimension(&x->type, &op_result(op)->type))
        return respell_leaf(&b, x->op, &op_result(op)->type);
    if (op->kind == OP_pow && is_constant(op->args[1], 2))
        return build_binary(&b, OP_mul, x, x);
    if ((op->kind == OP_broadcast || op->kind == OP_reshape) && x->op->kind == OP_const)
        return build_const_of(&b, op_result(op)->type, op_float(x->op, ATTR_value));
    return NULL;
}

/* Whether the operands' shapes make up the type's, if `value` is operand `arg`. */
static bool broadcasts_to(const Op *op, int arg, const Value *value, const Type *type)
{
    Type all = value->type;
    for (int i = 0; i < op->n_args; i++)
        if (i != arg && !shape_broadcast(&all, &op->args[i]->type, &all))
            return false;
    return type_same_shape(&all, type);
}

/* Operands of elementwise ops broadcast by themselves. */
static bool read_through_broadcast(Op *op)
{
    bool changed = false;
    if (op_family(op) != FAMILY_elementwise || op->n_args < 2)
        return false;
    for (int i = 0; i < op->n_args; i++) {
        const Op *above = op->args[i]->op;
        if (above->kind != OP_broadcast ||
            !broadcasts_to(op, i, above->args[0], &op_result(op)->type))
            continue;
        op_set_arg(op, i, above->args[0]);
        changed = true;
    }
    return changed;
}

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
    FOR_OPS(op, &function->body)
        n += 2;
    size_t size = 16;
    while (size < n * 2)
        size *= 2;
    Seen seen = {ARENA_ARRAY(function->module->arena, Op *, size), size - 1};
    bool changed = false;
    FOR_OPS(op, &function->body) {
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

static bool rewrite_once(Function *function)
{
    bool changed = false;
    FOR_OPS(op, &function->body) {
        if (op_family(op) == FAMILY_effect || op->n_results != 1 || !op->n_args)
            continue;
        changed |= read_through_broadcast(op);
        Value *better = fold(function, op);
        if (!better)
            better = neutral(op);
        if (!better)
            better = shorten(function, op);
        if (better && better != op_result(op)) {
            value_replace(op_result(op), better);
            block_remove(&function->body, op);
            changed = true;
        }
    }
    return changed;
}

bool pass_simplify(Function *function, PassContext *context)
{
    for (int round = 0; round < 16; round++) {
        bool changed = rewrite_once(function);
        changed |= merge_equal_ops(function);
        changed |= remove_dead(function) > 0;
        if (!changed)
            break;
    }
    return true;
}
