/* Products of an attention region, by the tiles of gemm.h:
 *
 *   scores    strip[key][lane] = Σ_d keys[key][d] · turned[d][lane]
 *   rows      result[query][d] (+)= Σ_key strip[key][query] · values[key][d]
 *   columns   result[key][d]    += Σ_query strip[key][query] · rows[query][d]
 *
 * Operands are read where they lie, but for the queries of scores, which are turned so
 * that lanes lie beside each other, for rows that do not end with a whole vector, and for
 * those of bf16: panels of these are widened before each block of queries meets them, so
 * that all sums are of f32, term after term. */
#include "codegen/emit/attention.h"

#include "codegen/emit/gemm.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Strips lie a few lines further than a power of two apart, so that the first keys of
 * several do not share the sets of a cache. */
enum { PANEL_VECTORS = 2, STRIP_GAP = 20, NAME_SIZE = 32 };

static LlValue number(Attention *a, int64_t value) { return ll_i64(&a->e->ll, value); }

static LlType element_type(Attention *a) { return emit_type(a->e, a->tiles.scores.dtype); }

/* ---- functions ---- */

static void name_functions(Attention *a, DType operand, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "tiles.%s.%d", dtype_name(operand), a->e->lanes);
}

/* Tiles, and what packs operands of this type for them. */
static void write_functions(Attention *a, DType operand)
{
    static const int wide[] = {8, 4, 2, 1}, narrow[] = {4, 2, 1};
    Emit *e = a->e;
    DType dtype = a->tiles.scores.dtype;
    char name[NAME_SIZE];
    GemmEmit g = {.name = name,
                  .bytes = (int)dtype_bytes(dtype),
                  .lanes = e->lanes,
                  .vectors = {1, 1, PANEL_VECTORS}};
    bool many = e->target->vector_bits == 512;
    name_functions(a, operand, name);
    ll_init(&g.ll, e->ll.context, e->ll.module);
    g.source = emit_memory_type(e, operand);
    g.element = g.sum = g.unit = element_type(a);
    g.n_heights = many ? 4 : 3;
    memcpy(g.heights, many ? wide : narrow, (size_t)g.n_heights * sizeof g.heights[0]);
    if (operand == dtype) {
        gemm_tiles(&g);
        gemm_tile_rows(&g);
    }
    gemm_pack(&g, "queries", g.lanes);
    gemm_pack(&g, "panel", gemm_columns(&g));
    ll_dispose(&g.ll);
}

static LlValue function_for(Attention *a, DType operand, const char *part)
{
    char name[NAME_SIZE], full[2 * NAME_SIZE];
    name_functions(a, operand, name);
    snprintf(full, sizeof full, "%s.%s", name, part);
    return LLVMGetNamedFunction(a->e->ll.module, full);
}

static void need_functions(Attention *a, DType operand)
{
    if (!function_for(a, operand, "panel"))
        write_functions(a, operand);
}

static LlValue call(Attention *a, LlValue function, unsigned n, LlValue *args)
{
    ll_resume(&a->e->ll);
    return LLVMBuildCall2(a->e->ll.builder, LLVMGlobalGetValueType(function), function, args, n,
                          "");
}

/* ---- memory ---- */

static LlValue take_memory(Attention *a, int64_t elements, const char *name)
{
    LlType type = LLVMArrayType2(element_type(a), (uint64_t)elements);
    LlValue memory = ll_alloca(&a->e->ll, type, name);
    LLVMSetAlignment(memory, 64);
    return memory;
}

/* The longest sentence's keys, known at the kernel's entry. */
static LlValue keys_room(Attention *a)
{
    Emit *e = a->e;
    Ll *ll = &e->ll;
    Dim keys = a->tiles.scores.dims[tile_keys(&a->tiles)];
    LlValue most = ll_i64(ll, STRIP_KEYS),
            longest = extent_of(e, &(Axis){tile_keys(&a->tiles), -1, keys});
    emit_at(e, DEPTH_ENTRY);
    LlValue fits = LLVMBuildICmp(ll->builder, LLVMIntSLT, longest, most, "");
    return LLVMBuildSelect(ll->builder, fits, longest, most, "");
}

LlValue tile_memory(Attention *a, LlType row, int64_t gap, const char *name)
{
    Ll *ll = &a->e->ll;
    emit_at(a->e, DEPTH_ENTRY);
    LlValue rows = LLVMBuildNSWAdd(ll->builder, a->room, ll_i64(ll, gap), "");
    LlValue memory = LLVMBuildArrayAlloca(ll->builder, row, rows, name);
    LLVMSetAlignment(memory, 64);
    ll_resume(ll);
    return memory;
}

