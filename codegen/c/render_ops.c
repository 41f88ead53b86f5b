/* Ops of loop IR except control, as C expressions and statements. */
#include "codegen/c/render_state.h"

#include "codegen/loop/build.h"

#include <assert.h>

/* ---- operands ---- */

/* Operands of a C operator, as integers of this sign where `as` is not NULL: at most one of them is
 * a number beside a vector. */
typedef struct Pair {
    Expr a, b;
} Pair;

static Expr operand(CRender *r, const LoOp *x, bool as_number, const char *as, bool is_signed)
{
    Expr value = as_number ? c_number_of(r, x) : c_value(r, x);
    const LoType type = as_number ? lo_element(x->type) : x->type;
    if (!as)
        return as_number && lo_bits(type) < 32 ? c_cast(r, c_type(r, type), value) : value;
    if (lo_is_constant(x) && (as_number || !lo_is_vector(type)) && x->number >= 0 &&
        x->number <= INT32_MAX && lo_bits(type) >= 32)
        return value;
    if (value.bare && !is_signed)
        return c_expr(value.bare, value.bare_tightness);
    return c_cast(r, c_integers(r, type, is_signed), value);
}

static Pair operands(CRender *r, const LoOp *op, const char *as, bool is_signed)
{
    const LoOp *a = op->args[0], *b = op->args[1];
    bool b_number = c_is_one_number(r, b), a_number = !b_number && c_is_one_number(r, a);
    return (Pair){operand(r, a, a_number, as, is_signed), operand(r, b, b_number, as, is_signed)};
}

/* ---- masks ---- */

static Expr mask_logic(CRender *r, const LoOp *op, const char *operator)
{
    int bits = c_note(r, op)->mask_bits;
    if (op->kind == LO_xor && lo_is_int(op->args[1]) && op->args[1]->number)
        return c_expr(
            arena_printf(r->arena, "~%s", c_wrap(r, c_mask_as(r, op->args[0], bits), TIGHT_UNARY)),
            TIGHT_UNARY);
    return c_expr(arena_printf(r->arena, "%s %s %s",
                               c_wrap(r, c_mask_as(r, op->args[0], bits), TIGHT_UNARY), operator,
                               c_wrap(r, c_mask_as(r, op->args[1], bits), TIGHT_UNARY)),
                  TIGHT_LOOSE);
}

/* ---- arithmetic ---- */

typedef struct Operator {
    const char *text;
    Tightness tightness;
    enum { AS_IT_IS, WRAPS, UNSIGNED } integers;
} Operator;

static const Operator operators[LO_KINDS] = {
    [LO_add] = {"+", TIGHT_SUM, WRAPS},         [LO_sub] = {"-", TIGHT_SUM, WRAPS},
    [LO_mul] = {"*", TIGHT_PRODUCT, WRAPS},     [LO_div] = {"/", TIGHT_PRODUCT, AS_IT_IS},
    [LO_rem] = {"%", TIGHT_PRODUCT, AS_IT_IS},  [LO_udiv] = {"/", TIGHT_PRODUCT, UNSIGNED},
    [LO_urem] = {"%", TIGHT_PRODUCT, UNSIGNED}, [LO_iadd] = {"+", TIGHT_SUM, AS_IT_IS},
    [LO_isub] = {"-", TIGHT_SUM, AS_IT_IS},     [LO_imul] = {"*", TIGHT_PRODUCT, AS_IT_IS},
    [LO_and] = {"&", TIGHT_LOOSE, AS_IT_IS},    [LO_or] = {"|", TIGHT_LOOSE, AS_IT_IS},
    [LO_xor] = {"^", TIGHT_LOOSE, AS_IT_IS},    [LO_shl] = {"<<", TIGHT_LOOSE, WRAPS},
    [LO_lshr] = {">>", TIGHT_LOOSE, UNSIGNED},  [LO_ashr] = {">>", TIGHT_LOOSE, AS_IT_IS},
    [LO_lt] = {"<", TIGHT_LOOSE, AS_IT_IS},     [LO_le] = {"<=", TIGHT_LOOSE, AS_IT_IS},
    [LO_gt] = {">", TIGHT_LOOSE, AS_IT_IS},     [LO_ge] = {">=", TIGHT_LOOSE, AS_IT_IS},
    [LO_eq] = {"==", TIGHT_LOOSE, AS_IT_IS},    [LO_ne] = {"!=", TIGHT_LOOSE, AS_IT_IS},
    [LO_ult] = {"<", TIGHT_LOOSE, UNSIGNED},    [LO_ule] = {"<=", TIGHT_LOOSE, UNSIGNED},
    [LO_uge] = {">=", TIGHT_LOOSE, UNSIGNED},
};

