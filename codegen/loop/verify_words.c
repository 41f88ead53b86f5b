/* Helpers of all rules: the message, and which values are in scope. */
#include "codegen/loop/verify.h"

#include "codegen/loop/text/text.h"

bool lo_broken(LoVerifier *v, const LoOp *op, const char *rule, ...)
{
    va_list args;
    va_start(args, rule);
    Loc loc = {.source = v->module->source, .line = op->line, .column = op->column, .length = 1};
    const char *name = lo_info[op->kind].name;
    diag_error(v->diags, op->line ? loc : (Loc){0}, "%s: %s", name ? name : "operand",
               arena_vprintf(v->arena, rule, args));
    va_end(args);
    if (!name)
        return false;
    Text text = {0};
    lo_print_op(op, &text);
    diag_note(v->diags, (Loc){0}, "in @%s: %s", v->function->name, text.data);
    text_free(&text);
    return false;
}

bool lo_is_seen(const LoVerifier *v, const LoOp *x)
{
    return x->id >= 0 && x->id < v->function->n_ids && v->visible[x->id] == x;
}
