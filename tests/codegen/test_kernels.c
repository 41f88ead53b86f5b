/* Kernels of rows, elementwise or with reductions, against the oracle, on every vector width. */
#include "tests/codegen/widths.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* ---- elementwise, with broadcasting ---- */

static void unary_ops(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(n_of(5), n_of(n)));
    Value *positive = build_binary(&c->b, OP_add, build_unary(&c->b, OP_abs, x),
                                   build_const(&c->b, c->real, 0.1));
    Value *r[] = {
        build_unary(&c->b, OP_neg, x),
        build_unary(&c->b, OP_abs, x),
        build_unary(&c->b, OP_exp, x),
        build_unary(&c->b, OP_log, positive),
        build_unary(&c->b, OP_sqrt, positive),
        build_unary(&c->b, OP_rsqrt, positive),
        build_unary(&c->b, OP_tanh, x),
        build_unary(&c->b, OP_erf, x),
        build_unary(&c->b, OP_sigmoid, x),
        build_unary(&c->b, OP_sin, x),
        build_unary(&c->b, OP_cos, x),
        build_unary(&c->b, OP_floor, x),
        build_unary(&c->b, OP_relu, x),
        build_unary(&c->b, OP_stop_gradient, x),
        build_cast(&c->b, x, DT_I32),
        build_cast(&c->b, x, DT_BOOL),
        build_cast(&c->b, x, c->real == DT_F32 ? DT_F64 : DT_F32),
    };
    case_check(c, case_region(c, OP_row, sizeof r / sizeof r[0], r));
}

static void binary_ops(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(1)));
    Value *z = case_input(c, c->real, DIMS(n_of(n)));
    Value *w = case_input(c, c->real, DIMS(case_dim(c->B), n_of(1), n_of(n)));
    Value *less = build_binary(&c->b, OP_lt, x, y), *le = build_binary(&c->b, OP_le, z, y);
    Value *base = build_binary(&c->b, OP_add, build_unary(&c->b, OP_abs, x),
                               build_const(&c->b, c->real, 0.5));
    Value *r[] = {
        build_binary(&c->b, OP_add, x, y),
        build_binary(&c->b, OP_sub, x, z),
        build_binary(&c->b, OP_mul, x, w),
        build_binary(&c->b, OP_div, x, base),
        build_binary(&c->b, OP_max, x, z),
        build_binary(&c->b, OP_min, x, w),
        less,
        le,
        build_binary(&c->b, OP_eq, x, x),
        build_binary(&c->b, OP_and, less, le),
        build_binary(&c->b, OP_or, less, le),
        build_unary(&c->b, OP_not, less),
        build_select(&c->b, less, x, z),
        build_binary(&c->b, OP_pow, base, y),
        build_binary(&c->b, OP_pow, x, build_const(&c->b, c->real, 3)),
        build_binary(&c->b, OP_pow, base, build_const(&c->b, c->real, -0.5)),
    };
    case_check(c, case_region(c, OP_row, sizeof r / sizeof r[0], r));
}

static void integer_ops(Case *c, int64_t n)
{
    Value *x = case_input(c, DT_I32, DIMS(case_dim(c->N), n_of(n)));
    Value *y = build_binary(&c->b, OP_sub, case_input(c, DT_I32, DIMS(case_dim(c->N), n_of(n))),
                            build_const(&c->b, DT_I32, 4));
    Value *r[] = {
        build_binary(&c->b, OP_add, x, y),
        build_binary(&c->b, OP_mul, x, y),
        build_binary(&c->b, OP_div, x, y),
        build_binary(&c->b, OP_max, x, y),
        build_unary(&c->b, OP_abs, y),
        build_unary(&c->b, OP_neg, y),
        build_unary(&c->b, OP_relu, y),
        build_cast(&c->b, y, c->real),
        build_binary(&c->b, OP_lt, x, y),
        last_sum(c, OP_reduce_sum, y),
        last_sum(c, OP_reduce_max, y),
        build_binary(&c->b, OP_pow, y, build_const(&c->b, DT_I32, 2)),
        build_binary(&c->b, OP_pow, x, build_const(&c->b, DT_I32, 40)),
        build_binary(&c->b, OP_pow, y, build_const(&c->b, DT_I32, -3)),
        build_binary(&c->b, OP_pow, y, x),
    };
    case_check(c, case_region(c, OP_row, sizeof r / sizeof r[0], r));
}