static Expr infix(CRender *r, const Operator *o, Pair p)
{
    Tightness left = o->tightness == TIGHT_LOOSE ? TIGHT_UNARY : o->tightness;
    Tightness right = o->tightness == TIGHT_LOOSE ? TIGHT_UNARY : o->tightness - 1;
    const char *b = c_wrap(r, p.b, right);
    if (*b == '-')
        b = arena_printf(r->arena, "(%s)", b);
    return c_expr(arena_printf(r->arena, "%s %s %s", c_wrap(r, p.a, left), o->text, b),
                  o->tightness);
}

/* Of the library's function of such numbers. */
static const char *suffix_of(const CRender *r, LoType type)
{
    return lo_element(type) == lo_f32 ? r->dialect->suffix : "";
}

static bool is_int(const LoOp *x, int64_t number) { return lo_is_int(x) && x->number == number; }

static Expr render_binary(CRender *r, const LoOp *op)
{
    const Operator *o = &operators[op->kind];
    LoType from = op->args[0]->type;
    if ((o->tightness == TIGHT_SUM && is_int(op->args[1], 0)) ||
        ((op->kind == LO_mul || op->kind == LO_imul) && is_int(op->args[1], 1)))
        return c_arg(r, op, 0);
    if (c_is_mask(from))
        return mask_logic(r, op, o->text);
    bool real = lo_is_float(from), truth = lo_info[op->kind].result == LO_RESULT_TRUTH;
    bool as_unsigned = !real && o->integers != AS_IT_IS && lo_element(from) != lo_i1;
    bool narrow = !real && !lo_is_vector(from) && lo_bits(from) < 32;
    Pair p = operands(r, op, as_unsigned ? "" : NULL, false);
    if (op->kind == LO_xor && from == lo_i1 && lo_is_int(op->args[1]))
        return c_expr(arena_printf(r->arena, "!%s", c_wrap(r, p.a, TIGHT_UNARY)), TIGHT_UNARY);
    Expr value = infix(r, o, p);
    if (truth && lo_is_vector(from))
        return c_cast(r, c_mask_type(r, lo_bits(lo_element(from)), lo_lanes(from)), value);
    if (truth || !(as_unsigned || narrow))
        return value;
    Expr result = c_cast(r, c_type(r, op->type), value);
    if (as_unsigned && !narrow) {
        result.bare = value.text;
        result.bare_tightness = value.tightness;
    }
    return result;
}

static Expr render_muladd(CRender *r, const LoOp *op)
{
    return c_expr(arena_printf(r->arena, "%s(%s, %s, %s)", c_muladd(r, op->type),
                               c_arg(r, op, 0).text, c_arg(r, op, 1).text, c_arg(r, op, 2).text),
                  TIGHT_NAME);
}

static Expr render_unordered(CRender *r, const LoOp *op)
{
    const LoOp *a = op->args[0], *b = op->args[1];
    Expr x = c_value(r, a);
    if (!lo_is_vector(a->type))
        return c_call2(r, r->dialect->unordered, x.text, c_value(r, b).text);
    const char *mask = c_mask_type(r, lo_bits(lo_element(a->type)), lo_lanes(a->type));
    Expr one = c_expr(arena_printf(r->arena, "%s != %s", x.text, x.text), TIGHT_LOOSE);
    if (a == b || lo_is_constant(b))
        return c_cast(r, mask, one);
    const char *y = c_value(r, b).text;
    return c_cast(r, mask,
                  c_expr(arena_printf(r->arena, "(%s) | (%s != %s)", one.text, y, y), TIGHT_LOOSE));
}

