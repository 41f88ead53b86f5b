/* Where values live, as test_plan.c has it: params written in place, steps prepared and
 * weights as panels, buffers used again, caches in memory of the caller. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/size.h"
#include "tests/codegen/plan_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* IR is written an op a line. */
/* clang-format off */
/* Params take their new values where nobody needs the old ones, and only there. */
static void test_assigns(void **state)
{
    (void)state;
    check("%0 = param {name = \"w\"} : f64[6, 4]\n%1 = input {name = \"g\"} : f64[6, 4]\n"
          "%2 = sub %0, %1 : f64[6, 4]\nassign %0, %2\n" OUT("2"), 0, 2); /* in place; output
                                                                           * copied */
    check("%0 = param {name = \"w\"} : f64[4, 4]\n%1 = input {name = \"x\"} : f64[N, 4]\n"
          "%2 = exp %0 : f64[4, 4]\nassign %0, %2\n" /* the old value is read below */
          "%3 = dot %1, %0 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [0]} : f64[N, 4]\n"
          "%4 = reduce_sum %0 {axes = [1]} : f64[4, 1]\n" OUT("3") OUT("4"), 1, -1);
    check("%0 = param {name = \"a\"} : f64[5]\n%1 = param {name = \"b\"} : f64[5]\n%2 = param {name = \"c\"} : f64[5]\n"
          "assign %0, %1\nassign %1, %0\n%3 = flip %2 {axis = 0} : f64[5]\nassign %2, %3\n", 0, -1);
    check("%0 = param {name = \"w\"} : f64[3, 4]\n%1 = input {name = \"x\"} : f64[N, 3]\n"
          "%2 = input {name = \"y\"} : f64[N, 4]\n%3 = param {name = \"z\"} : f64[3]\n"
          "%4 = dot %1, %2 {batch_a = [], batch_b = [], contract_a = [0], contract_b = [0]} : f64[3, 4]\n"
          "assign %0, %4\n%5 = const {value = 0} : f64[3]\nassign %3, %5\n", 1, 0);
    /* an optimizer's row, with the sum of its squares: both params in place */
    check("%0 = param {name = \"w\"} : f64[6, 4]\n%1 = param {name = \"m\"} : f64[6, 4]\n"
          "%2 = input {name = \"g\"} : f64[6, 4]\n"
          "%3, %4, %5 = row(%0, %1, %2) : f64[6, 1], f64[6, 4], f64[6, 4] {\n"
          "%6 = mul %2, %2 : f64[6, 4]\n%7 = reduce_sum %6 {axes = [1]} : f64[6, 1]\n"
          "%8 = add %1, %6 : f64[6, 4]\n%9 = mul %1, %8 : f64[6, 4]\n%10 = sub %0, %9 : f64[6, 4]\n"
          "yield %7, %8, %10\n}\nassign %1, %4\nassign %0, %5\n" OUT("3"), 0, 1);
    /* the same, but a result stored before the param is read, or one that needs the sum */
    check("%0 = param {name = \"w\"} : f64[6, 4]\n%1 = input {name = \"g\"} : f64[6, 4]\n"
          "%2, %3 = row(%0, %1) : f64[6, 4], f64[6, 4] {\n%4 = neg %1 : f64[6, 4]\n%5 = relu %0 : f64[6, 4]\n"
          "yield %4, %5\n}\nassign %0, %2\n" OUT("3"), 0, 2);
    check("%0 = param {name = \"w\"} : f64[6, 4]\n%1, %2 = row(%0) : f64[6, 4], f64[6, 4] {\n"
          "%3 = exp %0 : f64[6, 4]\n%4 = reduce_sum %3 {axes = [1]} : f64[6, 1]\n%5 = mul %3, %4 : f64[6, 4]\n"
          "yield %3, %5\n}\nassign %0, %1\n" OUT("2"), 0, 2);
    /* a row in place over its operand, which another operand sees transposed */
    check("%0 = param {name = \"w\"} : f64[4, 4]\n%1 = transpose %0 {perm = [1, 0]} : f64[4, 4]\n"
          "%2 = add %0, %1 : f64[4, 4]\nassign %0, %2\n", 0, 2);
}

