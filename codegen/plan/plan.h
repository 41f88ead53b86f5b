/* Inside codegen/plan: from a function to a program's tables.
 *
 *   uses.c      how long each value is needed, where it could be written directly
 *   views.c     shape ops as other strides over the same memory
 *   place.c     buffers: which one a value is written to
 *   steps.c     kernels and copies
 *   epilogue.c  kernels that the product before them calls
 *   loops.c     loops over rows
 *   prepare.c   steps that depend on params alone (panels.c: those that pack)
 *   dot.c       products (labels.c: their dimensions as loops and matrix sides)
 *   grouped.c   products whose rows or terms an index groups
 *   sorted.c    values that are stored in the order of groups
 *   lower.c     the walk over the function
 *   compile.c   plan_program: the walk, lifetimes, tables
 *   print.c     the plan as text; draw.c: for Graphviz
 *
 * A value is placed when its memory and strides are known. Steps come in the order of the function,
 * except that leaves are computed when first needed, params that are not written in place are
 * assigned at the end, and prepare.c puts some steps first. */
#ifndef CODEGEN_PLAN_PLAN_H
#define CODEGEN_PLAN_PLAN_H

#include "codegen/kernels.h"
#include "ir/side.h"
#include "runtime/exec/program.h"

#include <limits.h>

enum { AT_END = INT_MAX, NO_BUFFER = -1 };

/* A tensor in memory: a TfcView whose strides are sizes, not indices into the program's table of
 * sizes. */
typedef struct View {
    int32_t buffer, n_axes;
    int64_t offset; /* elements */
    TfcSize strides[TFC_MAX_AXES];
} View;

/* What the plan knows of a value of the function. */
typedef struct Placement {
    bool placed;
    View view;    /* strides per storage axis of the value's layout */
    int last_use; /* position of the last op that needs its elements, also through views; AT_END */

    /* the concat that has the value as a part, or the reshape or transpose of it that leads to a
     * concat; or NULL */
    Op *home;
    Op *assign;         /* the first op that assigns the value to a param, or keeps it; or NULL */
    bool in_param;      /* the value is written straight into that param */
    bool kept;          /* the next run reads it from its buffer (op keep) */
    int32_t contiguous; /* buffer of a contiguous copy, or NO_BUFFER */
} Placement;

/* A param, or a value that is kept, and the value that it takes when the function is done. */
typedef struct Assign {
    Value *param, *value;
    View view; /* where the value lies after all other steps: the param is copied from there */
    const char *name; /* of the steps */
} Assign;

/* The rows that a loop goes through: the leading storage axis of tensors. */
typedef struct LoopRows {
    int symbol;   /* their dimension; NO_SYMBOL: no loop */
    int batch;    /* of packed tokens: the dimension of their batch; else NO_SYMBOL */
    TfcSize size; /* number of rows */
} LoopRows;

typedef struct Plan {
    KernelSet *set;
    Function scratch; /* a copy of the function, in which the plan makes ops of its own */
    const Function *function;
    const Module *module;
    Arena *arena;
    SideTable placements; /* value → its Placement */
    SideTable reads;      /* used by op_result_reads alone */
    SideTable sorted;     /* used by sorted.c alone */
    Diagnostics *diags;
    int *program_dim; /* module symbol → program dimension, or -1 */
    VEC(TfcProgramDim) dims;
    int32_t n_given;    /* TfcProgram.n_given */
    VEC(TfcSize) sizes; /* TfcProgram.sizes: each once */
    VEC(TfcBuffer) buffers;
    VEC(int) needed; /* of each buffer: position of the last op that needs it */
    VEC(TfcStep) steps;
    VEC(const Op *) origins; /* of each step: the op that it was made for */
    VEC(int) kernels;        /* of the program: numbers in the set */
    VEC(TfcPort) inputs, outputs;
    VEC(TfcTensor) tensors;
    VEC(Assign) assigns;
    VEC(TfcLoop) loops;
    VEC(TfcGrouping) groupings;
    int32_t n_prepared; /* steps: TfcProgram.n_prepared */
    bool trains;        /* a param is written that is not a cache */
    int chunk;          /* chunk number (op_chunk) of the op being lowered, or NO_CHUNK */
    LoopRows rows;      /* of the loop being made */
    int position;       /* of the op being lowered */
    const char *name;   /* of the steps being made */
} Plan;

