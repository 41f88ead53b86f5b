/* Signature: the arguments of a region's kernel: the contract between codegen/plan, which writes
 * the steps that call kernels, and codegen/emit, which writes the kernels. It follows from the op
 * and the forms of its buffers.
 *
 *   buffers: the region's operands in order, then its results in order
 *   dims:    symbols, each where it first appears in this order: attributes `dim` of the body's
 *            ops, types of operands, of results, of body values
 *   ints:    the `site` attributes of dropout and random ops in body order
 *   hash:    of the region with values, symbols and sites replaced by their
 *            kernel-local numbers; equal hashes mean the same kernel. Ops and attributes
 *            count by their names, so a new row of ops.def changes no other kernel's hash
 *
 * Fused ops, and those that pass `regions` wrapped, are regions. scatter_add, lookup_add, top_k,
 * ctc, ctc_grad, append and concat are kernels of their own with the same order of buffers. Any
 * other bare op that a kernel computes (a leaf, a cast, a copy) counts as a row region around
 * itself. Operands and results of an attention region's products must be FORM_CONTIGUOUS or
 * FORM_ROWS. The result of append is the same memory as its operand a.
 */
#ifndef CODEGEN_SIGNATURE_H
#define CODEGEN_SIGNATURE_H

#include "ir/graph.h"
#include "ir/layout.h"
#include "runtime/exec/program.h"

/* How a region's units are cut (TfcKernel's begin, end). */
typedef enum RangeKind {
    /* every buffer is contiguous over the same elements (or one scalar): units are elements, the
     * shape plays no part */
    RANGE_ELEMENTS,
    RANGE_ROWS, /* units are rows: indices along all storage axes of `space` but the last */
    /* units: all storage axes of `output` but the last × chunks of the last (COLUMN_CHUNK columns
     * each if its extent is constant, else one chunk), the chunk varying fastest */
    RANGE_COLUMNS,
    RANGE_TILES, /* units: indices along the axes of `space` that every product has as batch */
} RangeKind;

enum { COLUMN_CHUNK = 64 }; /* columns a unit of RANGE_COLUMNS */

/* BufferForm: what is known about a buffer's strides when the kernel is compiled. */
typedef enum BufferForm {
    FORM_CONTIGUOUS, /* the whole tensor, contiguous in storage order */
    FORM_ROWS,       /* any strides, but 1 on the last storage axis */
    FORM_STRIDED,    /* any strides; 0: a broadcast axis */
} BufferForm;

typedef struct Signature {
    RangeKind range;
    Type space;          /* iteration space: what the types of aligned values broadcast to */
    Type output;         /* RANGE_COLUMNS: the reduced type */
    bool unit[MAX_RANK]; /* RANGE_TILES: the axes of the space that units go along */
    int n_dims, *dims;   /* module symbols, by kernel-local number */
    int n_sites;
    int64_t *sites;
    bool epilogue;    /* the kernel computes the columns that TfcKernelArgs says, not whole rows */
    uint64_t strided; /* bit i: buffer i is FORM_STRIDED (buffers past 63 must not be) */
    uint64_t hash;
} Signature;

/* The signature of an op; its lists are in the arena. `forms`: one entry a buffer; NULL: all are
 * FORM_CONTIGUOUS. The range kind may depend on them: RANGE_ELEMENTS needs every buffer
 * contiguous. */
Signature signature_of(Arena *arena, const Module *module, const Op *op, const BufferForm *forms);
int signature_dim(const Signature *signature, int symbol); /* kernel-local number, or -1 */

/* How many units the kernel's whole range has; factors name kernel-local dimensions. */
TfcSize signature_units(const Module *module, const Signature *signature);
/* The number of chunks into which a column kernel cuts the last storage axis of `output`. */
int64_t signature_chunks(const Axis *last);

#endif
