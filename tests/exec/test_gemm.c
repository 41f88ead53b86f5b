/* Products against plain loops in double that follow program.h's formula: every
 * transposition, odd and empty sizes, loops, sums, ragged sides; and the same bits
 * whatever the number of threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/exec.h"
#include "runtime/exec/gemm.h"
#include "runtime/exec/size.h"
#include "tests/exec/load_openblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, BUFFERS };

/* The sizes of all cases; the first is zero. */
enum { MAX_SIZES = 256 };
static TfcSize sizes[MAX_SIZES];
static int n_sizes = 1;

static TfcSizeRef add_size(TfcSize size)
{
    for (int i = 0; i < n_sizes; i++)
        if (!memcmp(&sizes[i], &size, sizeof size))
            return (TfcSizeRef)i;
    assert_true(n_sizes < MAX_SIZES);
    sizes[n_sizes] = size;
    return (TfcSizeRef)n_sizes++;
}

static TfcSizeRef constant(int64_t n)
{
    TfcSize size;
    memset(&size, 0, sizeof size);
    size.coefficient = n;
    return add_size(size);
}

static TfcSizeRef dim_size(int64_t n, int dim)
{
    TfcSize size;
    memset(&size, 0, sizeof size);
    size.coefficient = n;
    size.n_factors = 1;
    size.factors[0] = tfc_factor(dim, TFC_EXTENT);
    return add_size(size);
}

static int64_t value_of(TfcSizeRef size, const TfcDim *dims)
{
    return size_value(&sizes[size], dims);
}

static TfcExtent side(int64_t n) { return (TfcExtent){TFC_EXTENT_SIZE, constant(n), -1}; }
static TfcExtent length(int dim) { return (TfcExtent){TFC_EXTENT_LENGTH, constant(1), dim}; }

static TfcMatrix matrix(int buffer, TfcSizeRef row, TfcSizeRef column)
{
    return (TfcMatrix){
        .buffer = buffer, .ragged_dim = -1, .row_stride = row, .column_stride = column};
}

static double get(TfcType type, const void *data, int64_t i)
{
    return type == TFC_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* ---- the reference ---- */

static int64_t element(const TfcMatrix *x, const TfcGemmStep *step, const TfcDim *dims,
                       const int64_t *index, int64_t i, int64_t j)
{
    int64_t at =
        x->offset + i * value_of(x->row_stride, dims) + j * value_of(x->column_stride, dims);
    for (int l = 0; l < step->n_loops; l++)
        at += index[l] * value_of(x->loop_strides[l], dims);
    if (x->ragged_dim >= 0)
        at +=
            dims[x->ragged_dim].offset[index[step->batch_loop]] * value_of(x->ragged_stride, dims);
    return at;
}

static int64_t extent(const TfcExtent *e, const TfcGemmStep *step, const TfcDim *dims,
                      const int64_t *index)
{
    return value_of(e->size, dims) *
           (e->kind == TFC_EXTENT_LENGTH ? dims[e->dim].length[index[step->batch_loop]] : 1);
}

static void multiply(const TfcGemmStep *step, const TfcDim *dims, const int64_t *index,
                     const void *a, const void *b, double *c)
{
    int64_t m = extent(&step->m, step, dims, index), n = extent(&step->n, step, dims, index);
    int64_t k = extent(&step->k, step, dims, index);
    for (int l = 0; l < step->n_loops; l++)
        if (step->loop_lengths[l] >= 0 &&
            index[l] >= dims[step->loop_lengths[l]].length[index[step->batch_loop]])
            return;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double *out = &c[element(&step->c, step, dims, index, i, j)];
            double sum = step->accumulate ? *out : 0;
            for (int64_t l = 0; l < k; l++)
                sum += get(step->type, a, element(&step->a, step, dims, index, i, l)) *
                       get(step->type, b, element(&step->b, step, dims, index, l, j));
            *out = sum;
        }
}

