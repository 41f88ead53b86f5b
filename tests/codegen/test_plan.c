/* Whole functions through plan, kernels and executor against the oracle of dense.c:
 * views, products with ragged dimensions, concats and assigns in place; over batches
 * of several shapes with one program, on one thread and on two, bit for bit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen.h"
#include "ir/text.h"
#include "runtime/exec/exec.h"
#include "tests/codegen/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "module \"test\"\ndim B\ndim S ragged B\ndim T ragged B\ndim N\n";
enum { SYM_B, SYM_S, SYM_T, SYM_N, SYMBOLS };

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Function *function;
    Jit *jit;
    Store *store;
    Exec *exec;
    const TfcProgram *program;
    Oracle oracle;
} Case;

static void fail_with(const Case *c)
{
    Text text = {0};
    diag_render(&c->diags, &text);
    fail_msg("%s", text.data ? text.data : "failed without a message");
}

/* The declarations of the params that the body names. */
static const char *declare_params(Arena *arena, const char *body)
{
    static const char op[] = "param {name = ", attrs[] = " {role = state, init = zeros, decay = false}\n";
    const char *text = "";
    for (const char *p = strstr(body, op); p; p = strstr(p, op)) {
        p += sizeof op - 1;
        const char *name_end = strchr(p, '}'), *end = strchr(p, '\n');
        text = arena_printf(arena, "%sparam %.*s%.*s%s", text, (int)(name_end - p), p,
                            (int)(end - name_end - 1), name_end + 1, attrs);
    }
    return text;
}

static void open_case(Case *c, const char *body)
{
    *c = (Case){.arena = arena_new()};
    diag_init(&c->diags, c->arena);
    const char *text = arena_printf(c->arena, "%s%sfunc f {\n%s}\n", head, declare_params(c->arena, body), body);
    c->module = ir_parse(c->arena, &c->diags, diag_source(c->arena, "test.tir", text, strlen(text)));
    if (!c->module || !ir_verify(c->module, &c->diags))
        fail_with(c);
    c->function = c->module->functions.data[0];
    TargetOptions options = {.opt_level = 2};
    c->jit = jit_new(&options, &c->diags);
    c->program = c->jit ? jit_compile(c->jit, c->function, NULL, &c->diags) : NULL;
    if (!c->program)
        fail_with(c);
    c->store = store_new();
    assert_true(store_add_program(c->store, c->program));
    c->exec = exec_new(c->program, c->store);
}

static void close_case(Case *c)
{
    exec_free(c->exec);
    store_free(c->store);
    jit_free(c->jit);
    arena_free(c->arena);
}

/* ---- values ---- */

static uint32_t seed;

