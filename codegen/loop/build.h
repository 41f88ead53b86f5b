/* Builds loop IR: one function being written, op after op.
 *
 * Arithmetic takes scalars and vectors alike. Of two constant integers it gives a constant, except
 * for udiv, urem and a division by a negative number. Integers + 0 and · 1 give the operand. Types
 * that do not fit are the caller's mistake, and fail an assertion or the verifier. */
#ifndef CODEGEN_LOOP_BUILD_H
#define CODEGEN_LOOP_BUILD_H

#include "codegen/loop/loop.h"

typedef struct Lo {
    LoModule *module;
    LoFunction *function;
    LoBlock *block; /* where straight-line code goes on, at its end */
    LoBlock *at;    /* where the next op goes: before `before`; NULL: at the end */
    LoOp *before;
    LoBlock *home; /* after lo_reopen: in this block straight-line code goes on before `stop` */
    LoOp *stop;
    int origin; /* of the ops to come */
} Lo;

/* Opens a function without ops. */
void lo_begin(Lo *lo, LoModule *module, LoFunction *function);
/* Opens a function that has ops: straight-line code goes on before this op, with its origin. */
void lo_reopen(Lo *lo, LoModule *module, LoFunction *function, LoOp *before);

/* Inserts a copy of the op with these operands where the next op goes; nothing is folded. Its
 * origin is the builder's; before a seam it is the seam's. */
LoOp *lo_append(Lo *lo, LoOp op, int n, LoValue const *args);

static inline LoType lo_type(LoValue x) { return x->type; }
LoValue lo_param(Lo *lo, int i);

/* ---- constants: the same in every lane of the type ---- */
LoValue lo_int(Lo *lo, LoType type, int64_t value);
LoValue lo_real(Lo *lo, LoType type, double value);
LoValue lo_zero(Lo *lo, LoType type);
LoValue lo_i64_of(Lo *lo, int64_t value);
LoValue lo_iota_of(Lo *lo, LoType element, int lanes); /* 0, 1, 2, … */
bool lo_same(LoValue a, LoValue b);                    /* one value, or equal constants */
/* Whether straight-line code may use the value: it stands in this block or one around it, or is a
 * param or a constant. */
bool lo_is_visible(const Lo *lo, LoValue x);

/* ---- arithmetic ---- */
#define LO_UNARY(name) LoValue lo_##name(Lo *lo, LoValue a);
#define LO_BINARY(name) LoValue lo_##name(Lo *lo, LoValue a, LoValue b);
/* clang-format off */
#define LO_OPERATIONS                                                                    \
    LO_UNARY(neg) LO_UNARY(sqrt) LO_UNARY(floor) LO_UNARY(abs)                           \
    LO_BINARY(add) LO_BINARY(sub) LO_BINARY(mul) LO_BINARY(div) LO_BINARY(rem)           \
    LO_BINARY(udiv) LO_BINARY(urem) LO_BINARY(iadd) LO_BINARY(isub) LO_BINARY(imul)      \
    LO_BINARY(copysign) LO_BINARY(scale2)                                                \
    LO_BINARY(and) LO_BINARY(or) LO_BINARY(xor)                                          \
    LO_BINARY(shl) LO_BINARY(lshr) LO_BINARY(ashr)                                       \
    LO_BINARY(lt) LO_BINARY(le) LO_BINARY(gt) LO_BINARY(ge) LO_BINARY(eq) LO_BINARY(ne)  \
    LO_BINARY(ult) LO_BINARY(ule) LO_BINARY(uge) LO_BINARY(unordered)
/* clang-format on */
LO_OPERATIONS
#undef LO_UNARY
#undef LO_BINARY
LoValue lo_muladd(Lo *lo, LoValue a, LoValue b, LoValue c);
LoValue lo_pair_dot(Lo *lo, LoValue sum, LoValue a, LoValue b);
LoValue lo_word_dot(Lo *lo, LoValue sum, LoValue a, LoValue b);
LoValue lo_byte_dot(Lo *lo, LoValue sum, LoValue a, LoValue b);
LoValue lo_byte_pairs(Lo *lo, LoValue sum, LoValue a, LoValue b);
LoValue lo_signed_dot(Lo *lo, LoValue sum, LoValue a, LoValue b);
LoValue lo_not(Lo *lo, LoValue a);
LoValue lo_select(Lo *lo, LoValue condition, LoValue a, LoValue b);
LoValue lo_min(Lo *lo, LoValue a, LoValue b); /* of signed integers; lo_max, too */
LoValue lo_max(Lo *lo, LoValue a, LoValue b);
LoValue lo_math(Lo *lo, const char *name, int n, LoValue *x);
/* Of i64 that do not overflow. An operand that is NULL is zero; the result is NULL if it is known
 * to be zero. */
LoValue lo_index_add(Lo *lo, LoValue a, LoValue b);
LoValue lo_index_mul(Lo *lo, LoValue a, LoValue b);

/* ---- types ---- */
LoValue lo_trunc(Lo *lo, LoValue x, LoType type);
LoValue lo_zext(Lo *lo, LoValue x, LoType type);
LoValue lo_sext(Lo *lo, LoValue x, LoType type);
LoValue lo_fcast(Lo *lo, LoValue x, LoType type);
LoValue lo_from_int(Lo *lo, LoValue x, LoType type);
LoValue lo_from_uint(Lo *lo, LoValue x, LoType type);
LoValue lo_to_int(Lo *lo, LoValue x, LoType type);
LoValue lo_bitcast(Lo *lo, LoValue x, LoType type);

