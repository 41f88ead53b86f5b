/* Attention regions against an evaluation in double, on every vector width: forward and
 * backward, blocks that are not full, more keys than a strip holds (in one pass, and level by
 * level), windows, from the end of the keys too, masks that leave gaps, operands of bf16. */
#include "tests/codegen/kernels.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>

#define DIMS(...) \
    (int)(sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim)), (Dim[]) { __VA_ARGS__ }
#define VALUES(...) \
    (int)(sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *)), (Value *[]) { __VA_ARGS__ }

/* Some of the body's ops, right-aligned with scores [B, H, S~, T~]. */
static Value *operator(Case *c, OpKind kind, Value *x, Value *y)
{
    return build_binary(&c->b, kind, x, y);
}

static Value *along_keys(Case *c, OpKind kind, Value *x)
{
    return build_reduce(&c->b, kind, x, 1, (int[]){x->type.rank - 1});
}

static Value *real_const(Case *c, double value) { return build_const(&c->b, c->real, value); }

/* a is rounded, where b is bf16; the sum is not. */
static Value *product(Case *c, Value *a, Value *b, int contract_a, int contract_b)
{
    if (a->type.dtype != b->type.dtype)
        a = build_cast(&c->b, a, b->type.dtype);
    Value *y = build_dot(&c->b, a, b, 2, (int[]){0, 1}, (int[]){0, 1}, 1, &contract_a, &contract_b);
    op_set_attr(c->function, y->op, attr_int(ATTR_dtype, c->real));
    y->type.dtype = c->real;
    return y;
}

/* [batch, queries, d] with [batch, keys, d] */
static Value *scores_of(Case *c, Value *q, Value *k) { return product(c, q, k, 3, 3); }
static Value *columns_of(Case *c, Value *p, Value *x) { return product(c, p, x, 2, 2); }

static Value *positions(Case *c, int symbol, bool queries)
{
    Value *at = build_iota(&c->b, case_dim(symbol));
    return queries ? build_reshape(&c->b, at, DIMS(case_dim(symbol), dim_const(1))) : at;
}

/* key <= query + after, query <= key + before */
static Value *window(Case *c, int before, int after)
{
    Value *query = positions(c, c->S, true), *key = positions(c, c->T, false);
    Value *low = operator(c, OP_sub, query, build_const(&c->b, DT_I32, before));
    Value *high = operator(c, OP_add, query, build_const(&c->b, DT_I32, after));
    return operator(c, OP_and, operator(c, OP_le, low, key), operator(c, OP_le, key, high));
}

/* key − query from −before to after, a side that is -1 open, the last query at the last key. */
static Value *window_from_end(Case *c, int before, int after)
{
    Value *keys = build_lengths(&c->b, DT_I32, c->T), *queries = build_lengths(&c->b, DT_I32, c->S);
    Value *more = build_reshape(&c->b, operator(c, OP_sub, keys, queries),
                                DIMS(case_dim(c->B), dim_const(1), dim_const(1), dim_const(1)));
    Value *query = operator(c, OP_add, more, positions(c, c->S, true));
    Value *distance = operator(c, OP_sub, positions(c, c->T, false), query);
    Value *up_to = operator(c, OP_le, distance, build_const(&c->b, DT_I32, after));
    Value *from = operator(c, OP_le, build_const(&c->b, DT_I32, -before), distance);
    return before < 0 ? up_to : after < 0 ? from : operator(c, OP_and, from, up_to);
}

/* The masks from GLOBALS on leave gaps between the keys of a block of queries. */
typedef enum Pattern {
    WINDOW,
    FROM_END,
    GLOBALS,
    BLOCKS,
    STRIDE,
    NEAR,
    RESIDUES,
    HEADS,
    NOTHING
} Pattern;

static Value *whole(Case *c, int64_t n) { return build_const(&c->b, DT_I32, (double)n); }

/* floor(x / n), a float. */
static Value *quotient(Case *c, Value *x, double n)
{
    Value *real = build_cast(&c->b, x, c->real);
    return build_unary(&c->b, OP_floor, operator(c, OP_div, real, real_const(c, n)));
}

/* x − x / n × n */
static Value *remainder_of(Case *c, Value *x, int64_t n)
{
    return operator(c, OP_sub,
                    x, operator(c, OP_mul, operator(c, OP_div, x, whole(c, n)), whole(c, n)));
}

/* What is bf16: nothing; the operands; they and rows of sums over keys. */
typedef enum Half { FULL, OPERANDS, AND_ROWS } Half;

