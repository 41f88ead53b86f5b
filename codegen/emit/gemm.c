/* A native product's blocks; see gemm.h. */
#include "codegen/emit/gemm_blocks.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The packed block of b, half of a second-level cache, and after it the panels of a. */
#define BLOCK_BYTES(second_level) ((second_level) / 2)
enum { DEPTH_BYTES = 1024, PAIRS_DEPTH_BYTES = 2048 };
enum { A_ROWS = 2 * GEMM_MOST_ROWS, A_BYTES = A_ROWS * (PAIRS_DEPTH_BYTES + GEMM_PANEL_GAP) };
#define PROCESSOR(name, level, feature, features, bits, registers, masks, scales, pairs, line,      \
                  second_level)                                                                    \
    static_assert(BLOCK_BYTES(second_level) + A_BYTES <= TFC_GEMM_WORKSPACE,                       \
                  "the workspace holds both");
#define CPU(...)
#include "codegen/targets.def"
static_assert(TFC_ROUNDED_TERMS == PAIRS_DEPTH_BYTES / 4, "what is rounded is summed in one go");

/* Operands that no more tiles than this read are read where they are. */
enum { DIRECT_A_TILES = 2, DIRECT_B_TILES = 6 };
static_assert(TFC_PACKED_FROM == DIRECT_B_TILES * 6 + 1, "what tiles of six rows read in place");

/* ---- helpers ---- */

LlValue gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers, bool private)
{
    Ll *ll = &g->ll;
    LlType types[16];
    char name[96];
    assert(n_params <= 16);
    for (int i = 0; i < n_params; i++)
        types[i] = pointers >> i & 1 ? ll->ptr : ll->i64;
    snprintf(name, sizeof name, "%s%s%s", g->name, *part ? "." : "", part);
    LlType type =
        LLVMFunctionType(LLVMVoidTypeInContext(ll->context), types, (unsigned)n_params, false);
    LlValue function = LLVMAddFunction(ll->module, name, type);
    if (private)
        LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(ll->context, LLVMGetEnumAttributeKindForName("nounwind", 8), 0));
    ll_begin_function(ll, function);
    return function;
}

LlValue gemm_call(GemmEmit *g, LlValue function, int n, LlValue *args)
{
    return LLVMBuildCall2(g->ll.builder, LLVMGlobalGetValueType(function), function, args,
                          (unsigned)n, "");
}

LlValue gemm_at(GemmEmit *g, LlValue pointer, LlValue index)
{
    return ll_gep(&g->ll, g->element, pointer, index);
}

LlValue gemm_source(GemmEmit *g, LlValue pointer, LlValue index)
{
    return ll_gep(&g->ll, g->source, pointer, index);
}

LlValue gemm_unit(GemmEmit *g, LlValue pointer, LlValue index)
{
    return ll_gep(&g->ll, g->unit, pointer, index);
}

void gemm_return(GemmEmit *g) { LLVMBuildRetVoid(g->ll.builder); }

/* ---- blocks ---- */

static void pack_b_block(GemmEmit *g, const Blocks *x, LlValue b)
{
    Ll *ll = &g->ll;
    LlIf here = ll_if_open(ll, LLVMBuildNot(ll->builder, x->prepacked, ""));
    LlLoop panels = ll_loop_open(ll, ll_i64(ll, 0), x->columns, gemm_columns(g), "panels");
    LlValue width = panel_width(g, x, panels.index);
    LlIf packs = ll_if_open(ll, packs_panel(g, x, width));
    LlValue from = gemm_source(g, b, gemm_mul(g, panels.index, x->b_column));
    gemm_call(
        g, g->pack_b, 6,
        (LlValue[]){x->depth, from, x->b_k, x->b_column, width, packed_b(g, x, panels.index)});
    ll_if_close(ll, &packs);
    ll_loop_close(ll, &panels);
    ll_if_close(ll, &here);
}

