/* The program: what codegen produces and the executor runs. Constant tables plus
 * native kernels; the same whether the kernels were compiled a moment ago, read
 * from a cache or linked into a library. Plain data: no LLVM, no IR.
 *
 * Sizes are products of a constant and dimension quantities, so one program
 * serves batches of any shape. */
#ifndef RUNTIME_EXEC_PROGRAM_H
#define RUNTIME_EXEC_PROGRAM_H

#include "runtime/exec/product.h"

#include <stdbool.h>
#include <stdint.h>

/* Pointers in a record, and what comes after them, stand at multiples of eight bytes: so
 * its layout is the same on systems whose pointers have four. Arrays of pointers have the
 * system's own. */
#define TFC_ALIGNED _Alignas(8)

enum { TFC_MAX_AXES = 8, TFC_MAX_LOOPS = 6, TFC_MAX_FACTORS = 7 };

typedef enum TfcType {
#define TYPE(NAME, ...) TFC_##NAME,
#include "base/types.def"
} TfcType;

/* The value of a named dimension for one batch. A uniform dimension has
 * extent = total = its size and NULL tables. Of a ragged one:
 *   offset[b]    first token of sentence b in the packed order (B entries)
 *   length[b]    of sentence b (B entries)
 *   batch[i]     sentence that token i belongs to (total entries)
 *   position[i]  of token i within its sentence (total entries) */
typedef struct TfcDim {
    int64_t extent; /* size, or the longest length */
    int64_t total;  /* size, or the sum of lengths */
    TFC_ALIGNED const int32_t *offset, *length, *batch, *position;
} TfcDim;

/* coefficient × the product of factors: the element count of a buffer, a stride,
 * the length of a loop. */
typedef enum TfcQuantity {
    TFC_EXTENT, /* dims[dim].extent */
    TFC_TOTAL   /* dims[dim].total */
} TfcQuantity;
typedef struct TfcFactor {
    uint8_t dim : 7, quantity : 1;
} TfcFactor;
typedef struct TfcSize {
    int64_t coefficient;
    uint8_t n_factors;
    TfcFactor factors[TFC_MAX_FACTORS];
} TfcSize;

/* A size of a record below: index into TfcProgram.sizes, where each product stands
 * once. Records are mostly sizes, and few of them differ. */
typedef uint16_t TfcSizeRef;
enum { TFC_SIZE_ZERO = 0 }; /* sizes[0] is the constant zero */

/* What a kernel is called with. Kernel-local numbering of buffers and
 * dimensions is codegen/signature.h's; strides are in elements, one per storage
 * axis (ir/layout.h) of the buffer: strides[buffer * TFC_MAX_AXES + axis]. */
typedef struct TfcKernelArgs {
    TFC_ALIGNED void *const *buffers;
    TFC_ALIGNED const int64_t *strides;
    TFC_ALIGNED const TfcDim *const *dims;
    TFC_ALIGNED const int64_t *ints; /* random streams (sites) of the kernel, in order */
    TFC_ALIGNED const uint32_t *rng; /* seed low, seed high, step low, step high */
    TFC_ALIGNED int64_t column_begin; /* of an epilogue's kernel: the columns it does, */
    TFC_ALIGNED int64_t column_end;   /* which may end past the row's */
} TfcKernelArgs;
enum { TFC_COLUMN_BEGIN = 5, TFC_COLUMN_END = 6 }; /* as fields */

/* Does units [begin, end) of the kernel's range; any split gives the same bits. */
typedef void (*TfcKernel)(const TfcKernelArgs *args, int64_t begin, int64_t end);

/* What a product does with each part of c once it is whole and still in the cache: the
 * kernel's units are c's rows, from `row` on, its columns c's, from `column` on. */
typedef struct TfcEpilogue {
    TFC_ALIGNED TfcKernel call;
    TFC_ALIGNED TfcKernelArgs *args; /* the columns are set for each part */
    TFC_ALIGNED int64_t row;
    TFC_ALIGNED int64_t column;
} TfcEpilogue;

/* A product of so many rows of a reads b packed, if b's rows are contiguous. With fewer rows it
 * reads b where it lies; with more, it packs b itself: that costs little beside the product and
 * leaves the panels in the cache. */
enum { TFC_PACKED_FROM = 37, TFC_PACKED_TO = 128 };

