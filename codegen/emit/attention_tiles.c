/* The functions that products of an attention region call, one set for each type of operands:
 *
 *   rows      any number of rows of a product, up to a panel's columns, by the tiles of gemm.h
 *   queries   packs a block's queries as columns
 *   panel     packs columns of a right operand, a panel as wide as it says */
#include "codegen/emit/attention.h"

#include "codegen/emit/gemm.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 32 };

/* ---- any number of rows ---- */

static void call_one(GemmEmit *g, LlValue tile, LlValue *args)
{
    LLVMBuildCall2(g->ll.builder, LLVMGlobalGetValueType(tile), tile, args, ARGS, "");
}

/* The tile that fits the columns. */
static void call_tile(GemmEmit *g, const LlValue *tiles, LlValue *args)
{
    Ll *ll = &g->ll;
    LlBlock done = ll_new_block(ll, "");
    for (int width = GEMM_ONE_VECTOR; width < GEMM_PANEL; width++) {
        LlValue room = ll_i64(ll, g->lanes * g->vectors[width]);
        LlIf fits =
            ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSLE, args[ARG_COLUMNS], room, ""));
        call_one(g, tiles[width], args);
        LLVMBuildBr(ll->builder, done);
        ll_at_block(ll, fits.done);
    }
    call_one(g, tiles[GEMM_PANEL], args);
    LLVMBuildBr(ll->builder, done);
    ll_at_block(ll, done);
}

/* The parameters are a TfcTile's, strides in elements:
 * while (rows >= height) { tile; rows -= height; a, c a tile further } for each height */
static void write_rows(GemmEmit *g, GemmTiles tiles)
{
    static const int strides[] = {ARG_A_ROW, ARG_A_K, ARG_B_K, ARG_C_ROW};
    LlValue x[ARGS];
    gemm_open(g, "rows", ARGS, ARG_POINTERS, x);
    for (int i = 0; i < 4; i++)
        x[strides[i]] = gemm_times(g, x[strides[i]], gemm_bytes(g));
    for (int h = 0; h < TFC_HEIGHTS && g->form.heights[h]; h++) {
        LlValue height = ll_i64(&g->ll, g->form.heights[h]);
        LlWhile loop = {.values = {&x[ARG_A], &x[ARG_C]}, .n = 2};
        ll_while_open(&g->ll, &loop, &x[ARG_ROWS], height);
        call_tile(g, tiles[h], x);
        x[ARG_ROWS] = gemm_sub(g, x[ARG_ROWS], height);
        x[ARG_A] = gemm_byte(g, x[ARG_A], gemm_mul(g, x[ARG_A_ROW], height));
        x[ARG_C] = gemm_byte(g, x[ARG_C], gemm_mul(g, x[ARG_C_ROW], height));
        ll_while_close(&g->ll, &loop);
    }
    gemm_return(g);
}

/* ---- the set ---- */

static void name_functions(Attention *a, DType operand, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "tiles.%s.%d", dtype_name(operand), a->e->lanes);
}

static void write_functions(Attention *a, DType operand)
{
    static const int64_t wide[TFC_HEIGHTS] = {8, 4, 2, 1}, narrow[TFC_HEIGHTS] = {4, 2, 1};
    Emit *e = a->e;
    DType dtype = a->tiles.scores.dtype;
    char name[NAME_SIZE];
    GemmTiles tiles = {0};
    GemmEmit g = {.name = name,
                  .form = {.source = (int64_t)dtype_bytes(dtype),
                           .element = (int64_t)dtype_bytes(dtype),
                           .joined = 1, .kept = 1},
                  .lanes = e->lanes,
                  .vectors = {1, 1, PANEL_VECTORS}};
    bool many = e->target->processor->registers >= GEMM_MANY_REGISTERS;
    name_functions(a, operand, name);
    ll_init(&g.ll, e->ll.context, e->ll.module);
    g.source = emit_memory_type(e, operand);
    g.element = g.sum = emit_type(e, dtype);
    memcpy(g.form.heights, many ? wide : narrow, sizeof g.form.heights);
    if (operand == dtype) {
        gemm_tiles(&g, tiles);
        write_rows(&g, tiles);
    }
    gemm_pack(&g, "queries", g.lanes * BLOCK_VECTORS, false);
    gemm_pack_pitched(&g, "panel", gemm_columns(&g));
    ll_dispose(&g.ll);
}

LlValue tile_function(Attention *a, DType operand, const char *part)
{
    char name[NAME_SIZE], full[2 * NAME_SIZE];
    name_functions(a, operand, name);
    snprintf(full, sizeof full, "%s.%s", name, part);
    return LLVMGetNamedFunction(a->e->ll.module, full);
}

void tile_need_functions(Attention *a, DType operand)
{
    if (!tile_function(a, operand, "panel"))
        write_functions(a, operand);
}
