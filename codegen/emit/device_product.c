/* Products for a device: a kernel that sums one element of c, as runtime/exec/device.h says.
 *
 *   for s in sums:
 *     c[i, j] (+)= Σ_k a[i, k] b[k, j]        of product (iteration of the unit, s)
 *
 * No tiles: each operand is read from the device's memory as often as it is used. */
#include "codegen/emit/device_product.h"

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
static LoValue address(Lo *lo, LoType type, int buffer, LoValue origin, LoValue i, LoValue row, LoValue j,
                       LoValue column)
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
    LoValue x = address(lo, memory_type(type), 0, a, i, COMMON(d, a_row), terms.index, COMMON(d, a_column));
    LoValue y = address(lo, memory_type(type), 1, b, terms.index, COMMON(d, b_row), j, COMMON(d, b_column));
    lo_accumulate(lo, sum, lo_mul(lo, read_element(lo, type, x, LO_CHANGES), read_element(lo, type, y, LO_CHANGES)));
    lo_for_close(lo, &terms);
    return lo_total(lo, sum);
}

static void store_sum(Device *d, LoValue record, LoValue i, LoValue j, LoValue sum)
{
    Lo *lo = &d->lo;
    TfcType type = d->product->result;
    LoValue at = address(lo, memory_type(type), 2, OWN(d, record, c), i, COMMON(d, c_row), j, COMMON(d, c_column));
    if (d->product->accumulate)
        sum = lo_add(lo, read_element(lo, type, at, LO_CHANGES), sum);
    if (type == TFC_BF16)
        sum = lo_bf16_bits(lo, lo_bf16_round(lo, sum));
    lo_store(lo, sum, at, bytes_of(memory_type(type)));
}

static void unit(Device *d, LoValue number)
{
    Lo *lo = &d->lo;
    LoValue j = lo_rem(lo, number, COMMON(d, n)), rest = lo_div(lo, number, COMMON(d, n));
    LoValue i = lo_rem(lo, rest, COMMON(d, m)), iteration = lo_div(lo, rest, COMMON(d, m));
    LoLoop sums = lo_for_open(lo, lo_i64_of(lo, 0), COMMON(d, sums), 1, "sums");
    LoValue product = lo_iadd(lo, lo_imul(lo, iteration, COMMON(d, sums)), sums.index);
    LoValue word = lo_imul(lo, product, lo_i64_of(lo, sizeof(TfcDeviceProduct) / 8));
    LoValue first = lo_at(lo, lo_i64, lo_param(lo, TFC_DEVICE_WORDS), lo_i64_of(lo, sizeof(TfcDeviceGemm) / 8));
    LoValue record = lo_at(lo, lo_i64, first, word);
    LoValue inside = lo_and(lo, lo_lt(lo, i, OWN(d, record, m)), lo_lt(lo, j, OWN(d, record, n)));
    LoIf there = lo_if_open(lo, inside);
    store_sum(d, record, i, j, sum_of(d, record, i, j));
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