LlValue tile_strip(Attention *a, int number)
{
    if (!a->strips[number])
        a->strips[number] =
            tile_memory(a, ll_vector(element_type(a), a->e->lanes), STRIP_GAP, "strip");
    return a->strips[number];
}

/* Tiles take elements of keys for scores one by one, other rows by whole vectors. */
static bool is_packed(const Attention *a, const TileProduct *p)
{
    return p->op->args[1]->type.dtype != a->tiles.scores.dtype ||
           (p->use != TILE_SCORES && p->depth % a->e->lanes != 0);
}

void tile_open(Attention *a)
{
    Emit *e = a->e;
    need_functions(a, a->tiles.scores.dtype);
    a->panel = e->lanes * PANEL_VECTORS;
    a->room = keys_room(a);
    a->strips = ARENA_ARRAY(e->arena, LlValue, e->n_values + 1);
    a->turned = ARENA_ARRAY(e->arena, LlValue, e->n_values + 1);
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int operand = body_number(&e->body, p->op->args[0]);
        need_functions(a, p->op->args[1]->type.dtype);
        if (p->use == TILE_SCORES && !a->turned[operand])
            a->turned[operand] = take_memory(a, (p->depth + 1) * e->lanes, "turned");
        if (is_packed(a, p) && !a->packed)
            a->packed =
                tile_memory(a, LLVMArrayType2(element_type(a), (uint64_t)a->panel), e->lanes + 1,
                            "packed"); /* rows of a strip's keys or of a block's queries */
    }
}

/* ---- operands ---- */

/* Row `first` of an operand or result, and the way to the next: the rows go along
 * `axis` of the scores. */
typedef struct TileRows {
    LlValue at, stride;
} TileRows;

static TileRows rows_of(Attention *a, int buffer, const int *axes, int axis, LlValue first)
{
    Emit *e = a->e;
    Place place = {.rank = e->buffers[buffer].type->rank};
    TileRows rows = {0};
    for (int i = 0; i < place.rank; i++)
        if (axes[i] == axis) {
            place.at[i] = coord_of(first, DEPTH_ROW);
            rows.stride = emit_stride(e, buffer, i);
        } else if (axes[i] != DEPTH_AXIS) {
            place.at[i] = e->space.at[axes[i]];
        }
    rows.at = emit_address(e, buffer, &place);
    return rows;
}

static int result_buffer(const Attention *a, const TileProduct *p)
{
    const Body *body = &a->e->body;
    for (int i = 0; i < body->n_results; i++)
        if (body->yields[i] == &p->op->results[0])
            return body->n_inputs + i;
    assert(!"what uses scores up is a result");
    return -1;
}

static LlValue element_at(Attention *a, LlValue base, LlValue index)
{
    ll_resume(&a->e->ll);
    return ll_gep(&a->e->ll, element_type(a), base, index);
}

/* `columns` of the right operand's rows, from one on, as tiles read them. */
static TileRows panel_of(Attention *a, const TileProduct *p, const TileRows *rows, LlValue n_rows,
                         int64_t column, int64_t columns)
{
    const Value *operand = p->op->args[1];
    LlType type = emit_memory_type(a->e, operand->type.dtype);
    ll_resume(&a->e->ll);
    LlValue at = ll_gep(&a->e->ll, type, rows->at, number(a, column));
    if (!is_packed(a, p))
        return (TileRows){at, rows->stride};
    call(a, function_for(a, operand->type.dtype, "panel"), 6,
         (LlValue[]){n_rows, at, rows->stride, number(a, 1), number(a, columns), a->packed});
    return (TileRows){a->packed, number(a, a->panel)};
}

static LlValue keys_here(Attention *a)
{
    ll_resume(&a->e->ll);
    return LLVMBuildNSWSub(a->e->ll.builder, a->end, a->key, "");
}

/* ---- products ---- */

/* c[rows][columns] = Σ_k a·b (+ c); see gemm_tile_rows. */
typedef struct Call {
    LlValue k, a, a_row, a_k, b, b_k, c, c_row, columns, accumulate, rows;
} Call;

static_assert(TFC_PUT_OVER == 0 && TFC_PUT_ADD == 1, "accumulate says how sums are put");

static void call_rows(Attention *a, const Call *c)
{
    call(a, function_for(a, a->tiles.scores.dtype, "rows"), 12,
         (LlValue[]){c->k, c->a, c->a_row, c->a_k, c->b, c->b_k, c->c, c->c_row, c->columns,
                     c->accumulate, c->rows, number(a, 0)});
}

