/* The functions that products of an attention region call, one set for each type of operands:
 *
 *   rows      computes any number of rows of a product, up to a panel's columns, by gemm.h's tiles
 *   queries   packs a block's queries as columns
 *   panel     packs a panel's columns of a right operand, its rows as far apart as the call says */
#include "codegen/emit/attention/attention.h"

#include "codegen/emit/gemm/gemm.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 32 };

/* ---- any number of rows ---- */

/* The tile that fits the columns. */
static void call_tile(GemmEmit *g, LoFunction *const *tiles, LoValue *args)
{
    Lo *lo = &g->lo;
    LoIf fits[GEMM_PANEL];
    for (int width = GEMM_ONE_VECTOR; width < GEMM_PANEL; width++) {
        LoValue room = lo_i64_of(lo, g->lanes * g->vectors[width]);
        fits[width] = lo_if_open(lo, lo_le(lo, args[ARG_COLUMNS], room));
        lo_call(lo, tiles[width], ARGS, args);
        lo_else(lo, &fits[width]);
    }
    lo_call(lo, tiles[GEMM_PANEL], ARGS, args);
    for (int width = GEMM_PANEL - 1; width >= GEMM_ONE_VECTOR; width--)
        lo_if_close(lo, &fits[width]);
}

/* The parameters are a TfcTile's, strides in elements:
 * while (rows >= height) { tile; rows -= height; a, c a tile further } for each height */
static void write_rows(GemmEmit *g, GemmTiles tiles)
{
    static const int strides[] = {ARG_A_ROW, ARG_A_K, ARG_B_K, ARG_C_ROW};
    LoValue x[ARGS];
    gemm_open(g, "rows", ARGS, ARG_POINTERS, x);
    for (int i = 0; i < 4; i++)
        x[strides[i]] = gemm_times(g, x[strides[i]], gemm_bytes(g));
    for (int h = 0; h < TFC_HEIGHTS && g->form.heights[h]; h++) {
        LoValue height = lo_i64_of(&g->lo, g->form.heights[h]);
        LoWhile loop = {.values = {&x[ARG_A], &x[ARG_C]}, .n = 2};
        lo_while_open(&g->lo, &loop, &x[ARG_ROWS], height);
        call_tile(g, tiles[h], x);
        x[ARG_ROWS] = gemm_sub(g, x[ARG_ROWS], height);
        x[ARG_A] = gemm_byte(g, x[ARG_A], gemm_mul(g, x[ARG_A_ROW], height));
        x[ARG_C] = gemm_byte(g, x[ARG_C], gemm_mul(g, x[ARG_C_ROW], height));
        lo_while_close(&g->lo, &loop);
    }
    gemm_return(g);
}

/* ---- the set ---- */

static void name_functions(Attention *a, DType operand, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "tiles.%s.%d", dtype_name(operand), a->e->vector);
}

static void write_functions(Attention *a, DType operand)
{
    static const int64_t wide[TFC_HEIGHTS] = {8, 4, 2, 1}, narrow[TFC_HEIGHTS] = {4, 2, 1};
    Emit *e = a->e;
    DType dtype = a->tiles.scores.dtype;
    char name[NAME_SIZE];
    GemmTiles tiles = {0};
    GemmEmit g = {.name = name,
                  .module = e->lo.module,
                  .form = {.source = (int64_t)dtype_bytes(dtype),
                           .element = (int64_t)dtype_bytes(dtype),
                           .joined = 1,
                           .kept = 1},
                  .lanes = e->vector,
                  .vectors = {1, 1, PANEL_VECTORS}};
    bool many = e->target->processor->registers >= GEMM_MANY_REGISTERS;
    name_functions(a, operand, name);
    g.source = emit_memory_type(e, operand);
    g.element = g.sum = emit_type(e, dtype);
    memcpy(g.form.heights, many ? wide : narrow, sizeof g.form.heights);
    if (operand == dtype) {
        gemm_tiles(&g, tiles);
        write_rows(&g, tiles);
    }
    gemm_pack(&g, "queries", (int)block_queries(a), false);
    gemm_pack_pitched(&g, "panel", gemm_columns(&g));
}

LoFunction *tile_function(Attention *a, DType operand, const char *part)
{
    char name[NAME_SIZE], full[2 * NAME_SIZE];
    name_functions(a, operand, name);
    snprintf(full, sizeof full, "%s.%s", name, part);
    return lo_find_function(a->e->lo.module, full);
}

void tile_need_functions(Attention *a, DType operand)
{
    if (!tile_function(a, operand, "panel"))
        write_functions(a, operand);
}
