/* Loop IR: what kernels are between regions and a renderer (LLVM, C, OpenCL).
 *
 * A module has functions and records; a function is a block of ops; `for`, `while` and `if` have
 * blocks of their own. Values are params, constants and the results of ops, in SSA form: an op has
 * at most one. Vectors are explicit, memory is pointers and elements. ops.def has a row for each
 * op; the text form (text/text.h) is exact but for origins.
 *
 * A turn is an iteration of a loop. A `carry` is a variable of the `while` that comes after it in
 * the same block. Within the loop it has the value of the current turn, after the loop the last
 * value. */
#ifndef CODEGEN_LOOP_LOOP_H
#define CODEGEN_LOOP_LOOP_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- types ---- */

typedef enum LoElement {
    LO_NONE,
    LO_I1,
    LO_I8,
    LO_I16,
    LO_I32,
    LO_I64,
    LO_F32,
    LO_F64,
    LO_PTR,
    LO_ELEMENTS
} LoElement;

/* LoType: an element type and the number of lanes; a scalar has 1. Equal types are equal
 * numbers. */
typedef uint16_t LoType;
enum { LO_MAX_LANES = 64, LO_LANES_SHIFT = 4 };

#define LO_TYPE(element, lanes) ((LoType)((element) | (lanes) << LO_LANES_SHIFT))
static inline int lo_lanes(LoType type) { return type >> LO_LANES_SHIFT; }
static inline LoElement lo_element_kind(LoType type)
{
    return (LoElement)(type & ((1 << LO_LANES_SHIFT) - 1));
}
static inline LoType lo_element(LoType type) { return LO_TYPE(lo_element_kind(type), 1); }
static inline bool lo_is_vector(LoType type) { return lo_lanes(type) > 1; }
static inline LoType lo_vector(LoType element, int lanes)
{
    return LO_TYPE(lo_element_kind(element), lanes);
}
/* The element with the lanes of `shape`. */
static inline LoType lo_like(LoType shape, LoType element)
{
    return lo_vector(element, lo_lanes(shape));
}
static inline bool lo_is_float(LoType type)
{
    return lo_element_kind(type) == LO_F32 || lo_element_kind(type) == LO_F64;
}
int lo_bits(LoType element);                    /* of one lane; a pointer has 64 */
const char *lo_element_name(LoElement element); /* "f32" */

/* The usual NaN, as an f64; the text form writes out the bits of any other NaN. */
#define LO_NAN_BITS UINT64_C(0x7ff8000000000000)

/* Scalars. */
enum {
    lo_none = 0,
    lo_i1 = LO_TYPE(LO_I1, 1),
    lo_i8 = LO_TYPE(LO_I8, 1),
    lo_i16 = LO_TYPE(LO_I16, 1),
    lo_i32 = LO_TYPE(LO_I32, 1),
    lo_i64 = LO_TYPE(LO_I64, 1),
    lo_f32 = LO_TYPE(LO_F32, 1),
    lo_f64 = LO_TYPE(LO_F64, 1),
    lo_ptr = LO_TYPE(LO_PTR, 1)
};

/* ---- origins ---- */

/* The origin of an op (LoOp.origin): what it computes, as an index into its function's `origins`.
 * It is unknown, the function as a whole, or one of the function's parts, from LO_ORIGIN_PARTS on.
 * The text form has no origins. */
enum { LO_ORIGIN_NONE, LO_ORIGIN_WHOLE, LO_ORIGIN_PARTS };

/* ---- ops ---- */

typedef enum LoKind {
    LO_param, /* of the function; its number */
    LO_int,   /* a constant of integers or bools, the same in every lane */
    LO_real,  /* a constant of floats, the same in every lane */
    LO_iota,  /* 0, 1, 2, … in the lanes */
#define OP(name, ...) LO_##name,
#include "codegen/loop/ops.def"
    LO_KINDS
} LoKind;

typedef enum LoResult { LO_RESULT_NONE, LO_RESULT_SAME, LO_RESULT_TRUTH, LO_RESULT_GIVEN } LoResult;
typedef enum LoForm {
    LO_FORM_PLAIN,
    LO_FORM_ALIGN,
    LO_FORM_ELEMENT,
    LO_FORM_ORDER,
    LO_FORM_NAME,
    LO_FORM_BLOCKS
} LoForm;

typedef enum LoOperands {
    LO_OF_OWN,
    LO_OF_NUMBERS,
    LO_OF_INTS,
    LO_OF_FLOATS,
    LO_OF_INDICES,
    LO_OF_VALUES
} LoOperands;

enum { LO_ANY_ARGS = -1 };

/* Tile registers of AMX: how many, and the rows and bytes a row of each. */
enum { LO_TILES = 8, LO_TILE_ROWS = 16, LO_TILE_BYTES = 64 };

typedef struct LoInfo {
    const char *name; /* NULL: a param or a constant, which stands in no block */
    int args;         /* LO_ANY_ARGS: as many as its comment in ops.def says */
    LoResult result;
    LoForm form;
    LoOperands of;
} LoInfo;
extern const LoInfo lo_info[LO_KINDS];

