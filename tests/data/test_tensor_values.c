/* Values of tensors of files: limits of conversions, quantised tensors, views and blocks. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bf16.h"
#include "base/half.h"
#include "runtime/data/safetensors.h"
#include "tests/data/tensor_file.h"

#include <float.h>
#include <math.h>

static StTensor scalar(StType type, const void *data)
{
    return (StTensor){
        .name = "x", .type = type, .count = 1, .bytes = element_info(type)->bytes, .data = data};
}

static void test_conversion_limits(void **state)
{
    float f;
    double d;
    int32_t i;
    StTensor x = scalar(ST_I64, &(int64_t){(1 << 24) + 1});
    assert_false(st_to_f32(&x, &f));
    assert_true(st_to_i32(&x, &i) && i == (1 << 24) + 1);
    x = scalar(ST_I64, &(int64_t){INT64_MIN});
    assert_true(st_to_f32(&x, &f) && f == -0x1p63f);
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_I64, &(int64_t){INT64_MAX});
    assert_false(st_to_f64(&x, &d));
    x = scalar(ST_F64, &(double){1e300});
    assert_false(st_to_f32(&x, &f));
    assert_true(st_to_f64(&x, &d) && d == 1e300);
    x = scalar(ST_F64, &(double){0.1});
    assert_true(st_to_f32(&x, &f) && f == 0.1f);
    x = scalar(ST_F32, &(float){NAN});
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_F32, &(float){2147483648.f});
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_I8, &(int8_t){-5});
    assert_true(st_to_i32(&x, &i) && i == -5);
    assert_int_equal(bf16_from_float(1.f), 0x3F80);
    assert_int_equal(bf16_from_float(1.00390625f), 0x3F80); /* a tie, to even */
    assert_int_equal(bf16_from_float(1.01171875f), 0x3F82);
    assert_true(isnan(bf16_to_float(bf16_from_float(NAN))));
    assert_true(isinf(bf16_to_float(bf16_from_float(INFINITY))));
    const float below = nextafterf(BF16_LIMIT, 0);
    assert_true(isfinite(bf16_to_float(bf16_from_float(below))));
    assert_true(isfinite(bf16_to_float(bf16_from_float(-below))));
    assert_true(isinf(bf16_to_float(bf16_from_float(BF16_LIMIT))));
    assert_true(isinf(bf16_to_float(bf16_from_float(-FLT_MAX))));
}

/* ---- quantised tensors ---- */

/* Element (i, j) of w: 8 bits with a scale for each column, in runs of its rows; of v: 4 bits, runs
 * of its columns, or of its rows. */
static void test_quantised(void **state)
{
    Fixture *f = *state;
    enum { ROWS = 64, COLUMNS = 96 };
    static uint8_t bytes[ROWS * COLUMNS], pairs[ROWS * COLUMNS / 2];
    static float whole[COLUMNS];
    static uint16_t halves_of[ROWS * COLUMNS / ST_RUN], minima[2 * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 51);
    memcpy(pairs, bytes, sizeof pairs);
    for (int j = 0; j < COLUMNS; j++)
        whole[j] = (float)(j + 1) / 8;
    for (int i = 0; i < ROWS * COLUMNS / ST_RUN; i++)
        halves_of[i] = half_from_float((float)(i - 70) / 16);
    for (int i = 0; i < 2 * COLUMNS; i++)
        minima[i] = half_from_float((float)(50 - i) / 4);
    const StTensor tensors[] = {
        {.name = "channels.int8", .type = ST_I8, .rank = 2, .dims = {ROWS, COLUMNS}, .data = bytes},
        {.name = "channels.scale", .type = ST_F32, .rank = 2, .dims = {1, COLUMNS}, .data = whole},
        {.name = "runs.int8", .type = ST_I8, .rank = 2, .dims = {ROWS, COLUMNS}, .data = bytes},
        {.name = "runs.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "down.int4", .type = ST_U8, .rank = 2, .dims = {ROWS / 2, COLUMNS}, .data = pairs},
        {.name = "down.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "row.int8", .type = ST_I8, .rank = 2, .dims = {1, COLUMNS}, .data = bytes},
        {.name = "row.scale", .type = ST_F32, .rank = 2, .dims = {1, COLUMNS}, .data = whole},
        {.name = "along.int4",
         .type = ST_U8,
         .rank = 2,
         .dims = {ROWS, COLUMNS / 2},
         .data = pairs},
        {.name = "along.scale", .type = ST_F16, .rank = 2, .dims = {ROWS, 3}, .data = halves_of},
        {.name = "least.int4",
         .type = ST_U8,
         .rank = 2,
         .dims = {ROWS / 2, COLUMNS},
         .data = pairs},
        {.name = "least.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "least.minimum", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = minima},
    };
    const StMeta mark = {ST_QUANTISED, "int4"}, minimum_mark = {ST_QUANTISED, "q4_1"};
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 3, &minimum_mark, 1));
    StFile *of_minima = st_open(&f->diags, f->arena, f->path);
    assert_non_null(of_minima);
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 2, &minimum_mark, 1));
    assert_null(st_open(&f->diags, f->arena, f->path)); /* minima are missing */
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 3, &mark, 1));
    assert_non_null(
        st_open(&f->diags, f->arena, f->path)); /* a param of another type may have them */
    assert_true(st_write_checked(&f->diags, f->path, tensors, 10, &mark, 1));
    StFile *file = st_open(&f->diags, f->arena, f->path);
    assert_non_null(file);
    assert_true(st_header_is_whole(file));
    const char *const names[] = {"channels", "runs", "down", "along", "least"};
    static float all[ROWS * COLUMNS], part[ROWS * COLUMNS];
    for (int n = 0; n < 5; n++) {
        const StTensor *x = st_find(n == 4 ? of_minima : file, names[n]);
        assert_true(x && x->rank == 2 && x->dims[0] == ROWS && x->dims[1] == COLUMNS);
        assert_true(x->count == ROWS * COLUMNS && st_to_f32(x, all));
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                const int place = n % 2 == 0 ? i / 2 * COLUMNS + j : (i * COLUMNS + j) / 2;
                const int nibble =
                    pairs[place % (ROWS * COLUMNS / 2)] >> (n % 2 == 0 ? i : j) % 2 * 4;
                const int integer =
                    n < 2 ? (int8_t)bytes[i * COLUMNS + j] : (nibble & 15) - (n == 4 ? 0 : 8);
                const float least = n == 4 ? half_to_float(minima[i / ST_RUN * COLUMNS + j]) : 0;
                const float scale = n == 0   ? whole[j]
                                    : n == 3 ? half_to_float(halves_of[i * 3 + j / ST_RUN])
                                             : half_to_float(halves_of[i / ST_RUN * COLUMNS + j]);
                assert_true(all[i * COLUMNS + j] == scale * (float)integer + least);
                assert_true((float)st_value(x, i * COLUMNS + j) == all[i * COLUMNS + j]);
            }
        for (int from = 0, k = 1; from < ROWS * COLUMNS; from += k, k = k * 3 % 101 + 1) {
            const int count = k < ROWS * COLUMNS - from ? k : ROWS * COLUMNS - from;
            assert_true(st_floats(x, from, count, part + from));
        }
        assert_memory_equal(all, part, sizeof all);
    }
    const StTensor *row = st_find(file, "row");
    for (int j = 0; row && j < COLUMNS; j++)
        assert_true((float)st_value(row, j) == whole[j] * (float)(int8_t)bytes[j]);
    assert_true(row && st_is_whole(file, row));
    const uint64_t place = (uint64_t)((const char *)row->scale->data - (const char *)file->map);
    char *copy = arena_array(f->arena, file->map_bytes, 1);
    memcpy(copy, file->map, file->map_bytes);
    copy[place] ^= 1;
    StFile *other = st_parse(&f->diags, f->arena, "copy", copy, file->map_bytes);
    assert_true(other && st_is_whole(other, st_find(other, "runs")));
    assert_false(st_is_whole(other, st_find(other, "row"))); /* its scales are others */
    st_close(of_minima);
    st_close(file);
}

