/* Kernels that move elements, sum along columns or look rows up, against the oracle, on every
 * vector width. */
#include "tests/codegen/widths.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* ---- other coordinates ---- */

static void moves(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(n_of(4), n_of(n + 3)));
    Value *t = case_input(c, c->real, DIMS(n_of(n), n_of(4)));
    Value *v = case_input(c, c->real, DIMS(n_of(2), n_of(2), n_of(n)));
    Value *r[] = {
        build_slice(b, x, 1, 2, n),
        build_flip(b, build_slice(b, x, 1, 0, n), 1),
        build_pad(b, build_slice(b, x, 1, 1, n), 1, 2, n + 3),
        build_transpose(b, t, (int[]){1, 0}),
        build_reshape(b, v, DIMS(n_of(4), n_of(n))),
        build_flip(b, build_slice(b, x, 1, 0, n), 0),
        build_pad(b, build_slice(b, build_slice(b, x, 1, 0, n), 0, 1, 2), 0, 1, 4),
    };
    Value *wide = r[2];
    r[2] = build_slice(b, wide, 1, 1, n);
    case_check(c, case_region(c, OP_row, sizeof r / sizeof r[0], r));
}

static void split_heads(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->N), n_of(2 * n)));
    Value *heads = build_reshape(&c->b, x, DIMS(case_dim(c->N), n_of(2), n_of(n)));
    heads = build_transpose(&c->b, heads, (int[]){1, 0, 2});
    case_check(c, case_region(c, OP_row, VALUES(build_unary(&c->b, OP_neg, heads))));
}

static void join_heads(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(n_of(3), case_dim(c->N), n_of(n)));
    Value *y = build_transpose(&c->b, x, (int[]){1, 0, 2});
    y = build_reshape(&c->b, y, DIMS(case_dim(c->N), n_of(3 * n)));
    case_check(c, case_region(c, OP_row, VALUES(y)));
}

static void transpose_ragged(Case *c, int64_t n)
{
    Value *x =
        case_input(c, c->real, DIMS(case_dim(c->B), n_of(n), case_dim(c->S), case_dim(c->T)));
    Value *y = build_transpose(&c->b, x, (int[]){0, 1, 3, 2});
    case_check(c, case_region(c, OP_row, VALUES(y)));
}

static void bare_pad(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    case_check(c, build_pad(&c->b, x, 2, 3, n + 7)->op);
}

static void gathers(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *table = case_input(c, c->real, DIMS(n_of(9), n_of(n)));
    Value *index = case_index(c, DIMS(case_dim(c->B), case_dim(c->S)), 11);
    Value *rows = build_gather(b, table, index);
    case_check(c, case_region(c, OP_row,
                              VALUES(build_binary(b, OP_mul, rows, build_const(b, c->real, 3)))));
}

static void gather_elements(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *table = case_input(c, c->real, DIMS(n_of(9)));
    Value *index = case_index(c, DIMS(case_dim(c->N), n_of(n)), 11);
    case_check(c, case_region(c, OP_row, VALUES(build_gather(b, table, index))));
}

static void concats(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(2), n_of(n)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(1), n_of(n)));
    Value *z = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(2), n_of(5)));
    case_check(c, build_concat(&c->b, VALUES(x, y, x), 2)->op);
    case_check(c, build_concat(&c->b, VALUES(x, z), 3)->op);
}

/* ---- columns ---- */

static void column_sums(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(1)));
    Value *d = build_dropout(b, x, 0.1, 1);
    Value *s = build_reduce(b, OP_reduce_sum, build_binary(b, OP_mul, d, y), 2, (int[]){0, 1});
    Value *m = build_reduce(b, OP_reduce_max, x, 2, (int[]){0, 1});
    Value *old = case_input(c, c->real, DIMS(n_of(1), n_of(1), n_of(n)));
    case_check(c, case_region(c, OP_column, VALUES(build_binary(b, OP_add, s, old), m)));
}

static void sum_over(Case *c, Value *x, int n, const int *axes)
{
    Value *s = build_reduce(&c->b, OP_reduce_sum, x, n, axes);
    Value *m = build_reduce(&c->b, OP_reduce_max, x, n, axes);
    case_check(c, case_region(c, OP_column, VALUES(s, m)));
}