/* Where the block's panels of b are. Of what was packed beforehand a panel has all terms. */
static void find_panels(GemmEmit *g, Blocks *x, LlValue l, LlValue column)
{
    LlValue first = gemm_mul(g, add(g, x->first_column, column), x->all_terms);
    LlValue term = gemm_mul(g, gemm_terms_of(g, l), ll_i64(&g->ll, gemm_columns(g)));
    x->packed = select(g, x->prepacked, gemm_at(g, x->b, add(g, first, term)), x->workspace);
    x->packed_pitch = select(g, x->prepacked, x->all_terms, x->terms);
}

/* Sets MXCSR to what the slot holds; NULL: it is never changed. */
static void set_mxcsr(GemmEmit *g, LlValue slot)
{
    if (slot)
        ll_intrinsic(&g->ll, "llvm.x86.sse.ldmxcsr", 0, NULL, 1, &slot);
}

static LlValue epilogue_field(GemmEmit *g, LlValue record, int64_t field)
{
    return ll_gep(&g->ll, g->ll.i64, record, ll_i64(&g->ll, field));
}

/* The epilogue of rows from `row` on, and of the block's columns, which begin at `column`. */
static void finish(GemmEmit *g, const Blocks *x, LlValue row, LlValue rows, LlValue column)
{
    enum { CALL, ARGS, ROW, COLUMN }; /* fields of TfcEpilogue */
    Ll *ll = &g->ll;
    LlIf whole = ll_if_open(ll, x->finishes);
    LlType params[] = {ll->ptr, ll->i64, ll->i64};
    LlType kernel = LLVMFunctionType(LLVMVoidTypeInContext(ll->context), params, 3, false);
    LlValue call = ll_load(ll, ll->ptr, epilogue_field(g, x->epilogue, CALL), 8);
    LlValue args = ll_load(ll, ll->ptr, epilogue_field(g, x->epilogue, ARGS), 8);
    row = add(g, row, ll_load(ll, ll->i64, epilogue_field(g, x->epilogue, ROW), 8));
    column = add(g, column, ll_load(ll, ll->i64, epilogue_field(g, x->epilogue, COLUMN), 8));
    ll_store(ll, column, epilogue_field(g, args, TFC_COLUMN_BEGIN), 8);
    ll_store(ll, add(g, column, x->columns), epilogue_field(g, args, TFC_COLUMN_END), 8);
    set_mxcsr(g, x->mxcsr);
    LLVMBuildCall2(ll->builder, kernel, call, (LlValue[]){args, row, add(g, row, rows)}, 3, "");
    set_mxcsr(g, x->flushing);
    ll_if_close(ll, &whole);
}

/* Columns of b a block: what fits into its room at this depth; or a panel, where no
 * second panel of a would read it again. */
static LlValue block_columns(GemmEmit *g, const Blocks *x)
{
    Ll *ll = &g->ll;
    LlValue at_least_one =
        select(g, LLVMBuildICmp(ll->builder, LLVMIntSGT, x->terms, ll_i64(ll, 1), ""), x->terms,
               ll_i64(ll, 1));
    LlValue fit = LLVMBuildUDiv(ll->builder, ll_i64(ll, g->block / g->bytes), at_least_one, "");
    LlValue room = LLVMBuildAnd(ll->builder, fit, ll_i64(ll, -(int64_t)gemm_columns(g)), "");
    return select(g, x->passing, ll_i64(ll, gemm_columns(g)), room);
}

/* A loop whose step is known at run time only: from 0 while below `end`. */
static LlLoop open_steps(GemmEmit *g, LlValue end, LlValue step, const char *name)
{
    LlLoop loop = ll_loop_open(&g->ll, ll_i64(&g->ll, 0), end, 1, name);
    loop.step = step;
    return loop;
}

