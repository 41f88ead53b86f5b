/* Native products of every CPU level that runs here, in f32 and f64, called as the
 * executor calls them, against plain sums in double; and the code of the tiles. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen.h"
#include "runtime/exec/per_thread.h"
#include "runtime/product/product_pack.h"
#include "tests/codegen/product_case.h"
#include "tests/codegen/tile_loops.h"
#include "tests/codegen/written_panels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "module \"test\"\n"
    "func f {\n"
    "  %%0 = input {name = \"a\"} : %s[2, 3]\n"
    "  %%1 = input {name = \"b\"} : %s[3, 4]\n"
    "  %%2 = dot %%0, %%1 {contract_a = [1], contract_b = [0], batch_a = [], batch_b = []} : %s[2, 4]\n"
    "  output %%2 {name = \"c\"}\n"
    "}\n";

/* The function's product is of this type. */
static void open_product(Case *c, TfcType type)
{
    const char *name = type == TFC_F32 ? "f32" : "f64";
    char source[sizeof text + 16];
    snprintf(source, sizeof source, text, name, name, name);
    open_case(c, source);
}

/* ---- products ---- */

static double get(TfcType type, const void *data, int64_t i)
{
    return type == TFC_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static float value_at(const void *b, int64_t i) { return ((const float *)b)[i]; }

static void *random_data(TfcType type, int64_t count)
{
    void *data = malloc((size_t)(count + 1) * 8);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)next() / (1 << 23) - 1;
        if (type == TFC_F32)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
    return data;
}

/* An epilogue: each element once, when it is whole. */
enum { MARK = 1000 };
typedef struct Marked {
    void *c;
    int64_t c_row, type;
} Marked;

static void add_mark(void *of, TfcPart part)
{
    const Marked *m = of;
    for (int64_t i = part.row; i < part.row_end; i++)
        for (int64_t j = part.column; j < part.column_end; j++)
            if (m->type == TFC_F32)
                ((float *)m->c)[i * m->c_row + j] += MARK;
            else
                ((double *)m->c)[i * m->c_row + j] += MARK;
}

static void check(const TfcProducts *products, TfcType type, Shape s, int transposed, int64_t room,
                  bool accumulate)
{
    const TfcForm *form = products->native[type];
    int64_t a_row = transposed & 1 ? 1 : s.k + room, a_column = transposed & 1 ? s.m + room : 1;
    int64_t b_row = transposed & 2 ? 1 : s.n + room, b_column = transposed & 2 ? s.k + room : 1;
    int64_t c_row = s.n + room, count = s.m * c_row;
    void *a = random_data(type, (s.m + room) * (s.k + room)),
         *b = random_data(type, (s.k + room) * (s.n + room));
    void *c = random_data(type, count), *rows = malloc((size_t)(count + 1) * 8);
    void *before = malloc((size_t)(count + 1) * 8);
    memcpy(rows, c, (size_t)count * (type == TFC_F32 ? 4 : 8));
    memcpy(before, c, (size_t)count * (type == TFC_F32 ? 4 : 8));
    double *want = malloc((size_t)(count + 1) * sizeof *want);
    for (int64_t i = 0; i < count; i++)
        want[i] = get(type, c, i);
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            double sum = accumulate ? want[i * c_row + j] : 0;
            for (int64_t l = 0; l < s.k; l++)
                sum +=
                    get(type, a, i * a_row + l * a_column) * get(type, b, l * b_row + j * b_column);
            want[i * c_row + j] = sum;
        }
    /* clang-format off */
    TfcProduct whole = {.m = s.m, .n = s.n, .k = s.k,
                        .a = a, .a_row = a_row, .a_column = a_column,
                        .b = b, .b_row = b_row, .b_column = b_column,
                        .c = c, .c_row = c_row, .store = accumulate ? TFC_STORE_ADD : TFC_STORE_OVERWRITE};
    /* clang-format on */
    product_run(form, &whole, workspace_here());
    double tolerance = type == TFC_F32 ? 1e-4 : 1e-12;
    for (int64_t i = 0; i < count; i++) /* what lies between the rows too */
        if (!(fabs(get(type, c, i) - want[i]) <= tolerance * (1 + fabs(want[i]))))
            fail_msg("%lld x %lld x %lld, transposed %d: element %lld is %g, not %g",
                     (long long)s.m, (long long)s.n, (long long)s.k, transposed, (long long)i,
                     get(type, c, i), want[i]);
    /* Row by row the same bits. */
    size_t bytes = type == TFC_F32 ? 4 : 8;
    for (int64_t i = 0; i < s.m; i++) {
        TfcProduct row = whole;
        row.m = 1;
        row.a = (char *)a + (size_t)(i * a_row) * bytes;
        row.c = (char *)rows + (size_t)(i * c_row) * bytes;
        product_run(form, &row, workspace_here());
    }
    assert_memory_equal(rows, c, (size_t)count * bytes);
    /* Packed beforehand, whole and from a later column on, too. */
    int64_t panels = (s.n + TFC_PANEL_COLUMNS - 1) / TFC_PANEL_COLUMNS * TFC_PANEL_COLUMNS;
    void *packed = malloc((size_t)(panels * s.k + 1) * bytes);
    product_pack(form, s.k, 0, s.n < 128 ? s.n : 128, b, b_row, b_column, packed);
    if (s.n > 128)
        product_pack(form, s.k, 128, s.n, b, b_row, b_column, packed);
    for (int64_t first = 0; first < s.n; first += TFC_PANEL_COLUMNS) {
        memcpy(rows, before, (size_t)count * bytes);
        TfcProduct later = whole;
        later.n = s.n - first;
        later.panels = packed;
        later.column = first;
        later.c = (char *)rows + (size_t)first * bytes;
        product_run(form, &later, workspace_here());
        for (int64_t i = 0; i < s.m; i++)
            assert_memory_equal((char *)rows + (size_t)(i * c_row + first) * bytes,
                                (char *)c + (size_t)(i * c_row + first) * bytes,
                                (size_t)(s.n - first) * bytes);
    }
    free(packed);
    if (type == TFC_F32) {
        memcpy(rows, before, (size_t)count * bytes);
        TfcProduct written = whole;
        void *panels_of_b =
            written_panels(form, TFC_PRODUCT_F32, s.k, s.n, b, b_row, b_column, value_at);
        written.panels = panels_of_b;
        written.c = rows;
        product_run(form, &written, workspace_here());
        assert_memory_equal(rows, c, (size_t)count * bytes);
        free(panels_of_b);
    }
    memcpy(rows, c, (size_t)count * bytes);
    TfcEpilogue epilogue = {add_mark, &(Marked){c, c_row, type}};
    memcpy(c, before, (size_t)count * bytes);
    whole.epilogue = &epilogue;
    product_run(form, &whole, workspace_here());
    add_mark(&(Marked){rows, c_row, type}, (TfcPart){0, s.m, 0, s.n});
    assert_memory_equal(rows, c, (size_t)count * bytes);
    free(before);
    free(a);
    free(b);
    free(c);
    free(rows);
    free(want);
}