static void reference(const TfcGemmStep *step, const TfcDim *dims, const void *a, const void *b,
                      double *c)
{
    int64_t index[TFC_MAX_LOOPS] = {0}, total = 1;
    for (int l = 0; l < step->n_loops; l++)
        total *= value_of(step->loops[l], dims);
    for (int64_t it = 0; it < total; it++) {
        int64_t rest = it;
        for (int l = step->n_loops - 1; l >= 0; l--) {
            int64_t count = value_of(step->loops[l], dims);
            index[l] = rest % count;
            rest /= count;
        }
        multiply(step, dims, index, a, b, c);
    }
}

/* ---- the check ---- */

static uint32_t seed = 1;

static double random_value(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

static void *random_data(TfcType type, int64_t count)
{
    void *data = malloc((size_t)(count + 1) * 8);
    for (int64_t i = 0; i < count; i++)
        if (type == TFC_F32)
            ((float *)data)[i] = (float)random_value();
        else
            ((double *)data)[i] = random_value();
    return data;
}

static const TfcProducts blas = {.blas = {tfc_blas_f32, tfc_blas_f64}};

static void check(const TfcGemmStep *step, const TfcDim *dims, const int64_t counts[BUFFERS])
{
    void *buffers[BUFFERS], *first = NULL;
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = random_data(step->type, counts[i]);
    double *want = malloc((size_t)(counts[C] + 1) * sizeof *want);
    for (int64_t i = 0; i < counts[C]; i++)
        want[i] = get(step->type, buffers[C], i);
    reference(step, dims, buffers[A], buffers[B], want);
    size_t bytes = (size_t)(counts[C] * type_bytes(step->type));
    void *before = malloc(bytes + 1);
    memcpy(before, buffers[C], bytes);
    BoundGemm bound = {0};
    int64_t evaluated[MAX_SIZES];
    for (int i = 0; i < n_sizes; i++)
        evaluated[i] = dims || !sizes[i].n_factors ? value_of((TfcSizeRef)i, dims) : 0;
    assert_true(gemm_bind(&bound, step, evaluated, dims, &blas, &(TfcChoice){{0}}));
    for (int threads = 1; threads <= 3; threads++) {
        memcpy(buffers[C], before, bytes);
        Team team;
        team_open(&team, threads, NULL);
        gemm_run(&bound, NULL, buffers, &team);
        team_close(&team);
        if (!first) {
            first = malloc(bytes + 1);
            memcpy(first, buffers[C], bytes);
        }
        assert_memory_equal(first, buffers[C], bytes);
    }
    double tolerance = step->type == TFC_F32 ? 1e-4 : 1e-12;
    for (int64_t i = 0; i < counts[C]; i++)
        if (fabs(get(step->type, buffers[C], i) - want[i]) > tolerance * (1 + fabs(want[i])))
            fail_msg("element %lld is %g, not %g", (long long)i, get(step->type, buffers[C], i),
                     want[i]);
    gemm_release(&bound);
    for (int i = 0; i < BUFFERS; i++)
        free(buffers[i]);
    free(before);
    free(first);
    free(want);
}

/* ---- cases ---- */

/* rows × columns with room after each contiguous run. */
static TfcMatrix plain(int buffer, int64_t rows, int64_t columns, bool transposed, int64_t room)
{
    return transposed ? matrix(buffer, constant(1), constant(rows + room))
                      : matrix(buffer, constant(columns + room), constant(1));
}

static int64_t plain_count(int64_t rows, int64_t columns, int64_t room)
{
    return (rows + room) * (columns + room);
}

static void check_plain(TfcType type, int64_t m, int64_t n, int64_t k, int transposed, int64_t room,
                        bool accumulate)
{
    TfcGemmStep step = {
        .type = type,
        .product = (TfcProductType)type,
        .result = type,
        .accumulate = accumulate,
        .a = plain(A, m, k, transposed & 1, room),
        .b = plain(B, k, n, transposed & 2, room),
        .c = plain(C, m, n, transposed & 4, room),
        .m = side(m),
        .n = side(n),
        .k = side(k),
        .batch_loop = -1,
    };
    check(&step, NULL,
          (int64_t[]){plain_count(m, k, room), plain_count(k, n, room), plain_count(m, n, room)});
}

static void test_transpositions_and_sizes(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 7}, {1, 9, 4}, {9, 1, 4}, {16, 16, 1},
                                        {33, 17, 65}, {0, 4, 4}, {4, 0, 4}, {4, 4, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int transposed = 0; transposed < 8; transposed++)
            for (int variant = 0; variant < 8; variant++)
                check_plain(variant & 1 ? TFC_F64 : TFC_F32, shapes[s][0], shapes[s][1],
                            shapes[s][2], transposed, variant & 2 ? 3 : 0, variant & 4);
}

