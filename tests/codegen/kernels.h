/* Running one kernel against the oracle: what the tests of emitters
 * share. A case builds ops, wraps them into a region and checks it under every
 * CPU this machine runs, every split of its range, in f32, f64 and bf16. */
#ifndef TESTS_CODEGEN_KERNELS_H
#define TESTS_CODEGEN_KERNELS_H

#include "codegen/jit.h"
#include "ir/builder.h"
#include "tests/codegen/elements.h"
#include "tests/short.h"

enum { MAX_CASE_VALUES = 64 };

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Function *function;
    Builder b;
    DType real;              /* f32, f64 or bf16 */
    int B, S, T, N, R, P, Q; /* symbols: S~, T~ over B; P~, Q~ over R; N uniform */
    SymbolValue symbols[8];
    SideTable elements; /* value → its Elements */
    uint64_t seed;
    int64_t gap;           /* rows of buffers lie this many elements further apart */
    int64_t column_stride; /* of every buffer that is FORM_STRIDED */
    BufferForm form;       /* of every buffer */
    uint32_t rng[4];
    bool reference_too; /* check the scalar reference and -O0 as well */
} Case;

void case_open(Case *c, DType real);
void case_close(Case *c);
void case_lengths(Case *c, int symbol, int n, const int32_t *lengths);
Dim case_dim(int symbol);
/* An input of deterministic values: floats in [-2, 2], i32 in [0, limit), bools. */
Value *case_input(Case *c, DType dtype, int rank, const Dim *dims);
Value *case_index(Case *c, int rank, const Dim *dims, int limit);
/* Everything built since the last region but inputs becomes the body of one. */
Op *case_region(Case *c, OpKind kind, int n, Value *const *results);

BatchShape case_batch(Case *c);
int64_t case_total(const Case *c, int symbol); /* stored positions of a dimension */
/* The op's results by the oracle (elements_of). */
void case_evaluate(Case *c, Op *op);
/* Runs the op's kernel on every target and in several splits and compares all
 * existing elements of its results with the oracle's. */
void case_check(Case *c, Op *op);
/* One run: results as stored, for tests that look at bits. `cuts` splits the range. */
void case_run(Case *c, Op *op, const TargetOptions *options, int cuts, void **results);

#endif
