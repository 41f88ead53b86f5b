/* For cross.sh: what values.tfg makes of numbers of all sizes, or with an argument of numbers whose
 * products are denormals of f32, to standard output. */
#include "values.h"

#include <stdio.h>
#include <string.h>

enum { M = 37, K = 48, N = 33 };

/* Knuth's MMIX generator; its high bits. */
static uint32_t draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

static void fill(float *x, int n, int of_roots)
{
    for (int i = 0; i < n; i++) {
        uint32_t rest = draw(), exponent = draw();
        exponent = of_roots ? 56 + exponent % 16 : exponent % 4 ? 127 : (exponent / 4) % 160;
        uint32_t bits = (rest & 0x807fffff) | exponent << 23;
        memcpy(x + i, &bits, sizeof bits);
    }
}

int main(int argc, char **argv)
{
    static float a[M * K], b[K * N];
    values *model;
    values_session *session;
    values_forward_out out;
    (void)argv;
    fill(a, M * K, argc > 1);
    fill(b, K * N, argc > 1);
    if (values_open_new(1, &model) || values_session_new(model, &session) ||
        values_forward(session, &(values_forward_in){.a = a, .b = b}, &out)) {
        fprintf(stderr, "%s\n", values_error_detail());
        return 1;
    }
    fwrite(out.product, sizeof(float), M * N, stdout);
    fwrite(out.exps, sizeof(float), M * K, stdout);
    fwrite(out.waves, sizeof(float), M * K, stdout);
    fwrite(out.powers, sizeof(float), M * K, stdout);
    return ferror(stdout) != 0;
}
