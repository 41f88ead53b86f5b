/* Signatures: what makes two kernels the same. */
#include "tests/codegen/kernels.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DIMS(...) \
    (int)(sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim)), (Dim[]) { __VA_ARGS__ }
#define VALUES(...) \
    (int)(sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *)), (Value *[]) { __VA_ARGS__ }

static Dim n_of(int64_t n) { return dim_const(n); }

static uint64_t hash_of_sum(Case *c, DType dtype, Dim first, double factor, int site)
{
    Value *x = case_input(c, dtype, DIMS(first, n_of(8)));
    Value *y = build_binary(&c->b, OP_mul, x, build_const(&c->b, dtype, factor));
    Value *d = build_dropout(&c->b, y, 0.5, site);
    Op *op = case_region(c, OP_row, VALUES(d));
    uint64_t hash = signature_of(c->arena, c->module, op, NULL).hash;
    return hash;
}

static void hashes(void **state)
{
    (void)state;
    Case c;
    case_open(&c, DT_F32);
    uint64_t h = hash_of_sum(&c, DT_F32, case_dim(c.N), 2, 1);
    assert_true(h == hash_of_sum(&c, DT_F32, case_dim(c.N), 2, 5)); /* sites are arguments */
    assert_true(h == hash_of_sum(&c, DT_F32, case_dim(c.R), 2, 1)); /* symbols are numbered */
    assert_true(h != hash_of_sum(&c, DT_F32, case_dim(c.N), 3, 1));
    assert_true(h != hash_of_sum(&c, DT_F64, case_dim(c.N), 2, 1));
    assert_true(h != hash_of_sum(&c, DT_F32, n_of(7), 2, 1));
    case_close(&c);
}

static uint64_t hash_of_sites(Case *c, int a, int b)
{
    Value *x = case_input(c, DT_F32, DIMS(case_dim(c->N), n_of(8)));
    Value *sum = build_binary(&c->b, OP_add, build_dropout(&c->b, x, 0.5, a),
                              build_dropout(&c->b, build_unary(&c->b, OP_neg, x), 0.5, b));
    return signature_of(c->arena, c->module, case_region(c, OP_row, VALUES(sum)), NULL).hash;
}

/* A kernel draws once for ops of one site, so which ops have the same one counts. */
static void shared_sites_count(void **state)
{
    (void)state;
    Case c;
    case_open(&c, DT_F32);
    assert_true(hash_of_sites(&c, 1, 2) == hash_of_sites(&c, 4, 3));
    assert_true(hash_of_sites(&c, 1, 1) == hash_of_sites(&c, 4, 4));
    assert_true(hash_of_sites(&c, 1, 1) != hash_of_sites(&c, 1, 2));
    case_close(&c);
}

static void flat_kernels_are_shared(void **state)
{
    (void)state;
    Case c;
    case_open(&c, DT_F32);
    uint64_t h[2];
    for (int i = 0; i < 2; i++) {
        Value *x = i ? case_input(&c, DT_F32, DIMS(n_of(8)))
                     : case_input(&c, DT_F32, DIMS(n_of(5), case_dim(c.N)));
        Op *op = case_region(&c, OP_row, VALUES(build_unary(&c.b, OP_relu, x)));
        h[i] = signature_of(c.arena, c.module, op, NULL).hash;
    }
    assert_true(h[0] == h[1]);
    case_close(&c);
}

/* Strides that are not 1 make another kernel, gaps between rows do not. */
static void forms_count(void **state)
{
    (void)state;
    Case c;
    case_open(&c, DT_F32);
    Value *x = case_input(&c, DT_F32, DIMS(case_dim(c.N), n_of(8)));
    Value *sum = build_reduce(&c.b, OP_reduce_sum, x, 1, (int[]){1});
    Op *op = case_region(&c, OP_row, VALUES(sum));
    uint64_t contiguous = signature_of(c.arena, c.module, op, NULL).hash;
    BufferForm rows[] = {FORM_ROWS, FORM_CONTIGUOUS}, strided[] = {FORM_STRIDED, FORM_CONTIGUOUS};
    assert_true(signature_of(c.arena, c.module, op, rows).hash == contiguous);
    assert_true(signature_of(c.arena, c.module, op, strided).hash != contiguous);
    case_close(&c);
}

/* A kernel of many streams and dimensions has all of them. */
static void lists_have_room(void **state)
{
    (void)state;
    enum { MANY = 300 };
    Case c;
    case_open(&c, DT_F32);
    Value *sum = case_input(&c, DT_F32, DIMS(case_dim(c.N), n_of(8)));
    for (int i = 0; i < MANY; i++) {
        int symbol = module_add_symbol(c.module, arena_printf(c.arena, "D%d", i), NO_SYMBOL);
        Value *y = build_binary(&c.b, OP_mul, build_dropout(&c.b, sum, 0.5, i),
                                build_size(&c.b, DT_F32, symbol));
        sum = build_binary(&c.b, OP_add, sum, y);
    }
    Signature s = signature_of(c.arena, c.module, case_region(&c, OP_row, VALUES(sum)), NULL);
    assert_int_equal(s.n_sites, MANY);
    assert_int_equal(s.n_dims, MANY + 1);
    for (int i = 0; i < MANY; i++)
        assert_true(s.sites[i] == i && signature_dim(&s, s.dims[i]) == i);
    case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes),
        cmocka_unit_test(shared_sites_count),
        cmocka_unit_test(flat_kernels_are_shared),
        cmocka_unit_test(forms_count),
        cmocka_unit_test(lists_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
