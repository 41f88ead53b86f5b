/* That tfc check finds a gradient that is wrong, compiled or interpreted, in a model whose loss
 * reads a state and stops a value; and takes the right one, which is not the loss's slope. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/check.h"
#include "passes/clone.h"

#include <string.h>

static const char path[] = "tests/check/stopped.tfg";

static Check start(Job *job)
{
    *job = (Job){.arena = arena_new()};
    diag_init(&job->diags, job->arena);
    return (Check){.job = job, .path = path, .samples = 4, .seed = 1, .passed_over = ""};
}

static void open_gradient(Check *check, Variant *v)
{
    const VariantOptions options = {.type = DT_F64, .opt_level = 2, .holds = true};
    assert_true(variant_open(check, v, &options));
    assert_true(check_choose_batch(check, v));
}

/* Multiplies the gradient of `param` by a factor. */
static void scale_gradient(Function *gradient, const char *param, double factor)
{
    Text name = {0};
    text_add(&name, "grad.%s", param);
    Op *output = find_output(gradient, name.data);
    assert_non_null(output);
    Builder b = builder_at_end(gradient);
    const Type *type = &output->args[0]->type;
    Value *scaled = build_binary(&b, OP_mul, output->args[0], build_const(&b, type->dtype, factor));
    block_remove(&gradient->body, output);
    build_output(&b, text_keep(gradient->module->arena, &name), scaled);
}

static void expect_row(const Check *check, int result)
{
    const CheckRow *row = &check->rows.data[check->rows.count - 1];
    if ((int)row->result != result)
        fail_msg("%s: %d, not %d: %s", row->name, (int)row->result, result, row->detail);
    assert_non_null(strstr(row->detail, "; 1 stopped value held"));
}

static void finish(Check *check, Variant *v)
{
    assert_int_equal(check->job->diags.errors, 0);
    variant_close(v);
    arena_free(check->job->arena);
}

static void the_right_gradient_passes(void **state)
{
    (void)state;
    Job job;
    Check check = start(&job);
    Variant v;
    open_gradient(&check, &v);
    assert_true(check_gradients(&check, &v));
    expect_row(&check, CHECK_OK);
    assert_true(check_slopes(&check, &v));
    expect_row(&check, CHECK_OK);
    finish(&check, &v);
}

static void a_wrong_one_is_found_in_compiled_code(void **state)
{
    (void)state;
    Job job;
    Check check = start(&job);
    Variant v;
    open_gradient(&check, &v);
    Function *wrong = clone_function(v.meaning, "wrong");
    scale_gradient(wrong, "w", 1.0001);
    exec_free(v.exec);
    v.program = session_compile(&v.session, wrong);
    assert_non_null(v.program);
    v.exec = exec_new(v.program, v.store);
    assert_true(check_gradients(&check, &v));
    expect_row(&check, CHECK_FAILED);
    finish(&check, &v);
}

/* That the interpreted gradient of `param` is found wrong, multiplied by a factor. */
static void expect_found(const char *param, double factor, uint64_t seed)
{
    Job job;
    Check check = start(&job);
    check.seed = seed;
    Variant v;
    open_gradient(&check, &v);
    Function *wrong = clone_function(v.meaning, "wrong");
    scale_gradient(wrong, param, factor);
    v.meaning = wrong;
    assert_true(check_slopes(&check, &v));
    expect_row(&check, CHECK_FAILED);
    finish(&check, &v);
}

static void a_wrong_one_is_found_when_interpreted(void **state)
{
    (void)state;
    expect_found("w", 1.0001, 1);
}

/* A param of one element, in whichever direction the seed moves it. */
static void each_element_is_moved(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        expect_found("gain", 1.01, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_gradient_passes),
        cmocka_unit_test(a_wrong_one_is_found_in_compiled_code),
        cmocka_unit_test(a_wrong_one_is_found_when_interpreted),
        cmocka_unit_test(each_element_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
