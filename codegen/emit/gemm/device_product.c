/* Products for a device: a kernel that sums a tile of c, as runtime/exec/device.h says.
 *
 *   for s in sums:
 *     for i, j of the tile:
 *       c[i, j] (+)= Σ_k a[i, k] b[k, j]        of product (iteration of the unit, s)
 *
 * Pass jam makes registers of the tile: what is read serves a row, or a column, of it. */
#include "codegen/emit/gemm/device_product.h"

#include "codegen/loop/build.h"
#include "runtime/exec/device.h"

#include <stddef.h>

typedef struct Device {
    Lo lo;
    const DeviceProduct *product;
    LoValue common[sizeof(TfcDeviceGemm) / 8];
} Device;

#define COMMON(d, field) ((d)->common[offsetof(TfcDeviceGemm, field) / 8])
#define OWN(d, record, field) word_at(&(d)->lo, record, offsetof(TfcDeviceProduct, field) / 8)

static LoValue word_at(Lo *lo, LoValue record, int64_t word)
{
    LoValue at = lo_at(lo, lo_i64, record, lo_i64_of(lo, word));
    return lo_reads(lo_load(lo, lo_i64, at, 8), LO_FIXED);
}

static LoType memory_type(TfcType type)
{
    return type == TFC_F64 ? lo_f64 : type == TFC_BF16 ? lo_i16 : lo_f32;
}

static int bytes_of(LoType type) { return lo_bits(type) / 8; }

/* Address of element (i, j) of a matrix whose element (0, 0) is at `origin` of the buffer. */
static LoValue address(Lo *lo, LoType type, int buffer, LoValue origin, LoValue i, LoValue row,
                       LoValue j, LoValue column)
{
    LoValue at = lo_iadd(lo, origin, lo_iadd(lo, lo_imul(lo, i, row), lo_imul(lo, j, column)));
    return lo_at(lo, type, lo_param(lo, TFC_DEVICE_BUFFERS + buffer), at);
}

static LoValue read_element(Lo *lo, TfcType type, LoValue pointer, LoMemory memory)
{
    LoType memory_of = memory_type(type);
    LoValue x = lo_reads(lo_load(lo, memory_of, pointer, bytes_of(memory_of)), memory);
    return type == TFC_BF16 ? lo_bf16_value(lo, x) : x;
}

static LoValue sum_of(Device *d, LoValue record, LoValue i, LoValue j)
{
    Lo *lo = &d->lo;
    TfcType type = d->product->type;
    LoType sum_type = type == TFC_F64 ? lo_f64 : lo_f32;
    LoValue a = OWN(d, record, a), b = OWN(d, record, b);
    LoValue sum = lo_accumulator(lo, LO_JOIN_ADD, lo_zero(lo, sum_type));
    LoLoop terms = lo_for_open(lo, lo_i64_of(lo, 0), OWN(d, record, k), 1, "terms");
    LoValue x =
        address(lo, memory_type(type), 0, a, i, COMMON(d, a_row), terms.index, COMMON(d, a_column));
    LoValue y =
        address(lo, memory_type(type), 1, b, terms.index, COMMON(d, b_row), j, COMMON(d, b_column));
    lo_accumulate(
        lo, sum,
        lo_mul(lo, read_element(lo, type, x, LO_CHANGES), read_element(lo, type, y, LO_CHANGES)));
    lo_for_close(lo, &terms);
    return lo_total(lo, sum);
}

static void store_sum(Device *d, LoValue record, LoValue i, LoValue j, LoValue sum)
{
    Lo *lo = &d->lo;
    TfcType type = d->product->result;
    LoValue at = address(lo, memory_type(type), 2, OWN(d, record, c), i, COMMON(d, c_row), j,
                         COMMON(d, c_column));
    if (d->product->accumulate)
        sum = lo_add(lo, read_element(lo, type, at, LO_CHANGES), sum);
    if (type == TFC_BF16)
        sum = lo_bf16_bits(lo, lo_bf16_round(lo, sum));
    lo_store(lo, sum, at, bytes_of(memory_type(type)));
}

