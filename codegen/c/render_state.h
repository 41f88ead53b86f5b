/* Between the files of the C renderer: the function being written. */
#ifndef CODEGEN_C_RENDER_STATE_H
#define CODEGEN_C_RENDER_STATE_H

#include "codegen/c/render.h"

/* How tightly an expression holds together, from the tightest. */
typedef enum Tightness { TIGHT_NAME, TIGHT_UNARY, TIGHT_PRODUCT, TIGHT_SUM, TIGHT_LOOSE } Tightness;

/* Expr: a C expression. `bare`: the same bits as unsigned integers, or NULL. */
typedef struct Expr {
    const char *text;
    Tightness tightness;
    const char *bare;
    Tightness bare_tightness;
} Expr;

/* Where a pointer points to: memory that the caller gives, or scratch. */
typedef enum CSpace { C_GIVEN, C_SCRATCH, C_SPACES } CSpace;

/* CDialect: what C and OpenCL C say differently.
 *   pointers   the type of a pointer into each space
 *   places     the macro that is what lies at such a pointer, of a type
 *   suffix     of the library's functions of f32
 *   unordered  the function that tells whether one of two floats is NaN
 *   nan, inf   of f32, of f64
 *   device     kernels are a device's (runtime/exec/device.h): a unit a call, one number at a time,
 *              scratch of sizes that are known here */
struct CDialect {
    const char *pointers[C_SPACES], *places[C_SPACES];
    const char *suffix, *unordered, *nan[2], *inf[2];
    bool device;
};

/* What the writer knows of a value, by its id. */
typedef struct ValueNote {
    int uses;
    bool folded;   /* written where it is used, once */
    int weight;    /* ops that its expression holds */
    int stretch;   /* of straight code that it stands in */
    int mask_bits; /* of an i1 vector: of a lane of the integers that stand for it */
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
    const LoOp *op; /* whose line is not told yet, or NULL */
    LoFollow at;    /* … of the model, told last */
} CRender;

static inline ValueNote *c_note(const CRender *r, const LoOp *x) { return &r->notes[x->id]; }

/* ---- types.c ---- */
/* The C type; vectors are declared when first asked for. Masks are vectors of signed integers, -1
 * or 0, of so many bits a lane. */
const char *c_type(CRender *r, LoType type);
const char *c_mask_type(CRender *r, int bits, int lanes);
/* The same lanes as signed or unsigned integers. */
const char *c_integers(CRender *r, LoType type, bool is_signed);
/* The type in memory, where its address is a multiple of `align` (0: of an element). */
const char *c_memory_type(CRender *r, LoType type, int align);
/* Helpers by name, written when first asked for. */
const char *c_splat(CRender *r, LoType type);
const char *c_select(CRender *r, LoType type);
const char *c_iota(CRender *r, LoType type);
/* Under a mask of lanes as wide as the elements. */
const char *c_masked(CRender *r, LoType type, bool stores);
/* By a vector of addresses. */
const char *c_gathered(CRender *r, LoType type, bool stores);
/* `function` of each lane of one or two operands. */
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
/* Of an op that was written, or of one that is written here. */
Expr c_value(CRender *r, const LoOp *x);
Expr c_arg(CRender *r, const LoOp *op, int i);
/* Whether all lanes of a vector are one number, where C's operators take the number; and that. */
bool c_is_one_number(const CRender *r, const LoOp *x);
Expr c_number_of(CRender *r, const LoOp *x);
LoType c_word(int bits); /* an integer of so many */
/* An operand in parentheses unless it is as tight as that. */
const char *c_wrap(CRender *r, Expr x, Tightness most);
/* The bits of a lane of a mask, or 0. Of each op in turn. */
int c_choose_mask_bits(const CRender *r, const LoOp *op);
/* The declared type of a value. */
const char *c_value_type(CRender *r, const LoOp *x);

/* ---- render_memory.c ---- */
int c_bytes(LoType element); /* in memory */
Expr c_render_at(CRender *r, const LoOp *op);
Expr c_render_load(CRender *r, const LoOp *op);
const char *c_render_store(CRender *r, const LoOp *op);

/* ---- render_ops.c ---- */
CSpace c_choose_space(const CRender *r, const LoOp *op); /* of each pointer in turn */
/* A vector of i1 as integers of so many bits a lane. */
Expr c_mask_as(CRender *r, const LoOp *x, int bits);
/* The expression of an op with a value. */
Expr c_expression(CRender *r, const LoOp *op);
/* A statement that is no control: store, prefetch. */
const char *c_statement(CRender *r, const LoOp *op);
/* Whether an operand may be an expression and not a name: it is written once there. */
bool c_takes_expression(const LoOp *op, int i);
bool c_can_fold(const LoOp *op);

#endif