/* What depends on params alone is computed when they have changed, and only then. */
static void test_prepared(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"v\"} : f64[6, 4]\n%2 = param {name = \"w\"} : f64[6, 4]\n"
        "%3 = exp %1 : f64[6, 4]\n%4 = concat %3, %2 {axis = 1} : f64[6, 8]\n"
        "%5 = dot %0, %4 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 8]\n"
        "%6 = exp %0 : f64[B, S~, 6]\n" OUT("5") OUT("6");
    check(body, 1, 3);
    Case c;
    open_case(&c, body);
    run_shape(&c, shapes[3]);
    assert_int_equal(c.program->n_prepared, 2);
    double *v = store_find(c.store, "v")->data;
    const double *out = exec_output(c.exec, "out5");
    const double before = out[0], changed = v[0] + 1;
    v[0] = changed;
    assert_true(exec_run(c.exec));
    assert_true(out[0] == before);
    store_changed(c.store);
    assert_true(exec_run(c.exec));
    assert_true(out[0] != before);
    close_case(&c);
}

/* A larger batch has the slab planned anew; an output made of params alone is there all the
 * same. */
static void test_prepared_output(void **state)
{
    (void)state;
    static const double x[57 * 6];
    const SymbolValue *larger = &shapes[3][SYM_S];
    Case c;
    open_case(&c, X "%1 = param {name = \"v\"} : f64[6, 4]\n%2 = exp %1 : f64[6, 4]\n%3 = exp %0 : f64[B, S~, 6]\n"
                  OUT("2") OUT("3"));
    run_shape(&c, shapes[1]);
    assert_int_equal(c.program->n_prepared, 1);
    const double *v = store_find(c.store, "v")->data;
    const double first = *(const double *)exec_output(c.exec, "out2");
    exec_set_ragged(c.exec, exec_dim(c.exec, "S"), larger->n, larger->length, NULL);
    assert_true(exec_input(c.exec, "x", x) && exec_run(c.exec));
    const double *out = exec_output(c.exec, "out2"), *ones = exec_output(c.exec, "out3");
    assert_true(out[0] == first);
    for (int i = 0; i < 6 * 4; i++)
        assert_true(fabs(out[i] - exp(v[i])) < 1e-12);
    for (int i = 0; i < 56 * 6; i++)
        assert_true(ones[i] == 1);
    close_case(&c);
}

/* What a program makes of the params that it changes is kept for its next run, also beside
 * others for one product; it is made again when somebody else has changed them. */
static void test_kept(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"v\"} : f64[6, 4]\n%2 = param {name = \"w\"} : f64[6, 4]\n"
        "%3 = exp %1 : f64[6, 4]\n%4 = exp %2 : f64[6, 4]\n%5 = concat %3, %4 {axis = 1} : f64[6, 8]\n"
        "%6 = dot %0, %5 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 8]\n"
        "%7 = neg %1 : f64[6, 4]\n%8 = exp %7 : f64[6, 4]\n%9 = exp %0 : f64[B, S~, 6]\n"
        OUT("6") OUT("9") "assign %1, %7\nkeep %3, %8\n";
    check(body, 1, -1);
    Case c;
    open_case(&c, body);
    run_shape(&c, shapes[3]); /* v is what it was, negative */
    assert_int_equal(c.program->n_prepared, 1);
    double *v = store_find(c.store, "v")->data;
    const double *out = exec_output(c.exec, "out6");
    const double once = out[0], negative = v[0];
    assert_true(exec_run(c.exec)); /* twice */
    assert_true(v[0] == -negative && out[0] != once);
    v[0] += 1; /* not told */
    assert_true(exec_run(c.exec));
    assert_true(out[0] == once);
    v[0] = 1 - negative;
    store_changed(c.store);
    assert_true(exec_run(c.exec));
    assert_true(out[0] != once);
    close_case(&c);
}

/* A run that ends at a NaN has changed the params that it came by. */
static void test_nan_ends_a_run(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"v\"} : f64[6, 4]\n%2 = exp %1 : f64[6, 4]\n"
        "%3 = dot %0, %2 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 4]\n"
        "%4 = neg %1 : f64[6, 4]\n%5 = exp %4 : f64[6, 4]\n%6 = param {name = \"w\"} : f64[6]\n"
        "%7 = add %0, %6 : f64[B, S~, 6]\n" OUT("3") OUT("7") "assign %1, %4\nkeep %2, %5\n";
    Case c;
    int step = -1;
    open_case(&c, body);
    run_shape(&c, shapes[3]);
    *(double *)store_find(c.store, "w")->data = NAN;
    store_changed(c.store);
    const double *v = store_find(c.store, "v")->data, *out = exec_output(c.exec, "out3");
    const double once = out[0], negative = v[0];
    const int64_t version = store_version(c.store);
    const char *name;
    assert_true(exec_find_nan(c.exec, &name, &step) && name);
    assert_true(v[0] == -negative && out[0] != once);
    assert_true(store_version(c.store) != version);
    assert_true(exec_run(c.exec));
    assert_true(out[0] == once);
    close_case(&c);
}

