/* precision: products in bf16, everything else in f32 (where bf16 is asked for).
 *
 *   %3 = dot %x, %w : f32                 %xb = cast %x {dtype = bf16}
 *   %4 = add %3, %b                       %wb = cast %w {dtype = bf16}
 *   %5 = relu %4                   ⇒      %3 = dot %xb, %wb {dtype = f32} : f32
 *                                         %4 = add %3, %b
 *   output %loss {name = "loss"}          %5 = relu %4
 *   %9 = lt 0, %5                         %5b = cast %5 {dtype = bf16}
 *                                         output %loss …
 *                                         %9 = lt 0, cast %5b {dtype = f32}
 *
 * 1. Operands of products become bf16: each value is cast once, where it is made, before
 *    what only moves it (reshape, transpose, …). So weights are cast once a step from
 *    their f32 masters (pass repack: by the optimizer that makes these), and the gradients
 *    that products make are sums in f32.
 * 2. What the backward reads of the forward is kept as bf16. A value that follows by a
 *    cheap op from another one that is kept is computed again from that. Statistics, one
 *    a row or less, stay f32, and so do values whose differences feed an exp (logits):
 *    half a digit of a large exponent is a large factor. So do values that are compared with
 *    each other.
 * 3. Params are cast where they are first read as bf16.
 * 4. Sums over rows read the bf16 that is there for products.
 *
 * It comes after autodiff, since the gradient of a cast would be a cast: weights' gradients
 * rounded, where here they are sums in f32. Requires: expand. What regions hold already
 * stays as it is. */
#include "passes/clone.h"
#include "passes/pass.h"

bool pass_precision(Function *function, PassContext *context);

/* What is known of a value. */
typedef struct Info {
    Value *half;    /* as bf16 */
    Value *back;    /* as f32 from bf16, for the backward */
    bool forward;   /* computed before the loss is given */
    bool read_back; /* the backward reads it */
    bool exact;     /* an exp or a comparison of the backward reads it */
} Info;

typedef struct Precision {
    Function *function;
    PassContext *context;
    Arena *arena;
    SideTable info;
} Precision;

static Info *info_of(Precision *p, Value *value)
{
    if (!side_of_value(&p->info, value))
        side_set_value(&p->info, value, ARENA_NEW(p->arena, Info));
    return side_of_value(&p->info, value);
}

/* One element a token or more: not a param, nor one value a row. */
static bool is_activation(const Value *value)
{
    const Type *type = &value->type;
    bool grows = false;
    for (int i = 0; i < type->rank; i++)
        grows |= !dim_is_const(type->dims[i]);
    return type->dtype == DT_F32 && grows && !dim_is_one(type->dims[type->rank - 1]) &&
           op_family(value->op) != FAMILY_leaf;
}

/* ---- casts ---- */

static bool only_moves(const Op *op) { return op_is_view(op) || op->kind == OP_concat; }

/* The value as bf16, made behind the op that makes it. */
static Value *half_of(Precision *p, Value *value)
{
    Info *info = info_of(p, value);
    if (info->half)
        return info->half;
    Op *op = value->op;
    if (only_moves(op)) {
        Value **args = ARENA_ARRAY(p->arena, Value *, op->n_args);
        for (int i = 0; i < op->n_args; i++)
            args[i] = half_of(p, op->args[i]);
        Builder b = builder_behind(p->function, &p->function->body, op);
        info->half = build(&b, op->kind, op->n_args, args, op->n_attrs, op->attrs);
    } else {
        Builder b = builder_behind(p->function, &p->function->body, op);
        info->half = build_cast(&b, value, DT_BF16);
    }
    info_of(p, info->half)->forward = info->forward;
    return info->half;
}

/* Those of integers (`quant`) stay as they are. In a decoding step, products by weights alone:
 * caches are f32, and a step would cast all of one to multiply by its rows. */
static void cast_products(Precision *p)
{
    bool step = function_has(p->function, OP_append);
    SideTable made = find_made_of_params(p->function);
    FOR_OPS (op, &p->function->body) {
        if (op_family(op) != FAMILY_matmul || op->args[0]->type.dtype != DT_F32 ||
            op_attr(op, ATTR_quant) || (step && !side_number(&made, op->args[1]->op)))
            continue;
        for (int i = 0; i < 2; i++)
            op_set_arg(op, i, half_of(p, op->args[i]));
        if (op->kind == OP_dot) /* of the others the result is f32 */
            op_set_attr(p->function, op, (Attr){.name = ATTR_dtype, .i = DT_F32});
        report_op(p->context->report, op, "bf16: operands of %s", op_info[op->kind].name);
    }
}

/* A param is rounded just before it is first read so: where other ranks send it meanwhile, each is
 * waited for by itself (runtime/train/parallel/overlap.h). */
static void cast_params_late(Precision *p)
{
    Block *body = &p->function->body;
    SideTable positions = side_new(p->arena);
    VEC(Op *) casts = {0};
    int position = 0;
    FOR_OPS (op, body) {
        side_set_number(&positions, op, position++);
        if (op->kind == OP_cast && op_result(op)->type.dtype == DT_BF16 &&
            op->args[0]->op->kind == OP_param)
            vec_push(p->arena, casts, op);
    }
    for (size_t i = 0; i < casts.count; i++) {
        Op *op = casts.data[i], *first = NULL;
        FOR_USES (use, op_result(op))
            if (!first || side_number(&positions, use->user) < side_number(&positions, first))
                first = use->user;
        if (!first)
            continue;
        block_remove(body, op);
        block_insert_before(body, first, op);
    }
}