/* Around every edge: of tiles, vectors, panels, squares that are turned, depths. */
static const Shape shapes[] = {
    {1, 1, 1},    {3, 5, 7},      {1, 9, 4},      {9, 1, 4},      {16, 16, 1},    {13, 31, 15},
    {14, 32, 16}, {15, 33, 17},   {14, 14, 32},   {45, 65, 33},   {6, 8, 130},    {48, 129, 16},
    {2, 70, 66},  {64, 64, 1030}, {100, 20, 600}, {29, 2100, 40}, {0, 4, 4},      {4, 0, 4},
    {4, 4, 0},    {50, 100, 0},   {1, 530, 40},   {3, 200, 20},   {4, 217, 1030},
};

static void check_cpu(const char *cpu, bool scalar, TfcType type)
{
    Case c;
    open_product(&c, type);
    TargetOptions options = {.cpu = cpu, .scalar = scalar, .opt_level = 2, .gemm = GEMM_NATIVE};
    Jit *jit = jit_new(&options, &c.diags);
    if (jit) { /* else this machine cannot run code for it */
        const TfcProgram *program = jit_compile(jit, c.function, NULL, &c.diags);
        assert_non_null(program);
        assert_null(program->products.blas[0]);
        assert_null(program->products.native[type == TFC_F32 ? TFC_F64 : TFC_F32]);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int variant = 0; variant < 16; variant++)
                check(&program->products, type, shapes[s], variant & 3, variant & 4 ? 3 : 0,
                      variant & 8);
        jit_free(jit);
    } else if (!cpu)
        fail_msg("no code for this machine");
    arena_free(c.arena);
}

static void test_products(void **state)
{
    (void)state;
    static const char *const cpus[] = {NULL, "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        check_cpu(cpus[i], false, TFC_F32);
        check_cpu(cpus[i], false, TFC_F64);
    }
    check_cpu(NULL, true, TFC_F32);
}

/* ---- which product a program has ---- */

static void test_choices(void **state)
{
    (void)state;
    for (GemmChoice gemm = GEMM_BLAS; gemm <= GEMM_AUTO; gemm++) {
        Case c;
        open_product(&c, TFC_F32);
        TargetOptions options = {.opt_level = 2, .gemm = gemm};
        Jit *jit = jit_new(&options, &c.diags);
        const TfcProgram *program = jit_compile(jit, c.function, NULL, &c.diags);
        assert_non_null(program);
        assert_int_equal(program->products.blas[TFC_F32] != NULL, gemm == GEMM_BLAS);
        assert_int_equal(program->products.native[TFC_F32] != NULL, gemm != GEMM_BLAS);
        jit_free(jit);
        arena_free(c.arena);
    }
}

/* ---- the tiles' code ---- */

static void test_tiles_stay_in_registers(void **state)
{
    (void)state;
    static const char *const cpus[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4"};
    for (int type = 0; type < 2; type++)
        for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
            Case c;
            Text assembly = {0};
            open_product(&c, (TfcType)type);
            TargetOptions options = {.cpu = cpus[i], .opt_level = 2, .gemm = GEMM_NATIVE};
            assert_true(codegen_dump(c.function, &options, true, &assembly, &c.diags));
            check_tile_loops(assembly.data, cpus[i], i == 0 ? "mulp" : "vfmadd", 8, false);
            text_free(&assembly);
            arena_free(c.arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_tiles_stay_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