/* A view of a matrix is the matrix turned, in each type that is read one by one or in runs. */
static void test_views(void **state)
{
    (void)state;
    static const float floats[] = {-1, 0, 1, 2, 3, 4, 5};
    static const int64_t whole[] = {9, 1, 2, 3, 4, 5, 6};
    const StView turned = {.rank = 3, .sizes = {3, 1, 2}, .strides = {1, 0, 3}, .first = 1};
    const int turned_to[] = {0, 3, 1, 4, 2, 5};
    const StTensor of_floats = {
        .name = "f", .type = ST_F32, .rank = 2, .dims = {3, 2}, .count = 6, .data = floats};
    StTensor tensor = of_floats;
    tensor.view = &turned;
    float out[6];
    for (int64_t from = 0; from < 6; from++) {
        assert_true(st_floats(&tensor, from, 6 - from, out));
        for (int64_t i = from; i < 6; i++) {
            assert_true(out[i - from] == (float)turned_to[i]);
            assert_true(st_value(&tensor, i) == turned_to[i]);
        }
    }
    tensor.type = ST_I64;
    tensor.data = whole;
    int32_t integers[6];
    assert_true(st_to_i32(&tensor, integers) && st_to_f32(&tensor, out));
    for (int i = 0; i < 6; i++)
        assert_true(integers[i] == turned_to[i] + 1 && out[i] == (float)integers[i]);
}

/* A block of the test: eight values, each its byte times the block's first. */
static void decode_block(const void *block, float *out)
{
    const uint8_t *bytes = block;
    for (int i = 0; i < 8; i++)
        out[i] = (float)bytes[0] * (float)bytes[1 + i];
}

/* Elements of blocks are read from any place on, also in another order. */
static void test_blocks(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {2, 1, 2, 3, 4, 5, 6, 7, 8, 3, 1, 2, 3, 4, 5, 6, 7, 8};
    static const StBlocks blocks = {"eights", 8, 9, decode_block};
    const StView rows = {.rank = 2, .sizes = {2, 8}, .strides = {0, 1}, .first = 8};
    StTensor tensor = {.name = "b",
                       .type = ST_F32,
                       .rank = 1,
                       .dims = {16},
                       .count = 16,
                       .data = bytes,
                       .blocks = &blocks};
    float out[16];
    for (int64_t from = 0; from < 16; from++) {
        assert_true(st_floats(&tensor, from, 16 - from, out));
        for (int64_t i = from; i < 16; i++)
            assert_true(out[i - from] == (float)((i % 8 + 1) * (i < 8 ? 2 : 3)) &&
                        st_value(&tensor, i) == (double)out[i - from]);
    }
    assert_string_equal(st_stored_type(&tensor), "eights");
    tensor.view = &rows;
    assert_true(st_floats(&tensor, 0, 16, out));
    for (int i = 0; i < 16; i++)
        assert_true(out[i] == (float)((i % 8 + 1) * 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversion_limits),
        cmocka_unit_test_setup_teardown(test_quantised, setup, teardown),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
