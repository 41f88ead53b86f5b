/* The program: what codegen produces and the executor runs. Constant tables plus
 * native kernels; the same whether the kernels were compiled a moment ago, read
 * from a cache or linked into a library. Plain data: no LLVM, no IR.
 *
 * Owner: a program of the JIT, compiled or from the cache, is its Jit's; jit_free (by
 * session_close) unloads it, and no Exec may run it after that. A program of a library is
 * constant data of the library. A planned one (codegen_plan) lives in an arena and does not run.
 *
 * The records and the meaning of their fields are in records.def; the types of the fields are
 * here. Sizes are products of a constant and dimension quantities, so one program serves
 * batches of any shape. */
#ifndef RUNTIME_EXEC_PROGRAM_H
#define RUNTIME_EXEC_PROGRAM_H

#include "base/dim_formula.h"
#include "runtime/product/product.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TFC_MAX_AXES = 8, TFC_MAX_LOOPS = 6, TFC_MAX_FACTORS = TFC_MAX_AXES };
enum { TFC_MOST_DIM = (1 << 15) - 1 }; /* greatest number of a dimension that a factor names */

typedef enum TfcType {
#define TYPE(NAME, ...) TFC_##NAME,
#include "base/types.def"
} TfcType;
static_assert((int)TFC_PRODUCT_F32 == (int)TFC_F32 && (int)TFC_PRODUCT_F64 == (int)TFC_F64 &&
                  (int)TFC_PRODUCT_BF16 == (int)TFC_BF16,
              "products of operands as they are have the numbers of these");

/* A factor of a size (TfcSize). */
typedef enum TfcQuantity {
    TFC_EXTENT, /* dims[dim].extent */
    TFC_TOTAL   /* dims[dim].total */
} TfcQuantity;
typedef struct TfcFactor {
    uint16_t dim : 15, quantity : 1;
} TfcFactor;
static inline TfcFactor tfc_factor(int dim, TfcQuantity quantity)
{
    assert(dim >= 0 && dim <= TFC_MOST_DIM);
    return (TfcFactor){(uint16_t)dim & TFC_MOST_DIM, (unsigned)quantity & 1};
}

/* A size in a record: index into TfcProgram.sizes, which has each product once. Records are mostly
 * sizes, and few of them differ. */
typedef uint16_t TfcSizeRef;
enum { TFC_SIZE_ZERO = 0 };

/* Does units [begin, end) of the kernel's range; any split gives the same bits. */
typedef struct TfcKernelArgs TfcKernelArgs;
typedef void (*TfcKernel)(const TfcKernelArgs *args, int64_t begin, int64_t end);

typedef enum TfcExtentKind { TFC_EXTENT_SIZE, TFC_EXTENT_LENGTH } TfcExtentKind;

/* STEP(KIND, what reports call it). A pack step writes the `panels` of b for the product in its
 * `gemm`. */
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

/* How a step of a loop over rows (TfcLoop) takes part in the current chunk. */
typedef enum TfcRows {
    TFC_ROWS_NONE,  /* the step is in no loop */
    TFC_ROWS_UNITS, /* a kernel: does the rows' part of its range */
    TFC_ROWS_SUM,   /* a kernel: its results are sums over rows, added up over the chunks */
    TFC_ROWS_M,     /* a product: the rows are m */
    TFC_ROWS_N,     /* a product: the rows are n */
    TFC_ROWS_K      /* a product: the rows are k; a chunk adds to the c of the chunks before */
} TfcRows;

/* What an index groups of a product. */
typedef enum TfcGroups { TFC_GROUPS_ROWS, TFC_GROUPS_SUMS } TfcGroups;

typedef enum TfcBufferKind {
    TFC_BUFFER_SLAB,   /* lives from step `first` to step `last` */
    TFC_BUFFER_TENSOR, /* in the store, or a cache in the caller's memory: `index` into tensors */
    TFC_BUFFER_INPUT,  /* the caller's: `index` into inputs */
    TFC_BUFFER_OUTPUT, /* in memory until the next run: `index` into outputs */
    TFC_BUFFER_KEPT    /* kept for the next run if a step reads it then; its size is a constant */
} TfcBufferKind;