typedef struct Shape {
    int64_t heads, depth;
    int before, after; /* of a window; -1: no mask */
    bool dropout;
    Half half;
    Pattern pattern;
} Shape;

static Value *near_or_global(Case *c, const Shape *s, Value *query, Value *key)
{
    Value *first_keys = operator(c, OP_lt, key, whole(c, 4));
    return operator(c, OP_or, operator(c, OP_or, window(c, s->before, s->after), first_keys),
                              operator(c, OP_eq, query, whole(c, 40)));
}

/* GLOBALS  key − query from −before to after, or key < 4, or query = 40
 * BLOCKS   key and query in one block of 50
 * STRIDE   key <= query, and their distance a multiple of 70
 * NEAR     as GLOBALS, or query − key is 3 more than a multiple of 20
 * RESIDUES key and query in one block of 500, at one place of their blocks of 33
 * HEADS    |key − query| at least 100 × the head's number and 70
 * NOTHING  no key */
static Value *seen(Case *c, const Shape *s)
{
    Value *query = positions(c, c->S, true), *key = positions(c, c->T, false);
    Value *head = build_reshape(&c->b, build_iota(&c->b, dim_const(s->heads)),
                                DIMS(dim_const(s->heads), dim_const(1), dim_const(1)));
    Value *distance = operator(c, OP_sub, query, key);
    switch (s->pattern) {
    case GLOBALS: return near_or_global(c, s, query, key);
    case NEAR:
        return operator(c, OP_or,
                        near_or_global(c, s, query, key),
                        operator(c, OP_eq,
                                 remainder_of(c, operator(c, OP_sub, distance, whole(c, 3)), 20),
                                 whole(c, 0)));
    case RESIDUES:
        return operator(
            c, OP_and, operator(c, OP_eq, quotient(c, query, 500), quotient(c, key, 500)),
                       operator(c, OP_eq, remainder_of(c, query, 33), remainder_of(c, key, 33)));
    case BLOCKS: return operator(c, OP_eq, quotient(c, query, 50), quotient(c, key, 50));
    case STRIDE:
        return operator(c, OP_and, operator(c, OP_le, key, query),
                                   operator(c, OP_eq, remainder_of(c, distance, 70), whole(c, 0)));
    case HEADS: {
        Value *least = operator(c, OP_max, operator(c, OP_mul, head, whole(c, 100)), whole(c, 70));
        return build_unary(&c->b,
                           OP_not, operator(c, OP_lt, build_unary(&c->b, OP_abs, distance), least));
    }
    case NOTHING: return operator(c, OP_lt, operator(c, OP_add, query, key), whole(c, 0));
    case FROM_END: return window_from_end(c, s->before, s->after);
    case WINDOW: break;
    }
    return window(c, s->before, s->after);
}

static Value *rows_of(Case *c, const Shape *s, Value *p, Value *v)
{
    Value *y = product(c, p, v, 3, 2);
    if (s->half == AND_ROWS) {
        op_set_attr(c->function, y->op, attr_int(ATTR_dtype, DT_BF16));
        y->type.dtype = DT_BF16;
    }
    return y;
}

typedef struct Softmax {
    Value *scores, *top, *inverse, *weights;
} Softmax;

static Value *compared(Case *c, const Shape *s, Value *q, Value *k)
{
    Value *x = operator(c, OP_mul, scores_of(c, q, k), real_const(c, 0.3));
    return s->before < 0 && s->pattern == WINDOW
               ? x
               : build_select(&c->b, seen(c, s), x, real_const(c, -INFINITY));
}

static Value *exponentials(Case *c, Value *x, Value *top)
{
    return build_unary(&c->b, OP_exp, operator(c, OP_sub, x, top));
}

static Softmax softmax_of(Case *c, Value *x)
{
    Softmax s = {.scores = x};
    s.top = operator(c, OP_max, along_keys(c, OP_reduce_max, x), real_const(c, -1e30));
    Value *e = exponentials(c, x, s.top);
    Value *sum = operator(c, OP_max, along_keys(c, OP_reduce_sum, e), real_const(c, 1e-30));
    s.inverse = operator(c, OP_div, real_const(c, 1), sum);
    s.weights = operator(c, OP_mul, e, s.inverse);
    return s;
}

static void check(Case *c, const Shape *s, int n, Value *const *results)
{
    Op *region = case_region(c, OP_attention, n, results);
    bool gaps = s->pattern >= GLOBALS;
    op_set_attr(c->function, region, attr_int(ATTR_before, gaps ? -1 : s->before));
    op_set_attr(c->function, region, attr_int(ATTR_after, gaps ? -1 : s->after));
    if (gaps)
        op_set_attr(c->function, region, attr_int(ATTR_gaps, 1));
    if (s->pattern == FROM_END)
        op_set_attr(c->function, region, attr_int(ATTR_from_end, 1));
    case_check(c, region);
}

