/* A form: shapes of its tiles, its parts, and the record of them; see gemm.h. */
#include "codegen/emit/gemm/gemm.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* The packed block of b, half of a second-level cache, and after it two groups of a's rows. */
#define BLOCK_BYTES(second_level) ((second_level) / 2)
enum { DEPTH_BYTES = 1024, PAIRS_DEPTH_BYTES = 2048, MOST_ROWS = 96 };
enum { A_BYTES = 2 * MOST_ROWS * (PAIRS_DEPTH_BYTES + TFC_PANEL_GAP) };
/* The greatest of a panel of integers: 8 bits in groups. */
enum {
    INT8_TURN = TURN_TERMS + INTEGERS_TERMS, /* bytes of a column */
    INT8_PANEL = TFC_INT8_PACKED_K / TURN_TERMS * INT8_TURN * TFC_PANEL_COLUMNS
};
#define PROCESSOR(name, arch, level, feature, features, bits, registers, fused, masks, scales, \
                  pairs, quads, line, ahead, second_level)                                     \
    static_assert(BLOCK_BYTES(second_level) + A_BYTES <= TFC_GEMM_WORKSPACE &&                 \
                      INT8_PANEL <= BLOCK_BYTES(second_level),                                 \
                  "the workspace holds both, and the block a panel");
#define CPU(...)
#include "codegen/targets.def"
static_assert(TFC_ROUNDED_K == PAIRS_DEPTH_BYTES / 4, "what is rounded is summed in one go");

/* ---- shapes ---- */

/* A tile of 6 × 4 vectors leaves, of 32 registers, those for the operands, and reads least memory
 * for its sums: 10 loads for 24 products, where 14 × 2 reads 16 for 28. Of 16 registers 6 × 2 leave
 * four. Shorter tiles are for what is left over below; low ones are as wide as the highest of them
 * allows. Products of words take a register more, and another one of b's where an instruction gives
 * its result in place of an operand. Integers in groups have two sums at a time, one of a group in
 * i32 and one of all in f32. AMX has one or two registers of rows and of columns. */
typedef struct TileShapes {
    int vectors[TFC_WIDTHS], heights[TFC_HEIGHTS], panels;
} TileShapes;

static const TileShapes many_registers = {{1, 2, 4, 8}, {6, 4, 2, 1}, 8},
                        few_registers = {{1, 1, 2, 4}, {6, 4, 2, 1}, 8},
                        words_many = {{1, 2, 4, 8}, {4, 2, 1}, 12},
                        words_few = {{1, 1, 2, 4}, {4, 2, 1}, 12},
                        groups_many = {{1, 2, 4, 8}, {2, 1}, 24},
                        groups_few = {{1, 1, 2, 4}, {2, 1}, 24},
                        groups_fewest = {{1, 1, 2, 4}, {1}, 48},
                        tile_registers = {{1, 2, 4}, {2 * AMX_LINES, AMX_LINES}, 3};

static void choose_shapes(GemmEmit *g, const Processor *processor)
{
    enum { LOW_ROWS = 2 };
    const bool many = processor->registers >= GEMM_MANY_REGISTERS;
    const bool words = g->form.integers && !form_has_bytes(&g->form);
    const bool groups = g->form.integers && form_has_groups(&g->form);
    const TileShapes *shapes = g->amx   ? &tile_registers
                               : groups ? (many               ? &groups_many
                                           : processor->fused ? &groups_few
                                                              : &groups_fewest)
                               : many   ? (words ? &words_many : &many_registers)
                               : words && !processor->fused ? &words_few
                                                            : &few_registers;
    TfcFormSizes *f = &g->form;
    g->lanes = processor->vector_bits ? processor->vector_bits / (8 * gemm_bytes(g)) : 1;
    memcpy(g->vectors, shapes->vectors, sizeof g->vectors);
    for (int i = 0; i < TFC_HEIGHTS; i++)
        f->heights[i] = shapes->heights[i];
    for (int i = 0; i < TFC_WIDTHS && (!g->amx || i < GEMM_PANEL); i++)
        f->widths[i] = g->lanes * shapes->vectors[i];
    /* A product that is not fused needs a register more than 16 leave such a loop. */
    g->unrolled = processor->fused || processor->registers >= GEMM_MANY_REGISTERS ? 4 : 1;
    g->ahead = processor->ahead;
    f->columns = gemm_columns(g);
    f->rows = f->heights[0];
    f->together = f->rows * shapes->panels;
    f->low = g->pairs || f->integers ? 0 : LOW_ROWS;
    assert(TFC_PANEL_COLUMNS % f->columns == 0 && f->together <= MOST_ROWS);
}

/* How a is read where it lies: f32 and f64 always; pairs that are whole; rows for AMX that are
 * whole registers, and not so far apart that all would want the same sets of the first-level
 * cache. */
static void choose_reading(GemmEmit *g)
{
    enum { CROWDED = 2048 };
    TfcFormSizes *f = &g->form;
    bool packed = f->integers || (g->pairs && !gemm_joined(g));
    f->in_place_rows = packed ? 0 : g->amx ? AMX_LINES : 1;
    f->in_place_k = f->whole;
    f->crowded = g->amx ? CROWDED : 0;
    f->beside = g->amx || f->integers ? TFC_LAYOUT_ROWS : TFC_LAYOUT_PANELS;
    f->strided = !g->pairs && !f->integers;
    f->any_rows = g->amx;
    f->registers = g->amx;
}