/* A tensor in memory: a buffer seen through an offset and strides. */
typedef struct TfcView {
    int32_t buffer;
    int32_t n_axes;
    int64_t offset; /* elements */
    TfcSizeRef strides[TFC_MAX_AXES];
} TfcView;

typedef struct TfcKernelStep {
    int32_t kernel;           /* index into TfcProgram.kernels */
    int32_t n_views, n_results, n_dims, n_ints;
    TfcSizeRef range;         /* how many units */
    TfcSizeRef work;          /* elements touched a unit: units are grouped by it */
    TFC_ALIGNED const TfcView *views; /* kernel-local buffer i; the last n_results are written */
    TFC_ALIGNED const int32_t *dims;  /* kernel-local dimension i → program dimension */
    TFC_ALIGNED const int64_t *ints;
    uint32_t along;           /* in a loop: bit i says that the rows are view i's first axis */
    bool epilogue;            /* of the product that is the step before (TfcEpilogue) */
} TfcKernelStep;

/* How long a loop or a matrix side is. */
typedef enum TfcExtentKind { TFC_EXTENT_SIZE, TFC_EXTENT_LENGTH } TfcExtentKind;
typedef struct TfcExtent {
    TfcExtentKind kind;
    TfcSizeRef size; /* SIZE */
    int32_t dim;     /* LENGTH: length[b] of this ragged dimension, b from the batch loop */
} TfcExtent;

/* One operand of a product: view, which side is contiguous, and the way from the
 * loop indices to the matrix. Element (i, j) of the matrix is at
 *   offset + Σ loop_index[l] × loop_strides[l]
 *          + (ragged_dim >= 0 ? dims[ragged_dim].offset[b] × ragged_stride : 0)
 *          + i × row_stride + j × column_stride,   one of the last two strides is 1. */
typedef struct TfcMatrix {
    int64_t offset;
    int32_t buffer, ragged_dim;
    TfcSizeRef loop_strides[TFC_MAX_LOOPS];
    TfcSizeRef ragged_stride, row_stride, column_stride;
} TfcMatrix;

/* c[m, n] = Σ_k a[m, k] b[k, n] (+ c if accumulate), for every loop index.
 * A product with k = 0 gives zeros. Loops along which c does not move are summed:
 * they run in order, and the step accumulates onto what a step before put into c. */
typedef struct TfcGemmStep {
    TfcType type, result; /* of a and b; of c: the same, of bf16 operands also f32 */
    bool accumulate;
    TfcMatrix a, b, c;
    TfcExtent m, n, k;
    int32_t packed; /* 1 + the buffer with b packed; 0: none */
    int32_t n_loops;
    int32_t batch_loop; /* which loop runs over sentences (b), or -1 */
    TfcSizeRef loops[TFC_MAX_LOOPS];
    int32_t loop_lengths[TFC_MAX_LOOPS]; /* ragged dimension that ends the loop after length[b], or -1 */
} TfcGemmStep;

/* STEP(KIND, what reports call it). A pack makes b of the product `gemm` its `packed`. */
#define TFC_STEP_KINDS(STEP) \
    STEP(KERNEL, "kernel")   \
    STEP(GEMM, "product")    \
    STEP(PACK, "pack")       \
    STEP(COPY, "copy")       \
    STEP(ZERO, "zeros")
#define TFC_STEP_ENUMERATOR(KIND, name) TFC_STEP_##KIND,
typedef enum TfcStepKind { TFC_STEP_KINDS(TFC_STEP_ENUMERATOR) } TfcStepKind;
static inline const char *step_kind_name(TfcStepKind kind)
{
#define TFC_STEP_NAME(KIND, name) name,
    static const char *const names[] = {TFC_STEP_KINDS(TFC_STEP_NAME)};
    return names[kind];
}

/* How a step of a loop over rows (TfcLoop) takes part in the chunk at hand. */
typedef enum TfcRows {
    TFC_ROWS_NONE,  /* it is in no loop */
    TFC_ROWS_UNITS, /* a kernel: does the rows' part of its range */
    TFC_ROWS_SUM,   /* a kernel: its results are sums over rows, and summed over the chunks */
    TFC_ROWS_M,     /* a product: the rows are m */
    TFC_ROWS_N,     /* … are n */
    TFC_ROWS_K      /* … are what is summed over, in this chunk onto the one before */
} TfcRows;