static Value *heads_input(Case *c, const Shape *s, int symbol)
{
    return case_input(
        c, s->half ? DT_BF16 : c->real,
        DIMS(case_dim(c->B), dim_const(s->heads), case_dim(symbol), dim_const(s->depth)));
}

static Value *dropped(Case *c, const Shape *s, Value *x)
{
    return s->dropout ? build_dropout(&c->b, x, 0.5, 3) : x;
}

static void forward(Case *c, const Shape *s)
{
    Value *q = heads_input(c, s, c->S), *k = heads_input(c, s, c->T), *v = heads_input(c, s, c->T);
    Softmax p = softmax_of(c, compared(c, s, q, k));
    check(c, s, VALUES(p.top, p.inverse, rows_of(c, s, dropped(c, s, p.weights), v)));
}

/* Scores that rise with the key, so that the maximum does from strip to strip. */
static Value *rising(Case *c, const Shape *s, Value *q, Value *k)
{
    Value *key = build_cast(&c->b, positions(c, c->T, false), c->real);
    return operator(c, OP_add, compared(c, s, q, k), operator(c, OP_mul, key, real_const(c, 0.01)));
}

/* e / Σ e without a bound, half of it taken away again; the sum without its keys' weights. */
static void divided(Case *c, const Shape *s)
{
    Value *q = heads_input(c, s, c->S), *k = heads_input(c, s, c->T), *v = heads_input(c, s, c->T);
    Value *x = rising(c, s, q, k), *top = along_keys(c, OP_reduce_max, x);
    Value *e = exponentials(c, x, top), *sum = along_keys(c, OP_reduce_sum, e);
    Value *kept = build_select(&c->b, window(c, 3000, 900), e, real_const(c, 0));
    Value *p = operator(
        c, OP_sub, operator(c, OP_div, dropped(c, s, kept), sum),
                   operator(c, OP_mul, operator(c, OP_div, e, sum), real_const(c, 0.5)));
    check(c, s, VALUES(sum, rows_of(c, s, p, v), rows_of(c, s, e, k)));
}

/* Two softmaxes of one product, their difference (no common factor: level by level), and
 * weights |x| / Σ |x|. */
static void several(Case *c, const Shape *s)
{
    Value *q = heads_input(c, s, c->S), *k = heads_input(c, s, c->T), *v = heads_input(c, s, c->T);
    Value *x = rising(c, s, q, k);
    Softmax p = softmax_of(c, x), r = softmax_of(c, build_unary(&c->b, OP_neg, x));
    Value *size = build_unary(&c->b, OP_abs, x);
    Value *share = operator(c, OP_div, size, along_keys(c, OP_reduce_sum, size));
    if (s->dropout)
        check(c, s, VALUES(rows_of(c, s, operator(c, OP_sub, p.weights, r.weights), v)));
    else
        check(c, s,
              VALUES(rows_of(c, s, p.weights, v), rows_of(c, s, r.weights, k),
                     rows_of(c, s, share, v), r.top));
}

/* With the gradient of the result dy: dv = pᵀ dy, dp = dy vᵀ, ds = p (dp − Σ dp p),
 * dq = ds k, dk = dsᵀ q. Top and inverse are made up, and so is the sum if it is given. */
static void gradients(Case *c, const Shape *s, bool given)
{
    Value *q = heads_input(c, s, c->S), *k = heads_input(c, s, c->T), *v = heads_input(c, s, c->T);
    Value *dy = heads_input(c, s, c->S);
    Dim row[] = {case_dim(c->B), dim_const(s->heads), case_dim(c->S), dim_const(1)};
    Value *top = case_input(c, c->real, 4, row), *inverse = case_input(c, c->real, 4, row);
    Value *x = compared(c, s, q, k);
    /* scores as high as they come here would overflow a made-up maximum */
    x = operator(c, OP_mul, x, real_const(c, 0.05));
    Value *p = operator(c, OP_mul, exponentials(c, x, top), inverse);
    Value *dp = dropped(c, s, scores_of(c, dy, v));
    Value *sum = given ? case_input(c, c->real, 4, row)
                       : along_keys(c, OP_reduce_sum, operator(c, OP_mul, dp, p));
    Value *ds = operator(c, OP_mul, p, operator(c, OP_sub, dp, sum));
    check(c, s,
          VALUES(columns_of(c, dropped(c, s, p), dy), rows_of(c, s, ds, k), columns_of(c, ds, q)));
}