static inline Placement *placement(const Plan *plan, const Value *value)
{
    return side_of_value(&plan->placements, value);
}

/* ---- loops.c ---- */
/* Called before each op is lowered, and with NULL after the last one: neighbouring ops with the
 * same attribute `chunk` become a loop over the rows of the first op's result, unless the number of
 * rows is constant. False after errors. */
bool loop_enter(Plan *plan, Op *op);
/* Set how a step that is made in a loop goes through the loop's rows (TfcStep.rows, `along`). */
void loop_kernel(Plan *plan, const Op *op, const Signature *signature, TfcStep *step);
void loop_gemm(Plan *plan, const TfcSize *m, const TfcSize *n, const TfcSize *k, TfcStep *step);
/* Drops each loop whose steps, run for one chunk of rows after another, are not sure to compute the
 * same as over all rows, and finds the buffers that need to hold only a chunk of rows. Reads and
 * extends the buffers' lifetimes. */
void settle_loops(Plan *plan);

/* ---- uses.c ---- */
void plan_uses(Plan *plan); /* makes the placements */
/* Whether the kernel goes over its elements once, reading and writing each place before it goes on
 * to the next: elementwise ops, and reductions whose results nothing in the kernel reads. */
bool op_is_one_sweep(const Op *op);
/* Whether the op's result of this number is computed from the operand; true for ops without a
 * body. */
bool op_result_reads(Plan *plan, const Op *op, int result, const Value *operand);

/* ---- views.c ---- */
TfcSize axis_size(const Plan *plan, const Axis *axis);
TfcSize type_size(const Plan *plan, const Type *type); /* stored elements */
View view_contiguous(const Plan *plan, const Type *type, int32_t buffer);
bool view_is_contiguous(const Plan *plan, const Type *type, const View *view);
BufferForm view_form(const Plan *plan, const Type *type, const View *view);
/* Sets *to to the result of a shape op as a view of its operand's memory; false if no strides and
 * offset give that view. */
bool view_of_op(const Plan *plan, const Op *op, const View *from, View *to);
/* The other way: sets *from to the view that the operand of a reshape or transpose must have for
 * the result to have the view `to`; false if there is none. */
bool view_back_through(const Plan *plan, const Op *op, const View *to, View *from);
/* The part of a tensor from element `start` of its dimension `axis` on; false if `start` is not 0
 * and the stride of that dimension is not constant. */
bool view_part(const Plan *plan, const Type *type, const View *whole, int axis, int64_t start,
               View *part);

/* ---- place.c ---- */
/* The size's number in the program's list of sizes, to which it is added if it is new. */
TfcSizeRef size_ref(Plan *plan, TfcSize size);
int32_t add_buffer(Plan *plan, TfcBufferKind kind, const Type *type, int32_t index);
void place_at(Plan *plan, Value *value, const View *view);
/* Places those of an op's results that are not placed: each in the first that is possible of the
 * param that it is assigned to, its part of a concat, the memory of an operand that nothing reads
 * any more, and a buffer of its own. A concat's own result goes into another concat or a buffer. */
void place_results(Plan *plan, Op *op);
/* Whether the view is contiguous and takes its whole buffer. */
bool view_is_whole(const Plan *plan, const Type *type, const View *view);

