/* Pass unroll: several turns of a loop that is marked for it (LoOp.unroll) become one; the turns
 * that are left go one by one.
 *
 *   f32 %3 = carry f32 0                            f32 %3 = carry f32 0
 *   i64 %4 = carry %1                               i64 %4 = carry %1
 *   while %4 >= i64 1 over %3, %4 unroll 2 {        while %4 >= i64 2 over %3, %4 {
 *     f32 %5 = mul %3, %2                             f32 %5 = mul %3, %2
 *     i64 %6 = isub %4, i64 1                   →     f32 %6 = mul %5, %2
 *     next %5, %6                                     i64 %7 = isub %4, i64 2
 *   }                                                 next %6, %7
 *                                                   }
 *                                                   … and the loop as it was, from there on
 *
 * Nothing is computed in another order. */
#include "codegen/loop/build.h"
#include "codegen/loop/passes/passes.h"

#include <string.h>

typedef struct Unroll {
    Lo lo;
    LoOp *loop;
    LoValue *values; /* by the id of the loop's carries and ops: in the current turn */
} Unroll;

static LoValue now(const Unroll *u, LoValue x)
{
    bool changes = x->block == u->loop->body || (x->kind == LO_carry && u->values[x->id]);
    return changes ? u->values[x->id] : x;
}

/* The body once more; `state`: what is carried, before it and after. */
static void write_turn(Unroll *u, LoValue *state)
{
    int n = u->loop->n_args - 1;
    for (int i = 0; i < n; i++)
        u->values[u->loop->args[i]->id] = state[i];
    FOR_LOOP_OPS (op, u->loop->body) {
        LoValue args[LO_MAX_CARRIED];
        for (int i = 0; i < op->n_args; i++)
            args[i] = now(u, op->args[i]);
        u->lo.origin = op->origin;
        if (op->kind == LO_next)
            memcpy(state, args, sizeof *args * (size_t)n);
        else {
            LoValue copy = lo_append(&u->lo, *op, op->n_args, args);
            if (op->type != lo_none)
                u->values[op->id] = copy;
        }
    }
    for (int i = 0; i < n; i++)
        u->values[u->loop->args[i]->id] = NULL;
}

static void unroll_loop(Unroll *u, LoModule *module)
{
    LoOp *loop = u->loop;
    int n = loop->n_args - 1, turns = loop->unroll;
    LoValue state[LO_MAX_CARRIED];
    LoWhile wide = {.n = 0};
    /* beside their loop, as what they begin with is now another's end */
    for (int i = 0; i < n; i++) {
        lo_remove(loop->args[i]);
        lo_insert(loop->args[i], loop->block, loop);
        state[i] = loop->args[i]->args[0];
        if (i < n - 1)
            wide.values[wide.n++] = &state[i];
    }
    lo_reopen(&u->lo, module, loop->block->function, loop->args[0]);
    LoValue step = lo_i64_of(&u->lo, loop->args[n]->number * turns);
    lo_while_open(&u->lo, &wide, &state[n - 1], step);
    wide.op->name = loop->name;
    for (int turn = 0; turn < turns; turn++)
        write_turn(u, state);
    state[n - 1] = lo_isub(&u->lo, wide.carries[n - 1], step);
    lo_while_close(&u->lo, &wide);
    for (int i = 0; i < n; i++)
        loop->args[i]->args[0] = state[i];
    loop->unroll = 0;
}

static void unroll_block(Unroll *u, LoModule *module, LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_while && op->unroll) {
            u->loop = op;
            unroll_loop(u, module);
        }
        if (op->body)
            unroll_block(u, module, op->body);
        if (op->other)
            unroll_block(u, module, op->other);
    }
}

void lo_unroll(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++) {
        LoFunction *f = module->functions.data[i];
        Arena *arena = arena_new();
        Unroll u = {.values = NULL};
        lo_number(f);
        u.values = ARENA_ARRAY(arena, LoValue, f->n_ids + 1);
        unroll_block(&u, module, f->body);
        arena_free(arena);
    }
}
