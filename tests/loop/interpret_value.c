/* What ops have given, and the message that ends a run; see interpret.h. */
#include "tests/loop/interpret_state.h"

#include "codegen/loop/text/text.h"

bool lo_stop(LoFrame *f, const LoOp *op, const char *format, ...)
{
    Diagnostics *diags = f->in->diags;
    va_list args;
    va_start(args, format);
    Text line = {0};
    lo_print_op(op, &line);
    diag_error(diags, (Loc){0}, "@%s: %s: %s", f->function->name, line.data,
               arena_vprintf(diags->arena, format, args));
    text_free(&line);
    va_end(args);
    return false;
}

void lo_fetch(const LoFrame *f, const LoOp *x, LoLanes out)
{
    for (int i = 0; i < lo_lanes(x->type); i++)
        out[i] = x->kind == LO_int               ? (uint64_t)x->number & lo_mask_of(x->type)
                 : x->kind == LO_iota            ? (uint64_t)i & lo_mask_of(x->type)
                 : x->kind != LO_real            ? f->lanes[f->first[x->id] + (size_t)i]
                 : lo_element(x->type) == lo_f32 ? lo_bits_of_f32((float)x->real)
                                                 : lo_bits_of_f64(x->real);
}

uint64_t lo_fetch_scalar(const LoFrame *f, const LoOp *x)
{
    LoLanes lanes;
    lo_fetch(f, x, lanes);
    return lanes[0];
}
