/* One function against the oracle: the same numbers to both, and every result compared. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ir/text.h"
#include "tests/codegen/plan_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "module \"test\"\ndim B\ndim S ragged B\ndim T ragged B\ndim N\n";

static void fail_with(const Case *c)
{
    Text text = {0};
    diag_render(&c->diags, &text);
    fail_msg("%s", text.data ? text.data : "failed without a message");
}

/* The declarations of the params that the body names. */
static const char *declare_params(Arena *arena, const char *body)
{
    static const char op[] = "param {name = ",
                      attrs[] = " {role = state, init = zeros, decay = false}\n";
    const char *text = "";
    for (const char *p = strstr(body, op); p; p = strstr(p, op)) {
        p += sizeof op - 1;
        const char *name_end = strchr(p, '}'), *end = strchr(p, '\n');
        text = arena_printf(arena, "%sparam %.*s%.*s%s", text, (int)(name_end - p), p,
                            (int)(end - name_end - 1), name_end + 1, attrs);
    }
    return text;
}

static void open_with(Case *c, const char *body, const TargetOptions *options)
{
    *c = (Case){.arena = arena_new()};
    diag_init(&c->diags, c->arena);
    const char *text =
        arena_printf(c->arena, "%s%sfunc f {\n%s}\n", head, declare_params(c->arena, body), body);
    c->module =
        ir_parse(c->arena, &c->diags, diag_source(c->arena, "test.tir", text, strlen(text)));
    if (!c->module || !ir_verify(c->module, &c->diags))
        fail_with(c);
    c->function = c->module->functions.data[0];
    c->jit = jit_new(options, &c->diags);
    if (c->jit)
        jit_use_cache(c->jit, NULL);
    c->program = c->jit ? jit_compile(c->jit, c->function, NULL, &c->diags) : NULL;
    if (!c->program)
        fail_with(c);
    c->store = store_new();
    assert_true(store_add_program(c->store, c->program));
    c->exec = exec_new(c->program, c->store);
}

void open_case(Case *c, const char *body) { open_with(c, body, &(TargetOptions){.opt_level = 2}); }

void open_native_case(Case *c, const char *body)
{
    open_with(c, body, &(TargetOptions){.opt_level = 2, .gemm = GEMM_NATIVE});
}

void close_case(Case *c)
{
    exec_free(c->exec);
    store_free(c->store);
    jit_free(c->jit);
    arena_free(c->arena);
}

/* ---- values ---- */

static uint32_t seed;

