/* What a region's kernel takes: the contract between codegen/plan, which calls
 * kernels, and codegen/emit, which writes them. Derived from the op alone.
 *
 *   buffers: the region's operands in order, then its results in order
 *   dims:    the symbols met in the types of operands, results and body values,
 *            in that order of first appearance
 *   ints:    the `site` attributes of dropout and random ops in body order
 *   hash:    of the region with values, symbols and sites replaced by their
 *            kernel-local numbers; equal hashes mean the same kernel
 *
 * Every op that runs as a kernel is a region by then (pass `regions` wraps what
 * fusion left alone), but for scatter_add, ctc, ctc_grad, append and concat,
 * which are their own kernels with the same buffer order. */
#ifndef CODEGEN_SIGNATURE_H
#define CODEGEN_SIGNATURE_H

#include "ir/graph.h"
#include "ir/layout.h"

enum { MAX_KERNEL_DIMS = 16, MAX_KERNEL_SITES = 32 };

/* How a region's units are cut (TfcKernel's begin, end). */
typedef enum RangeKind {
    RANGE_ELEMENTS, /* every buffer is contiguous over the same elements (or one scalar):
                       units are elements, the shape plays no part */
    RANGE_ROWS,     /* units are rows: the product of all storage axes but the last */
    RANGE_COLUMNS,  /* column regions: output axes but the last × chunks of the last */
} RangeKind;

enum { COLUMN_CHUNK = 64 }; /* columns a unit of RANGE_COLUMNS */

typedef struct Signature {
    RangeKind range;
    Type space;         /* iteration space: the type that all body types broadcast to */
    Type output;        /* column: the reduced type */
    int n_dims, dims[MAX_KERNEL_DIMS]; /* module symbols */
    int n_sites;
    int64_t sites[MAX_KERNEL_SITES];
    uint64_t hash;
} Signature;

Signature signature_of(const Module *module, const Op *op);
int signature_dim(const Signature *signature, int symbol); /* kernel-local number */

#endif