/* The same elements everywhere: one flat loop, whatever the shape. */
static void flat_loop(Case *c, int64_t n)
{
    Value *p = case_input(c, c->real, DIMS(n_of(n), n_of(3)));
    Value *g = case_input(c, c->real, DIMS(n_of(n), n_of(3)));
    Value *rate = case_input(c, c->real, DIMS(n_of(1)));
    Value *size = build_size(&c->b, c->real, c->S);
    Value *step = build_binary(&c->b, OP_mul, build_binary(&c->b, OP_div, rate, size), g);
    Op *op = case_region(c, OP_row, VALUES(build_binary(&c->b, OP_sub, p, step)));
    assert_int_equal(signature_of(c->arena, c->module, op, NULL).range, RANGE_ELEMENTS);
    case_check(c, op);
}

static void scalars(Case *c, int64_t n)
{
    (void)n;
    Value *x = case_input(c, c->real, 0, NULL), *y = case_input(c, c->real, DIMS(n_of(1), n_of(1)));
    case_check(c, case_region(c, OP_row, VALUES(build_binary(&c->b, OP_add, x, y))));
}

/* ---- rows ---- */

static Value *softmax_of(Case *c, Value *x)
{
    Builder *b = &c->b;
    Value *e = build_unary(b, OP_exp, build_binary(b, OP_sub, x, last_sum(c, OP_reduce_max, x)));
    return build_binary(b, OP_div, e, last_sum(c, OP_reduce_sum, e));
}

static void softmax_rows(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    case_check(c, case_region(c, OP_row, VALUES(softmax_of(c, x))));
}

/* An element in forty is NaN, which any maximum or minimum with it is; the oracle says so. */
static void maxima_of_nan(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *z = case_input(c, c->real, DIMS(n_of(n)));
    Value *low = build_binary(b, OP_lt, x, build_const(b, c->real, -1.9));
    Value *y = build_select(b, low, build_const(b, c->real, NAN), x);
    Value *r[] = {
        last_sum(c, OP_reduce_max, y), build_binary(b, OP_max, y, z), build_binary(b, OP_max, z, y),
        build_binary(b, OP_min, y, z), build_binary(b, OP_min, z, y), build_unary(b, OP_relu, y),
    };
    case_check(c, case_region(c, OP_row, sizeof r / sizeof r[0], r));
}

static void column_maxima_of_nan(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *low = build_binary(b, OP_lt, x, build_const(b, c->real, -1.9));
    Value *y = build_select(b, low, build_const(b, c->real, NAN), x);
    case_check(
        c, case_region(c, OP_column, VALUES(build_reduce(b, OP_reduce_max, y, 2, (int[]){0, 1}))));
}

/* Attention's scores: columns end at the other side's length. */
static void ragged_softmax(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x =
        case_input(c, c->real, DIMS(case_dim(c->B), n_of(n), case_dim(c->S), case_dim(c->T)));
    Value *mask = case_input(c, DT_BOOL, DIMS(case_dim(c->S), case_dim(c->T)));
    Value *keys = case_input(c, c->real, DIMS(case_dim(c->B), n_of(1), n_of(1), case_dim(c->T)));
    Value *y =
        build_select(b, mask, build_binary(b, OP_add, x, keys), build_const(b, c->real, -1e9));
    Value *sum = last_sum(c, OP_reduce_sum, y), *p = softmax_of(c, y);
    case_check(c, case_region(c, OP_row, VALUES(p, sum)));
}