void tile_turn_queries(Attention *a)
{
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int operand = body_number(&a->e->body, p->op->args[0]);
        bool done = p->use != TILE_SCORES;
        for (int j = 0; j < i; j++)
            done |= a->tiles.products[j].op->args[0] == p->op->args[0];
        if (done)
            continue;
        TileRows from = rows_of(a, operand, p->axes[0], tile_queries(&a->tiles), a->query);
        call(a, function_for(a, p->op->args[0]->type.dtype, "queries"), 6,
             (LlValue[]){number(a, p->depth), from.at, number(a, 1), from.stride, a->count,
                         a->turned[operand]});
    }
}

void tile_scores(Attention *a, const TileProduct *p)
{
    int lanes = a->e->lanes;
    const Body *body = &a->e->body;
    TileRows keys =
        rows_of(a, body_number(body, p->op->args[1]), p->axes[1], tile_keys(&a->tiles), a->key);
    LlValue turned = a->turned[body_number(body, p->op->args[0])];
    LlValue strip = tile_strip(a, body_number(body, &p->op->results[0]));
    int64_t step = is_packed(a, p) ? a->panel : p->depth;
    for (int64_t term = 0; term < p->depth; term += step) {
        int64_t terms = p->depth - term < step ? p->depth - term : step;
        TileRows panel = panel_of(a, p, &keys, keys_here(a), term, terms);
        call_rows(a, &(Call){.k = number(a, terms),
                             .a = panel.at,
                             .a_row = panel.stride,
                             .a_k = number(a, 1),
                             .b = element_at(a, turned, number(a, term * lanes)),
                             .b_k = number(a, lanes),
                             .c = strip,
                             .c_row = number(a, lanes),
                             .columns = number(a, lanes),
                             .accumulate = number(a, term > 0),
                             .rows = keys_here(a)});
    }
}

/* The product by panels of columns; `b` are the rows it sums over, c.k of them. */
static void multiply(Attention *a, const TileProduct *p, Call c, const TileRows *b,
                     const TileRows *result)
{
    c.c_row = result->stride;
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        c.columns = number(a, columns);
        c.c = element_at(a, result->at, number(a, column));
        TileRows panel = panel_of(a, p, b, c.k, column, columns);
        c.b = panel.at;
        c.b_k = panel.stride;
        call_rows(a, &c);
    }
}

static LlValue strip_of_operand(Attention *a, const TileProduct *p)
{
    return tile_strip(a, body_number(&a->e->body, p->op->args[0]));
}

void tile_rows(Attention *a, const TileProduct *p, LlValue accumulate)
{
    TileRows values = rows_of(a, body_number(&a->e->body, p->op->args[1]), p->axes[1],
                              tile_keys(&a->tiles), a->key);
    TileRows result =
        rows_of(a, result_buffer(a, p), p->axes[2], tile_queries(&a->tiles), a->query);
    Call c = {.k = keys_here(a),
              .a = strip_of_operand(a, p),
              .a_row = number(a, 1),
              .a_k = number(a, a->e->lanes),
              .accumulate = accumulate,
              .rows = a->count};
    multiply(a, p, c, &values, &result);
}

void tile_columns(Attention *a, const TileProduct *p)
{
    TileRows queries = rows_of(a, body_number(&a->e->body, p->op->args[1]), p->axes[1],
                               tile_queries(&a->tiles), a->query);
    TileRows result = rows_of(a, result_buffer(a, p), p->axes[2], tile_keys(&a->tiles), a->key);
    Call c = {.k = a->count,
              .a = strip_of_operand(a, p),
              .a_row = number(a, a->e->lanes),
              .a_k = number(a, 1),
              .accumulate = number(a, 1),
              .rows = keys_here(a)};
    multiply(a, p, c, &queries, &result);
}

/* A product without terms gives zeros. */
void tile_clear_columns(Attention *a, const TileProduct *p)
{
    LlValue zero = number(a, 0);
    TileRows result = rows_of(a, result_buffer(a, p), p->axes[2], tile_keys(&a->tiles), zero);
    TileRows nothing = {result.at, zero};
    for (int64_t column = 0; column < p->depth; column += a->panel) {
        int64_t columns = p->depth - column < a->panel ? p->depth - column : a->panel;
        call_rows(a, &(Call){zero, nothing.at, zero, zero, nothing.at, zero,
                             element_at(a, result.at, number(a, column)), result.stride,
                             number(a, columns), zero, a->n_keys});
    }
}