/* ---- bf16: in memory the upper half of an f32 as i16, in registers an f32 ----
 *
 * Integer arithmetic on every target: vcvtneps2bf16 takes denormals for zero, so
 * a machine that has it would give other bits than one without it. */
LoValue lo_bf16_round(Lo *lo, LoValue x);      /* f32: to nearest, ties to even; NaN stays NaN */
LoValue lo_bf16_bits(Lo *lo, LoValue rounded); /* f32 that bf16 holds → i16 */
LoValue lo_bf16_value(Lo *lo, LoValue bits);   /* i16 → f32 */

/* The f16 that the upper half of an i32 is, as f32; NaN if it is not finite. */
LoValue lo_half_value(Lo *lo, LoValue bits);

/* ---- lanes ---- */
LoValue lo_splat(Lo *lo, LoValue scalar, int lanes); /* the scalar itself for one lane */
LoValue lo_extract(Lo *lo, LoValue vector, int lane);
/* A vector of the n listed lanes; numbers count the lanes of a, then those of b. */
LoValue lo_shuffle(Lo *lo, LoValue a, LoValue b, const int *lanes, int n);
/* The mask of lanes l with first + l < count; `count` is an i64 that fits into an i32. */
LoValue lo_lanes_below(Lo *lo, LoValue count, int64_t first, int lanes);

/* ---- memory ---- */
/* Memory of n elements, allocated once a call, at the function's beginning. `align`, here and
 * below: bytes; 0: the type's alignment. */
LoValue lo_scratch(Lo *lo, LoType element, int64_t n, int align, const char *name);
/* Memory of n elements, where n is a computed i64, allocated where the builder stands, outside of
 * loops. */
LoValue lo_scratch_of(Lo *lo, LoType element, LoValue n, int align, const char *name);
LoValue lo_at(Lo *lo, LoType element, LoValue pointer, LoValue index); /* index NULL: the pointer */
LoValue lo_load(Lo *lo, LoType type, LoValue pointer, int align);
LoValue lo_load_pointer(Lo *lo, LoValue pointers, int64_t i); /* of an array of them */
LoValue lo_reads(LoValue load, LoMemory memory); /* sets load->memory; returns the load */
void lo_store(Lo *lo, LoValue value, LoValue pointer, int align);
/* Lanes whose mask is off are neither read nor written; a load gives zero for them. `pointer` may
 * be a vector of pointers. */
LoValue lo_masked_load(Lo *lo, LoType type, LoValue pointer, LoValue mask, int align);
void lo_masked_store(Lo *lo, LoValue value, LoValue pointer, LoValue mask, int align);
void lo_prefetch(Lo *lo, LoValue pointer);
void lo_prefetch_write(Lo *lo, LoValue pointer);
/* An op of tile registers. */
void lo_tile(Lo *lo, LoKind kind, int n, LoValue *args);

/* ---- sums, or maxima, over loops ---- */
typedef enum LoJoin { LO_JOIN_ADD, LO_JOIN_MAX } LoJoin;
LoValue lo_accumulator(Lo *lo, LoJoin by, LoValue first);
void lo_accumulate(Lo *lo, LoValue accumulator, LoValue x);
LoValue lo_total(Lo *lo, LoValue accumulator);
/* lo_identity: the value that changes nothing when it is joined (of integers: i32). lo_join: a
 * joined with b; the maximum is NaN where a or b is. */
LoValue lo_identity(Lo *lo, LoJoin by, LoType type);
LoValue lo_join(Lo *lo, LoJoin by, LoValue a, LoValue b);
LoJoin lo_join_of(const LoOp *accumulator);

/* ---- control ---- */
void lo_resume(Lo *lo); /* ops go to where straight-line code goes on */
/* Ops go before this op until lo_resume, which lo_scratch, lo_seam, and opening and closing blocks
 * also call. */
void lo_before(Lo *lo, LoOp *op);
LoOp *lo_seam(Lo *lo); /* at the end of straight-line code */
void lo_call(Lo *lo, LoFunction *callee, int n, LoValue *args);
void lo_return(Lo *lo);

/* for (index = start; index < end; index += step) */
typedef struct LoLoop {
    LoValue index, step;
} LoLoop;
LoLoop lo_for_open(Lo *lo, LoValue start, LoValue end, int64_t step, const char *name);
/* A loop of step 1, of whose turns passes make lanes of vectors, or one turn (LoVector). */
LoLoop lo_vector_open(Lo *lo, LoValue start, LoValue end, LoVector vector, const char *name);
void lo_for_close(Lo *lo, LoLoop *loop);
/* while (*left >= step). The caller sets n and the values: pointers to the caller's variables that
 * the loop carries; `left` becomes one more. lo_while_open sets each variable to the carried value;
 * while the body is built, the caller sets the variable to the value of the next turn;
 * lo_while_close sets it to the value after the loop. */
enum { LO_MAX_CARRIED = 72 };
typedef struct LoWhile {
    LoValue *values[LO_MAX_CARRIED], carries[LO_MAX_CARRIED];
    int n;
    LoOp *op;
} LoWhile;
void lo_while_open(Lo *lo, LoWhile *loop, LoValue *left, LoValue step);
void lo_while_close(Lo *lo, LoWhile *loop);
/* if (condition) { … } else { … } */
typedef struct LoIf {
    LoOp *op;
} LoIf;
LoIf lo_if_open(Lo *lo, LoValue condition);
void lo_else(Lo *lo, LoIf *branch);
void lo_if_close(Lo *lo, LoIf *branch);

#endif