static void column_axes(Case *c, int64_t n)
{
    static const int sets[][4] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, {0, 1, 2, 3}};
    static const int counts[] = {1, 1, 1, 2, 2, 2, 3, 4};
    for (int i = 0; i < 8; i++) {
        Case own;
        case_open(&own, c->real);
        Value *x =
            case_input(&own, c->real, DIMS(case_dim(own.B), n_of(2), case_dim(own.S), n_of(n)));
        sum_over(&own, x, counts[i], sets[i]);
        case_close(&own);
    }
}

static void column_of_scores(Case *c, int64_t n)
{
    static const int sets[][4] = {{0}, {2}, {0, 2}, {0, 1, 2}, {0, 1, 2, 3}};
    static const int counts[] = {1, 1, 2, 3, 4};
    for (int i = 0; i < 5; i++) {
        Case own;
        case_open(&own, c->real);
        Value *x = case_input(&own, c->real,
                              DIMS(case_dim(own.B), n_of(n), case_dim(own.S), case_dim(own.T)));
        sum_over(&own, x, counts[i], sets[i]);
        case_close(&own);
    }
}

static void column_of_tokens(Case *c, int64_t n)
{
    (void)n;
    static const int sets[][2] = {{0}, {1}, {0, 1}};
    static const int counts[] = {1, 1, 2};
    for (int i = 0; i < 3; i++) {
        Case own;
        case_open(&own, c->real);
        sum_over(&own, case_input(&own, c->real, DIMS(case_dim(own.B), case_dim(own.S))), counts[i],
                 sets[i]);
        case_close(&own);
    }
}

static void column_to_scalar(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(n_of(7), n_of(n)));
    Value *y = build_binary(&c->b, OP_mul, x, x);
    sum_over(c, y, 2, (int[]){0, 1});
}

static void scatters(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *index = case_index(c, DIMS(case_dim(c->B), case_dim(c->S)), 6);
    case_check(c, build_scatter_add(&c->b, x, index, 5)->op);
    Value *y = case_input(c, c->real, DIMS(case_dim(c->N), n_of(n)));
    Value *columns = case_index(c, DIMS(case_dim(c->N), n_of(n)), 8);
    case_check(c, build_scatter_add(&c->b, y, columns, 7)->op);
    Value *z = case_input(c, c->real, DIMS(case_dim(c->N), n_of(3), n_of(n)));
    Value *rows = case_index(c, DIMS(case_dim(c->N)), 4);
    case_check(c, build_scatter_add(&c->b, z, rows, 4)->op);
}

/* Positions of the same sentence, of another dimension, before it and behind it. */
static void lookups(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *w = case_input(c, c->real, DIMS(n_of(n)));
    Value *at = build_iota_along(b, case_dim(c->S), 1, 3), *sum = x;
    for (int tap = -2; tap <= 2; tap++) {
        Value *from = build_binary(b, OP_sub, at, build_const(b, DT_I32, tap));
        Value *row = build_lookup(b, x, from, 1);
        sum = build_binary(b, OP_add, sum, build_binary(b, OP_mul, row, w));
    }
    Value *index = case_index(c, DIMS(case_dim(c->B), case_dim(c->S), n_of(1)), 6);
    Value *columns = case_index(c, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)), 6);
    case_check(
        c, case_region(c, OP_row,
                       VALUES(sum, build_lookup(b, x, index, 1), build_lookup(b, x, columns, 1))));
    Value *others = case_index(c, DIMS(case_dim(c->B), case_dim(c->T), n_of(1)), 6);
    case_check(c, case_region(c, OP_row, VALUES(build_lookup(b, x, others, 1))));
    case_check(c,
               build_lookup(b, x, case_index(c, DIMS(case_dim(c->B), n_of(1), n_of(1)), 5), 1)->op);
    Value *tall = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(5)));
    case_check(c, build_lookup(b, tall, case_index(c, DIMS(case_dim(c->S), n_of(n)), 7), 2)->op);
    Value *flat = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S)));
    case_check(c, build_lookup(b, flat, case_index(c, DIMS(case_dim(c->S)), 6), 1)->op);
}