static void backward(Case *c, const Shape *s) { gradients(c, s, false); }
static void one_level(Case *c, const Shape *s) { gradients(c, s, true); }

typedef void (*Body)(Case *c, const Shape *s);

static const int32_t some_queries[] = {5, 33, 1, 16}, some_keys[] = {7, 18, 40, 1};

static void in_type(DType real, Body body, const Shape *s, int n, const int32_t *queries,
                    const int32_t *keys)
{
    Case c;
    case_open(&c, real);
    case_lengths(&c, c.S, n, queries);
    case_lengths(&c, c.T, n, keys);
    c.reference_too = queries == some_queries;
    body(&c, s);
    case_close(&c);
}

static void in_both_types(Body body, const Shape *s, int n, const int32_t *queries,
                          const int32_t *keys)
{
    for (DType real = DT_F32; real <= (short_test() ? DT_F32 : DT_F64); real++)
        in_type(real, body, s, n, queries, keys);
}

static void test_forward(void **state)
{
    in_both_types(forward, &(Shape){2, 32, -1, -1, false, FULL, WINDOW}, 4, some_queries,
                  some_keys);
    in_both_types(forward, &(Shape){3, 20, -1, -1, false, FULL, WINDOW}, 4, some_queries,
                  some_keys);
    in_both_types(forward, &(Shape){1, 3, -1, -1, false, FULL, WINDOW}, 4, some_queries, some_keys);
}

static void test_backward(void **state)
{
    in_both_types(backward, &(Shape){2, 32, -1, -1, false, FULL, WINDOW}, 4, some_queries,
                  some_keys);
    in_both_types(backward, &(Shape){2, 21, -1, -1, false, FULL, WINDOW}, 4, some_queries,
                  some_keys);
}

static void test_dropout(void **state)
{
    in_both_types(forward, &(Shape){2, 8, -1, -1, true, FULL, WINDOW}, 4, some_queries, some_keys);
    in_both_types(backward, &(Shape){2, 8, -1, -1, true, FULL, WINDOW}, 4, some_queries, some_keys);
}

/* Some queries see no key at all: zeros. */
static void test_window(void **state)
{
    const int32_t queries[] = {70, 5, 40}, keys[] = {50, 70, 9};
    in_both_types(forward, &(Shape){2, 8, 3, 2, false, FULL, WINDOW}, 3, queries, keys);
    in_both_types(backward, &(Shape){2, 8, 3, 2, false, FULL, WINDOW}, 3, queries, keys);
    in_both_types(forward, &(Shape){1, 8, 0, 0, true, FULL, WINDOW}, 3, queries, keys);
}

/* Fewer queries than keys, as many, none, and more: the first then see no key. */
static void test_from_end(void **state)
{
    const int32_t queries[] = {70, 5, 40, 9, 150, 3}, keys[] = {300, 70, 40, 0, 20, 9000};
    for (int n = 0; n < 3; n++) {
        Shape s = {2,    8,       n == 0 ? -1 : n == 1 ? 3 : 30, n == 2 ? -1 : n * 2, n == 2,
                   FULL, FROM_END};
        in_both_types(forward, &s, 5, queries, keys);
        in_both_types(one_level, &s, 5, queries, keys);
        if (short_test())
            continue;
        in_both_types(backward, &s, 5, queries, keys);
        s.half = AND_ROWS;
        in_type(DT_F32, forward, &s, 6, queries, keys);
    }
}

/* More keys than a strip has (attention.h). */
static void test_long(void **state)
{
    const int32_t queries[] = {3}, keys[] = {16900};
    in_both_types(forward, &(Shape){1, 4, -1, -1, false, FULL, WINDOW}, 1, queries, keys);
    in_both_types(backward, &(Shape){1, 4, -1, -1, false, FULL, WINDOW}, 1, queries, keys);
    in_both_types(forward, &(Shape){1, 4, 9000, 9000, true, FULL, WINDOW}, 1, queries, keys);
}

/* Queries that take several vectors and blocks, keys for one strip and for more. */
static const int32_t some_blocks[] = {150, 64, 17}, blocks_of_keys[] = {300, 40, 2100};