/* What the passes make one turn of. */
static LoLoop open_jammed(Lo *lo, const char *name)
{
    LoVector vector = {.lanes = 1, .jam = TFC_DEVICE_TILE, .whole = true};
    return lo_vector_open(lo, lo_i64_of(lo, 0), lo_i64_of(lo, TFC_DEVICE_TILE), vector, name);
}

/* Where c ends within the tile, its last row and column are summed again, and nothing is stored. */
static void sum_tile(Device *d, LoValue record, LoValue row, LoValue column)
{
    Lo *lo = &d->lo;
    LoValue m = OWN(d, record, m), n = OWN(d, record, n), one = lo_i64_of(lo, 1);
    LoLoop rows = open_jammed(lo, "rows"), columns = open_jammed(lo, "columns");
    LoValue i = lo_iadd(lo, row, rows.index), j = lo_iadd(lo, column, columns.index);
    LoValue sum =
        sum_of(d, record, lo_min(lo, i, lo_isub(lo, m, one)), lo_min(lo, j, lo_isub(lo, n, one)));
    LoIf there = lo_if_open(lo, lo_and(lo, lo_lt(lo, i, m), lo_lt(lo, j, n)));
    store_sum(d, record, i, j, sum);
    lo_if_close(lo, &there);
    lo_for_close(lo, &columns);
    lo_for_close(lo, &rows);
}

/* tfc_device_tiles(count) */
static LoValue tiles_of(Lo *lo, LoValue count)
{
    return lo_div(lo, lo_iadd(lo, count, lo_i64_of(lo, TFC_DEVICE_TILE - 1)),
                  lo_i64_of(lo, TFC_DEVICE_TILE));
}

static void unit(Device *d, LoValue number)
{
    Lo *lo = &d->lo;
    LoValue tile = lo_i64_of(lo, TFC_DEVICE_TILE), across = tiles_of(lo, COMMON(d, n)),
            down = tiles_of(lo, COMMON(d, m));
    LoValue column = lo_imul(lo, lo_rem(lo, number, across), tile),
            rest = lo_div(lo, number, across);
    LoValue row = lo_imul(lo, lo_rem(lo, rest, down), tile), iteration = lo_div(lo, rest, down);
    LoLoop sums = lo_for_open(lo, lo_i64_of(lo, 0), COMMON(d, sums), 1, "sums");
    LoValue product = lo_iadd(lo, lo_imul(lo, iteration, COMMON(d, sums)), sums.index);
    LoValue word = lo_imul(lo, product, lo_i64_of(lo, sizeof(TfcDeviceProduct) / 8));
    LoValue first =
        lo_at(lo, lo_i64, lo_param(lo, TFC_DEVICE_WORDS), lo_i64_of(lo, sizeof(TfcDeviceGemm) / 8));
    LoValue record = lo_at(lo, lo_i64, first, word);
    LoIf there = lo_if_open(
        lo, lo_and(lo, lo_lt(lo, row, OWN(d, record, m)), lo_lt(lo, column, OWN(d, record, n))));
    sum_tile(d, record, row, column);
    lo_if_close(lo, &there);
    lo_for_close(lo, &sums);
}

void emit_device_product(LoModule *module, const DeviceProduct *product, const char *name)
{
    LoType params[TFC_DEVICE_BUFFERS + 3] = {lo_ptr, lo_i64, lo_ptr, lo_ptr, lo_ptr, lo_ptr};
    Device d = {.product = product};
    Lo *lo = &d.lo;
    lo_begin(lo, module, lo_add_function(module, name, true, TFC_DEVICE_BUFFERS + 3, params));
    for (size_t i = 0; i < sizeof d.common / sizeof *d.common; i++)
        d.common[i] = word_at(lo, lo_param(lo, TFC_DEVICE_WORDS), (int64_t)i);
    unit(&d, lo_param(lo, TFC_DEVICE_UNIT));
}
