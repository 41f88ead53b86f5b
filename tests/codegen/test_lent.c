/* Panels that a store's source lends: the same results, and no param is asked for that only they
 * need; panels of params that have changed are not used. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/plan_case.h"
#include "tests/codegen/written_panels.h"

#include <string.h>

enum { TERMS = 37, COLUMNS = 70 };

typedef struct Lender {
    Store *whole; /* has the params */
    const TfcForm *form;
    void *panels; /* of "w" */
    int filled, lent;
} Lender;

static bool fill_from(void *context, StoreTensor *tensor)
{
    Lender *s = context;
    s->filled++;
    memcpy(tensor->data, store_find(s->whole, tensor->name)->data,
           (size_t)tensor->count * sizeof(float));
    return true;
}

static float value_at(const void *b, int64_t i) { return ((const float *)b)[i]; }

static const void *find_panels(void *context, const TfcPanels *wanted)
{
    Lender *s = context;
    const float *w = store_find(s->whole, "w")->data;
    assert_string_equal(wanted->name, "w");
    assert_int_equal(wanted->k, TERMS);
    assert_int_equal(wanted->n, COLUMNS);
    free(s->panels);
    s->panels = NULL;
    if (wanted->product != TFC_PRODUCT_F32) { /* written_panels wants to read what it wrote */
        TfcPanels panels = *wanted;
        s->panels = aligned_alloc(64, (size_t)(panels_bytes(&panels) + 63) / 64 * 64);
        panels_write(&panels, w, s->panels);
    } else
        s->panels = written_panels(s->form, TFC_PRODUCT_F32, TERMS, COLUMNS, w,
                                   wanted->is_transposed ? 1 : COLUMNS,
                                   wanted->is_transposed ? TERMS : 1, value_at);
    s->lent++;
    return s->panels;
}

/* Runs on so many tokens. */
static const float *run(Exec *exec, int32_t tokens, const float *x)
{
    exec_set_ragged(exec, exec_dim(exec, "S"), 1, &tokens, NULL);
    assert_true(exec_input(exec, "x", x) && exec_run(exec));
    return exec_output(exec, "y");
}

static void same(Exec *a, Exec *b, int32_t tokens, const float *x)
{
    const float *y = run(a, tokens, x);
    assert_memory_equal(run(b, tokens, x), y, sizeof *y * (size_t)tokens * COLUMNS);
}

/* A program over its own params, and over a store without data that is lent their panels. */
typedef struct Pair {
    Case c;
    Lender lender;
    StoreSource source;
    Store *store;
    Exec *exec;
    float *w, x[64 * TERMS];
} Pair;

static void open_pair(Pair *p, const char *body)
{
    open_native_case(&p->c, body);
    p->w = store_find(p->c.store, "w")->data;
    for (int i = 0; i < TERMS * COLUMNS; i++)
        p->w[i] = (float)random_value();
    for (size_t i = 0; i < sizeof p->x / sizeof *p->x; i++)
        p->x[i] = (float)random_value();
    store_changed(p->c.store);
    p->lender = (Lender){.whole = p->c.store, .form = p->c.program->products.native[TFC_F32]};
    p->source = (StoreSource){.context = &p->lender, .fill = fill_from, .panels = find_panels};
    p->store = store_new();
    store_defer(p->store);
    assert_true(store_add_program(p->store, p->c.program));
    store_set_source(p->store, &p->source);
    p->exec = exec_new(p->c.program, p->store);
}

static void close_pair(Pair *p)
{
    exec_free(p->exec);
    store_free(p->store);
    free(p->lender.panels);
    close_case(&p->c);
}

static void check_lent(const char *body)
{
    static Pair p;
    open_pair(&p, body);
    same(p.c.exec, p.exec, 3, p.x);
    same(p.c.exec, p.exec, 64, p.x); /* where pairs are widened, otherwise than for few rows */
    same(p.c.exec, p.exec, 5, p.x);
    assert_int_equal(p.lender.lent, 1);
    assert_int_equal(p.lender.filled, 0);

    assert_true(store_need_all(p.store));
    ((float *)store_find(p.store, "w")->data)[7] += 1;
    p.w[7] += 1;
    store_changed(p.store);
    store_changed(p.c.store);
    same(p.c.exec, p.exec, 5, p.x);
    same(p.c.exec, p.exec, 3, p.x);
    assert_int_equal(p.lender.lent, 1);
    close_pair(&p);
}

#define INPUT "%0 = input {name = \"x\"} : f32[B, S~, 37]\n"
#define DOT "batch_a = [], batch_b = [], contract_a = [2], panels = 1"

static void test_f32(void **state)
{
    (void)state;
    check_lent(INPUT "%1 = param {name = \"w\"} : f32[37, 70]\n"
                     "%2 = dot %0, %1 {" DOT ", contract_b = [0]} : f32[B, S~, 70]\n"
                     "output %2 {name = \"y\"}\n");
    check_lent(INPUT "%1 = param {name = \"w\"} : f32[70, 37]\n"
                     "%2 = dot %0, %1 {" DOT ", contract_b = [1]} : f32[B, S~, 70]\n"
                     "output %2 {name = \"y\"}\n");
}

static void test_rounded(void **state)
{
    (void)state;
    check_lent(INPUT "%1 = param {name = \"w\"} : f32[37, 70]\n"
                     "%2 = cast %0 {dtype = bf16} : bf16[B, S~, 37]\n"
                     "%3 = cast %1 {dtype = bf16} : bf16[37, 70]\n"
                     "%4 = dot %2, %3 {" DOT ", contract_b = [0]} : bf16[B, S~, 70]\n"
                     "%5 = cast %4 {dtype = f32} : f32[B, S~, 70]\noutput %5 {name = \"y\"}\n");
}

/* A param that something else reads is asked for, and what is made of it in another way is made. */
static void test_read_besides(void **state)
{
    (void)state;
    static Pair p;
    open_pair(&p, INPUT "%1 = param {name = \"w\"} : f32[37, 70]\n%2 = exp %1 : f32[37, 70]\n"
                        "%3 = dot %0, %1 {" DOT ", contract_b = [0]} : f32[B, S~, 70]\n"
                        "%4 = dot %0, %2 {" DOT ", contract_b = [0]} : f32[B, S~, 70]\n"
                        "%5 = add %3, %4 : f32[B, S~, 70]\noutput %5 {name = \"y\"}\n");
    same(p.c.exec, p.exec, 3, p.x);
    assert_int_equal(p.lender.lent, 1);
    assert_int_equal(p.lender.filled, 1);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_read_besides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