static void layer_norm(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *r = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *gain = case_input(c, c->real, DIMS(n_of(n))),
          *shift = case_input(c, c->real, DIMS(n_of(n)));
    Value *scale = build_const(b, c->real, 1.0 / (double)n);
    Value *y = build_binary(b, OP_add, r, build_dropout(b, x, 0.3, 5));
    Value *mean = build_binary(b, OP_mul, last_sum(c, OP_reduce_sum, y), scale);
    Value *d = build_binary(b, OP_sub, y, mean);
    Value *var =
        build_binary(b, OP_mul, last_sum(c, OP_reduce_sum, build_binary(b, OP_mul, d, d)), scale);
    Value *inv =
        build_unary(b, OP_rsqrt, build_binary(b, OP_add, var, build_const(b, c->real, 1e-5)));
    Value *out = build_binary(
        b, OP_add, build_binary(b, OP_mul, build_binary(b, OP_mul, d, inv), gain), shift);
    case_check(c, case_region(c, OP_row, VALUES(y, mean, inv, out)));
}

static void randoms(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(1)));
    Value *u = build_random(b, x->type, 7);
    Value *r[] = {build_dropout(b, x, 0.5, 3),
                  build_binary(b, OP_add, u, build_dropout(b, y, 0.25, 4))};
    case_check(c, case_region(c, OP_row, 2, r));
}

static void random_vector(Case *c, int64_t n)
{
    Value *x = case_input(c, c->real, DIMS(n_of(n)));
    case_check(c, case_region(c, OP_row, VALUES(build_dropout(&c->b, x, 0.5, 3))));
}

/* Sentences and positions as columns; iota, lengths, a position's own row. */
static void tokens_only(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S)));
    Value *y = case_input(c, c->real, DIMS(case_dim(c->B), n_of(1)));
    Value *z = case_input(c, c->real, DIMS(case_dim(c->S)));
    Value *length =
        build_reshape(b, build_lengths(b, c->real, c->S), DIMS(case_dim(c->B), n_of(1)));
    Value *at = build_cast(b, build_iota(b, case_dim(c->S)), c->real);
    Value *sum =
        build_binary(b, OP_add, build_binary(b, OP_mul, x, y), build_binary(b, OP_add, z, at));
    sum = build_dropout(b, build_binary(b, OP_div, sum, length), 0.2, 2);
    (void)n;
    case_check(c, case_region(c, OP_row, VALUES(sum)));
}

/* A leaf as `simplify` spells it where it was reshaped: ones around its dimension. */
static Value *among_ones(Value *leaf, int rank, const Dim *dims)
{
    leaf->type = type_of(leaf->type.dtype, rank, dims);
    return leaf;
}

/* Positions and lengths whose dimension is any of the type's. */
static void leaves_of_rows(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Dim B = case_dim(c->B), S = case_dim(c->S), one = n_of(1);
    Value *x = case_input(c, c->real, DIMS(B, S, n_of(n)));
    Value *at_row = build_cast(b, among_ones(build_iota(b, S), DIMS(one, S, one)), c->real);
    Value *at_column =
        build_cast(b, among_ones(build_iota(b, n_of(n)), DIMS(one, one, n_of(n))), c->real);
    Value *length = among_ones(build_lengths(b, c->real, c->S), DIMS(B, one, one));
    Value *nothing = build_cast(b, among_ones(build_iota(b, one), DIMS(one, one)), c->real);
    x = build_binary(b, OP_add, build_binary(b, OP_mul, x, at_row),
                     build_binary(b, OP_div, at_column, length));
    case_check(c, case_region(c, OP_row, VALUES(build_binary(b, OP_add, x, nothing))));
}

/* The same where sentences and positions are columns. */
static void leaves_of_tokens(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Dim B = case_dim(c->B), S = case_dim(c->S), one = n_of(1);
    Value *x = case_input(c, c->real, DIMS(B, S));
    Value *at = build_cast(b, among_ones(build_iota(b, S), DIMS(one, S)), c->real);
    Value *length = among_ones(build_lengths(b, c->real, c->S), DIMS(B, one));
    (void)n;
    Value *y = build_binary(b, OP_mul, x, build_binary(b, OP_div, at, length));
    case_check(c, case_region(c, OP_row, VALUES(y)));
}

static void positions(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *at = build_cast(
        b, build_reshape(b, build_iota(b, case_dim(c->S)), DIMS(case_dim(c->S), n_of(1))), c->real);
    Value *column = build_cast(b, build_iota(b, n_of(n)), c->real);
    Value *wave = build_unary(
        b, OP_sin,
        build_binary(b, OP_mul, at, build_unary(b, OP_exp, build_unary(b, OP_neg, column))));
    case_check(c, case_region(c, OP_row, VALUES(build_binary(b, OP_add, x, wave))));
}

