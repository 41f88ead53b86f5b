/* Pass jam: all turns of a loop that is marked for it (LoVector) become one, so that the loops
 * within it run once for all of them.
 *
 *   for i64 %4 = i64 0 to i64 2 step 1 vector 1 jam 2 {       f32 %4 = carry f32 0
 *     f32 %5 = carry f32 0                                   f32 %5 = carry f32 0
 *     i64 %6 = carry %1                                      i64 %6 = carry %1
 *     while %6 >= i64 1 over %5, %6 {                        while %6 >= i64 1 over %4, %5, %6 {
 *       f32 %7 = load %2                                       f32 %7 = load %2
 *       ptr %8 = at f32 %3, %4                           →     f32 %8 = load %3
 *       f32 %9 = load %8                                       f32 %9 = muladd %8, %7, %4
 *       f32 %10 = muladd %9, %7, %5                            ptr %10 = at f32 %3, i64 1
 *       …                                                      f32 %11 = load %10
 *                                                              f32 %12 = muladd %11, %7, %5
 *                                                              …
 *
 * So the rows of a tile share what they load of the other operand: unroll-and-jam, register tiling.
 * The loop must have one lane a turn, and as many turns as `jam` says; others stay as they are.
 * Loops within such a loop may be jammed, too, or become vectors. */
#include "codegen/loop/passes/widen.h"

static int64_t turns(const LoOp *loop)
{
    bool known = lo_is_int(loop->args[0]) && lo_is_int(loop->args[1]);
    return known ? loop->args[1]->number - loop->args[0]->number : 0;
}

/* The first loop of the block that is to be jammed; NULL: there is none. */
static LoOp *find_loop(const LoBlock *block)
{
    LoOp *found = NULL;
    for (LoOp *op = block ? block->first : NULL; op && !found; op = op->after) {
        if (op->kind == LO_for && op->vector.lanes == 1 && turns(op) == op->vector.jam &&
            op->vector.jam)
            found = op;
        else if (op->body)
            found = find_loop(op->body);
        if (!found)
            found = find_loop(op->other);
    }
    return found;
}

void lo_jam(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++) {
        LoFunction *f = module->functions.data[i];
        for (LoOp *loop; (loop = find_loop(f->body));) {
            Arena *arena = arena_new();
            lo_number(f);
            Widen w = widen_start(module, loop, ARENA_ARRAY(arena, Wide, f->n_ids + 1),
                                  ARENA_ARRAY(arena, bool, f->n_ids + 1), 1);
            widen_turns(&w, loop->args[0], loop->args[1], loop->vector.jam, false);
            lo_remove(loop);
            arena_free(arena);
        }
    }
}
