/* For means.sh: means of many equal numbers, and a batch_norm's statistics, beside what they
 * are. */
#include "means.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000000, SIDE = 256 };

static int wrong;

static void expect(const char *what, int n, double found, double right)
{
    if (!(fabs(found - right) <= 1e-6 * right)) {
        printf("%s of %d: %.9g, not %.9g\n", what, n, found, right);
        wrong = 1;
    }
}

static void check(int status)
{
    if (status) {
        printf("%s: %s\n", means_error_text(status), means_error_detail());
        exit(1);
    }
}

static void check_means(means_session *session, const float *x, int n)
{
    means_forward_out out;
    check(means_forward(session, &(means_forward_in){.N = n, .M = n / 2, .line = x, .rows = x},
                        &out));
    expect("mean along the last axis", n, out.along_line[0], x[0]);
    expect("mean along rows", n / 2, out.along_rows[1], x[0]);
    check(means_forward(session, &(means_forward_in){.N = 1, .M = n, .line = x, .rows = x}, &out));
    expect("mean along rows", n, out.along_rows[0], x[0]);
}

/* Channel 0 has 0.1 and 0.3 in turn, channel 1 equal numbers. */
static void check_batch_norm(means *model, means_session *session, float *x)
{
    means_train_step_out out;
    bool mean_is_there = false, variance_is_there = false;
    for (int i = 0; i < SIDE * SIDE; i++) {
        x[2 * i] = i % 2 ? 0.3f : 0.1f;
        x[2 * i + 1] = 0.1f;
    }
    double mean = ((double)x[0] + x[2]) / 2;
    double variance = (x[0] - mean) * (x[0] - mean);
    check(means_train_step(
        session, &(means_train_step_in){.seed = 1, .P = SIDE, .Q = SIDE, .pixels = x}, &out));
    for (int64_t i = 0; i < means_parameter_count(model); i++) {
        means_parameter_info info;
        check(means_parameter(model, i, &info));
        const float *values = info.data;
        if (strstr(info.name, "running_mean")) {
            expect("batch_norm's mean", SIDE * SIDE, values[0], mean);
            expect("batch_norm's mean of equal numbers", SIDE * SIDE, values[1], x[1]);
            mean_is_there = true;
        } else if (strstr(info.name, "running_variance")) {
            expect("batch_norm's variance", SIDE * SIDE, values[0], variance);
            expect("1 and batch_norm's variance of equal numbers", SIDE * SIDE, 1 + values[1], 1);
            variance_is_there = true;
        }
    }
    if (!mean_is_there || !variance_is_there) {
        printf("no running_mean, or no running_variance\n");
        wrong = 1;
    }
}

int main(void)
{
    static const int sizes[] = {65536, 200000, MOST};
    means *model;
    means_session *session;
    float *x = malloc(2 * sizeof *x * MOST);
    if (!x)
        return 1;
    for (int i = 0; i < 2 * MOST; i++)
        x[i] = 0.1f;
    check(means_open_new(1, &model));
    check(means_session_new(model, &session));
    for (int i = 0; i < 3; i++)
        check_means(session, x, sizes[i]);
    check_batch_norm(model, session, x);
    means_close(model);
    free(x);
    return wrong;
}
