/* Memory, sums over loops, and control; see build.h. */
#include "codegen/loop/build.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static Arena *arena_of(const Lo *lo) { return lo->module->arena; }

/* ---- memory ---- */

LoValue lo_scratch_of(Lo *lo, LoType element, LoValue n, int align, const char *name)
{
    LoOp op = {.kind = LO_scratch,
               .type = lo_ptr,
               .align = (uint16_t)align,
               .element = element,
               .name = name};
    return lo_append(lo, op, 1, &n);
}

LoValue lo_scratch(Lo *lo, LoType element, int64_t n, int align, const char *name)
{
    LoBlock *start = lo->function->body;
    lo->at = start;
    lo->before = start->first;
    LoValue memory = lo_scratch_of(lo, element, lo_i64_of(lo, n), align, name);
    lo_resume(lo);
    return memory;
}

LoValue lo_at(Lo *lo, LoType element, LoValue pointer, LoValue index)
{
    if (!index || (lo_is_int(index) && index->number == 0 && !lo_is_vector(index->type)))
        return pointer;
    LoType shape = lo_is_vector(pointer->type) ? pointer->type : index->type;
    LoOp op = {.kind = LO_at, .type = lo_like(shape, lo_ptr), .element = element};
    return lo_append(lo, op, 2, (LoValue[]){pointer, index});
}

LoValue lo_load(Lo *lo, LoType type, LoValue pointer, int align)
{
    return lo_append(lo, (LoOp){.kind = LO_load, .type = type, .align = (uint16_t)align}, 1,
                     &pointer);
}

LoValue lo_load_pointer(Lo *lo, LoValue pointers, int64_t i)
{
    return lo_load(lo, lo_ptr, lo_at(lo, lo_ptr, pointers, lo_i64_of(lo, i)), 0);
}

void lo_store(Lo *lo, LoValue value, LoValue pointer, int align)
{
    lo_append(lo, (LoOp){.kind = LO_store, .align = (uint16_t)align}, 2,
              (LoValue[]){value, pointer});
}

LoValue lo_masked_load(Lo *lo, LoType type, LoValue pointer, LoValue mask, int align)
{
    return lo_append(lo, (LoOp){.kind = LO_load, .type = type, .align = (uint16_t)align}, 2,
                     (LoValue[]){pointer, mask});
}

void lo_masked_store(Lo *lo, LoValue value, LoValue pointer, LoValue mask, int align)
{
    lo_append(lo, (LoOp){.kind = LO_store, .align = (uint16_t)align}, 3,
              (LoValue[]){value, pointer, mask});
}

void lo_prefetch(Lo *lo, LoValue pointer)
{
    lo_append(lo, (LoOp){.kind = LO_prefetch}, 1, &pointer);
}

void lo_prefetch_write(Lo *lo, LoValue pointer)
{
    lo_append(lo, (LoOp){.kind = LO_prefetch_write}, 1, &pointer);
}

void lo_tile(Lo *lo, LoKind kind, int n, LoValue *args)
{
    assert(n == lo_info[kind].args);
    lo_append(lo, (LoOp){.kind = kind}, n, args);
}

/* ---- sums over loops ---- */

static const char *const joins[] = {[LO_JOIN_ADD] = "add", [LO_JOIN_MAX] = "max"};

LoJoin lo_join_of(const LoOp *accumulator)
{
    return strcmp(accumulator->name, joins[LO_JOIN_MAX]) ? LO_JOIN_ADD : LO_JOIN_MAX;
}

LoValue lo_accumulator(Lo *lo, LoJoin by, LoValue first)
{
    return lo_append(lo, (LoOp){.kind = LO_accumulator, .type = first->type, .name = joins[by]}, 1,
                     &first);
}

void lo_accumulate(Lo *lo, LoValue accumulator, LoValue x)
{
    assert(accumulator->type == x->type);
    lo_append(lo, (LoOp){.kind = LO_accumulate}, 2, (LoValue[]){accumulator, x});
}

LoValue lo_total(Lo *lo, LoValue accumulator)
{
    const LoOp op = {.kind = LO_total, .type = accumulator->type};
    return lo_append(lo, op, 1, &accumulator);
}

