/* Values as C expressions: names, constants, masks. */
#include "codegen/c/render_state.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- expressions ---- */

const char *c_wrap(CRender *r, Expr x, Tightness most)
{
    return x.tightness <= most ? x.text : arena_printf(r->arena, "(%s)", x.text);
}

Expr c_expr(const char *text, Tightness tightness)
{
    return (Expr){.text = text, .tightness = tightness};
}

Expr c_call(CRender *r, const char *function, const char *a)
{
    return c_expr(arena_printf(r->arena, "%s(%s)", function, a), TIGHT_NAME);
}

Expr c_call2(CRender *r, const char *function, const char *a, const char *b)
{
    return c_expr(arena_printf(r->arena, "%s(%s, %s)", function, a, b), TIGHT_NAME);
}

Expr c_cast(CRender *r, const char *type, Expr x)
{
    return c_expr(arena_printf(r->arena, "(%s)%s", type, c_wrap(r, x, TIGHT_UNARY)), TIGHT_UNARY);
}

Expr c_convert(CRender *r, Expr x, const char *type)
{
    return c_call2(r, "__builtin_convertvector", x.text, type);
}

/* ---- constants ---- */

static Expr real_constant(CRender *r, const LoOp *x)
{
    bool single = lo_element(x->type) == lo_f32;
    const char *suffix = single ? "f" : "";
    if (isnan(x->real))
        return c_expr(r->dialect->nan[!single], TIGHT_NAME);
    if (isinf(x->real))
        return c_expr(
            arena_printf(r->arena, "%s%s", x->real < 0 ? "-" : "", r->dialect->inf[!single]),
            x->real < 0 ? TIGHT_UNARY : TIGHT_NAME);
    char *digits = arena_printf(r->arena, single ? "%.9g" : "%.17g", x->real);
    bool whole = !strpbrk(digits, ".e");
    return c_expr(arena_printf(r->arena, "%s%s%s", digits, whole ? ".0" : "", suffix),
                  signbit(x->real) ? TIGHT_UNARY : TIGHT_NAME);
}

static Expr int_constant(CRender *r, const LoOp *x)
{
    int64_t n = x->number;
    if (lo_element(x->type) == lo_i1)
        return c_expr(n ? "true" : "false", TIGHT_NAME);
    if (n == INT64_MIN)
        return c_expr("INT64_MIN", TIGHT_NAME);
    if (n == INT32_MIN)
        return c_expr("INT32_MIN", TIGHT_NAME);
    const char *form = n > INT32_MAX || n < INT32_MIN ? "INT64_C(%" PRId64 ")" : "%" PRId64;
    return c_expr(arena_printf(r->arena, form, n), n < 0 ? TIGHT_UNARY : TIGHT_NAME);
}

static Expr scalar_constant(CRender *r, const LoOp *x)
{
    return x->kind == LO_real ? real_constant(r, x) : int_constant(r, x);
}

/* ---- operands ---- */

static const char *name_of(CRender *r, const LoOp *x)
{
    static const char letters[] = {[LO_I1] = 'm',  [LO_I8] = 'n',  [LO_I16] = 'n', [LO_I32] = 'n',
                                   [LO_I64] = 'n', [LO_F32] = 'x', [LO_F64] = 'x', [LO_PTR] = 'p'};
    if (x->kind == LO_for)
        return arena_printf(r->arena, "k%d", x->id); /* i8 … are types */
    return arena_printf(r->arena, "%c%d", letters[lo_element_kind(x->type)], x->id);
}

Expr c_value(CRender *r, const LoOp *x)
{
    if (x->kind == LO_iota)
        return c_expr(c_iota(r, x->type), TIGHT_NAME);
    if (lo_is_constant(x)) {
        Expr one = scalar_constant(r, x);
        assert(!c_is_mask(x->type));
        return lo_is_vector(x->type) ? c_call(r, c_splat(r, x->type), one.text) : one;
    }
    return c_note(r, x)->folded ? c_expression(r, x) : c_expr(name_of(r, x), TIGHT_NAME);
}

Expr c_arg(CRender *r, const LoOp *op, int i) { return c_value(r, op->args[i]); }

/* A vector all of whose lanes are one number, where the C operators take the number. */
bool c_is_one_number(const CRender *r, const LoOp *x)
{
    return lo_is_vector(x->type) && (x->kind == LO_int || x->kind == LO_real ||
                                     (x->kind == LO_splat && c_note(r, x)->folded));
}

Expr c_number_of(CRender *r, const LoOp *x)
{
    return lo_is_constant(x) ? scalar_constant(r, x) : c_arg(r, x, 0);
}

/* ---- masks ---- */

LoType c_word(int bits)
{
    return bits == 8 ? lo_i8 : bits == 16 ? lo_i16 : bits == 32 ? lo_i32 : lo_i64;
}

/* A vector of i1 as integers of so many bits a lane. */
Expr c_mask_as(CRender *r, const LoOp *x, int bits)
{
    int lanes = lo_lanes(x->type);
    const char *type = c_mask_type(r, bits, lanes);
    if (lo_is_int(x)) {
        LoType words = lo_vector(c_word(bits), lanes);
        return c_call(r, c_splat(r, words), x->number ? "-1" : "0");
    }
    Expr value = c_value(r, x);
    return c_note(r, x)->mask_bits == bits ? value : c_convert(r, value, type);
}

static int mask_bits_of(const CRender *r, const LoOp *x)
{
    return lo_is_constant(x) ? 0 : c_note(r, x)->mask_bits;
}

int c_choose_mask_bits(const CRender *r, const LoOp *op)
{
    enum { ANY = 32 };
    if (!c_is_mask(op->type))
        return 0;
    for (int i = op->kind == LO_select && c_is_mask(op->args[0]->type) ? 1 : 0; i < op->n_args;
         i++) {
        LoType type = op->args[i]->type;
        int bits = c_is_mask(type)      ? mask_bits_of(r, op->args[i])
                   : lo_is_vector(type) ? lo_bits(lo_element(type))
                                        : 0;
        if (bits)
            return bits;
    }
    return ANY;
}

const char *c_value_type(CRender *r, const LoOp *x)
{
    return c_is_mask(x->type)  ? c_mask_type(r, c_note(r, x)->mask_bits, lo_lanes(x->type))
           : x->type == lo_ptr ? r->dialect->pointers[c_note(r, x)->space]
                               : c_type(r, x->type);
}