static Expr render_select(CRender *r, const LoOp *op)
{
    const LoOp *condition = op->args[0];
    if (c_is_mask(condition->type) && c_is_mask(op->type)) {
        int bits = c_note(r, op)->mask_bits;
        const char *m = c_mask_as(r, condition, bits).text;
        return c_expr(arena_printf(r->arena, "(%s & %s) | (~%s & %s)", m,
                                   c_wrap(r, c_mask_as(r, op->args[1], bits), TIGHT_UNARY), m,
                                   c_wrap(r, c_mask_as(r, op->args[2], bits), TIGHT_UNARY)),
                      TIGHT_LOOSE);
    }
    if (c_is_mask(condition->type))
        return c_expr(arena_printf(r->arena, "%s(%s, %s, %s)", c_select(r, op->type),
                                   c_mask_as(r, condition, lo_bits(lo_element(op->type))).text,
                                   c_arg(r, op, 1).text, c_arg(r, op, 2).text),
                      TIGHT_NAME);
    Expr a =
        c_is_mask(op->type) ? c_mask_as(r, op->args[1], c_note(r, op)->mask_bits) : c_arg(r, op, 1);
    Expr b =
        c_is_mask(op->type) ? c_mask_as(r, op->args[2], c_note(r, op)->mask_bits) : c_arg(r, op, 2);
    return c_expr(arena_printf(r->arena, "%s ? %s : %s", c_wrap(r, c_arg(r, op, 0), TIGHT_UNARY),
                               c_wrap(r, a, TIGHT_UNARY), c_wrap(r, b, TIGHT_UNARY)),
                  TIGHT_LOOSE);
}

/* A vector's bits joined with a number as integers. */
static Expr sign_bits(CRender *r, Expr x, LoType type, bool keeps_sign)
{
    bool wide = lo_bits(lo_element(type)) == 64;
    const char *number =
        keeps_sign ? (wide ? "INT64_MIN" : "INT32_MIN") : (wide ? "INT64_MAX" : "INT32_MAX");
    return c_expr(arena_printf(r->arena, "(%s)%s & %s", c_integers(r, type, true),
                               c_wrap(r, x, TIGHT_UNARY), number),
                  TIGHT_LOOSE);
}

static Expr render_abs(CRender *r, const LoOp *op)
{
    Expr x = c_arg(r, op, 0);
    if (lo_is_float(op->type) && lo_is_vector(op->type))
        return c_cast(r, c_type(r, op->type), sign_bits(r, x, op->type, false));
    if (lo_is_float(op->type))
        return c_call(r, arena_printf(r->arena, "fabs%s", suffix_of(r, op->type)), x.text);
    const char *minus = arena_printf(r->arena, "(%s)(0 - (%s)%s)", c_type(r, op->type),
                                     c_integers(r, op->type, false), x.text);
    if (lo_is_vector(op->type))
        return c_expr(arena_printf(r->arena, "%s((%s)(%s < 0), %s, %s)", c_select(r, op->type),
                                   c_integers(r, op->type, true), x.text, minus, x.text),
                      TIGHT_NAME);
    return c_expr(arena_printf(r->arena, "%s < 0 ? %s : %s", x.text, minus, x.text), TIGHT_LOOSE);
}

static Expr render_neg(CRender *r, const LoOp *op)
{
    Expr x = c_arg(r, op, 0);
    if (lo_is_float(op->type)) {
        const char *text = c_wrap(r, x, TIGHT_NAME);
        return c_expr(arena_printf(r->arena, "-%s", text), TIGHT_UNARY);
    }
    return c_cast(r, c_type(r, op->type),
                  c_expr(arena_printf(r->arena, "0 - (%s)%s", c_integers(r, op->type, false),
                                      c_wrap(r, x, TIGHT_UNARY)),
                         TIGHT_SUM));
}

static Expr render_copysign(CRender *r, const LoOp *op)
{
    Expr a = c_arg(r, op, 0), b = c_arg(r, op, 1);
    if (!lo_is_vector(op->type))
        return c_call2(r, arena_printf(r->arena, "copysign%s", suffix_of(r, op->type)), a.text,
                       b.text);
    Expr size = sign_bits(r, a, op->type, false), sign = sign_bits(r, b, op->type, true);
    return c_cast(r, c_type(r, op->type),
                  c_expr(arena_printf(r->arena, "(%s) | (%s)", size.text, sign.text), TIGHT_LOOSE));
}

/* Of the C library, lane by lane. */
static Expr render_library(CRender *r, const LoOp *op, const char *name)
{
    const char *function = arena_printf(r->arena, "%s%s", name, suffix_of(r, op->type));
    const char *called =
        lo_is_vector(op->type) ? c_lanes(r, op->type, op->type, function, op->n_args) : function;
    return op->n_args == 2 ? c_call2(r, called, c_arg(r, op, 0).text, c_arg(r, op, 1).text)
                           : c_call(r, called, c_arg(r, op, 0).text);
}

/* ---- types ---- */

static Expr as_unsigned(CRender *r, const LoOp *op)
{
    return c_cast(r, c_integers(r, op->args[0]->type, false), c_arg(r, op, 0));
}