static void multiply_depth(GemmEmit *g, Blocks *x, LlValue l)
{
    Ll *ll = &g->ll;
    LlValue step = block_columns(g, x);
    LlLoop blocks = open_steps(g, x->n, step, "blocks");
    x->columns = ll_min(&g->ll, sub(g, x->n, blocks.index), step);
    LlValue b = gemm_source(g, x->b,
                            add(g, gemm_mul(g, l, x->b_k), gemm_mul(g, blocks.index, x->b_column)));
    find_panels(g, x, l, blocks.index);
    pack_b_block(g, x, b);
    LlValue a = gemm_source(g, x->a, gemm_mul(g, l, x->a_k));
    LlValue c = gemm_unit(g, x->c, gemm_mul(g, blocks.index, x->c_units));
    rows_start(g, x, a);
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), x->m, gemm_together(g), "rows");
    LlValue count = ll_min(&g->ll, sub(g, x->m, rows.index), ll_i64(ll, gemm_together(g)));
    rows_multiply(g, x, a, b, c, rows.index, count);
    finish(g, x, rows.index, count, blocks.index);
    ll_loop_close(ll, &rows);
    ll_loop_close(ll, &blocks);
}

static void read_params(GemmEmit *g, LlValue function, Blocks *x)
{
    Ll *ll = &g->ll;
    LlValue *const params[] = {&x->m,     &x->n,   &x->k,        &x->a,        &x->a_row,
                               &x->a_k,   &x->b,   &x->b_k,      &x->b_column, &x->c,
                               &x->c_row, &x->put, &x->epilogue, &x->workspace};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    x->panels = gemm_at(g, x->workspace, ll_i64(ll, g->block / g->bytes));
    x->low = LLVMBuildICmp(ll->builder, LLVMIntSLE, x->m, ll_i64(ll, g->low_rows), "");
    LlValue wide = LLVMBuildICmp(ll->builder, LLVMIntSGT, x->n,
                                 ll_i64(ll, DIRECT_A_TILES * gemm_columns(g)), "");
    x->by_rows = LLVMBuildICmp(ll->builder, LLVMIntEQ, x->a_k, ll_i64(ll, 1), "");
    LlValue in_place = LLVMBuildOr(ll->builder, x->low, x->by_rows, "");
    x->pack_a = LLVMBuildAnd(ll->builder, wide, LLVMBuildNot(ll->builder, in_place, ""), "");
    LlValue high =
        LLVMBuildICmp(ll->builder, LLVMIntSGT, x->m, ll_i64(ll, DIRECT_B_TILES * gemm_rows(g)), "");
    x->prepacked = LLVMBuildICmp(ll->builder, LLVMIntEQ, x->b_k, ll_i64(ll, TFC_PACKED), "");
    x->first_column = select(g, x->prepacked, x->b_column, ll_i64(ll, 0));
    x->all_terms = gemm_terms_of(g, x->k);
    x->b_k = select(g, x->prepacked, ll_i64(ll, 0), x->b_k);
    LlValue across = LLVMBuildICmp(ll->builder, LLVMIntNE, x->b_column, ll_i64(ll, 1), "");
    x->pack_b =
        LLVMBuildOr(ll->builder, LLVMBuildOr(ll->builder, high, across, ""), x->prepacked, "");
    x->b_column = select(g, x->prepacked, ll_i64(ll, 1), x->b_column);
    x->passing = LLVMBuildAnd(ll->builder, x->low, x->pack_b, "");
    x->low = LLVMBuildAnd(ll->builder, x->low, LLVMBuildNot(ll->builder, x->pack_b, ""), "");
    x->c_units = ll_i64(ll, 1);
    x->ahead = x->pack_a;
    if (g->pairs) {
        x->ahead = g->joined ? ll_int(ll->i1, 0) : LLVMBuildNot(ll->builder, x->by_rows, "");
        x->pack_a = x->pack_b = ll_int(ll->i1, 1);
        x->low = ll_int(ll->i1, 0);
        LlValue rounds =
            LLVMBuildICmp(ll->builder, LLVMIntEQ, x->put, ll_i64(ll, TFC_PUT_ROUNDED), "");
        x->c_units = select(g, rounds, ll_i64(ll, 1), ll_i64(ll, 2));
    }
    x->c_row = gemm_mul(g, x->c_row, x->c_units);
}