/* What a load reads.
 *   CHANGES  memory that the kernel may write
 *   FIXED    memory that nothing writes before the kernel's last read of it: loads may move and be
 *            shared
 *   GIVEN    fixed memory that may be read even where the ifs around the load are false */
typedef enum LoMemory { LO_CHANGES, LO_FIXED, LO_GIVEN } LoMemory;

/* LoVector: how a loop's turns are to become lanes of vectors (pass vectorise), or, with 1 lane and
 * `jam` turns in all, one turn (pass jam). Turns must be independent but for accumulators. 0 lanes:
 * the loop stays. */
enum { LO_MAX_JAM = 8, LO_MAX_UNROLL = 16 };

typedef struct LoVector {
    uint8_t lanes;
    uint8_t jam; /* vectors that go through the body together; 0 is 1 */
    bool whole;  /* the number of turns is a multiple of lanes × jam */

    /* where the last vector may be partial, and jam is 1: all vectors are one loop under a mask;
     * else whole vectors come first */
    bool masked;
} LoVector;

typedef struct LoOp LoOp;
typedef LoOp *LoValue;
typedef struct LoFunction LoFunction;

typedef struct LoBlock {
    LoOp *first, *last;
    LoOp *parent; /* NULL: the function's own */
    LoFunction *function;
} LoBlock;

struct LoOp {
    LoKind kind;
    LoType type;     /* lo_none: no value */
    LoMemory memory; /* load: what it reads */
    uint16_t align;  /* load, store, scratch: bytes; 0: the type's */
    LoType element;  /* at, scratch: of the memory */
    int n_args, n_order;
    int id;           /* of the value in the text; lo_number gives them */
    int line, column; /* in the module's source; 0: the op was not parsed */
    int origin;
    LoOp **args;
    int *order;            /* extract, shuffle */
    const char *name;      /* math, accumulator: which; others: a word for readers, or NULL */
    LoFunction *callee;    /* call */
    LoVector vector;       /* for */
    int parts;             /* accumulator: partial sums that a loop of vectors adds to; 0: any */
    int unroll;            /* while: turns that are to become one (pass unroll); 0 is 1 */
    LoBlock *body, *other; /* for, while, if; `other`: else, or NULL */
    union {
        int64_t number; /* int; param: which; for: the step */
        double real;
    };
    LoBlock *block;       /* the block it stands in; NULL: none */
    LoOp *before, *after; /* its neighbours in the block, or NULL */
    LoOp *instead;        /* during a pass: the value that replaces it */
};

struct LoFunction {
    const char *name;
    bool is_kernel; /* visible outside of the module */
    int n_params;
    LoValue *params;
    LoBlock *body;
    VEC(LoValue) constants; /* each once */
    uint32_t *constant_slots;
    size_t n_constant_slots;
    int n_ids;           /* values that have a number */
    const Loc **origins; /* by LoOp.origin: the place; {0} or NULL: unknown. NULL: all unknown */
    int n_origins;
};

/* A constant visible outside of the module: numbers, then functions (each may be NULL). */
typedef struct LoRecord {
    const char *name;
    int n_numbers, n_functions;
    int64_t *numbers;
    LoFunction **functions;
} LoRecord;

typedef struct LoModule {
    Arena *arena;
    const Source *source; /* the text it was parsed from; NULL: none */
    VEC(LoFunction *) functions;
    VEC(LoRecord *) records;
} LoModule;

LoModule *lo_module_new(Arena *arena);
LoFunction *lo_find_function(const LoModule *module, const char *name); /* NULL: none */
/* Adds a function with these parameters and without ops; the name is copied. */
LoFunction *lo_add_function(LoModule *module, const char *name, bool is_kernel, int n_params,
                            const LoType *params);
LoRecord *lo_add_record(LoModule *module, const char *name, int n_numbers, int n_functions);

#define FOR_LOOP_OPS(op, b) for (LoOp *op = (b)->first; op; op = op->after)

/* Puts an op that is in no block before the op `before` of this block; NULL: at the end. */
void lo_insert(LoOp *op, LoBlock *block, LoOp *before);
void lo_remove(LoOp *op);

/* LoFollow: the line of the source that a reader of a function's ops is at. */
typedef struct LoFollow {
    const LoFunction *function;
    const Source *source;
    int line;
} LoFollow;
/* The place of an op's origin, to whose line *at then moves. NULL: it is unknown, or on the line
 * where *at is already. */
const Loc *lo_follow(LoFollow *at, const LoFunction *function, int origin);

/* Sets the ids of the function's values, in the order of the text. */
void lo_number(LoFunction *function);

static inline bool lo_is_constant(const LoOp *x)
{
    return x->kind == LO_int || x->kind == LO_real || x->kind == LO_iota;
}
static inline bool lo_is_int(const LoOp *x) { return x->kind == LO_int; }

#endif
