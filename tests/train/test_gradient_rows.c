/* Sparse gradients: sums of them are those of dense ones, put aside or not; packed slices come back
 * as they were; and rows are added to their gradient in the end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/train/parallel/gradient_state.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 3 * PART_BLOCK + 2 * SPARSE_GROUP + 17, LEVELS = 1 };

static const char *const names[] = {"grad.w", "grad.w:rows", "grad.rows"};
enum { DENSE, ROWS, ALONE, N };
static const PartTensor tensors[] = {
    {.param = "w", .gradient = "grad.w", .count = COUNT, .rows = "grad.w:rows"},
    {.param = "rows", .gradient = "grad.rows", .count = COUNT, .sparse = true},
};
static const int32_t number[N] = {0, 2, 1}; /* of the sum's gradients */

typedef struct Case {
    Arena *arena;
    Store *store;
    const Parts *parts;
    GradientSum *sum;
} Case;

static Case open_case(TfcType type, int parts)
{
    Case c = {.arena = arena_new(), .store = store_new()};
    TfcTensor list[N] = {0};
    for (int i = 0; i < N; i++)
        list[i] = (TfcTensor){.name = names[i],
                              .type = type,
                              .role = TFC_GRADIENT,
                              .shape = {.rank = 1, .dims = {{.dim = -1, .size = COUNT}}}};
    assert_true(store_add_program(c.store, &(TfcProgram){.n_tensors = N, .tensors = list}));
    c.parts = parts_new(c.arena, tensors, 2, parts);
    c.sum = gradient_sum_new(c.store, c.parts, NULL, 2, false);
    assert_non_null(c.sum);
    assert_int_equal(gradient_sum_count(c.sum), N);
    for (int i = 0; i < N; i++)
        assert_string_equal(gradient_sum_tensor(c.sum, number[i])->name, names[i]);
    return c;
}

static void close_case(Case *c)
{
    gradient_sum_free(c->sum);
    store_free(c->store);
    arena_free(c->arena);
}

/* Of 1,000 runs of 50 elements so many are numbers; a seed, in which the last element counts with
 * `ends`. */
static void fill(StoreTensor *tensor, int share, unsigned seed, bool ends)
{
    bool set = false;
    srand(seed);
    for (int64_t i = 0; i < tensor->count; i++) {
        set = i % 50 ? set : rand() % 1000 < share;
        double value =
            set || (ends && i == tensor->count - 1) ? (double)rand() / RAND_MAX - 0.5 : 0;
        if (tensor->type == TFC_F64)
            ((double *)tensor->data)[i] = value;
        else
            ((float *)tensor->data)[i] = (float)value;
    }
}

static int64_t bytes_of(const StoreTensor *t) { return t->count * (t->type == TFC_F64 ? 8 : 4); }

static void *copy(Case *c, const char *name)
{
    const StoreTensor *tensor = store_find(c->store, name);
    void *data = malloc((size_t)bytes_of(tensor));
    memcpy(data, tensor->data, (size_t)bytes_of(tensor));
    return data;
}