/* Of bf16, or where b lies along its columns, the panels of b are always read; two products
 * share it. */
static void test_panels(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"w\"} : f64[70, 6]\n"
        "%2 = dot %0, %1 {panels = 1, batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 70]\n"
        "%3 = exp %0 : f64[B, S~, 6]\n"
        "%4 = dot %3, %1 {panels = 1, batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 70]\n"
        OUT("2") OUT("4");
    check(body, 2, 1);
    Case c;
    open_case(&c, body);
    assert_int_equal(count_steps(c.program, TFC_STEP_PACK), 1);
    assert_int_equal(c.program->n_prepared, 1);
    close_case(&c);
}

/* A matrix for each head, along and across: panels of all of them, one after another. */
static void test_panels_of_heads(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"w\"} : f64[70, 6]\n"
        "%2 = reshape %1 {shape = [70, 2, 3]} : f64[70, 2, 3]\n"
        "%3 = reshape %0 {shape = [B, S~, 2, 3]} : f64[B, S~, 2, 3]\n"
        "%4 = dot %3, %2 {panels = 1, batch_a = [2], batch_b = [1], contract_a = [3], contract_b = [2]} : f64[2, B, S~, 70]\n"
        "%5 = dot %4, %2 {panels = 1, batch_a = [0], batch_b = [1], contract_a = [3], contract_b = [0]} : f64[2, B, S~, 3]\n"
        OUT("4") OUT("5");
    check(body, 2, 0);
    Case c;
    open_native_case(&c, body);
    assert_int_equal(count_steps(c.program, TFC_STEP_PACK), 2);
    assert_int_equal(c.program->n_prepared, 2);
    for (size_t s = 0; s < SHAPES; s++)
        run_shape(&c, shapes[s]);
    close_case(&c);
}

enum { MANY_ROWS = 200, FEW_ROWS = 3 };

static const double *product_of_rows(Case *c, const double *x, int32_t rows)
{
    exec_set_ragged(c->exec, exec_dim(c->exec, "S"), 1, &rows, NULL);
    assert_true(exec_input(c->exec, "x", x) && exec_run(c->exec));
    return exec_output(c->exec, "out3");
}

/* The source of panels has memory of its own only if a product has more rows than panels serve.
 * Results are the same, and once it has memory, it keeps it. */
static void test_packed_from(void **state)
{
    (void)state;
    Case c;
    open_case(&c, X "%1 = param {name = \"w\"} : f64[70, 6]\n%2 = exp %1 : f64[70, 6]\n"
                  "%3 = dot %0, %2 {panels = 1, batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 70]\n"
                  OUT("3"));
    double x[MANY_ROWS * 6], few[FEW_ROWS * 70];
    for (int i = 0; i < MANY_ROWS * 6; i++)
        x[i] = random_value();
    run_shape(&c, shapes[1]);
    exec_set_dim(c.exec, exec_dim(c.exec, "B"), 1);
    memcpy(few, product_of_rows(&c, x, FEW_ROWS), sizeof few);
    const int64_t bytes = exec_slab_bytes(c.exec);
    assert_memory_equal(product_of_rows(&c, x, MANY_ROWS), few, sizeof few);
    const int64_t more = exec_slab_bytes(c.exec);
    assert_true(more >= bytes + 70 * 6 * (int64_t)sizeof(double));
    assert_memory_equal(product_of_rows(&c, x, FEW_ROWS), few, sizeof few);
    assert_int_equal(exec_slab_bytes(c.exec), more);
    store_changed(c.store);
    assert_memory_equal(product_of_rows(&c, x, FEW_ROWS), few, sizeof few);
    close_case(&c);
}

/* Chains of elementwise ops live in one buffer. */
static void test_dying_operands_are_reused(void **state)
{
    (void)state;
    const char *body = X "%1 = exp %0 : f64[B, S~, 6]\n%2 = neg %1 : f64[B, S~, 6]\n%3 = exp %2 : f64[B, S~, 6]\n"
                         "%4 = mul %3, %2 : f64[B, S~, 6]\n%5 = add %4, %3 : f64[B, S~, 6]\n" OUT("5") OUT("0");
    check(body, 0, 6);
    Case c;
    open_case(&c, body);
    int slab = 0;
    for (int32_t b = 0; b < c.program->n_buffers; b++)
        slab += buffer_is_planned(&c.program->buffers[b]);
    assert_int_equal(slab, 3);
    close_case(&c);
}