static void test_products_cut_into_blocks(void **state)
{
    (void)state;
    for (int transposed = 0; transposed < 8; transposed++)
        check_plain(TFC_F32, transposed & 1 ? 700 : 90, transposed & 1 ? 90 : 700, 130, transposed,
                    1, transposed & 2);
}

/* One side longer than the other by a strided vector: m or n of one element. */
static void test_vectors(void **state)
{
    (void)state;
    /* clang-format off */
    TfcGemmStep step = {.type = TFC_F32, .a = matrix(A, constant(1), constant(6)), .b = matrix(B, constant(5), constant(1)),
                        .c = matrix(C, constant(1), constant(3)), .m = side(1), .n = side(4), .k = side(7), .batch_loop = -1};
    /* clang-format on */
    check(&step, NULL, (int64_t[]){50, 50, 50});
    step.c = matrix(C, constant(9), constant(1));
    step.m = side(4);
    step.n = side(1);
    step.a = matrix(A, constant(7), constant(1));
    check(&step, NULL, (int64_t[]){50, 50, 50});
}

static void test_loops_and_sums(void **state)
{
    (void)state;
    /* c[x, m, n] = Σ_y a[x, y, m, k] b[y, k, n] */
    /* clang-format off */
    TfcGemmStep step = {
        .type = TFC_F32, .accumulate = true,
        .a = matrix(A, constant(5), constant(1)), .b = matrix(B, constant(6), constant(1)),
        .c = matrix(C, constant(6), constant(1)),
        .m = side(4), .n = side(6), .k = side(5),
        .n_loops = 2, .batch_loop = -1, .loops = {constant(3), constant(2)}, .loop_lengths = {-1, -1},
    };
    /* clang-format on */
    step.a.loop_strides[0] = constant(40);
    step.a.loop_strides[1] = constant(20);
    step.b.loop_strides[1] = constant(30);
    step.c.loop_strides[0] = constant(24);
    check(&step, NULL, (int64_t[]){120, 60, 72});
    step.loops[1] = constant(0);
    check(&step, NULL, (int64_t[]){120, 60, 72});
}

/* ---- attention: sentences of different lengths ---- */

enum { DIM_B, DIM_S, DIM_T, HEADS = 3, D = 4, SENTENCES = 40 };

typedef struct Ragged {
    int32_t offset[SENTENCES], length[SENTENCES];
} Ragged;

static TfcDim ragged_dim(Ragged *r, int gap, int most)
{
    TfcDim dim = {0};
    for (int b = 0; b < SENTENCES; b++) {
        r->length[b] = (int32_t)((b * 7 + gap) % most); /* one is empty */
        r->offset[b] = (int32_t)dim.total + gap * b;
        dim.total += r->length[b];
        dim.extent = r->length[b] > dim.extent ? r->length[b] : dim.extent;
    }
    dim.offset = r->offset;
    dim.length = r->length;
    return dim;
}

static TfcMatrix tokens(int buffer, int dim, TfcSizeRef token, TfcSizeRef head, TfcSizeRef row,
                        TfcSizeRef column)
{
    TfcMatrix x = matrix(buffer, row, column);
    x.ragged_dim = dim;
    x.ragged_stride = token;
    x.loop_strides[1] = head;
    return x;
}