LoValue lo_identity(Lo *lo, LoJoin by, LoType type)
{
    if (by == LO_JOIN_ADD)
        return lo_zero(lo, type);
    return lo_is_float(type) ? lo_real(lo, type, -INFINITY) : lo_int(lo, type, INT32_MIN);
}

LoValue lo_join(Lo *lo, LoJoin by, LoValue a, LoValue b)
{
    if (by == LO_JOIN_ADD)
        return lo_add(lo, a, b);
    LoValue greater = lo_select(lo, lo_gt(lo, b, a), b, a); /* a NaN a stays */
    if (!lo_is_float(b->type))
        return greater;
    /* not b itself: LLVM would make one condition of both, and no maxps */
    return lo_select(lo, lo_unordered(lo, b, b), lo_real(lo, b->type, NAN), greater);
}

/* ---- control ---- */

void lo_resume(Lo *lo)
{
    lo->at = lo->block;
    lo->before = lo->block == lo->home ? lo->stop : NULL;
}

void lo_before(Lo *lo, LoOp *op)
{
    lo->at = op->block;
    lo->before = op;
}

LoOp *lo_seam(Lo *lo)
{
    lo_resume(lo);
    return lo_append(lo, (LoOp){.kind = LO_seam}, 0, NULL);
}

void lo_call(Lo *lo, LoFunction *callee, int n, LoValue *args)
{
    assert(n == callee->n_params);
    lo_append(lo, (LoOp){.kind = LO_call, .callee = callee}, n, args);
}

void lo_return(Lo *lo) { lo_append(lo, (LoOp){.kind = LO_return}, 0, NULL); }

/* An op with a block, in which straight-line code goes on. */
static LoBlock *enter(Lo *lo, LoOp *parent)
{
    LoBlock *block = ARENA_NEW(arena_of(lo), LoBlock);
    *block = (LoBlock){.parent = parent, .function = lo->function};
    lo->block = block;
    lo_resume(lo);
    return block;
}

static void leave(Lo *lo, const LoOp *parent)
{
    lo->block = parent->block;
    lo_resume(lo);
}

LoLoop lo_for_open(Lo *lo, LoValue start, LoValue end, int64_t step, const char *name)
{
    lo_resume(lo);
    LoOp *loop = lo_append(lo, (LoOp){.kind = LO_for, .type = lo_i64, .number = step, .name = name},
                           2, (LoValue[]){start, end});
    loop->body = enter(lo, loop);
    return (LoLoop){loop, lo_i64_of(lo, step)};
}

LoLoop lo_vector_open(Lo *lo, LoValue start, LoValue end, LoVector vector, const char *name)
{
    LoLoop loop = lo_for_open(lo, start, end, 1, name);
    loop.index->vector = vector;
    return loop;
}

void lo_for_close(Lo *lo, LoLoop *loop) { leave(lo, loop->index); }

void lo_while_open(Lo *lo, LoWhile *loop, LoValue *left, LoValue step)
{
    LoValue args[LO_MAX_CARRIED + 1];
    loop->values[loop->n++] = left;
    for (int i = 0; i < loop->n; i++) {
        const LoOp op = {.kind = LO_carry, .type = (*loop->values[i])->type};
        loop->carries[i] = lo_append(lo, op, 1, loop->values[i]);
        *loop->values[i] = args[i] = loop->carries[i];
    }
    args[loop->n] = step;
    loop->op = lo_append(lo, (LoOp){.kind = LO_while}, loop->n + 1, args);
    loop->op->body = enter(lo, loop->op);
}

void lo_while_close(Lo *lo, LoWhile *loop)
{
    LoValue next[LO_MAX_CARRIED];
    for (int i = 0; i < loop->n; i++) {
        next[i] = *loop->values[i];
        *loop->values[i] = loop->carries[i];
    }
    lo_append(lo, (LoOp){.kind = LO_next}, loop->n, next);
    leave(lo, loop->op);
}

LoIf lo_if_open(Lo *lo, LoValue condition)
{
    lo_resume(lo);
    LoOp *branch = lo_append(lo, (LoOp){.kind = LO_if}, 1, &condition);
    branch->body = enter(lo, branch);
    return (LoIf){branch};
}

void lo_else(Lo *lo, LoIf *branch) { branch->op->other = enter(lo, branch->op); }

void lo_if_close(Lo *lo, LoIf *branch) { leave(lo, branch->op); }