double random_value(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

static double get(DType type, const void *data, int64_t i)
{
    return type == DT_F64   ? ((const double *)data)[i]
           : type == DT_I32 ? ((const int32_t *)data)[i]
                            : (double)((const float *)data)[i];
}

static void put(DType type, void *data, int64_t i, double value)
{
    if (type == DT_F64)
        ((double *)data)[i] = value;
    else if (type == DT_I32) /* from -1 to 5 */
        ((int32_t *)data)[i] = (int32_t)floor(3.5 * (value + 1)) - 1;
    else
        ((float *)data)[i] = (float)value;
}

void fill_leaf(Case *c, Value *value, void *storage)
{
    Elements *x = elements_new(&c->batch, &value->type);
    int64_t index[MAX_RANK] = {0}, i = 0;
    elements_set(&c->batch, value, x);
    if (!x->count)
        return;
    do {
        if (elements_exists(&c->batch, x, index)) {
            int64_t at = elements_storage(&c->batch, x, index);
            put(value->type.dtype, storage, at, random_value());
            x->data[i] = get(value->type.dtype, storage, at);
        }
        i++;
    } while (elements_next(x, index));
}

static void compare(Case *c, const char *name, const Elements *want, const void *storage)
{
    int64_t index[MAX_RANK] = {0}, i = 0;
    if (!want->count)
        return;
    do {
        if (elements_exists(&c->batch, want, index)) {
            double got = get(want->type.dtype, storage, elements_storage(&c->batch, want, index));
            if (!elements_agree(want, i, got)) {
                Text text = {0};
                ir_print_function(c->function, &text);
                plan_print(c->program, &text);
                fail_msg("%s, element %lld is %g, not %g\n%s", name, (long long)i, got,
                         want->data[i], text.data);
            }
        }
        i++;
    } while (elements_next(want, index));
}

/* ---- running ---- */

static void set_shape(Case *c)
{
    const SymbolValue *s = c->batch.symbols;
    exec_set_ragged(c->exec, exec_dim(c->exec, "S"), s[SYM_S].n, s[SYM_S].length, NULL);
    exec_set_ragged(c->exec, exec_dim(c->exec, "T"), s[SYM_T].n, s[SYM_T].length, NULL);
    exec_set_dim(c->exec, exec_dim(c->exec, "B"), s[SYM_B].extent);
    exec_set_dim(c->exec, exec_dim(c->exec, "N"), s[SYM_N].extent);
}

static void give_leaves(Case *c)
{
    FOR_OPS (op, &c->function->body) {
        Value *value = op->n_results ? op_result(op) : NULL;
        if (op->kind == OP_input) {
            void *data = arena_alloc(
                c->arena, (size_t)elements_stored_count(&c->batch, &value->type) * 8 + 8);
            fill_leaf(c, value, data);
            assert_true(exec_input(c->exec, op_string(op, ATTR_name), data));
        } else if (op->kind == OP_param)
            fill_leaf(c, value, store_find(c->store, op_string(op, ATTR_name))->data);
    }
    store_changed(c->store);
}

void check_results(Case *c)
{
    FOR_OPS (op, &c->function->body) {
        if (op->kind == OP_output)
            compare(c, op_string(op, ATTR_name), elements_of(&c->batch, op->args[0]),
                    exec_output(c->exec, op_string(op, ATTR_name)));
        if (op->kind == OP_assign) {
            const char *name = op_string(op->args[0]->op, ATTR_name);
            compare(c, name, elements_of(&c->batch, op->args[1]), store_find(c->store, name)->data);
        }
    }
}

void run_shape(Case *c, const SymbolValue *symbols)
{
    c->elements = side_new(c->arena);
    c->batch = (BatchShape){c->module, c->arena, symbols, &c->elements};
    set_shape(c);
    for (int threads = 1; threads <= 2; threads++) {
        exec_set_threads(threads);
        seed = 7;
        give_leaves(c);
        elements_evaluate(&c->batch, c->function, 0, 0);
        assert_true(exec_run(c->exec));
        check_results(c);
    }
}

const SymbolValue shapes[SHAPES][SYMBOLS] = {
    {{2, 0, {0}}, {3, 2, {3, 2}}, {4, 2, {1, 4}}, {5, 0, {0}}},
    {{1, 0, {0}}, {1, 1, {1}}, {1, 1, {1}}, {1, 0, {0}}},
    {{5, 0, {0}}, {7, 5, {0, 7, 1, 7, 3}}, {9, 5, {9, 2, 0, 1, 8}}, {3, 0, {0}}},
    {{3, 0, {0}}, {20, 3, {20, 17, 19}}, {18, 3, {18, 18, 16}}, {33, 0, {0}}},
};

const char *in_f32(Arena *arena, const char *body)
{
    char *text = arena_strdup(arena, body);
    for (char *c = strstr(text, "f64"); c; c = strstr(c, "f64"))
        memcpy(c, "f32", 3);
    return text;
}

int count_steps(const TfcProgram *program, TfcStepKind kind)
{
    int n = 0;
    for (int32_t s = 0; s < program->n_steps; s++)
        n += program->steps[s].kind == kind;
    return n;
}

void check(const char *body, int gemms, int kernels)
{
    Arena *arena = arena_new();
    for (int type = 0; type < 2; type++) {
        Case c;
        open_case(&c, type ? in_f32(arena, body) : body);
        for (size_t s = 0; s < SHAPES; s++)
            run_shape(&c, shapes[s]);
        if (gemms >= 0)
            assert_int_equal(count_steps(c.program, TFC_STEP_GEMM), gemms);
        if (kernels >= 0)
            assert_int_equal(count_steps(c.program, TFC_STEP_KERNEL) +
                                 count_steps(c.program, TFC_STEP_COPY),
                             kernels);
        close_case(&c);
    }
    arena_free(arena);
}