static Expr and_one(CRender *r, Expr x)
{
    return c_expr(arena_printf(r->arena, "%s & 1", c_wrap(r, x, TIGHT_UNARY)), TIGHT_LOOSE);
}

/* From i1: 1 where unsigned, -1 where signed. */
static Expr from_truth(CRender *r, const LoOp *op, bool is_unsigned)
{
    int bits = lo_bits(lo_element(op->type));
    const char *type = c_type(r, op->type);
    if (!lo_is_vector(op->type)) {
        Expr x = c_cast(r, type, c_arg(r, op, 0));
        return is_unsigned ? x : c_expr(arena_printf(r->arena, "-%s", x.text), TIGHT_UNARY);
    }
    Expr mask = c_mask_as(r, op->args[0], bits);
    if (is_unsigned)
        mask = and_one(r, mask);
    return lo_is_float(op->type) ? c_convert(r, mask, type) : mask;
}

static Expr to_truth(CRender *r, const LoOp *op)
{
    LoType from = op->args[0]->type;
    Expr one = and_one(r, c_arg(r, op, 0));
    if (!lo_is_vector(from))
        return one;
    return c_cast(r, c_mask_type(r, lo_bits(lo_element(from)), lo_lanes(from)),
                  c_expr(arena_printf(r->arena, "(%s) != 0", one.text), TIGHT_LOOSE));
}

static Expr render_cast(CRender *r, const LoOp *op)
{
    LoType from = op->args[0]->type;
    bool is_unsigned = op->kind == LO_zext || op->kind == LO_from_uint;
    if (lo_element(from) == lo_i1)
        return from_truth(r, op, is_unsigned);
    if (lo_element(op->type) == lo_i1)
        return to_truth(r, op);
    Expr x = is_unsigned ? as_unsigned(r, op) : c_arg(r, op, 0);
    const char *type = c_type(r, op->type);
    return lo_is_vector(op->type) ? c_convert(r, x, type) : c_cast(r, type, x);
}

static Expr render_bitcast(CRender *r, const LoOp *op)
{
    LoType from = op->args[0]->type;
    assert(!c_is_mask(from) && !c_is_mask(op->type));
    Expr x = c_arg(r, op, 0);
    return lo_is_vector(op->type) && lo_is_vector(from)
               ? c_cast(r, c_type(r, op->type), x)
               : c_call2(r, "BITS", c_type(r, op->type), x.text);
}

/* ---- lanes ---- */

static Expr render_splat(CRender *r, const LoOp *op)
{
    if (!c_is_mask(op->type))
        return c_call(r, c_splat(r, op->type), c_arg(r, op, 0).text);
    LoType words = lo_like(op->type, lo_i32);
    assert(c_note(r, op)->mask_bits == 32);
    return c_call(r, c_splat(r, words),
                  arena_printf(r->arena, "-(i32)%s", c_wrap(r, c_arg(r, op, 0), TIGHT_UNARY)));
}

static Expr render_extract(CRender *r, const LoOp *op)
{
    const char *lane =
        arena_printf(r->arena, "%s[%d]", c_wrap(r, c_arg(r, op, 0), TIGHT_NAME), op->order[0]);
    return c_is_mask(op->args[0]->type)
               ? c_expr(arena_printf(r->arena, "%s != 0", lane), TIGHT_LOOSE)
               : c_expr(lane, TIGHT_NAME);
}

static Expr render_shuffle(CRender *r, const LoOp *op)
{
    int bits = c_note(r, op)->mask_bits;
    Text out = {0};
    text_add(&out, "__builtin_shufflevector(%s, %s",
             (bits ? c_mask_as(r, op->args[0], bits) : c_arg(r, op, 0)).text,
             (bits ? c_mask_as(r, op->args[1], bits) : c_arg(r, op, 1)).text);
    for (int i = 0; i < op->n_order; i++)
        text_add(&out, ", %d", op->order[i]);
    text_add(&out, ")");
    return c_expr(text_keep(r->arena, &out), TIGHT_NAME);
}

/* ---- accumulators: variables ---- */

