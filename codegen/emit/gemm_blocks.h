/* A native product at work on a block of b, for gemm.c and gemm_rows.c. */
#ifndef CODEGEN_EMIT_GEMM_BLOCKS_H
#define CODEGEN_EMIT_GEMM_BLOCKS_H

#include "codegen/emit/gemm.h"

typedef struct Blocks {
    LlValue m, n, k, a, a_row, a_k, b, b_k, b_column, c, c_row, put, epilogue, workspace;
    LlValue c_units;        /* of an element of c; c_row is in units */
    LlValue pack_a, pack_b; /* i1: whether whole panels are packed */
    LlValue by_rows;        /* i1: a lies along k */
    LlValue ahead;          /* i1: a's rows lie beside each other and are packed ahead */
    LlValue low;            /* i1: few rows, b in place: wide tiles first */
    LlValue passing;        /* i1: few rows, b packed: each panel is read once */
    LlValue prepacked;      /* i1: so b was beforehand, whole */
    LlValue first_column;   /* … with which of its columns the product begins */
    LlValue all_terms;      /* … of each of its panels */
    LlValue panels;         /* room for panels of a, twice those that go together */
    /* of the block at work */
    LlValue depth, terms;    /* terms of a and b; of the panels */
    LlValue adds;            /* how c is put */
    LlValue finishes;        /* i1: c is whole then, and the epilogue waits for it */
    LlValue mxcsr, flushing; /* slots: outside and while bf16 is multiplied; or NULL */
    LlValue columns;
    LlValue packed, packed_pitch; /* the first of b's panels; elements a column of them */
} Blocks;

static inline LlValue add(GemmEmit *g, LlValue a, LlValue b)
{
    return LLVMBuildNSWAdd(g->ll.builder, a, b, "");
}
static inline LlValue sub(GemmEmit *g, LlValue a, LlValue b)
{
    return LLVMBuildNSWSub(g->ll.builder, a, b, "");
}
/* Rows of a panel of k terms. */
static inline LlValue gemm_terms_of(GemmEmit *g, LlValue k)
{
    return g->pairs ? gemm_terms(g, k) : k;
}
static inline LlValue select(GemmEmit *g, LlValue condition, LlValue yes, LlValue no)
{
    return LLVMBuildSelect(g->ll.builder, condition, yes, no, "");
}

/* A panel of b is packed if all are, or if a tile's last vector would read past its end. */
static inline LlValue packs_panel(GemmEmit *g, const Blocks *x, LlValue width)
{
    Ll *ll = &g->ll;
    LlValue filled = ll_int(ll->i1, 0);
    for (GemmWidth w = GEMM_ONE_VECTOR; w <= GEMM_PANEL; w++) {
        LlValue full =
            LLVMBuildICmp(ll->builder, LLVMIntEQ, width, ll_i64(ll, g->lanes * g->vectors[w]), "");
        filled = LLVMBuildOr(ll->builder, filled, full, "");
    }
    return LLVMBuildOr(ll->builder, x->pack_b, LLVMBuildNot(ll->builder, filled, ""), "");
}

static inline LlValue panel_width(GemmEmit *g, const Blocks *x, LlValue j)
{
    return ll_min(&g->ll, sub(g, x->columns, j), ll_i64(&g->ll, gemm_columns(g)));
}

static inline LlValue packed_b(GemmEmit *g, const Blocks *x, LlValue j)
{
    return gemm_at(g, x->packed, gemm_mul(g, j, x->packed_pitch));
}

/* What must be there before the first rows of this block are multiplied. */
void rows_start(GemmEmit *g, const Blocks *x, LlValue a);
/* Rows `first` … of a, as many as go together or are left, times the block of b. */
void rows_multiply(GemmEmit *g, const Blocks *x, LlValue a, LlValue b, LlValue c, LlValue first,
                   LlValue rows);

#endif
