/* Whole functions through plan, kernels and executor against the oracle:
 * views, products with ragged dimensions, concats, loops over rows; over batches of
 * several shapes with one program, on one thread and on two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/plan_case.h"

/* IR is written an op a line. */
/* clang-format off */
static void test_linear(void **state)
{
    (void)state;
    check(X W "%2 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 4]\n"
          OUT("2"), 1, 0);
    /* and its gradients: dX, dW (summed over tokens), dW transposed */
    check(X "%1 = input {name = \"g\"} : f64[B, S~, 4]\n%2 = param {name = \"w\"} : f64[6, 4]\n"
          "%3 = dot %1, %2 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 6]\n"
          "%4 = dot %0, %1 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [], contract_b = []} : f64[B, S~, 6, 4]\n"
          "%5 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [0, 1], contract_b = [0, 1]} : f64[6, 4]\n"
          "%6 = dot %1, %0 {batch_a = [], batch_b = [], contract_a = [0, 1], contract_b = [0, 1]} : f64[4, 6]\n"
          OUT("3") OUT("4") OUT("5") OUT("6"), 4, 0);
}

#define HEADS(v, from, dim) "%" v " = reshape %" from " {shape = [B, " dim "~, 2, 3]} : f64[B, " dim "~, 2, 3]\n"
#define SWAP(v, from, dim) "%" v " = transpose %" from " {perm = [0, 2, 1, 3]} : f64[B, 2, " dim "~, 3]\n"

/* Rows by the matrices that an index names, those of no matrix, repeated rows, the adjoint; the
 * matrices of sides that no tile has whole. */
static void test_grouped(void **state)
{
    (void)state;
#define INDEX "%2 = input {name = \"index\"} : i32[B, S~, 2]\n"
    check("%0 = input {name = \"x\"} : f64[B, S~, 1, 70]\n%1 = param {name = \"w\"} : f64[5, 70, 130]\n" INDEX
          "%3 = grouped_dot %0, %1, %2 {axis = 1} : f64[B, S~, 2, 130]\n"
          "%4 = grouped_dot %3, %1, %2 {axis = 2} : f64[B, S~, 2, 70]\n"
          "%5 = grouped_outer %0, %3, %2 {size = 5} : f64[5, 70, 130]\n"
          "%6 = grouped_outer %3, %0, %2 {size = 4} : f64[4, 130, 70]\n"
          OUT("3") OUT("4") OUT("5") OUT("6"), 4, 0);
    check("%0 = input {name = \"x\"} : f64[N, 3]\n%1 = input {name = \"w\"} : f64[1, 3, 1]\n"
          "%2 = input {name = \"index\"} : i32[N]\n"
          "%3 = grouped_dot %0, %1, %2 {axis = 1} : f64[N, 1]\n"
          "%4 = grouped_outer %0, %3, %2 {size = 1} : f64[1, 3, 1]\n"
          OUT("3") OUT("4"), 2, 0);
    check("%0 = input {name = \"x\"} : f64[B, S~, 1, 1, 3]\n%1 = param {name = \"w\"} : f64[4, 2, 3]\n"
          "%2 = input {name = \"index\"} : i32[B, S~, 2, 1]\n" /* 1 in both, and repeated before it */
          "%3 = grouped_dot %0, %1, %2 {axis = 2} : f64[B, S~, 2, 1, 2]\n" OUT("3"), 1, 0);
    check("%0 = input {name = \"x\"} : f64[B, 600, 3]\n%1 = param {name = \"w\"} : f64[5, 3, 7]\n"
          "%2 = input {name = \"index\"} : i32[B, 600]\n"
          "%3 = grouped_dot %0, %1, %2 {axis = 1} : f64[B, 600, 7]\n"
          "%4 = grouped_outer %3, %0, %2 {size = 3} : f64[3, 7, 3]\n"
          "%5 = grouped_dot %3, %4, %2 {axis = 1} : f64[B, 600, 3]\n"
          OUT("3") OUT("4") OUT("5"), 3, 0);
#undef INDEX
}

#define ROWS "%0 = input {name = \"x\"} : f64[B, S~, 1, 7]\n%1 = param {name = \"w\"} : f64[5, 7, 9]\n" \
             "%2 = input {name = \"index\"} : i32[B, S~, 2]\n" \
             "%3 = grouped_dot %0, %1, %2 {axis = 1} : f64[B, S~, 2, 9]\n"