static const char *render_accumulate(CRender *r, const LoOp *op)
{
    const LoOp *accumulator = op->args[0];
    const char *sum = c_value(r, accumulator).text;
    Expr x = c_arg(r, op, 1);
    const bool adds = lo_join_of(accumulator) == LO_JOIN_ADD;
    if (adds && !lo_is_float(accumulator->type)) { /* integers wrap */
        const char *plain = c_integers(r, accumulator->type, false);
        return arena_printf(r->arena, "%s = (%s)((%s)%s + (%s)%s)", sum,
                            c_type(r, accumulator->type), plain, sum, plain,
                            c_wrap(r, x, TIGHT_UNARY));
    }
    if (adds)
        return arena_printf(r->arena, "%s = %s + %s", sum, sum, c_wrap(r, x, TIGHT_PRODUCT));
    const char *greater =
        lo_is_float(accumulator->type)
            ? arena_printf(r->arena, "((%s > %s) | (%s != %s))", x.text, sum, x.text, x.text)
            : arena_printf(r->arena, "(%s > %s)", x.text, sum);
    if (!lo_is_vector(accumulator->type))
        return arena_printf(r->arena, "%s = %s ? %s : %s", sum, greater, x.text, sum);
    const char *mask = c_integers(r, accumulator->type, true);
    return arena_printf(r->arena, "%s = %s((%s)%s, %s, %s)", sum, c_select(r, accumulator->type),
                        mask, greater, x.text, sum);
}

/* ---- which one ---- */

/* What stands in place of an op that only one processor has, after the error. */
static const char *no_word(CRender *r, const LoOp *op)
{
    diag_error(r->diags, (Loc){0}, "C has no word for the operation %s of one processor",
               lo_info[op->kind].name);
    return "0";
}

const char *c_statement(CRender *r, const LoOp *op)
{
    switch (op->kind) {
    case LO_store: return c_render_store(r, op);
    case LO_accumulate: return render_accumulate(r, op);
    case LO_prefetch:
        return arena_printf(r->arena, "__builtin_prefetch(%s, 0, 2)", c_arg(r, op, 0).text);
    case LO_prefetch_write:
        return arena_printf(r->arena, "__builtin_prefetch(%s, 1, 3)", c_arg(r, op, 0).text);
    default: return no_word(r, op);
    }
}

Expr c_expression(CRender *r, const LoOp *op)
{
    if (operators[op->kind].text)
        return render_binary(r, op);
    switch (op->kind) {
    case LO_muladd: return render_muladd(r, op);
    case LO_neg: return render_neg(r, op);
    case LO_abs: return render_abs(r, op);
    case LO_sqrt: return render_library(r, op, "sqrt");
    case LO_floor: return render_library(r, op, "floor");
    case LO_math: return render_library(r, op, op->name);
    case LO_copysign: return render_copysign(r, op);
    case LO_unordered: return render_unordered(r, op);
    case LO_select: return render_select(r, op);
    case LO_trunc:
    case LO_zext:
    case LO_sext:
    case LO_fcast:
    case LO_from_int:
    case LO_from_uint: return render_cast(r, op);
    case LO_to_int:
        return c_call(r, c_to_int(r, op->type, op->args[0]->type), c_arg(r, op, 0).text);
    case LO_bitcast: return render_bitcast(r, op);
    case LO_splat: return render_splat(r, op);
    case LO_extract: return render_extract(r, op);
    case LO_shuffle: return render_shuffle(r, op);
    case LO_at: return c_render_at(r, op);
    case LO_load: return c_render_load(r, op);
    case LO_accumulator:
    case LO_total: return c_arg(r, op, 0);
    default: return c_expr(no_word(r, op), TIGHT_NAME);
    }
}

/* ---- spaces ---- */

CSpace c_choose_space(const CRender *r, const LoOp *op)
{
    const LoOp *from = op->kind == LO_select ? op->args[1] : op->n_args ? op->args[0] : NULL;
    if (op->type != lo_ptr || op->kind == LO_scratch)
        return op->kind == LO_scratch ? C_SCRATCH : C_GIVEN;
    bool follows = op->kind == LO_at || op->kind == LO_select || op->kind == LO_carry;
    return follows && !lo_is_constant(from) ? c_note(r, from)->space : C_GIVEN;
}

/* ---- folding ---- */

bool c_can_fold(const LoOp *op)
{
    switch (op->kind) {
    case LO_load:
    case LO_scratch:
    case LO_carry:
    case LO_accumulator:
    case LO_total:
    case LO_for:
    case LO_math:
    case LO_shuffle: return false;
    default: return !op->body;
    }
}

bool c_takes_expression(const LoOp *op, int i)
{
    (void)i;
    bool twice = op->kind == LO_unordered || (op->kind == LO_abs && !lo_is_float(op->type)) ||
                 (op->kind == LO_select && c_is_mask(op->type)) || op->kind == LO_accumulate;
    return !twice;
}