static double random_value(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

static double get(DType type, const void *data, int64_t i)
{
    return type == DT_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void put(DType type, void *data, int64_t i, double value)
{
    if (type == DT_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

/* Random numbers for a value, in storage and for the oracle. */
static void fill(Case *c, Value *value, void *storage)
{
    Dense *x = dense_new(&c->oracle, &value->type);
    int64_t index[MAX_RANK] = {0}, i = 0;
    dense_set(value, x);
    if (!x->count)
        return;
    do {
        if (dense_exists(&c->oracle, x, index)) {
            int64_t at = dense_storage(&c->oracle, x, index);
            put(value->type.dtype, storage, at, random_value());
            x->data[i] = get(value->type.dtype, storage, at);
        }
        i++;
    } while (dense_next(x, index));
}

static void compare(Case *c, const char *name, const Dense *want, const void *storage)
{
    int64_t index[MAX_RANK] = {0}, i = 0;
    double tolerance = want->type.dtype == DT_F64 ? 1e-12 : 2e-5;
    if (!want->count)
        return;
    do {
        if (dense_exists(&c->oracle, want, index)) {
            double got = get(want->type.dtype, storage, dense_storage(&c->oracle, want, index));
            if (!(fabs(got - want->data[i]) <= tolerance * (1 + fabs(want->data[i])))) {
                Text text = {0};
                ir_print_function(c->function, &text);
                plan_print(c->program, &text);
                fail_msg("%s, element %lld is %g, not %g\n%s", name, (long long)i, got, want->data[i], text.data);
            }
        }
        i++;
    } while (dense_next(want, index));
}

/* ---- running ---- */

static void set_shape(Case *c)
{
    const SymbolValue *s = c->oracle.symbols;
    exec_set_ragged(c->exec, exec_dim(c->exec, "S"), s[SYM_S].n, s[SYM_S].length, NULL);
    exec_set_ragged(c->exec, exec_dim(c->exec, "T"), s[SYM_T].n, s[SYM_T].length, NULL);
    exec_set_dim(c->exec, exec_dim(c->exec, "B"), s[SYM_B].extent);
    exec_set_dim(c->exec, exec_dim(c->exec, "N"), s[SYM_N].extent);
}

static void give_leaves(Case *c)
{
    FOR_OPS(op, &c->function->body) {
        Value *value = op->n_results ? op_result(op) : NULL;
        if (op->kind == OP_input) {
            void *data = arena_alloc(c->arena, (size_t)dense_stored_count(&c->oracle, &value->type) * 8 + 8);
            fill(c, value, data);
            assert_true(exec_input(c->exec, op_string(op, ATTR_name), data));
        } else if (op->kind == OP_param)
            fill(c, value, store_find(c->store, op_string(op, ATTR_name))->data);
    }
    store_changed(c->store);
}

static void check_results(Case *c)
{
    FOR_OPS(op, &c->function->body) {
        if (op->kind == OP_output)
            compare(c, op_string(op, ATTR_name), dense_of(op->args[0]),
                    exec_output(c->exec, op_string(op, ATTR_name)));
        if (op->kind == OP_assign) {
            const char *name = op_string(op->args[0]->op, ATTR_name);
            compare(c, name, dense_of(op->args[1]), store_find(c->store, name)->data);
        }
    }
}

static void run_shape(Case *c, const SymbolValue *symbols)
{
    c->oracle = (Oracle){c->module, c->arena, symbols};
    set_shape(c);
    for (int threads = 1; threads <= 2; threads++) {
        exec_set_threads(threads);
        seed = 7;
        give_leaves(c);
        dense_run(&c->oracle, &c->function->body);
        assert_true(exec_run(c->exec));
        check_results(c);
    }
}

static const SymbolValue shapes[][SYMBOLS] = {
    {{2, 0, {0}}, {3, 2, {3, 2}}, {4, 2, {1, 4}}, {5, 0, {0}}},
    {{1, 0, {0}}, {1, 1, {1}}, {1, 1, {1}}, {1, 0, {0}}},
    {{5, 0, {0}}, {7, 5, {0, 7, 1, 7, 3}}, {9, 5, {9, 2, 0, 1, 8}}, {3, 0, {0}}},
    {{3, 0, {0}}, {20, 3, {20, 17, 19}}, {18, 3, {18, 18, 16}}, {33, 0, {0}}},
};

static const char *replace_types(Arena *arena, const char *body)
{
    char *text = arena_strdup(arena, body);
    for (char *c = strstr(text, "f64"); c; c = strstr(c, "f64"))
        memcpy(c, "f32", 3);
    return text;
}

static int count_steps(const TfcProgram *program, TfcStepKind kind)
{
    int n = 0;
    for (int32_t s = 0; s < program->n_steps; s++)
        n += program->steps[s].kind == kind;
    return n;
}

/* The function in f64 and in f32 over all shapes. `kernels`, `gemms`: how many steps
 * of each kind the plan may need (copies in other kernels count), or -1. */
static void check(const char *body, int gemms, int kernels)
{
    Arena *arena = arena_new();
    for (int type = 0; type < 2; type++) {
        Case c;
        open_case(&c, type ? replace_types(arena, body) : body);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            run_shape(&c, shapes[s]);
        if (gemms >= 0)
            assert_int_equal(count_steps(c.program, TFC_STEP_GEMM), gemms);
        if (kernels >= 0)
            assert_int_equal(count_steps(c.program, TFC_STEP_KERNEL) +
                             count_steps(c.program, TFC_STEP_COPY), kernels);
        close_case(&c);
    }
    arena_free(arena);
}

#define X "%0 = input {name = \"x\"} : f64[B, S~, 6]\n"
#define W "%1 = param {name = \"w\"} : f64[6, 4]\n"
#define OUT(v) "output %" v " {name = \"out" v "\"}\n"

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
        open_case(&c, type ? replace_types(arena, body) : body);
        assert_int_equal(c.program->n_loops, loops);
        for (size_t s = 0; s < sizeof long_shapes / sizeof long_shapes[0]; s++)
            run_shape(&c, long_shapes[s]);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
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

/* Transposing what is packed: another sentence order of elements. */
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

/* Params take their new values where nobody needs the old ones, and only there. */
static void test_assigns(void **state)
{
    (void)state;
    check("%0 = param {name = \"w\"} : f64[6, 4]\n%1 = input {name = \"g\"} : f64[6, 4]\n"
          "%2 = sub %0, %1 : f64[6, 4]\nassign %0, %2\n" OUT("2"), 0, 2); /* in place; output copied */
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

/* Of bf16, or where b lies along its columns, a packed b is always read; two products
 * share it. */
static void test_packed(void **state)
{
    (void)state;
    static const char body[] =
        X "%1 = param {name = \"w\"} : f64[70, 6]\n"
        "%2 = dot %0, %1 {packed = 1, batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 70]\n"
        "%3 = exp %0 : f64[B, S~, 6]\n"
        "%4 = dot %3, %1 {packed = 1, batch_a = [], batch_b = [], contract_a = [2], contract_b = [1]} : f64[B, S~, 70]\n"
        OUT("2") OUT("4");
    check(body, 2, 1);
    Case c;
    open_case(&c, body);
    assert_int_equal(count_steps(c.program, TFC_STEP_PACK), 1);
    assert_int_equal(c.program->n_prepared, 1);
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
        slab += c.program->buffers[b].kind == TFC_BUFFER_SLAB || c.program->buffers[b].kind == TFC_BUFFER_OUTPUT;
    assert_int_equal(slab, 3);
    close_case(&c);
}

/* ---- caches: memory of the caller, rows anywhere in it ---- */

enum { CACHE_ROWS = 3, CACHE_WIDTH = 6, CACHE_TOKENS = 64 };

static void fill_cache(Case *c, Value *value, double *memory, const int32_t *offset)
{
    Dense *x = dense_new(&c->oracle, &value->type);
    int64_t index[MAX_RANK] = {0}, i = 0;
    dense_set(value, x);
    do {
        if (dense_exists(&c->oracle, x, index))
            x->data[i] = memory[(offset[index[0]] + index[1]) * CACHE_WIDTH + index[2]];
        i++;
    } while (dense_next(x, index));
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
    store_find(c.store, "cache")->data = memory;
    for (int32_t step = 1; step < 5; step++) { /* two tokens at first, then one by one */
        int32_t fresh = step == 1 ? 2 : 1, past = step + 1;
        SymbolValue symbols[SYMBOLS] = {{CACHE_ROWS, 0, {0}}, {fresh, 3, {fresh, fresh, fresh}},
                                        {past + 7, 3, {past, past + 7, past + 2}}, {1, 0, {0}}};
        c.oracle = (Oracle){c.module, c.arena, symbols};
        exec_set_ragged(c.exec, exec_dim(c.exec, "S"), CACHE_ROWS, symbols[SYM_S].length, NULL);
        exec_set_ragged(c.exec, exec_dim(c.exec, "T"), CACHE_ROWS, symbols[SYM_T].length, offset);
        double x[2 * CACHE_ROWS * CACHE_WIDTH];
        FOR_OPS(op, &c.function->body) {
            if (op->kind == OP_param)
                fill_cache(&c, op_result(op), memory, offset);
            if (op->kind == OP_input)
                fill(&c, op_result(op), x);
        }
        assert_true(exec_input(c.exec, "x", x));
        dense_run(&c.oracle, &c.function->body);
        assert_true(exec_run(c.exec));
        check_results(&c);
    }
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_loop_over_rows),
        cmocka_unit_test(test_no_loop),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_merged_projection),
        cmocka_unit_test(test_concat_in_place),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_repacking),
        cmocka_unit_test(test_loops_and_sums),
        cmocka_unit_test(test_uniform_products),
        cmocka_unit_test(test_assigns),
        cmocka_unit_test(test_prepared), cmocka_unit_test(test_packed),
        cmocka_unit_test(test_dying_operands_are_reused),
        cmocka_unit_test(test_caches_with_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