/* Rows side by side, and one by one at the ends of sentences: sums of rows at constant distances,
 * and reductions of them along the columns. */
static void convolutions(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->T), n_of(n)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->T), n_of(n)));
    Value *w = case_input(c, c->real, DIMS(n_of(n)));
    Value *at = build_iota_along(b, case_dim(c->T), 1, 3), *sum = y, *causal = NULL;
    for (int tap = -3; tap <= 4; tap++) { /* the block of positions 12 to 15 of 19 is no block */
        Value *from = build_binary(b, OP_add, build_const(b, DT_I32, tap), at);
        Value *row = build_binary(b, OP_mul, build_lookup(b, tap % 2 ? x : y, from, 1), w);
        sum = build_binary(b, OP_add, sum, row);
        causal = tap ? causal : sum;
    }
    case_check(c, case_region(c, OP_row, VALUES(sum, causal)));
    at = build_iota_along(b, case_dim(c->T), 1, 3);
    Value *before = build_lookup(b, x, build_binary(b, OP_sub, at, build_const(b, DT_I32, 1)), 1);
    case_check(c,
               case_region(c, OP_row,
                           VALUES(build_reduce(b, OP_reduce_sum, before, 1, (int[]){2}), before)));
}

static void lookup_adds(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Dim to[] = {case_dim(c->B), case_dim(c->S), n_of(n)};
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->T), n_of(n)));
    Value *index = case_index(c, DIMS(case_dim(c->B), case_dim(c->T), n_of(1)), 6);
    case_check(c, build_lookup_add(b, x, index, 1, 3, to)->op);
    Value *rows = case_index(c, DIMS(case_dim(c->T), n_of(n)), 6);
    case_check(c, build_lookup_add(b, x, rows, 1, 3, to)->op);
    Value *one = case_input(c, c->real, DIMS(case_dim(c->B), n_of(1), n_of(n)));
    Value *at = case_index(c, DIMS(case_dim(c->B), n_of(1), n_of(1)), 6);
    case_check(c, build_lookup_add(b, one, at, 1, 3, to)->op);
    Value *columns = case_index(c, DIMS(case_dim(c->T), n_of(n)), 9);
    case_check(
        c, build_lookup_add(b, x, columns, 2, 3, (Dim[]){case_dim(c->B), case_dim(c->T), n_of(7)})
               ->op);
}

/* Every third element is 1, the first three of the last column NaN, inf, -inf. */
static Value *unsorted(Case *c, DType dtype, int rank, const Dim *dims)
{
    Value *x = dtype == DT_I32 ? case_index(c, rank, dims, 9) : case_input(c, dtype, rank, dims);
    BatchShape shape = case_batch(c);
    Elements *own = elements_of(&shape, x);
    const int64_t columns = own->dims[rank - 1];
    const double special[] = {NAN, INFINITY, -INFINITY};
    for (int64_t i = 0; i < own->count; i++) {
        if (i % 3 == 0)
            own->data[i] = 1;
        if (dtype != DT_I32 && columns && i % columns == columns - 1 && i / columns < 3)
            own->data[i] = special[i / columns];
    }
    return x;
}

static void top_ks(Case *c, int64_t n)
{
    Builder *b = &c->b;
    const Dim B = case_dim(c->B), S = case_dim(c->S), T = case_dim(c->T);
    const Dim few = n_of(n < 3 ? n : 3);
    case_check(c, build_top_k(b, unsorted(c, c->real, DIMS(B, S, n_of(n))), few)->op);
    case_check(c, build_top_k(b, unsorted(c, c->real, DIMS(n_of(5), n_of(n))), n_of(1))->op);
    case_check(c, build_top_k(b, unsorted(c, DT_I32, DIMS(B, n_of(n))), few)->op);
    /* along positions: fewer in some rows, as many as another dimension has, of heads */
    case_check(c, build_top_k(b, unsorted(c, c->real, DIMS(B, S)), n_of(4))->op);
    case_check(c, build_top_k(b, unsorted(c, c->real, DIMS(B, n_of(2), T)), S)->op);
    case_check(c, build_top_k(b, unsorted(c, c->real, DIMS(B, S, T)), n_of(2))->op);
}