static void test_blocks(void **state)
{
    in_both_types(forward, &(Shape){1, 20, -1, -1, true, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
    in_both_types(backward, &(Shape){1, 20, -1, -1, true, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
    in_both_types(backward, &(Shape){2, 32, 200, 100, false, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
}

static void test_online(void **state)
{
    in_both_types(divided, &(Shape){1, 20, -1, -1, true, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
    in_both_types(divided, &(Shape){1, 8, -1, -1, true, FULL, WINDOW}, 1, (int32_t[]){3},
                  (int32_t[]){8250});
    for (int dropout = 0; dropout < 2; dropout++)
        in_both_types(several, &(Shape){1, 9, -1, -1, dropout, FULL, WINDOW}, 3, some_blocks,
                      blocks_of_keys);
    in_type(DT_F32, divided, &(Shape){1, 36, -1, -1, true, AND_ROWS, WINDOW}, 3, some_blocks,
            blocks_of_keys);
}

/* No reductions: strips are short, and there is no other way. */
static void test_one_level(void **state)
{
    in_both_types(one_level, &(Shape){2, 21, -1, -1, true, FULL, WINDOW}, 4, some_queries,
                  some_keys);
    in_both_types(one_level, &(Shape){1, 20, -1, -1, true, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
    in_both_types(one_level, &(Shape){2, 32, 700, 100, false, FULL, WINDOW}, 3, some_blocks,
                  blocks_of_keys);
    in_type(DT_F32, one_level, &(Shape){1, 36, -1, -1, false, AND_ROWS, WINDOW}, 3, some_blocks,
            blocks_of_keys);
}

static void test_empty(void **state)
{
    const int32_t queries[] = {4, 0, 3}, keys[] = {0, 5, 2};
    in_both_types(forward, &(Shape){2, 8, -1, -1, false, FULL, WINDOW}, 3, queries, keys);
    in_both_types(backward, &(Shape){2, 8, -1, -1, false, FULL, WINDOW}, 3, queries, keys);
    in_both_types(one_level, &(Shape){2, 8, -1, -1, false, FULL, WINDOW}, 3, queries, keys);
}

static void test_half(void **state)
{
    const int32_t few[] = {3}, many[] = {8250};
    for (Half half = short_test() ? AND_ROWS : OPERANDS; half <= AND_ROWS; half++) {
        in_type(DT_F32, forward, &(Shape){2, 32, -1, -1, false, half, WINDOW}, 4, some_queries,
                some_keys);
        in_type(DT_F32, forward, &(Shape){1, 3, 3, 2, true, half, WINDOW}, 4, some_queries,
                some_keys);
        in_type(DT_F32, backward, &(Shape){2, 40, -1, -1, false, half, WINDOW}, 4, some_queries,
                some_keys);
        in_type(DT_F32, backward, &(Shape){2, 21, 3, 2, true, half, WINDOW}, 4, some_queries,
                some_keys);
        in_type(DT_F32, forward, &(Shape){1, 36, -1, -1, false, half, WINDOW}, 1, few, many);
        in_type(DT_F32, backward, &(Shape){1, 36, -1, -1, false, half, WINDOW}, 1, few, many);
        in_type(DT_F32, backward, &(Shape){1, 20, 3000, 0, true, half, WINDOW}, 3, some_blocks,
                blocks_of_keys);
    }
}

static void test_gaps(void **state)
{
    for (Pattern p = GLOBALS; p <= NOTHING; p++) {
        Shape s = {2, 8, 20, 10, p == BLOCKS || p == NEAR, FULL, p};
        in_type(DT_F32, forward, &s, 3, some_blocks, blocks_of_keys);
        in_type(DT_F32, one_level, &s, 3, some_blocks, blocks_of_keys);
        in_type(DT_F32, forward, &s, 3, (int32_t[]){4, 0, 3}, (int32_t[]){0, 5, 2});
        if (short_test())
            continue;
        in_type(DT_F64, backward, &s, 3, some_blocks, blocks_of_keys);
        in_type(DT_F32, several, &s, 3, some_blocks, blocks_of_keys);
    }
    Shape half = {1, 20, 200, 10, true, AND_ROWS, GLOBALS};
    in_type(DT_F32, forward, &half, 1, (int32_t[]){3}, (int32_t[]){8250});
    in_type(DT_F32, backward, &half, 3, some_blocks, blocks_of_keys);
    half.pattern = NEAR;
    in_type(DT_F32, forward, &half, 1, (int32_t[]){3}, (int32_t[]){8250});
    in_type(DT_F32, one_level, &half, 3, some_blocks, blocks_of_keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_dropout), cmocka_unit_test(test_window),
        cmocka_unit_test(test_long),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_online),  cmocka_unit_test(test_empty),
        cmocka_unit_test(test_half),    cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_gaps),    cmocka_unit_test(test_from_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
