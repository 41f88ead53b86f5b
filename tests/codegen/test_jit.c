/* Kernels found again, CPUs refused, text dumped. */
#include "tests/codegen/kernels.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static Op *sum_of(Case *c, DType dtype, double factor)
{
    Value *x = case_input(c, dtype, 2, (Dim[]){case_dim(c->N), dim_const(48)});
    Value *y = build_binary(&c->b, OP_mul, x, build_const(&c->b, dtype, factor));
    Value *sum = build_reduce(&c->b, OP_reduce_sum, y, 1, (int[]){1});
    return case_region(c, OP_row, 1, &sum);
}

static int add(Case *c, KernelSet *set, Op *op)
{
    Signature s = signature_of(c->arena, c->module, op, NULL);
    return kernels_add(set, c->module, op, &s);
}

static void one_kernel_a_hash(void **state)
{
    (void)state;
    Case c;
    KernelSet set;
    case_open(&c, DT_F32);
    kernels_init(&set, c.arena);
    int a = add(&c, &set, sum_of(&c, DT_F32, 2)), b = add(&c, &set, sum_of(&c, DT_F32, 3));
    assert_true(a >= 0 && b >= 0 && a != b);
    assert_int_equal(add(&c, &set, sum_of(&c, DT_F32, 2)), a);
    assert_int_equal(add(&c, &set, sum_of(&c, DT_F32, 3)), b);
    assert_int_equal(set.list.count, 2);
    assert_true(!strncmp(kernels_name(&set, a), "row.", 4));
    case_close(&c);
}

static void expect_error(const TargetOptions *options, const char *error, const char *note)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    assert_null(jit_new(options, &diags));
    assert_int_equal(diags.errors, 1);
    assert_non_null(strstr(diags.list.data[0].message, error));
    if (note)
        assert_non_null(strstr(diags.list.data[1].message, note));
    arena_free(arena);
}

static void cpus_are_checked(void **state)
{
    (void)state;
    expect_error(&(TargetOptions){.cpu = "x86-64-v33", .opt_level = 2},
                 "no CPU is called \"x86-64-v33\"; did you mean \"x86-64-v3\"?", NULL);
    expect_error(&(TargetOptions){.cpu = "pdp11", .opt_level = 2}, "no CPU is called", "general");
    /* of the other maker than this machine's processor */
    const char *foreign = __builtin_cpu_is("amd") ? "sapphirerapids" : "znver5";
    expect_error(&(TargetOptions){.cpu = foreign, .opt_level = 2}, "cannot run code for", NULL);
}

static char *dump(const char *cpu, bool scalar, bool assembly)
{
    Case c;
    Text text = {0};
    case_open(&c, DT_F32);
    KernelSet set;
    kernels_init(&set, c.arena);
    assert_true(add(&c, &set, sum_of(&c, DT_F32, 2)) >= 0);
    TargetOptions options = {.cpu = cpu, .scalar = scalar, .opt_level = 2};
    assert_true(kernels_dump(&set, NULL, &options, assembly, &text, &c.diags));
    case_close(&c);
    return text.data;
}

static void expect_text(const char *cpu, bool scalar, bool assembly, const char *there,
                        const char *absent)
{
    char *text = dump(cpu, scalar, assembly);
    assert_non_null(strstr(text, there));
    assert_null(strstr(text, absent));
    free(text);
}

/* The width comes from the target; no vector of sums lives on the stack. */
static void text_for_any_cpu(void **state)
{
    (void)state;
    expect_text("x86-64-v4", false, false, "<16 x float>", "alloca <16 x float>");
    expect_text("x86-64-v3", false, false, "<8 x float>", "<16 x float>");
    expect_text("x86-64", false, false, "<4 x float>", "<8 x float>");
    expect_text("x86-64", true, false, "float", "x float>");
    expect_text("znver5", false, true, "zmm",
                "(%rsp)"); /* not this machine's, but text all the same */
    expect_text("x86-64-v3", false, true, "ymm", "(%rsp)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kernel_a_hash),
        cmocka_unit_test(cpus_are_checked),
        cmocka_unit_test(text_for_any_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