static void appends(Case *c, int64_t n)
{
    Value *cache = case_input(c, c->real, DIMS(case_dim(c->R), case_dim(c->P), n_of(2), n_of(n)));
    Value *row = case_input(c, c->real, DIMS(case_dim(c->R), case_dim(c->Q), n_of(2), n_of(n)));
    Value *out = build(&c->b, OP_append, 2, (Value *[]){cache, row}, 0, NULL);
    case_check(c, out->op);
    cache = case_input(c, DT_I32, DIMS(case_dim(c->R), case_dim(c->P)));
    row = case_input(c, DT_I32, DIMS(case_dim(c->R), case_dim(c->Q)));
    case_check(c, build(&c->b, OP_append, 2, (Value *[]){cache, row}, 0, NULL)->op);
}

static void ctc_loss(Case *c, int64_t n)
{
    if (c->real == DT_BF16)
        return; /* it has no kernels for that */
    (void)n;
    case_lengths(c, c->T, 4, (int32_t[]){5, 4, 0, 2});
    case_lengths(c, c->S, 4, (int32_t[]){2, 0, 0, 3});
    Value *p = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->T), n_of(4)));
    Value *labels = case_index(c, DIMS(case_dim(c->B), case_dim(c->S)), 3);
    BatchShape shape = case_batch(c);
    Elements *l = elements_of(&shape, labels);
    for (int64_t i = 0; i < l->count; i++)
        l->data[i] += 1;
    l->data[0] = l->data[1] = 2; /* a repeated label */
    Value *g = case_input(c, c->real, DIMS(case_dim(c->B)));
    Op *loss = build(&c->b, OP_ctc, 2, (Value *[]){p, labels}, 0, NULL)->op;
    case_check(c, loss);
    Op *grad = build(&c->b, OP_ctc_grad, 3, (Value *[]){p, labels, g}, 0, NULL)->op;
    case_check(c, grad);
}

/* ---- memory and batches ---- */

static void strided_rows(void **state)
{
    (void)state;
    CaseBody bodies[] = {gathers,     concats, column_sums, scatters, lookups,
                         lookup_adds, top_ks,  appends,     moves,    convolutions};
    in_strides(bodies, sizeof bodies / sizeof bodies[0]);
}

static void edge_batches(void **state)
{
    (void)state;
    CaseBody bodies[] = {column_sums, scatters, lookups, convolutions,
                         lookup_adds, top_ks,   gathers, transpose_ragged};
    in_edge_batches(bodies, sizeof bodies / sizeof bodies[0]);
}

IN_WIDTHS(moves)
IN_WIDTHS(split_heads)
IN_WIDTHS(join_heads)
ONCE(transpose_ragged)
IN_WIDTHS(bare_pad)
IN_WIDTHS(gathers)
IN_WIDTHS(gather_elements)
IN_WIDTHS(concats)
IN_WIDTHS(column_sums)
IN_WIDTHS(column_axes)
ONCE(column_of_scores)
ONCE(column_of_tokens)
IN_WIDTHS(column_to_scalar)
IN_WIDTHS(scatters)
IN_WIDTHS(lookups)
IN_WIDTHS(convolutions)
IN_WIDTHS(lookup_adds)
IN_WIDTHS(top_ks)
IN_WIDTHS(appends)
ONCE(ctc_loss)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_split_heads),
        cmocka_unit_test(test_join_heads),
        cmocka_unit_test(test_transpose_ragged),
        cmocka_unit_test(test_bare_pad),
        cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_gather_elements),
        cmocka_unit_test(test_concats),
        cmocka_unit_test(test_column_sums),
        cmocka_unit_test(test_column_axes),
        cmocka_unit_test(test_column_of_scores),
        cmocka_unit_test(test_column_of_tokens),
        cmocka_unit_test(test_column_to_scalar),
        cmocka_unit_test(test_scatters),
        cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_lookup_adds),
        cmocka_unit_test(test_top_ks),
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_ctc_loss),
        cmocka_unit_test(strided_rows),
        cmocka_unit_test(edge_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