/* Results that lack rows: a vector and a scalar beside the full one. */
static void small_results(Case *c, int64_t n)
{
    Builder *b = &c->b;
    Value *x = case_input(c, c->real, DIMS(case_dim(c->B), case_dim(c->S), n_of(n)));
    Value *gain = case_input(c, c->real, DIMS(n_of(n))), *s = case_input(c, c->real, 0, NULL);
    Value *p = case_input(c, c->real, DIMS(case_dim(c->S), n_of(1)));
    Value *g = build_unary(b, OP_exp, gain), *t = build_unary(b, OP_exp, s),
          *q = build_unary(b, OP_exp, p);
    Value *y =
        build_binary(b, OP_mul, build_binary(b, OP_add, x, g), build_binary(b, OP_add, t, q));
    case_check(c, case_region(c, OP_row, VALUES(y, g, t, q)));
}

/* ---- memory and batches ---- */

static void strided_rows(void **state)
{
    (void)state;
    CaseBody bodies[] = {binary_ops, softmax_rows, ragged_softmax, layer_norm, scalars};
    in_strides(bodies, sizeof bodies / sizeof bodies[0]);
}

static void edge_batches(void **state)
{
    (void)state;
    CaseBody bodies[] = {binary_ops, softmax_rows, ragged_softmax,
                         layer_norm, tokens_only,  positions};
    in_edge_batches(bodies, sizeof bodies / sizeof bodies[0]);
}

/* ---- bits ---- */

/* Any split of the range gives the same bits. */
static void same_bits_for_any_split(void **state)
{
    (void)state;
    Case c;
    case_open(&c, DT_F32);
    Value *x = case_input(&c, DT_F32, DIMS(n_of(33), n_of(37)));
    Value *y = case_input(&c, DT_F32, DIMS(n_of(33), n_of(37)));
    Value *z =
        build_binary(&c.b, OP_add, build_unary(&c.b, OP_exp, x), build_binary(&c.b, OP_mul, x, y));
    Op *flat = case_region(&c, OP_row, VALUES(build_unary(&c.b, OP_tanh, z)));
    void *whole, *split;
    for (int cuts = 2; cuts < 40; cuts += 7) {
        case_run(&c, flat, NULL, 1, &whole);
        case_run(&c, flat, NULL, cuts, &split);
        assert_memory_equal(whole, split, 33 * 37 * sizeof(float));
    }
    case_close(&c);
}

IN_WIDTHS(unary_ops)
IN_WIDTHS(binary_ops)
IN_WIDTHS(integer_ops)
IN_WIDTHS(flat_loop)
ONCE(scalars)
IN_WIDTHS(softmax_rows)
IN_WIDTHS(maxima_of_nan)
IN_WIDTHS(column_maxima_of_nan)
ONCE(ragged_softmax)
IN_WIDTHS(layer_norm)
IN_WIDTHS(randoms)
IN_WIDTHS(random_vector)
ONCE(tokens_only)
ONCE(leaves_of_tokens)
IN_WIDTHS(leaves_of_rows)
IN_WIDTHS(positions)
IN_WIDTHS(small_results)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),          cmocka_unit_test(test_flat_loop),
        cmocka_unit_test(test_unary_ops),        cmocka_unit_test(test_binary_ops),
        cmocka_unit_test(test_integer_ops),      cmocka_unit_test(test_softmax_rows),
        cmocka_unit_test(test_maxima_of_nan),    cmocka_unit_test(test_column_maxima_of_nan),
        cmocka_unit_test(test_ragged_softmax),   cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_randoms),          cmocka_unit_test(test_random_vector),
        cmocka_unit_test(test_tokens_only),      cmocka_unit_test(test_leaves_of_rows),
        cmocka_unit_test(test_leaves_of_tokens), cmocka_unit_test(test_positions),
        cmocka_unit_test(test_small_results),    cmocka_unit_test(strided_rows),
        cmocka_unit_test(edge_batches),          cmocka_unit_test(same_bits_for_any_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