/* ---- steps.c: false or NULL after errors ---- */
void name_steps(Plan *plan, const Op *op); /* sets the name of the steps to come */
/* `views`: of the operands, then of the results. */
bool add_kernel(Plan *plan, const Op *op, const View *views);
bool add_op_kernel(Plan *plan, Op *op); /* places the results, too */
/* The view of an operand; a leaf that is not placed yet is computed now. */
const View *view_of_value(Plan *plan, Value *value);
bool add_copy(Plan *plan, const Type *type, const View *from, const View *to);
bool add_cast(Plan *plan, const Type *type, const View *from, DType to_type, const View *to);
void add_zero(Plan *plan, int32_t buffer);
/* A contiguous view of a value: its own, or that of a copy, which is made once. */
bool contiguous_view(Plan *plan, Value *value, View *view);

/* Calls `visit` for every buffer that the step reads or writes; a buffer may come several times. */
typedef void (*VisitBuffer)(void *data, int32_t buffer, bool written);
void step_buffers(const Plan *plan, const TfcStep *step, VisitBuffer visit, void *data);

/* ---- epilogue.c ---- */
/* Joins the last step, the kernel of a row region with the attribute `epilogue`, to its product.
 * The product must be the step before, in no loop over rows, give whole rows of its result at once,
 * and read nothing that the kernel writes; else the kernel stays a step of its own. */
void join_epilogue(Plan *plan, const Op *op);

/* ---- dot.c ---- */
bool lower_dot(Plan *plan, Op *op); /* false after errors */
/* What multiplies a type of operands for the op's attribute `quant`. */
TfcProductType product_of(const Op *op);

/* ---- grouped.c ---- */
bool lower_grouped(Plan *plan, Op *op); /* false after errors */
/* How many elements of the index in a row go with one row of the operand: the product of the last
 * constant dimensions for which the operand has 1. */
int64_t repeats_of(const Type *x, const Type *index);

/* ---- sorted.c ---- */
void plan_sorted(Plan *plan); /* finds the values whose rows are stored in the order of groups */
bool rows_are_sorted(const Plan *plan, const Value *value);

/* ---- panels.c ---- */
/* Adds steps that pack matrices, behind all others, of buffers that are `constant`. */
void pack_weights(Plan *plan, const bool *constant);
/* Whether each lookup in a packed table reads what a step packs. */
bool lookups_read_panels(const Plan *plan);
/* A product of integers that packs b itself takes only so many terms: a longer one is of f32. */
void widen_long_products(Plan *plan);

/* ---- prepare.c ---- */
/* Called once all steps are made: puts steps that depend on params alone first (in a program that
 * trains, only those whose results it keeps for the next run), and sets n_prepared and trains. */
void prepare_constants(Plan *plan);

/* ---- lower.c ---- */
bool lower_function(Plan *plan); /* makes the steps; false after errors */

/* ---- compile.c ---- */
/* The program of a function, in the arena, with its kernels added to the set: their names are in
 * the tables, their addresses are NULL. NULL after errors. */
const TfcProgram *plan_program(const Function *function, KernelSet *set, Arena *arena,
                               Diagnostics *diags);
/* The programs of the functions for this target (NULL: products are OpenBLAS's), with their kernels
 * in `set`, which is initialised here. NULL after errors. */
const TfcProgram *const *plan_programs(const Function *const *functions, int n,
                                       const TargetOptions *target, KernelSet *set, Arena *arena,
                                       Diagnostics *diags);

/* ---- sizes.c ---- */

/* Sizes that are known only at run time, as products (TfcSize) in a normal form:
 * factors sorted, none if the coefficient is 0, so that equal products compare
 * equal. */

TfcSize size_const(int64_t value);
TfcSize size_dim(int dim, TfcQuantity quantity);
TfcSize size_product(TfcSize a, TfcSize b); /* asserts that the factors have room */
TfcSize size_scaled(TfcSize a, int64_t by);
bool size_equal(const TfcSize *a, const TfcSize *b);
static inline bool size_is_const(const TfcSize *size) { return size->n_factors == 0; }
static inline bool size_is(const TfcSize *size, int64_t value)
{
    return size->n_factors == 0 && size->coefficient == value;
}
/* *out = a / b, if the factors and the coefficient of b divide those of a; else false, and *out is
 * undefined. */
bool size_divide(TfcSize a, TfcSize b, TfcSize *out);

#endif
