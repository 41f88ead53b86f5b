/* bf16 in kernels: every value widened, rounding at and around every tie, and that it
 * is the same whether a value is stored in between or not. */
#include "tests/codegen/kernels.h"

#include "base/bf16.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 65536 };

static const TargetOptions targets[] = {
    {.opt_level = 2},
    {.cpu = "x86-64", .opt_level = 2},
    {.cpu = "x86-64-v3", .opt_level = 2},
    {.cpu = "x86-64-v4", .opt_level = 2},
    {.scalar = true},
    {.opt_level = 0},
};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

/* Runs an op of one operand and one result over n elements; false where this machine
 * cannot run code for the target. */
static bool run(const TargetOptions *target, Case *c, Op *op, const void *from, void *to, int64_t n)
{
    Diagnostics diags;
    diag_init(&diags, c->arena);
    Jit *jit = jit_new(target, &diags);
    if (!jit) {
        assert_non_null(target->cpu);
        return false;
    }
    Signature signature = signature_of(c->arena, c->module, op, NULL);
    TfcKernel kernel = jit_kernel(jit, c->module, op, &signature, &diags);
    assert_non_null(kernel);
    void *buffers[] = {(void *)(uintptr_t)from, to};
    int64_t strides[2 * TFC_MAX_AXES] = {1, [TFC_MAX_AXES] = 1};
    kernel(&(TfcKernelArgs){.buffers = buffers, .strides = strides}, 0, n);
    jit_free(jit);
    return true;
}

static Op *cast(Case *c, DType from, DType to, int64_t n)
{
    Value *x = build_input(&c->b, "x", type_of(from, 1, (Dim[]){dim_const(n)}));
    Value *y = build_cast(&c->b, x, to);
    return case_region(c, OP_row, 1, &y);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void all_values_widen(void **state)
{
    (void)state;
    uint16_t *from = malloc(VALUES * sizeof *from);
    float *to = malloc(VALUES * sizeof *to);
    for (int i = 0; i < VALUES; i++)
        from[i] = (uint16_t)i;
    for (int t = 0; t < N_TARGETS; t++) {
        Case c;
        case_open(&c, DT_F32);
        memset(to, 0x55, VALUES * sizeof *to);
        bool ran = run(&targets[t], &c, cast(&c, DT_BF16, DT_F32, VALUES), from, to, VALUES);
        for (uint32_t i = 0; ran && i < VALUES; i++)
            if (bits_of(to[i]) != i << 16)
                fail_msg("target %d: %04x becomes %08x", t, i, bits_of(to[i]));
        case_close(&c);
    }
    free(from);
    free(to);
}

/* The nearer of the two neighbours, the even one in the middle; past the greatest, what
 * is half an ulp or more away is infinite. NaN: any NaN. */
static bool is_nearest(float x, uint16_t got)
{
    if (isnan(x))
        return isnan(bf16_to_float(got));
    uint16_t below = (uint16_t)(bits_of(x) >> 16), above = (uint16_t)(below + 1); /* in size */
    if (isinf(x) || x == bf16_to_float(below))
        return got == below;
    double low = (double)bf16_to_float(below), high = (double)bf16_to_float(above);
    if (isinf(high))
        high = copysign(0x1p128, (double)x);
    double to_low = fabs((double)x - low), to_high = fabs(high - (double)x);
    uint16_t nearest = to_low < to_high   ? below
                       : to_low > to_high ? above
                       : below & 1        ? above
                                          : below;
    return got == nearest;
}

/* Every value itself, half way to the next one, and just beside that. */
static void ties_round_to_even(void **state)
{
    (void)state;
    static const uint32_t tails[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
    enum { TAILS = sizeof tails / sizeof tails[0], N = TAILS * VALUES };
    float *from = malloc(N * sizeof *from);
    uint16_t *to = malloc(N * sizeof *to);
    for (uint32_t i = 0; i < N; i++)
        from[i] = float_of((i / TAILS) << 16 | tails[i % TAILS]);
    for (int t = 0; t < N_TARGETS; t++) {
        Case c;
        case_open(&c, DT_F32);
        memset(to, 0x55, N * sizeof *to);
        bool ran = run(&targets[t], &c, cast(&c, DT_F32, DT_BF16, N), from, to, N);
        for (int i = 0; ran && i < N; i++)
            if (!is_nearest(from[i], to[i]))
                fail_msg("target %d: %08x becomes %04x", t, bits_of(from[i]), to[i]);
        case_close(&c);
    }
    free(from);
    free(to);
}

/* Three ops of bf16 in one region give the bits of three regions. */
static void stored_or_not(void **state)
{
    (void)state;
    enum { N = 4096 };
    static const OpKind ops[] = {OP_mul, OP_exp, OP_mul};
    uint16_t from[N], one[N], three[2][N];
    for (int i = 0; i < N; i++)
        from[i] = bf16_from_float((float)(i - N / 2) / 300);
    for (int t = 0; t < N_TARGETS; t++) {
        Case c;
        case_open(&c, DT_BF16);
        memcpy(three[0], from, sizeof from);
        Value *x = build_input(&c.b, "x", type_of(DT_BF16, 1, (Dim[]){dim_const(N)})), *y = x;
        for (int i = 0; i < 3; i++)
            y = ops[i] == OP_mul ? build_binary(&c.b, OP_mul, y, y) : build_unary(&c.b, ops[i], y);
        bool ran = run(&targets[t], &c, case_region(&c, OP_row, 1, &y), from, one, N);
        for (int i = 0; ran && i < 3; i++) {
            Value *a = build_input(&c.b, "a", type_of(DT_BF16, 1, (Dim[]){dim_const(N)}));
            Value *b =
                ops[i] == OP_mul ? build_binary(&c.b, OP_mul, a, a) : build_unary(&c.b, ops[i], a);
            run(&targets[t], &c, case_region(&c, OP_row, 1, &b), three[i & 1], three[~i & 1], N);
        }
        assert_true(!ran || !memcmp(one, three[1], sizeof one));
        case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_values_widen),
        cmocka_unit_test(ties_round_to_even),
        cmocka_unit_test(stored_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
