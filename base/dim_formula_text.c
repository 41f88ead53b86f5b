/* Formulas of lengths as a model says them, for messages, headers and pages. */
#include "base/dim_formula.h"

static const char *text_of_term(Arena *arena, const DimTerm *term, const char *name)
{
    return term->times > 1 ? arena_printf(arena, "%d * %s", (int)term->times, name) : name;
}

static const char *text_of_sum(Arena *arena, const DimFormula *formula, DimNameOf *name,
                               const void *of)
{
    const char *text =
        formula->plus > 0 || !formula->n ? arena_printf(arena, "%d", (int)formula->plus) : "";
    for (int32_t i = 0; i < formula->n; i++) {
        const DimTerm *term = &formula->terms[i];
        if (term->times)
            text = arena_printf(arena, "%s%s%s", text, *text ? " + " : "",
                                text_of_term(arena, term, name(of, term->symbol)));
    }
    return formula->n && formula->plus < 0
               ? arena_printf(arena, "%s - %d", text, -(int)formula->plus)
               : text;
}

const char *dim_formula_text(Arena *arena, const DimFormula *formula, DimNameOf *name,
                             const void *of)
{
    const char *text = text_of_sum(arena, formula, name, of);
    if (formula->divisor > 1)
        text = arena_printf(arena, "(%s) / %d", text, (int)formula->divisor);
    return formula->most
               ? arena_printf(arena, "%s where %d <= %s <= %d", text, (int)formula->least,
                              name(of, formula->terms[formula->n - 1].symbol), (int)formula->most)
               : text;
}