/* MXCSR while a product of bf16 runs: denormals are zero, as for vdpbf16ps. */
static void flush_denormals(GemmEmit *g, const Target *target, Blocks *x)
{
    enum { ZERO_DENORMALS = 0x8040 };
    Ll *ll = &g->ll;
    x->mxcsr = x->flushing = NULL;
    if (!g->pairs || !target->mxcsr)
        return;
    x->mxcsr = ll_alloca(ll, ll->i32, "mxcsr");
    x->flushing = ll_alloca(ll, ll->i32, "");
    ll_intrinsic(ll, "llvm.x86.sse.stmxcsr", 0, NULL, 1, &x->mxcsr);
    LlValue bits = ll_load(ll, ll->i32, x->mxcsr, 4);
    ll_store(ll, LLVMBuildOr(ll->builder, bits, ll_int(ll->i32, ZERO_DENORMALS), ""), x->flushing,
             4);
    set_mxcsr(g, x->flushing);
}

/* Depths, blocks of columns, panels of rows. Without terms one pass of depth zero
 * gives the zeros. */
static void write_product(GemmEmit *g, const Target *target)
{
    Ll *ll = &g->ll;
    Blocks x;
    LlValue function = gemm_open(g, "", 14, 1 << 3 | 1 << 6 | 1 << 9 | 1 << 12 | 1 << 13, false);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    read_params(g, function, &x);
    flush_denormals(g, target, &x);
    if (g->amx)
        gemm_amx_begin(g);
    LlValue zero = ll_i64(ll, 0), one = ll_i64(ll, 1);
    LlValue some = LLVMBuildICmp(ll->builder, LLVMIntSGT, x.k, zero, "");
    LlLoop depths = ll_loop_open(ll, zero, select(g, some, x.k, one), g->depth, "depths");
    x.depth =
        ll_min(&g->ll, sub(g, select(g, some, x.k, zero), depths.index), ll_i64(ll, g->depth));
    x.terms = gemm_terms_of(g, x.depth);
    LlValue later = LLVMBuildICmp(ll->builder, LLVMIntSGT, depths.index, zero, "");
    x.adds = select(g, later, ll_i64(ll, TFC_PUT_ADD), x.put);
    LlValue waits = LLVMBuildICmp(ll->builder, LLVMIntNE, x.epilogue, LLVMConstNull(ll->ptr), "");
    LlValue last = LLVMBuildICmp(ll->builder, LLVMIntSGE, add(g, depths.index, x.depth), x.k, "");
    x.finishes = LLVMBuildAnd(ll->builder, waits, last, "");
    multiply_depth(g, &x, depths.index);
    ll_loop_close(ll, &depths);
    if (g->amx)
        gemm_amx_end(g);
    set_mxcsr(g, x.mxcsr);
    gemm_return(g);
}

/* The panels of b, all terms of each, one after the other. */
static void write_pack(GemmEmit *g)
{
    enum { K, BEGIN, END, B, B_K, B_COLUMN, PACKED, PARAMS };
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, "pack", PARAMS, 1 << B | 1 << PACKED, false), x[PARAMS];
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    for (unsigned i = 0; i < PARAMS; i++)
        x[i] = LLVMGetParam(function, i);
    LlLoop panels = ll_loop_open(ll, x[BEGIN], x[END], gemm_columns(g), "panels");
    LlValue width = ll_min(ll, sub(g, x[END], panels.index), ll_i64(ll, gemm_columns(g)));
    LlValue from = gemm_source(g, x[B], gemm_mul(g, panels.index, x[B_COLUMN]));
    LlValue to = gemm_at(g, x[PACKED], gemm_mul(g, panels.index, gemm_terms_of(g, x[K])));
    gemm_call(g, g->pack_b, 6, (LlValue[]){x[K], from, x[B_K], x[B_COLUMN], width, to});
    ll_loop_close(ll, &panels);
    gemm_return(g);
}

/* ---- shape of the tiles ---- */

/* A tile of 6 × 4 vectors leaves, of 32 registers, those for the operands, and reads least
 * memory for its sums: 10 loads for 24 products, where 14 × 2 reads 16 for 28. Of 16
 * registers 6 × 2 leave four. Shorter tiles are for what is left over below; low ones are
 * as wide as the highest of them allows. AMX has one height, of any number of rows. */