static void check_sorted(const char *body, int written, int read)
{
    Case c;
    check(body, -1, -1);
    open_case(&c, body);
    for (int i = 0; i < c.program->n_groupings; i++) {
        const TfcGrouping *grouping = &c.program->groupings[i];
        written -= grouping->sorted_c;
        read -= grouping->sorted_a + grouping->sorted_b;
    }
    assert_int_equal(written, 0);
    assert_int_equal(read, 0);
    close_case(&c);
}

/* Rows lie in the order of groups between products by one index, through kernels and views; not
 * where something else sees them, or where the order is another one. */
static void test_sorted(void **state)
{
    (void)state;
    check_sorted(ROWS "%4 = row(%3) : f64[B, S~, 2, 9] {\n%5 = sigmoid %3 : f64[B, S~, 2, 9]\n"
                 "%6 = mul %5, %3 : f64[B, S~, 2, 9]\nyield %6\n}\n"
                 "%7 = reshape %4 {shape = [B, S~, 2, 1, 9]} : f64[B, S~, 2, 1, 9]\n"
                 "%8 = transpose %7 {perm = [0, 1, 3, 2, 4]} : f64[B, S~, 1, 2, 9]\n"
                 "%9 = reshape %2 {shape = [B, S~, 1, 2]} : i32[B, S~, 1, 2]\n"
                 "%10 = grouped_dot %8, %1, %9 {axis = 2} : f64[B, S~, 1, 2, 7]\n"
                 "%11 = grouped_outer %0, %4, %2 {size = 5} : f64[5, 7, 9]\n"
                 "%12 = grouped_outer %4, %0, %2 {size = 5} : f64[5, 9, 7]\n"
                 OUT("10") OUT("11") OUT("12"), 1, 3);
    check_sorted(ROWS "%4 = neg %3 : f64[B, S~, 2, 9]\n" /* other rows are in no group */
                 "%5 = grouped_dot %4, %1, %2 {axis = 2} : f64[B, S~, 2, 7]\n"
                 "%6 = grouped_outer %0, %4, %2 {size = 4} : f64[4, 7, 9]\n" OUT("5") OUT("6"), 0, 0);
    check_sorted(ROWS "%4 = neg %3 : f64[B, S~, 2, 9]\n"
                 "%5 = grouped_dot %4, %1, %2 {axis = 2} : f64[B, S~, 2, 7]\n" OUT("5") OUT("4"), 0, 0);
    check_sorted(ROWS "%4 = input {name = \"y\"} : f64[B, S~, 2, 9]\n" /* of rows in another order */
                 "%5 = mul %3, %4 : f64[B, S~, 2, 9]\n"
                 "%6 = grouped_dot %5, %1, %2 {axis = 2} : f64[B, S~, 2, 7]\n" OUT("6"), 0, 0);
}
#undef ROWS

