/* Values of elementwise ops of known numbers: of every op, and where NaN goes. */
#include "ir/fold.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double value(OpKind kind, double a, double b, double c)
{
    double operands[] = {a, b, c}, out = 0;
    assert_true(fold_value(kind, DT_F64, operands, &out));
    return out;
}

static void every_op_but_dropout(void **state)
{
    for (OpKind kind = 0; kind < OP_COUNT; kind++) {
        double operands[] = {0.5, 2, 3}, out = NAN;
        bool elementwise = op_info[kind].family == FAMILY_elementwise && kind != OP_dropout;
        assert_true(fold_value(kind, DT_F64, operands, &out) == elementwise);
        assert_true(isfinite(out) == elementwise);
    }
    assert_true(value(OP_rsqrt, 4, 0, 0) == 0.5 && value(OP_sigmoid, 0, 0, 0) == 0.5);
    assert_true(value(OP_pow, 2, 10, 0) == 1024 && value(OP_div, 1, 4, 0) == 0.25);
    assert_true(value(OP_max, 1, 2, 0) == 2 && value(OP_min, 1, 2, 0) == 1);
    assert_true(value(OP_relu, -3, 0, 0) == 0 && value(OP_relu, 3, 0, 0) == 3);
    assert_true(value(OP_select, 1, 2, 3) == 2 && value(OP_select, 0, 2, 3) == 3);
    assert_true(value(OP_le, 2, 2, 0) == 1 && value(OP_lt, 2, 2, 0) == 0);
    assert_true(value(OP_not, 1, 0, 0) == 0 && value(OP_or, 0, 1, 0) == 1);
}

static void nan_goes_through(void **state)
{
    static const OpKind kinds[] = {OP_max, OP_min, OP_add};
    assert_true(isnan(value(OP_relu, NAN, 0, 0)) && isnan(value(OP_log, -1, 0, 0)));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_true(isnan(value(kinds[i], NAN, 1, 0)) && isnan(value(kinds[i], 1, NAN, 0)));
}

static void integers_keep_their_rules(void **state)
{
    static const OpKind kinds[] = {OP_div, OP_pow, OP_cast};
    double operands[] = {7, 2, 0}, out;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_false(fold_value(kinds[i], DT_I32, operands, &out));
    assert_true(fold_value(OP_add, DT_I32, operands, &out) && out == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_but_dropout),
        cmocka_unit_test(nan_goes_through),
        cmocka_unit_test(integers_keep_their_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