typedef struct TileShapes {
    int vectors[GEMM_WIDTHS], heights[GEMM_HEIGHTS], unrolled, panels;
} TileShapes;

static const TileShapes many_registers = {{1, 2, 4, 8}, {6, 4, 2, 1}, 4, 8},
                        few_registers = {{1, 1, 2, 4}, {6, 4, 2, 1}, 1, 8},
                        tile_registers = {{1, 2, 4, 8}, {32}, 1, 3};

static void choose_tiles(GemmEmit *g, const Target *target)
{
    enum { LOW_ROWS = 2 };
    const Processor *processor = target->processor;
    const TileShapes *shapes = g->amx ? &tile_registers
                               : processor->registers >= GEMM_MANY_REGISTERS ? &many_registers
                                                                             : &few_registers;
    g->lanes = processor->vector_bits ? processor->vector_bits / (8 * g->bytes) : 1;
    assert(TFC_PACKED_COLUMNS % (g->lanes * shapes->vectors[GEMM_PANEL]) == 0);
    memcpy(g->vectors, shapes->vectors, sizeof g->vectors);
    memcpy(g->heights, shapes->heights, sizeof g->heights);
    while (g->n_heights < GEMM_HEIGHTS && g->heights[g->n_heights])
        g->n_heights++;
    g->unrolled = shapes->unrolled;
    g->panels = shapes->panels;
    assert(gemm_together(g) <= GEMM_MOST_ROWS);
    g->low_rows = g->pairs ? 0 : LOW_ROWS; /* panels of pairs are always packed */
    g->block = BLOCK_BYTES(processor->second_level);
    g->line = processor->line;
    g->depth = (g->pairs ? PAIRS_DEPTH_BYTES : DEPTH_BYTES) / g->bytes;
}

void gemm_set_types(GemmEmit *g, const Target *target, TfcType type)
{
    Ll *ll = &g->ll;
    g->pairs = type == TFC_BF16;
    g->amx = g->pairs && target->processor->pairs == TARGET_PAIRS_AMX;
    g->joined = g->pairs && target->processor->pairs != TARGET_PAIRS_WIDENED;
    g->sum = type == TFC_F64 ? ll->f64 : ll->f32;
    g->source = g->unit = g->pairs ? ll->i16 : g->sum;
    g->element = g->joined ? ll->i32 : g->sum;
    g->bytes = type == TFC_F64 ? 8 : 4;
}

static void write_parts(GemmEmit *g)
{
    gemm_tiles(g);
    for (GemmLie lie = GEMM_PACKED; lie < (g->joined ? GEMM_BY_ROWS : GEMM_LIES); lie++)
        g->largest[lie] = gemm_tile(g, gemm_rows(g), g->vectors[GEMM_PANEL], lie);
    g->tile_rows = gemm_tile_rows(g);
    LlValue (*pack)(GemmEmit *, const char *, int) = g->pairs ? gemm_pack_pairs : gemm_pack;
    g->pack_a = g->joined ? pack(g, "pack_a", gemm_rows(g)) : gemm_pack_beside(g);
    g->widen_a = g->pairs && !g->joined ? gemm_widen_rows(g) : NULL;
    g->pack_b = pack(g, "pack_b", gemm_columns(g));
}

static void write_amx_parts(GemmEmit *g)
{
    g->tile_rows = gemm_amx_rows(g);
    g->pack_a = gemm_amx_pack_rows(g);
    g->pack_b = gemm_amx_pack_panel(g);
}

void emit_gemm(LLVMContextRef context, LLVMModuleRef module, const Target *target, TfcType type,
               const char *name)
{
    GemmEmit g = {.name = name};
    ll_init(&g.ll, context, module);
    gemm_set_types(&g, target, type);
    choose_tiles(&g, target);
    (g.amx ? write_amx_parts : write_parts)(&g);
    write_product(&g, target);
    write_pack(&g);
    ll_dispose(&g.ll);
}
