/* Between the files of the C renderer: the function being written. */
#ifndef CODEGEN_C_RENDER_STATE_H
#define CODEGEN_C_RENDER_STATE_H

#include "codegen/c/render.h"

/* Precedence of an expression's outermost operator, from the tightest. */
typedef enum Tightness { TIGHT_NAME, TIGHT_UNARY, TIGHT_PRODUCT, TIGHT_SUM, TIGHT_LOOSE } Tightness;

/* Expr: a C expression. `bare`: an expression of the same bits as unsigned integers, or NULL. */
typedef struct Expr {
    const char *text;
    Tightness tightness;
    const char *bare;
    Tightness bare_tightness;
} Expr;

/* Where a pointer points: to memory that the caller gives, or to scratch. */
typedef enum CSpace { C_GIVEN, C_SCRATCH, C_SPACES } CSpace;

/* CDialect: what C and OpenCL C say differently.
 *   pointers   the type of a pointer into each space
 *   places     the macro that accesses a value of a type through such a pointer
 *   suffix     with which names of the library's functions of f32 end
 *   unordered  the function that says whether one of two floats is NaN
 *   nan, inf   of f32, of f64
 *   device     kernels are a device's (runtime/exec/device.h): each call does one unit, one number
 *              at a time, with scratch of constant size */
struct CDialect {
    const char *pointers[C_SPACES], *places[C_SPACES];
    const char *suffix, *unordered, *nan[2], *inf[2];
    bool device;
};

/* What the writer knows of a value, by its id. */
typedef struct ValueNote {
    int uses;
    bool folded;   /* written where it is used, once */
    int weight;    /* ops in its expression */
    int stretch;   /* number of the stretch of straight-line code that it stands in */
    int mask_bits; /* of an i1 vector: bits of each lane as an integer in C; else 0 */
    CSpace space;  /* of a pointer */
} ValueNote;

typedef struct CRender {
    Arena *arena; /* of expressions */
    Diagnostics *diags;
    const CDialect *dialect;
    Text types, functions; /* what is written so far */
    Map seen;              /* names of types and helpers that `types` has */
    const LoFunction *function;
    ValueNote *notes;
    int indent, n_stretches;
    const LoOp *op; /* its line of the model is still to be written as a comment; or NULL */
    LoFollow at;    /* the line written last */
} CRender;

static inline ValueNote *c_note(const CRender *r, const LoOp *x) { return &r->notes[x->id]; }

/* ---- types.c ---- */
/* The C type; vectors are declared when first asked for. Masks are vectors of signed integers of
 * `bits` bits, -1 or 0. */
const char *c_type(CRender *r, LoType type);
const char *c_mask_type(CRender *r, int bits, int lanes);
/* The type of integers with the same bits and lanes. */
const char *c_integers(CRender *r, LoType type, bool is_signed);
/* The type in memory, at addresses that are multiples of `align` bytes (0: of an element's). */
const char *c_memory_type(CRender *r, LoType type, int align);
/* The names of helpers (macros; c_to_int: a function), each written when it is first asked for. */
const char *c_splat(CRender *r, LoType type);
const char *c_select(CRender *r, LoType type);
const char *c_iota(CRender *r, LoType type);
/* A load or store under a mask whose lanes are as wide as the elements. */
const char *c_masked(CRender *r, LoType type, bool stores);
/* A load or store, under such a mask, by a vector of addresses. */
const char *c_gathered(CRender *r, LoType type, bool stores);
/* `function` applied to each lane of one or two operands of type `from`. */
const char *c_lanes(CRender *r, LoType type, LoType from, const char *function, int n_args);
/* a·b + c, fused where the processor can. */
const char *c_muladd(CRender *r, LoType type);
const char *c_to_int(CRender *r, LoType type, LoType from);
void c_write_fixed_helpers(const CDialect *dialect, Text *out);
bool c_is_mask(LoType type);

/* ---- render_value.c ---- */
Expr c_expr(const char *text, Tightness tightness);
Expr c_call(CRender *r, const char *function, const char *a);
Expr c_call2(CRender *r, const char *function, const char *a, const char *b);
Expr c_cast(CRender *r, const char *type, Expr x);
Expr c_convert(CRender *r, Expr x, const char *type); /* lane by lane */
/* What stands for a value: its name, or the expression of a constant or of a folded op. */
Expr c_value(CRender *r, const LoOp *x);
Expr c_arg(CRender *r, const LoOp *op, int i);
/* Whether a vector is a constant but iota, or a folded splat: C's operators take one scalar for all
 * of its lanes, which c_number_of gives. */
bool c_is_one_number(const CRender *r, const LoOp *x);
Expr c_number_of(CRender *r, const LoOp *x);
LoType c_word(int bits); /* an integer of `bits` bits */
/* The text of x, in parentheses if it binds less tightly than `most`. */
const char *c_wrap(CRender *r, Expr x, Tightness most);
/* ValueNote.mask_bits of the op's value. Called for ops in order, as it follows from their
 * operands' mask_bits. */
int c_choose_mask_bits(const CRender *r, const LoOp *op);
/* The type that a value is declared with. */
const char *c_value_type(CRender *r, const LoOp *x);

/* ---- render_memory.c ---- */
int c_bytes(LoType element); /* its size in memory */
Expr c_render_at(CRender *r, const LoOp *op);
Expr c_render_load(CRender *r, const LoOp *op);
const char *c_render_store(CRender *r, const LoOp *op);

/* ---- render_ops.c ---- */
CSpace c_choose_space(const CRender *r, const LoOp *op); /* called for ops in order */
/* A vector of i1 as integers of `bits` bits. */
Expr c_mask_as(CRender *r, const LoOp *x, int bits);
/* The expression of an op with a value. */
Expr c_expression(CRender *r, const LoOp *op);
/* The statement of an op without a value or blocks: store, accumulate, prefetch. */
const char *c_statement(CRender *r, const LoOp *op);
/* Whether operand i may be an expression instead of a name: the op's text has the operand once. */
bool c_takes_expression(const LoOp *op, int i);
bool c_can_fold(const LoOp *op);

#endif