/* More rows than a loop takes at once. */
static const SymbolValue long_shapes[][SYMBOLS] = {
    {{16, 0, {0}}, {240, 16, {240, 1, 0, 160, 130, 240, 70, 8, 20, 240, 240, 30, 120, 239, 240, 180}},
     {1, 16, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, {1100, 0, {0}}},
    {{5, 0, {0}}, {206, 5, {205, 204, 206, 204, 205}}, {1, 5, {1, 1, 1, 1, 1}}, {1024, 0, {0}}},
    {{1, 0, {0}}, {1025, 1, {1025}}, {1, 1, {1}}, {1025, 0, {0}}},
    {{2, 0, {0}}, {0, 2, {0, 0}}, {0, 2, {0, 0}}, {0, 0, {0}}},
};

/* As check does (in f64, and in f32 if `types` is 2), for steps that make so many loops. */
static void check_loops(const char *body, int loops, int types)
{
    Arena *arena = arena_new();
    for (int type = 0; type < types; type++) {
        Case c;
        open_case(&c, type ? in_f32(arena, body) : body);
        assert_int_equal(c.program->n_loops, loops);
        for (size_t s = 0; s < sizeof long_shapes / sizeof long_shapes[0]; s++)
            run_shape(&c, long_shapes[s]);
        for (size_t s = 0; s < SHAPES; s++)
            run_shape(&c, shapes[s]);
        close_case(&c);
    }
    arena_free(arena);
}

#define FREE(c) "{batch_a = [], batch_b = [], contract_a = [2], contract_b = [" c "], chunk = 0}"
#define SUMMED "{batch_a = [], batch_b = [], contract_a = [0, 1], contract_b = [0, 1], chunk = 0}"

/* A product, what is made of it row by row, and its gradients, by chunks of rows. */
static void test_loop_over_rows(void **state)
{
    (void)state;
    check_loops(X W "%2 = param {name = \"bias\"} : f64[4]\n%3 = input {name = \"y\"} : f64[B, S~, 1]\n"
          "%4 = dot %0, %1 " FREE("0") " : f64[B, S~, 4]\n"
          "%5, %6 = row(%4, %2, %3) {chunk = 0} : f64[B, S~, 1], f64[B, S~, 4] {\n"
          "%7 = add %4, %2 : f64[B, S~, 4]\n%8 = reduce_sum %7 {axes = [2]} : f64[B, S~, 1]\n"
          "%9 = mul %7, %3 : f64[B, S~, 4]\n%10 = sub %9, %8 : f64[B, S~, 4]\nyield %8, %10\n}\n"
          "%11, %12 = column(%6, %3) {chunk = 0} : f64[1, 1, 4], f64[1, 1, 4] {\n"
          "%13 = mul %6, %3 : f64[B, S~, 4]\n%14 = reduce_sum %6 {axes = [0, 1]} : f64[1, 1, 4]\n"
          "%15 = reduce_sum %13 {axes = [0, 1]} : f64[1, 1, 4]\nyield %14, %15\n}\n"
          "%16 = dot %6, %1 " FREE("1") " : f64[B, S~, 6]\n"
          "%17 = dot %0, %6 " SUMMED " : f64[6, 4]\n"
          "%18 = dot %6, %0 " SUMMED " : f64[4, 6]\n"
          "%19 = dot %1, %6 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [2], chunk = 0} : f64[6, B, S~]\n"
          OUT("5") OUT("11") OUT("12") OUT("16") OUT("17") OUT("18") OUT("19"), 1, 2);
    /* rows of a uniform dimension, two of them each */
    check_loops("%0 = input {name = \"x\"} : f64[N, 2, 6]\n%1 = input {name = \"w\"} : f64[6, 4]\n"
          "%2 = dot %0, %1 " FREE("0") " : f64[N, 2, 4]\n"
          "%3 = row(%2) {chunk = 0} : f64[N, 2, 4] {\n%4 = exp %2 : f64[N, 2, 4]\nyield %4\n}\n"
          "%5 = dot %3, %1 " FREE("1") " : f64[N, 2, 6]\n" OUT("5"), 0, 2);
    check_loops("%0 = input {name = \"x\"} : f64[N, 6]\n%1 = input {name = \"w\"} : f64[6, 4]\n"
          "%2 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [0], chunk = 0} : f64[N, 4]\n"
          "%3 = row(%2) {chunk = 0} : f64[N, 4] {\n%4 = exp %2 : f64[N, 4]\nyield %4\n}\n"
          "%5 = column(%3) {chunk = 0} : f64[1, 4] {\n%6 = reduce_sum %3 {axes = [0]} : f64[1, 4]\nyield %6\n}\n"
          "%7 = dot %3, %1 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [1], chunk = 0} : f64[N, 6]\n"
          OUT("5") OUT("7"), 1, 2);
}

/* What would not compute the same by chunks is run as it stands. */
static void test_no_loop(void **state)
{
    (void)state;
    /* the sum over all rows is needed for each */
    check_loops(X W "%2 = dot %0, %1 " FREE("0") " : f64[B, S~, 4]\n"
          "%3 = dot %0, %2 " SUMMED " : f64[6, 4]\n"
          "%4 = dot %2, %3 " FREE("1") " : f64[B, S~, 6]\n" OUT("4"), 0, 1);
    /* as many columns as there are rows in all */
    check_loops("%0 = input {name = \"x\"} : f64[N, 2]\n%1 = input {name = \"w\"} : f64[2, N]\n"
          "%2 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [0], chunk = 0} : f64[N, N]\n"
          OUT("2"), 0, 1);
    /* a sum over the positions of each sentence, which a chunk may cut */
    check_loops(X W "%2 = dot %0, %1 " FREE("0") " : f64[B, S~, 4]\n"
          "%3 = column(%2) {chunk = 0} : f64[B, 1, 4] {\n%4 = reduce_sum %2 {axes = [1]} : f64[B, 1, 4]\nyield %4\n}\n"
          OUT("3"), 0, 1);
}

/* Two heads, queries over S and keys over T; forward and all gradients. */
static void test_attention(void **state)
{
    (void)state;
    check(X "%1 = input {name = \"k\"} : f64[B, T~, 6]\n%2 = input {name = \"v\"} : f64[B, T~, 6]\n"
          "%3 = input {name = \"g\"} : f64[B, S~, 6]\n"
          HEADS("4", "0", "S") HEADS("5", "1", "T") HEADS("6", "2", "T") HEADS("7", "3", "S")
          SWAP("8", "4", "S") SWAP("9", "5", "T") SWAP("10", "6", "T") SWAP("11", "7", "S")
          "%12 = dot %8, %9 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [3], contract_b = [3]} : f64[B, 2, S~, T~]\n"
          "%13 = relu %12 : f64[B, 2, S~, T~]\n"
          "%14 = dot %13, %10 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [3], contract_b = [2]} : f64[B, 2, S~, 3]\n"
          "%15 = transpose %14 {perm = [0, 2, 1, 3]} : f64[B, S~, 2, 3]\n"
          "%16 = reshape %15 {shape = [B, S~, 6]} : f64[B, S~, 6]\n"
          "%17 = dot %13, %11 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [2], contract_b = [2]} : f64[B, 2, T~, 3]\n"
          "%18 = dot %11, %10 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [3], contract_b = [3]} : f64[B, 2, S~, T~]\n"
          "%19 = dot %9, %18 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [2], contract_b = [3]} : f64[B, 2, 3, S~]\n"
          OUT("16") OUT("17") OUT("18") OUT("19"), 5, 1);
}

/* One product for query, key and value, its parts seen in place; self-attention. */
static void test_merged_projection(void **state)
{
    (void)state;
    check(X "%1 = param {name = \"w\"} : f64[6, 18]\n"
          "%2 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 18]\n"
          "%3 = slice %2 {axis = 2, start = 0, size = 6} : f64[B, S~, 6]\n"
          "%4 = slice %2 {axis = 2, start = 6, size = 6} : f64[B, S~, 6]\n"
          "%5 = slice %2 {axis = 2, start = 12, size = 6} : f64[B, S~, 6]\n"
          HEADS("6", "3", "S") HEADS("7", "4", "S") HEADS("8", "5", "S")
          SWAP("9", "6", "S") SWAP("10", "7", "S") SWAP("11", "8", "S")
          "%12 = dot %9, %10 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [3], contract_b = [3]} : f64[B, 2, S~, S~]\n"
          "%13 = dot %12, %11 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [3], contract_b = [2]} : f64[B, 2, S~, 3]\n"
          OUT("13"), 3, 0);
}

/* Its gradient: three parts computed into one buffer, then one product. */
static void test_concat_in_place(void **state)
{
    (void)state;
    check(X "%1 = input {name = \"y\"} : f64[B, S~, 6]\n%2 = param {name = \"w\"} : f64[6, 15]\n"
          "%3 = param {name = \"v\"} : f64[6, 6]\n"
          "%4 = dot %0, %3 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 6]\n"
          "%5 = mul %0, %1 : f64[B, S~, 6]\n"
          "%6 = slice %1 {axis = 2, start = 1, size = 3} : f64[B, S~, 3]\n"
          "%7 = concat %4, %5, %6 {axis = 2} : f64[B, S~, 15]\n"
          "%8 = dot %7, %2 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 6]\n"
          OUT("8"), 2, 2);
    /* along an axis before a symbolic one: no constant offset */
    check("%0 = input {name = \"x\"} : f64[2, N]\n%1 = input {name = \"y\"} : f64[3, N]\n"
          "%2 = concat %0, %1, %0 {axis = 0} : f64[7, N]\n"
          "%3 = slice %2 {axis = 0, start = 1, size = 4} : f64[4, N]\n"
          OUT("2") OUT("3"), 0, -1);
}

static void test_views(void **state)
{
    (void)state;
    check(X "%1 = reshape %0 {shape = [B, S~, 2, 3]} : f64[B, S~, 2, 3]\n"
          "%2 = transpose %1 {perm = [0, 1, 3, 2]} : f64[B, S~, 3, 2]\n"
          "%3 = reshape %2 {shape = [B, S~, 6]} : f64[B, S~, 6]\n" /* moves elements */
          "%4 = flip %3 {axis = 2} : f64[B, S~, 6]\n"
          "%5 = slice %4 {axis = 2, start = 2, size = 3} : f64[B, S~, 3]\n"
          "%6 = pad %5 {axis = 2, size = 7, start = 1} : f64[B, S~, 7]\n"
          "%7 = transpose %0 {perm = [2, 0, 1]} : f64[6, B, S~]\n"
          "%8 = exp %2 : f64[B, S~, 3, 2]\n"
          "%9 = const {value = 2.5} : f64[3, 1]\n"
          "%10 = broadcast %9 {shape = [3, 2]} : f64[3, 2]\n"
          "%11 = mul %8, %10 : f64[B, S~, 3, 2]\n"
          OUT("0") OUT("3") OUT("4") OUT("5") OUT("6") OUT("7") OUT("10") OUT("11"), 0, -1);
}

/* Transposing packed tokens: another sentence order of elements. */
static void test_repacking(void **state)
{
    (void)state;
    check("%0 = input {name = \"x\"} : f64[B, S~, T~]\n"
          "%1 = transpose %0 {perm = [0, 2, 1]} : f64[B, T~, S~]\n"
          "%2 = input {name = \"y\"} : f64[B, T~, 3]\n"
          "%3 = dot %1, %2 {batch_a = [0], batch_b = [0], contract_a = [1], contract_b = [1]} : f64[B, S~, 3]\n"
          "%4 = dot %0, %2 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [1]} : f64[B, S~, 3]\n"
          OUT("1") OUT("3") OUT("4"), 2, -1);
}

/* Shared keys of grouped queries (a stretched view), and sums over several dimensions. */
static void test_loops_and_sums(void **state)
{
    (void)state;
    check("%0 = input {name = \"q\"} : f64[B, 2, 3, S~, 4]\n%1 = input {name = \"k\"} : f64[B, 2, 1, T~, 4]\n"
          "%2 = broadcast %1 {shape = [B, 2, 3, T~, 4]} : f64[B, 2, 3, T~, 4]\n"
          "%3 = dot %0, %2 {batch_a = [0, 1, 2], batch_b = [0, 1, 2], contract_a = [4], contract_b = [4]} : f64[B, 2, 3, S~, T~]\n"
          "%4 = dot %3, %0 {batch_a = [0, 1], batch_b = [0, 1], contract_a = [2, 3], contract_b = [2, 3]} : f64[B, 2, T~, 4]\n"
          "%5 = dot %0, %0 {batch_a = [], batch_b = [], contract_a = [0, 1, 3], contract_b = [0, 1, 3]} : f64[3, 4, 3, 4]\n"
          OUT("3") OUT("4") OUT("5"), 3, -1);
    /* weights of a sentence against tokens, summed within each sentence */
    check("%0 = input {name = \"p\"} : f64[B, S~, T~]\n%1 = param {name = \"w\"} : f64[5, 7]\n"
          "%2 = input {name = \"x\"} : f64[B, T~, 5]\n"
          "%3 = dot %0, %2 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [1]} : f64[B, S~, 5]\n"
          "%4 = dot %3, %1 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 7]\n"
          "%5 = dot %0, %0 {batch_a = [0], batch_b = [0], contract_a = [1, 2], contract_b = [1, 2]} : f64[B]\n"
          OUT("4"), -1, -1);
}

static void test_uniform_products(void **state)
{
    (void)state;
    check("%0 = input {name = \"x\"} : f64[B, N, 4]\n%1 = input {name = \"y\"} : f64[B, 4, N]\n"
          "%2 = dot %0, %1 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [1]} : f64[B, N, N]\n"
          "%3 = dot %0, %1 {batch_a = [], batch_b = [], contract_a = [2, 0], contract_b = [1, 0]} : f64[N, N]\n"
          "%4 = dot %0, %1 {batch_a = [0, 2], batch_b = [0, 1], contract_a = [1], contract_b = [2]} : f64[B, 4]\n"
          "%5 = dot %0, %1 {batch_a = [1, 0], batch_b = [2, 0], contract_a = [], contract_b = []} : f64[N, B, 4, 4]\n"
          "%6 = transpose %0 {perm = [2, 1, 0]} : f64[4, N, B]\n"
          "%7 = dot %6, %6 {batch_a = [], batch_b = [], contract_a = [0], contract_b = [0]} : f64[N, B, N, B]\n"
          OUT("2") OUT("3") OUT("4") OUT("5") OUT("7"), 5, -1);
}
/* clang-format on */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_loop_over_rows),
        cmocka_unit_test(test_no_loop),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_merged_projection),
        cmocka_unit_test(test_concat_in_place),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_repacking),
        cmocka_unit_test(test_loops_and_sums),
        cmocka_unit_test(test_uniform_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