static void choose_integers(GemmEmit *g, const Processor *processor, Quant quant)
{
    TfcFormSizes *f = &g->form;
    const QuantInfo *q = quant_info(quant);
    g->quads = processor->quads;
    f->integers = q->bits;
    f->quant = quant;
    f->kept = q->group ? group_element_terms(q->bits) : INTEGERS_TERMS;
    f->whole = q->group ? TURN_TERMS : INTEGERS_TERMS;
    const bool bytes = g->quads == TARGET_QUADS_DOTS || g->quads == TARGET_QUADS_SIGNED ||
                       (g->quads == TARGET_QUADS_PAIRS && q->bits == 4);
    f->joined = bytes ? INTEGERS_TERMS : INTEGERS_TERMS / 2;
    f->depth = TFC_INT8_K;
    f->element = f->source = sizeof(float);
    g->sum = g->source = g->element = lo_i32;
}

static void choose_floats(GemmEmit *g, const CodeTarget *target, TfcProductType type)
{
    TfcFormSizes *f = &g->form;
    const Processor *processor = target->processor;
    g->pairs = type == TFC_PRODUCT_BF16;
    g->amx = g->pairs && processor->pairs == TARGET_PAIRS_AMX;
    f->joined = g->pairs && processor->pairs != TARGET_PAIRS_WIDENED ? 2 : 1;
    f->kept = g->pairs ? 2 : 1;
    f->whole = g->amx ? TFC_PAIRS_K : g->pairs ? 2 : 1;
    f->element = type == TFC_PRODUCT_F64 ? sizeof(double) : sizeof(float);
    f->source = g->pairs ? (int64_t)sizeof(uint16_t) : f->element;
    g->sum = type == TFC_PRODUCT_F64 ? lo_f64 : lo_f32;
    g->source = g->pairs ? lo_i16 : g->sum;
    g->element = gemm_joined(g) ? lo_i32 : g->sum;
    f->depth = (g->pairs ? PAIRS_DEPTH_BYTES : DEPTH_BYTES) / f->element;
    f->flush = g->pairs;
}

static void choose_form(GemmEmit *g, const CodeTarget *target, TfcProductType type)
{
    TfcFormSizes *f = &g->form;
    const Processor *processor = target->processor;
    if (product_quant(type))
        choose_integers(g, processor, product_quant(type));
    else
        choose_floats(g, target, type);
    f->block = BLOCK_BYTES(processor->second_level);
    f->line = processor->line;
    choose_shapes(g, processor);
    choose_reading(g);
}

TfcFormSizes gemm_sizes(const CodeTarget *target, TfcProductType type)
{
    GemmEmit g = {0};
    choose_form(&g, target, type);
    return g.form;
}

/* ---- the record ---- */

typedef struct GemmParts {
    GemmTiles tiles;
    LoFunction *highest[TFC_LAYOUTS];
    GemmTiles of_kept;
    LoFunction *pack_panel, *pack_kept, *pack_rows, *transpose_rows, *round_row;
} GemmParts;

static void write_parts(GemmEmit *g, GemmParts *p)
{
    if (g->form.integers) {
        gemm_kept_tiles(g, p->of_kept);
        p->round_row = gemm_round_row(g);
        return;
    }
    p->pack_panel = p->pack_kept = gemm_pack(g, "pack_b", gemm_columns(g), false);
    if (g->amx) {
        p->transpose_rows = gemm_amx_transpose_rows(g);
        gemm_amx_tiles(g, p->tiles);
        return;
    }
    p->pack_rows = gemm_pack_rows(g);
    gemm_tiles(g, p->tiles);
    for (TfcLayout layout = TFC_LAYOUT_PANELS; layout < TFC_LAYOUT_KEPT; layout++)
        p->highest[layout] = gemm_tile(g, (int)g->form.rows, g->vectors[GEMM_PANEL], layout);
    if (gemm_widens(g)) {
        p->pack_kept = gemm_pack(g, "pack_kept", gemm_columns(g), true);
        gemm_kept_tiles(g, p->of_kept);
    }
}

/* A TfcForm: its sizes, then a pointer at the place of each part. */
static void write_record(GemmEmit *g, const GemmParts *p)
{
    enum { SIZES = sizeof g->form / sizeof(int64_t), POINTERS = sizeof *p / sizeof(LoFunction *) };
    static_assert(sizeof(TfcForm) == SIZES * sizeof(int64_t) + POINTERS * sizeof(void (*)(void)),
                  "every pointer of a form is a part");
    LoRecord *record = lo_add_record(g->module, g->name, SIZES, POINTERS);
    memcpy(record->numbers, &g->form, sizeof g->form);
#define PART(name)                                                               \
    memcpy(&record->functions[(offsetof(TfcForm, name) - sizeof(TfcFormSizes)) / \
                              sizeof(void (*)(void))],                           \
           &p->name, sizeof p->name)
    PART(tiles);
    PART(highest);
    PART(of_kept);
    PART(pack_panel);
    PART(pack_kept);
    PART(pack_rows);
    PART(transpose_rows);
    PART(round_row);
#undef PART
}

void emit_gemm(LoModule *module, const CodeTarget *target, TfcProductType type, const char *name)
{
    GemmEmit g = {.name = name, .module = module};
    GemmParts parts = {0};
    choose_form(&g, target, type);
    write_parts(&g, &parts);
    write_record(&g, &parts);
}