static double element(TfcType type, const void *data, int64_t i)
{
    return type == TFC_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static double sum_of(TfcType type, double a, double b)
{
    return type == TFC_F64 ? a + b : (float)a + (float)b;
}

static const int shares[] = {0, 3, 100, 500, 1000};
enum { N_SHARES = sizeof shares / sizeof shares[0] };

static void sums_are_dense_ones(void **state)
{
    static const TfcType types[] = {TFC_F32, TFC_F64};
    for (int trial = 0; trial < 2 * N_SHARES * N_SHARES; trial++) {
        TfcType type = types[trial % 2];
        Case c = open_case(type, 1);
        void *left[N], *right[N];
        for (int i = 0; i < N; i++) {
            fill(store_find(c.store, names[i]), shares[trial / 2 % N_SHARES], 1, trial % 3);
            left[i] = copy(&c, names[i]);
        }
        gradient_sum_keep(c.sum, gradient_sum_all(c.sum), 0);
        for (int i = 0; i < N; i++) {
            for (int64_t e = 0; e < COUNT; e++)
                assert_true(element(type, store_find(c.store, names[i])->data, e) == 0);
            fill(store_find(c.store, names[i]), shares[trial / 2 / N_SHARES], 2, !(trial % 3));
            right[i] = copy(&c, names[i]);
        }
        gradient_sum_join(c.sum, gradient_sum_all(c.sum), 0);
        for (int i = 0; i < N; i++)
            for (int64_t e = 0; e < COUNT; e++)
                assert_true(element(type, store_find(c.store, names[i])->data, e) ==
                            sum_of(type, element(type, left[i], e), element(type, right[i], e)));
        void *rows = copy(&c, "grad.w:rows"), *dense = copy(&c, "grad.w"),
             *alone = copy(&c, "grad.rows");
        gradient_sum_finish(c.sum);
        for (int64_t e = 0; e < COUNT; e++) {
            assert_true(element(type, store_find(c.store, "grad.w")->data, e) ==
                        sum_of(type, element(type, rows, e), element(type, dense, e)));
            assert_true(element(type, store_find(c.store, "grad.w:rows")->data, e) == 0);
        }
        const StoreTensor *other = store_find(c.store, "grad.rows");
        assert_memory_equal(alone, other->data, bytes_of(other));
        void *all[] = {left[0], left[1], left[2], right[0], right[1], right[2], rows, dense, alone};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            free(all[i]);
        close_case(&c);
    }
}

/* Packed and unpacked in place, in the store and in a level, which holds nothing between marked
 * groups. */
static void check_packing(Case *c, int32_t gradient, int part)
{
    GradientSum *sum = c->sum;
    const Gradient *g = &sum->gradients[gradient];
    Slice slice = parts_slice(c->parts, g->part, part, part);
    slice.tensor = gradient;
    char *store = store_at_element(sum, &slice, slice.from),
         *room = room_at_element(sum, &slice, slice.from, 0);
    int64_t bytes = slice.count * g->size, before = slice.from * g->size;
    char *old = copy(c, g->tensor->name);
    Pass mark = {.sum = sum, .slice = slice, .level = -1, .marks = MARKS_MADE};
    for (int64_t block = 0; block < parts_blocks(slice.count); block++)
        gradient_run_block(&mark, block);
    memcpy(gradient_marks(sum, &slice, slice.from, 0), gradient_marks(sum, &slice, slice.from, -1),
           (size_t)gradient_mark_words(&slice) * sizeof(uint64_t));
    int64_t marked = gradient_marked(sum, &slice, -1);
    memcpy(room, store, (size_t)bytes);
    gradient_pack(sum, &slice, -1);
    gradient_pack(sum, &slice, 0);
    assert_memory_equal(room, store, marked * g->size);
    /* only these arrive */
    memset(store + marked * g->size, 0xff, (size_t)(bytes - marked * g->size));
    gradient_unpack(sum, &slice, -1);
    /* elements beside the slice, too */
    assert_memory_equal(g->tensor->data, old, bytes_of(g->tensor));
    gradient_unpack(sum, &slice, 0);
    memset(store, 0, (size_t)bytes);
    Pass join = {
        .sum = sum, .slice = slice, .level = 0, .marks = MARKS_USED, .run = gradient_join_block};
    for (int64_t block = 0; block < parts_blocks(slice.count); block++)
        gradient_run_block(&join, block);
    assert_memory_equal(store, old + before, bytes);
    free(old);
}

static void packed_slices_come_back(void **state)
{
    for (int trial = 0; trial < 2 * N_SHARES; trial++)
        for (int parts = 1; parts < 6; parts++) {
            Case c = open_case(trial % 2 ? TFC_F32 : TFC_F64, parts);
            for (int i = ROWS; i < N; i++) {
                fill(store_find(c.store, names[i]), shares[trial / 2], (unsigned)parts, trial % 2);
                for (int part = 0; part < parts; part++)
                    check_packing(&c, number[i], part);
            }
            close_case(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_dense_ones),
                                       cmocka_unit_test(packed_slices_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
