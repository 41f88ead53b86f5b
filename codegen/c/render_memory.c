/* Addresses, loads and stores as C. */
#include "codegen/c/render_state.h"

#include <inttypes.h>
#include <string.h>

/* ---- memory ---- */

int c_bytes(LoType element)
{
    int bits = lo_bits(element);
    return (bits < 8 ? 1 : bits / 8) * lo_lanes(element);
}

/* Bytes of an element: a number, or of pointers what the system has. */
static const char *element_size(CRender *r, LoType element)
{
    return element == lo_ptr ? "(i64)sizeof(char *)"
                             : arena_printf(r->arena, "%d", c_bytes(element));
}

Expr c_render_at(CRender *r, const LoOp *op)
{
    const LoOp *index = op->args[1];
    Expr base = c_arg(r, op, 0);
    bool is_number = lo_is_int(index) && !lo_is_vector(index->type);
    if (is_number && index->number == 0)
        return base;
    if (is_number && op->element != lo_ptr) {
        int64_t offset = index->number * c_bytes(op->element);
        return c_expr(arena_printf(r->arena, "%s %c %" PRId64, c_wrap(r, base, TIGHT_SUM),
                                   offset < 0 ? '-' : '+', offset < 0 ? -offset : offset),
                      TIGHT_SUM);
    }
    Expr i = c_value(r, index);
    if (lo_is_vector(op->type)) {
        if (lo_bits(lo_element(index->type)) != 64)
            i = c_convert(r, i, c_type(r, op->type));
        if (!lo_is_vector(op->args[0]->type))
            base = c_expr(arena_printf(r->arena, "(i64)(intptr_t)%s", c_wrap(r, base, TIGHT_UNARY)),
                          TIGHT_UNARY);
    }
    if (c_bytes(op->element) > 1)
        i = c_expr(arena_printf(r->arena, "%s * %s", c_wrap(r, i, TIGHT_PRODUCT),
                                element_size(r, op->element)),
                   TIGHT_PRODUCT);
    return c_expr(
        arena_printf(r->arena, "%s + %s", c_wrap(r, base, TIGHT_SUM), c_wrap(r, i, TIGHT_PRODUCT)),
        TIGHT_SUM);
}

/* What lies at the pointer, of an operand of a load or store. */
static const char *place(CRender *r, LoType type, int align, const LoOp *at)
{
    const char *memory = c_memory_type(r, type, align), *pointer = c_value(r, at).text;
    CSpace space = lo_is_constant(at) ? C_GIVEN : c_note(r, at)->space;
    size_t n = strlen(memory);
    if (n > 3 && !strcmp(memory + n - 3, "_at"))
        return arena_printf(r->arena, "%s(%.*s, %s)", r->dialect->places[space], (int)n - 3, memory,
                            pointer);
    return arena_printf(r->arena, "*(%s *)(%s)", memory, pointer);
}

static const char *mask_or_all(CRender *r, const LoOp *op, int at, LoType type)
{
    int bits = lo_bits(lo_element(type));
    if (op->n_args > at)
        return c_mask_as(r, op->args[at], bits).text;
    return c_call(r, c_splat(r, lo_like(type, c_word(bits))), "-1").text;
}

Expr c_render_load(CRender *r, const LoOp *op)
{
    const char *pointer = c_arg(r, op, 0).text;
    if (lo_is_vector(op->args[0]->type))
        return c_call2(r, c_gathered(r, op->type, false), pointer, mask_or_all(r, op, 1, op->type));
    if (op->n_args == 2 && !lo_is_vector(op->type))
        return c_expr(arena_printf(r->arena, "%s ? %s : 0", c_wrap(r, c_arg(r, op, 1), TIGHT_UNARY),
                                   place(r, op->type, op->align, op->args[0])),
                      TIGHT_LOOSE);
    if (op->n_args == 2)
        return c_call2(r, c_masked(r, op->type, false), pointer, mask_or_all(r, op, 1, op->type));
    return c_expr(place(r, op->type, op->align, op->args[0]), TIGHT_NAME);
}

const char *c_render_store(CRender *r, const LoOp *op)
{
    LoType type = op->args[0]->type;
    const char *value = c_arg(r, op, 0).text, *pointer = c_arg(r, op, 1).text;
    if (lo_is_vector(op->args[1]->type))
        return arena_printf(r->arena, "%s(%s, %s, %s)", c_gathered(r, type, true), value, pointer,
                            mask_or_all(r, op, 2, type));
    if (op->n_args == 3 && !lo_is_vector(type))
        return arena_printf(r->arena, "if (%s) %s = %s", c_arg(r, op, 2).text,
                            place(r, type, op->align, op->args[1]), value);
    if (op->n_args == 3)
        return arena_printf(r->arena, "%s(%s, %s, %s)", c_masked(r, type, true), value, pointer,
                            mask_or_all(r, op, 2, type));
    return arena_printf(r->arena, "%s = %s", place(r, type, op->align, op->args[1]), value);
}