typedef enum TfcInit {
#define INIT(NAME, ...) TFC_INIT_##NAME,
#include "base/params.def"
} TfcInit;
typedef enum TfcRole {
#define ROLE(NAME, ...) TFC_##NAME,
#include "base/params.def"
} TfcRole;

/* ---- the records ---- */

/* A pointer in a record takes eight bytes at a multiple of eight, whatever its size: so records
 * have one layout on all systems. Elements of a list of pointers have the system's size. */
#define TFC_POINTER(type, name) \
    _Alignas(8) type name;      \
    int64_t:                    \
    0;
static_assert(_Alignof(struct { int64_t number; }) == 8, "records have one layout on every system");
/* The index of a word in its record, for generated code that reads it. */
#define TFC_WORD(T, name) (offsetof(T, name) / 8)

#define WORDS(T)        \
    typedef struct T T; \
    struct T {
#define WORD(type, name) TFC_POINTER(type, name)
#define END_WORDS(T) \
    }                \
    ;
#define RECORD(T) typedef struct T {
#define END(T) \
    }          \
    T;
#define VALUE(type, name) type name;
#define VALUES(type, name, n) type name[n];
#define PART(T, name) T name;
#define PARTS(T, name, n) T name[n];
#define TEXT(name) TFC_POINTER(const char *, name)
#define NUMBERS(type, name, count) TFC_POINTER(const type *, name)
#define RECORDS(T, name, count) TFC_POINTER(const T *, name)
#define TEXTS(name, count) TFC_POINTER(const char *const *, name)
#define FUNCTIONS(type, name, count) TFC_POINTER(const type *, name)
#define PRODUCTS(type, name) type name;
#define ONE_OF(kind) union {
#define CASE(T, name, cases) T name;
#define END_ONE_OF(kind) \
    }                    \
    ;
#define TFC_DECLARES_RECORDS
#include "runtime/exec/records.def"
#undef TFC_DECLARES_RECORDS

/* NULL: the product has none. */
static inline const TfcGrouping *gemm_grouping(const TfcProgram *program, const TfcGemmStep *step)
{
    return step->grouping ? &program->groupings[step->grouping - 1] : NULL;
}

/* StepUse: what a step does with a buffer; a product may read panels in place of its operand b. */
typedef struct StepUse {
    int32_t buffer;
    bool reads, writes;
} StepUse;
enum { STEP_USE_B = 1 }; /* of a product: which use is that of b */
/* The i-th buffer that a step uses, from 0, of a program with these groupings; -1: it has fewer. A
 * buffer may come several times. */
static inline StepUse step_use(const TfcGrouping *groupings, const TfcStep *step, int32_t i)
{
    const TfcKernelStep *kernel = &step->kernel;
    const TfcGemmStep *gemm = &step->gemm;
    StepUse uses[5];
    int32_t n = 0;
    switch (step->kind) {
    case TFC_STEP_KERNEL:
        if (i < kernel->n_views) {
            const bool writes = i >= kernel->n_views - kernel->n_results;
            return (StepUse){kernel->views[i].buffer, !writes, writes};
        }
        break;
    case TFC_STEP_GEMM:
        uses[n++] = (StepUse){gemm->a.buffer, true, false};
        uses[n++] = (StepUse){gemm->b.buffer, true, false};
        uses[n++] = (StepUse){gemm->c.buffer, gemm->accumulate, true};
        if (gemm->grouping)
            uses[n++] = (StepUse){groupings[gemm->grouping - 1].index, true, false};
        if (gemm->panels)
            uses[n++] = (StepUse){gemm->panels - 1, true, false};
        break;
    case TFC_STEP_PACK:
        uses[n++] = (StepUse){gemm->b.buffer, true, false};
        uses[n++] = (StepUse){gemm->panels - 1, false, true};
        break;
    case TFC_STEP_COPY: uses[n++] = (StepUse){step->copy.from, true, false}; /* fall through */
    case TFC_STEP_ZERO: uses[n++] = (StepUse){step->copy.to, false, true}; break;
    }
    return i < n ? uses[i] : (StepUse){-1, false, false};
}

#endif