/* ---- what the backward reads ---- */

static void mark_forward(Precision *p, const Op *loss)
{
    for (Op *op = p->function->body.first; op != loss; op = op->next)
        for (int r = 0; r < op->n_results; r++)
            info_of(p, &op->results[r])->forward = true;
}

/* Sums and differences take the errors of their operands as they are. */
static bool passes_errors(const Op *op, const Value *from)
{
    switch (op->kind) {
    case OP_add:
    case OP_sub:
    case OP_neg:
    case OP_max:
    case OP_min:
    case OP_select:
    case OP_broadcast:
    case OP_reshape:
    case OP_transpose: return true;
    case OP_mul:
        return op->args[0] == from ? !is_activation(op->args[1]) : !is_activation(op->args[0]);
    default: return false;
    }
}

/* Which of two was the greater, or whether one was the greatest: rounded, they differ or are equal
 * where they were not. What is compared with a constant, as by ReLU, keeps its sign. */
static bool compares_values(const Op *op)
{
    bool compares = op->kind == OP_lt || op->kind == OP_le || op->kind == OP_eq;
    return compares && op->args[0]->op->kind != OP_const && op->args[1]->op->kind != OP_const;
}

static void mark_reads(Precision *p, Op *loss)
{
    for (Op *op = p->function->body.last; op != loss; op = op->previous)
        for (int i = 0; !op->body && i < op->n_args; i++) {
            Info *info = info_of(p, op->args[i]);
            info->read_back = true;
            info->exact |= op->kind == OP_exp || compares_values(op) ||
                           (op->n_results == 1 && info_of(p, op_result(op))->exact &&
                            passes_errors(op, op->args[i]));
        }
}

static bool is_kept(Precision *p, Value *value)
{
    const Info *info = info_of(p, value);
    return is_activation(value) && info->forward && info->read_back && !info->exact;
}

/* The one operand that is an activation, of a cheap op that is read back along with it. */
static Value *source_of(Precision *p, Value *value)
{
    const Op *op = value->op;
    Value *source = NULL;
    switch (op->kind) {
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_neg:
    case OP_relu: break;
    default: return NULL;
    }
    for (int i = 0; i < op->n_args; i++) {
        bool grows = is_activation(op->args[i]) && op->args[i] != source;
        if (grows && (source || !type_equal(&op->args[i]->type, &value->type)))
            return NULL;
        source = grows ? op->args[i] : source;
    }
    return source && is_kept(p, source) ? source : NULL;
}

/* The value for the ops behind `b`. */
static Value *back_of(Precision *p, Builder *b, Value *value)
{
    Info *info = info_of(p, value);
    Value *source = info->half ? NULL : source_of(p, value);
    if (info->back)
        return info->back;
    if (source) {
        Value *back = back_of(p, b, source), *args[2];
        for (int i = 0; i < value->op->n_args; i++)
            args[i] = value->op->args[i] == source ? back : value->op->args[i];
        info->back = build(b, value->op->kind, value->op->n_args, args, 0, NULL);
    } else {
        report_op(p->context->report, value->op, "bf16: the backward reads %s",
                  op_info[value->op->kind].name);
        info->back = build_cast(b, half_of(p, value), DT_F32);
    }
    return info->back;
}

static void keep_halves(Precision *p, Op *loss)
{
    for (Op *op = loss->next; op; op = op->next) {
        Builder b = builder_before(p->function, &p->function->body, op);
        for (int i = 0; !op->body && i < op->n_args; i++) {
            const Info *info = info_of(p, op->args[i]);
            if (is_kept(p, op->args[i]))
                op_set_arg(op, i, back_of(p, &b, op->args[i]));
            else if (info->exact && info->forward && is_activation(op->args[i]))
                report_op(p->context->report, op, "f32: the backward reads %s as it is, for an exp",
                          op_info[op->args[i]->op->kind].name);
        }
    }
}

/* ---- sums over rows ---- */

static void read_halves(Precision *p)
{
    FOR_OPS (op, &p->function->body) {
        if (op->kind != OP_reduce_sum || is_row_reduction(p->function->module, op) ||
            !info_of(p, op->args[0])->half)
            continue;
        Builder b = builder_before(p->function, &p->function->body, op);
        op_set_arg(op, 0, build_cast(&b, info_of(p, op->args[0])->half, DT_F32));
    }
}

bool pass_precision(Function *function, PassContext *context)
{
    if (context->precision != PRODUCTS_BF16)
        return true;
    Arena *arena = function->module->arena;
    Precision p = {function, context, arena, side_new(arena)};
    Op *loss = find_output(function, "loss");
    if (loss) {
        mark_forward(&p, loss);
        mark_reads(&p, loss);
    }
    cast_products(&p);
    if (loss)
        keep_halves(&p, loss);
    read_halves(&p);
    remove_dead(function);
    cast_params_late(&p);
    return true;
}