/* ---- caches: memory of the caller, rows anywhere in it ---- */

enum { CACHE_ROWS = 3, CACHE_WIDTH = 6, CACHE_TOKENS = 64 };

static void fill_cache(Case *c, Value *value, double *memory, const int32_t *offset)
{
    Elements *x = elements_new(&c->batch, &value->type);
    int64_t index[MAX_RANK] = {0}, i = 0;
    elements_set(&c->batch, value, x);
    do {
        if (elements_exists(&c->batch, x, index))
            x->data[i] = memory[(offset[index[0]] + index[1]) * CACHE_WIDTH + index[2]];
        i++;
    } while (elements_next(x, index));
}

static void test_caches_with_gaps(void **state)
{
    (void)state;
    Case c;
    open_case(&c, "%0 = param {name = \"cache\"} : f64[B, T~, 6]\n%1 = input {name = \"x\"} : f64[B, S~, 6]\n"
                  "%2 = append %0, %1 : f64[B, T~, 6]\n"
                  "%3 = dot %1, %2 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [2]} : f64[B, S~, T~]\n"
                  "%4 = dot %3, %2 {batch_a = [0], batch_b = [0], contract_a = [2], contract_b = [1]} : f64[B, S~, 6]\n"
                  OUT("4"));
    static const int32_t offset[CACHE_ROWS] = {40, 0, 17};
    double memory[CACHE_TOKENS * CACHE_WIDTH];
    for (int i = 0; i < CACHE_TOKENS * CACHE_WIDTH; i++)
        memory[i] = random_value();
    assert_true(exec_cache(c.exec, "cache", memory));
    for (int32_t step = 1; step < 5; step++) { /* two tokens at first, then one by one */
        int32_t fresh = step == 1 ? 2 : 1, past = step + 1;
        SymbolValue symbols[SYMBOLS] = {{CACHE_ROWS, 0, {0}}, {fresh, 3, {fresh, fresh, fresh}},
                                        {past + 7, 3, {past, past + 7, past + 2}}, {1, 0, {0}}};
        c.elements = side_new(c.arena);
        c.batch = (BatchShape){c.module, c.arena, symbols, &c.elements};
        exec_set_ragged(c.exec, exec_dim(c.exec, "S"), CACHE_ROWS, symbols[SYM_S].length, NULL);
        exec_set_ragged(c.exec, exec_dim(c.exec, "T"), CACHE_ROWS, symbols[SYM_T].length, offset);
        double x[2 * CACHE_ROWS * CACHE_WIDTH];
        FOR_OPS(op, &c.function->body) {
            if (op->kind == OP_param)
                fill_cache(&c, op_result(op), memory, offset);
            if (op->kind == OP_input)
                fill_leaf(&c, op_result(op), x);
        }
        assert_true(exec_input(c.exec, "x", x));
        elements_evaluate(&c.batch, c.function, 0, 0);
        assert_true(exec_run(c.exec));
        check_results(&c);
    }
    close_case(&c);
}

/* ---- params that are read when they are needed, and what is prepared of them ---- */

typedef struct Elsewhere {
    Store *whole;
    void *kept;
    uint64_t layout;
    int64_t bytes;
    int filled, lent, read, found, released;
    bool fails, lends;
} Elsewhere;

static bool fill_from(void *context, StoreTensor *tensor)
{
    Elsewhere *e = context;
    memcpy(tensor->data, store_find(e->whole, tensor->name)->data, (size_t)tensor->count * sizeof(double));
    e->filled++;
    return !e->fails;
}

static void *lend_from(void *context, const StoreTensor *tensor)
{
    Elsewhere *e = context;
    e->lent += e->lends;
    return e->lends ? store_find(e->whole, tensor->name)->data : NULL;
}

static void note_read(void *context, const StoreTensor *tensor)
{
    assert_string_equal(tensor->name, "u");
    ((Elsewhere *)context)->read++;
}

static void *find_kept(void *context, const TfcProgram *program, uint64_t layout, int64_t bytes)
{
    Elsewhere *e = context;
    if (!e->kept || layout != e->layout || bytes != e->bytes)
        return NULL;
    e->found++;
    return memcpy(aligned_alloc(64, (size_t)bytes), e->kept, (size_t)bytes);
}

static void keep_it(void *context, const TfcProgram *program, uint64_t layout, const void *memory, int64_t bytes)
{
    Elsewhere *e = context;
    assert_null(e->kept);
    e->kept = memcpy(malloc((size_t)bytes), memory, (size_t)bytes);
    e->layout = layout;
    e->bytes = bytes;
}