typedef struct TfcStep {
    TfcStepKind kind;
    TfcRows rows;
    TFC_ALIGNED const char *name; /* of the op or region it came from, for traces and messages */
    union {
        TfcKernelStep kernel;
        TfcGemmStep gemm;
        struct { int32_t to, from; TfcSizeRef size; } copy; /* whole contiguous buffers; zero: `to` */
    };
} TfcStep;

/* The steps [first, end) are run for a chunk of rows, then for the next one: what lies
 * between them is never there for all rows at once. Rows are the tokens (TFC_TOTAL)
 * or places (TFC_EXTENT) of a dimension; every chunk has the same number but the last. */
typedef struct TfcLoop {
    int32_t first, end;
    int32_t dim;
    TfcQuantity quantity;
    int32_t chunk; /* rows at most */
} TfcLoop;

typedef enum TfcBufferKind {
    TFC_BUFFER_SLAB,   /* lives from step `first` to step `last` */
    TFC_BUFFER_TENSOR, /* a param in the store: `index` into tensors */
    TFC_BUFFER_INPUT,  /* the caller's: `index` into inputs */
    TFC_BUFFER_OUTPUT, /* in the slab, never reused: `index` into outputs */
    TFC_BUFFER_KEPT    /* in the slab, for the next run, too */
} TfcBufferKind;

typedef struct TfcBuffer {
    TfcBufferKind kind;
    TfcType type;
    TfcSizeRef size; /* elements */
    int32_t index;
    int32_t first, last; /* steps */
    int32_t loop; /* 1 + the loop of which it holds one chunk of rows; 0: all of it */
} TfcBuffer;

/* A named tensor of the interface: shape as logical dimensions. */
typedef struct TfcShape {
    int32_t rank;
    struct { int64_t size; int32_t dim; } dims[TFC_MAX_AXES]; /* dim: program dimension or -1 */
} TfcShape;
typedef struct TfcPort {
    TFC_ALIGNED const char *name;
    TFC_ALIGNED TfcType type;
    TfcShape shape;
    int32_t buffer;
} TfcPort;

typedef enum TfcInit { TFC_INIT_ZEROS, TFC_INIT_ONES, TFC_INIT_CONSTANT, TFC_INIT_NORMAL,
                       TFC_INIT_UNIFORM, TFC_INIT_XAVIER_UNIFORM, TFC_INIT_XAVIER_NORMAL,
                       TFC_INIT_KAIMING_UNIFORM, TFC_INIT_KAIMING_NORMAL,
                       TFC_INIT_ORTHOGONAL, TFC_INIT_FILE } TfcInit; /* as InitKind */
typedef enum TfcRole { TFC_TRAINED, TFC_FROZEN, TFC_STATE, TFC_SLOT, TFC_GRADIENT } TfcRole; /* as ParamRole */

/* A param: constant dimensions, except a cache [R, P~, …], whose leading pair is
 * dim >= 0 and whose memory the decoder provides. */
typedef struct TfcTensor {
    TFC_ALIGNED const char *name;
    TFC_ALIGNED TfcType type;
    TfcShape shape;
    TfcRole role;
    TfcInit init;
    double a, b;
    TFC_ALIGNED const char *file, *tensor;
    TFC_ALIGNED int32_t buffer;
} TfcTensor;

typedef struct TfcProgramDim {
    TFC_ALIGNED const char *name;
    TFC_ALIGNED int32_t batch; /* program dimension it is ragged over, or -1 */
} TfcProgramDim;

typedef struct TfcProgram {
    TFC_ALIGNED const char *name; /* the function */
    TFC_ALIGNED int32_t n_dims;
    int32_t n_sizes, n_buffers, n_steps, n_loops, n_kernels, n_inputs, n_outputs, n_tensors;
    int32_t n_prepared; /* the first steps: they depend on params alone, and what they give
                           is kept until others change these: a program that trains renews it */
    bool trains; /* it writes params, and not only caches */
    TFC_ALIGNED const TfcProgramDim *dims;
    TFC_ALIGNED const TfcSize *sizes;
    TFC_ALIGNED const TfcBuffer *buffers;
    TFC_ALIGNED const TfcStep *steps;
    TFC_ALIGNED const TfcLoop *loops; /* in order */
    TFC_ALIGNED const TfcKernel *kernels;
    TFC_ALIGNED const char *const *kernel_names;
    TFC_ALIGNED const TfcPort *inputs, *outputs;
    TFC_ALIGNED const TfcTensor *tensors;
    TFC_ALIGNED TfcProducts products; /* an array of pointers, and therefore last */
} TfcProgram;

#endif