static void test_attention(void **state)
{
    (void)state;
    Ragged s, t;
    for (int gap = 0; gap < 3; gap += 2)
        for (int most = 9; most < 60; most += 40) {
            TfcDim dims[] = {{SENTENCES, SENTENCES, NULL, NULL, NULL, NULL},
                             ragged_dim(&s, 0, most),
                             ragged_dim(&t, gap, most + 2)};
            int64_t wide = dims[DIM_T].extent, n_s = dims[DIM_S].total,
                    n_t = dims[DIM_T].total + gap * SENTENCES;
            int64_t counts[] = {n_s * HEADS * D, n_t * HEADS * D, n_s * HEADS * wide};
            /* clang-format off */
            TfcGemmStep scores = {
                .type = TFC_F32,
                .a = tokens(A, DIM_S, constant(HEADS * D), constant(D), constant(HEADS * D), constant(1)),
                .b = tokens(B, DIM_T, constant(HEADS * D), constant(D), constant(1), constant(HEADS * D)),
                .c = tokens(C, DIM_S, dim_size(HEADS, DIM_T), dim_size(1, DIM_T), dim_size(HEADS, DIM_T), constant(1)),
                .m = length(DIM_S), .n = length(DIM_T), .k = side(D),
                .n_loops = 2, .batch_loop = 0, .loops = {dim_size(1, DIM_B), constant(HEADS)}, .loop_lengths = {-1, -1},
            };
            /* clang-format on */
            check(&scores, dims, counts);
            TfcGemmStep values = scores; /* a: s × t weights, b: t × d, c: s × d */
            values.a = scores.c;
            values.a.buffer = A;
            values.b = tokens(B, DIM_T, constant(HEADS * D), constant(D), constant(HEADS * D),
                              constant(1));
            values.c = scores.a;
            values.c.buffer = C;
            values.n = side(D);
            values.k = length(DIM_T);
            check(&values, dims, (int64_t[]){counts[2], counts[1], counts[0]});
            TfcGemmStep back = values; /* a transposed: t × s, b: s × d, c: t × d */
            back.a.row_stride = values.a.column_stride;
            back.a.column_stride = values.a.row_stride;
            back.b = values.c;
            back.b.buffer = B;
            back.c = values.b;
            back.c.buffer = C;
            back.m = length(DIM_T);
            back.k = length(DIM_S);
            check(&back, dims, (int64_t[]){counts[2], counts[0], counts[1]});
        }
}

/* Queries of all heads as rows of one matrix: heads that share their keys. */
static void test_shared_keys(void **state)
{
    (void)state;
    Ragged s, t;
    TfcDim dims[] = {{SENTENCES, SENTENCES, NULL, NULL, NULL, NULL},
                     ragged_dim(&s, 0, 9),
                     ragged_dim(&t, 2, 50)};
    int64_t n_s = dims[DIM_S].total, n_t = dims[DIM_T].total + 2 * SENTENCES;
    int64_t counts[] = {n_s * HEADS * D, n_t * D, n_s * HEADS * dims[DIM_T].extent};
    const TfcExtent rows = {TFC_EXTENT_LENGTH, constant(HEADS), DIM_S};
    const TfcSizeRef none = constant(0);
    /* clang-format off */
    TfcGemmStep scores = {
        .type = TFC_F32,
        .a = tokens(A, DIM_S, constant(HEADS * D), none, constant(D), constant(1)),
        .b = tokens(B, DIM_T, constant(D), none, constant(1), constant(D)),
        .c = tokens(C, DIM_S, dim_size(HEADS, DIM_T), none, dim_size(1, DIM_T), constant(1)),
        .m = rows, .n = length(DIM_T), .k = side(D),
        .n_loops = 1, .batch_loop = 0, .loops = {dim_size(1, DIM_B)}, .loop_lengths = {-1},
    };
    /* clang-format on */
    check(&scores, dims, counts);
    TfcGemmStep sums = scores; /* over all rows: c: d × d = Σ a: rows × d, b: rows × d */
    sums.b = scores.a;
    sums.b.buffer = B;
    sums.a.row_stride = constant(1);
    sums.a.column_stride = constant(D);
    sums.c = tokens(C, -1, none, none, constant(D), constant(1));
    sums.c.loop_strides[0] = constant(D * D);
    sums.m = sums.n = side(D);
    sums.k = rows;
    check(&sums, dims, (int64_t[]){counts[A], counts[A], SENTENCES * D * D});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpositions_and_sizes),
        cmocka_unit_test(test_products_cut_into_blocks),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_loops_and_sums),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_shared_keys),
    };
    return cmocka_run_group_tests(tests, load_openblas, NULL);
}