static void release_found(void *memory, int64_t bytes) { free(memory); }

/* Another executor over a store without data, whose params are those of the case; the first of its
 * outputs. */
static Store *defer(Case *c, const StoreSource *source, Exec **exec)
{
    Store *store = store_new();
    store_defer(store);
    assert_true(store_add_program(store, c->program));
    store_set_source(store, source);
    *exec = exec_new(c->program, store);
    exec_set_ragged(*exec, exec_dim(*exec, "S"), shapes[3][SYM_S].n, shapes[3][SYM_S].length, NULL);
    return store;
}

static const double *run_deferred(Exec *exec, const double *x)
{
    assert_true(exec_input(exec, "x", x) && exec_run(exec));
    return exec_output(exec, "out5");
}

static void test_params_from_a_source(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"v\"} : f64[6, 4]\n%2 = param {name = \"w\"} : f64[6, 4]\n"
        "%3 = exp %1 : f64[6, 4]\n%4 = concat %3, %2 {axis = 1} : f64[6, 8]\n"
        "%5 = dot %0, %4 {batch_a = [], batch_b = [], contract_a = [2], contract_b = [0]} : f64[B, S~, 8]\n"
        "%6 = param {name = \"u\"} : f64[6]\n%7 = add %0, %6 : f64[B, S~, 6]\n" OUT("5") OUT("7");
    static double x[57 * 6];
    Case c;
    Exec *exec;
    open_case(&c, body);
    run_shape(&c, shapes[3]);
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = random_value();
    assert_true(exec_input(c.exec, "x", x) && exec_run(c.exec));
    const double *want = exec_output(c.exec, "out5");
    const size_t bytes = (size_t)exec_output_count(c.exec, "out5") * sizeof *want;
    Elsewhere e = {.whole = c.store, .fails = true};
    const StoreSource source = {.context = &e,
                                .fill = fill_from,
                                .lend = lend_from,
                                .read = note_read,
                                .find = find_kept,
                                .keep = keep_it,
                                .release = release_found};

    /* The first process reads all and keeps what it prepared; a value that cannot be had fails a
     * run, and no more. */
    Store *store = defer(&c, &source, &exec);
    assert_true(exec_input(exec, "x", x));
    assert_false(exec_run(exec));
    assert_null(e.kept);
    e.fails = false;
    e.filled = 0;
    assert_memory_equal(run_deferred(exec, x), want, bytes);
    assert_int_equal(e.filled, 3);
    exec_free(exec);
    store_free(store);
    assert_non_null(e.kept);
    assert_int_equal(e.read, 1);

    /* The next one finds it, and reads what steps read besides. */
    e.filled = 0;
    store = defer(&c, &source, &exec);
    assert_memory_equal(run_deferred(exec, x), want, bytes);
    assert_int_equal(e.found, 1);
    assert_int_equal(e.filled, 1);
    assert_null(store_find(store, "v")->data);
    assert_non_null(store_find(store, "u")->data);
    /* Params that change are prepared anew: here, and in the store that all came from. */
    assert_true(store_need_all(store));
    ((double *)store_find(store, "v")->data)[0] += 1;
    ((double *)store_find(c.store, "v")->data)[0] += 1;
    store_changed(store);
    store_changed(c.store);
    assert_null(store_source(store));
    assert_true(exec_run(c.exec));
    assert_memory_equal(run_deferred(exec, x), want, bytes);
    exec_free(exec); /* what it prepared of others' params is not kept: keep_it would fail */
    store_free(store);

    /* What was kept is of the params as they were; lent ones are not freed. */
    ((double *)store_find(c.store, "v")->data)[0] -= 1;
    store_changed(c.store);
    assert_true(exec_run(c.exec));
    e.lends = true;
    e.filled = 0;
    store = defer(&c, &source, &exec);
    assert_memory_equal(run_deferred(exec, x), want, bytes);
    assert_int_equal(e.filled, 0);
    assert_int_equal(e.lent, 1);
    exec_free(exec);
    store_free(store);
    free(e.kept);
    close_case(&c);
}
/* clang-format on */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assigns),
        cmocka_unit_test(test_prepared),
        cmocka_unit_test(test_prepared_output),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_params_from_a_source),
        cmocka_unit_test(test_nan_ends_a_run),
        cmocka_unit_test(test_panels),
        cmocka_unit_test(test_panels_of_heads),
        cmocka_unit_test(test_packed_from),
        cmocka_unit_test(test_dying_operands_are_reused),
        cmocka_unit_test(test_caches_with_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
