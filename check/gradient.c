/* Gradients in f64 against central differences.
 *
 * Five-point differences (error h^4) at a few sizes of h: near a kink (relu, max)
 * the larger ones cross it, and the smaller ones round. An element is right if
 * one of them agrees. On a kink, as where params begin at zero, the slopes of both sides
 * differ, and any gradient between them is right. Dropout is on: its masks are those of one
 * fixed step. What a gradient takes as given, states and what stop() gives, is held (held.c). */
#include "check/check.h"

#include "base/philox.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double steps[] = {1e-4, 1e-3, 1e-5, 1e-6};
static const double TOLERANCE = 1e-6;
static const double SMALLEST = 1e-4; /* gradients below this are compared to it */

typedef struct Worst {
    double error;
    const char *name;
    int64_t element, elements, failed, kinks;
    double analytic, numeric;
} Worst;

/* The variant whose params are moved, and its loss. */
typedef struct Moved {
    Check *check;
    Variant *v;
    Exec *loss;
} Moved;

static bool loss_at(const Moved *m, double *at, double value, double *loss)
{
    *at = value;
    store_changed(m->v->store);
    exec_set_rng(m->loss, m->check->seed, 1); /* as variant_run */
    if (!exec_run(m->loss))
        return job_no_memory(m->check->job);
    *loss = *(const double *)exec_output(m->loss, "loss");
    return true;
}

static bool difference(const Moved *m, double *at, double h, double *slope)
{
    const double x = *at;
    double loss[4];
    bool ok = loss_at(m, at, x + h, &loss[0]) && loss_at(m, at, x - h, &loss[1]) &&
              loss_at(m, at, x + 2 * h, &loss[2]) && loss_at(m, at, x - 2 * h, &loss[3]);
    *at = x;
    store_changed(m->v->store);
    *slope = (8 * (loss[0] - loss[1]) - (loss[2] - loss[3])) / (12 * h);
    return ok;
}

/* The least and the greatest slope on the two sides of the element's value (error h^2). */
static bool slopes_of_sides(const Moved *m, double *at, double *least, double *greatest)
{
    const double x = *at, h = 1e-6;
    double here, near, far, side[2];
    bool ok = loss_at(m, at, x, &here);
    for (int i = 0; ok && i < 2; i++) {
        const double step = i ? h : -h;
        ok = loss_at(m, at, x + step, &near) && loss_at(m, at, x + 2 * step, &far);
        side[i] = (4 * near - far - 3 * here) / (2 * step);
    }
    *at = x;
    store_changed(m->v->store);
    if (ok) {
        *least = fmin(side[0], side[1]);
        *greatest = fmax(side[0], side[1]);
    }
    return ok;
}

/* Whether the element's value lies on a kink, of which the gradient is a slope: *kink. */
static bool find_kink(const Moved *m, double *at, double analytic, double scale, bool *kink)
{
    double least, greatest;
    if (!slopes_of_sides(m, at, &least, &greatest))
        return false;
    double size = fmax(fmax(fabs(least), fabs(greatest)), fmax(scale, SMALLEST));
    double room = 10 * TOLERANCE * size;
    *kink = greatest - least > 10 * room && analytic >= least - room && analytic <= greatest + room;
    return true;
}

static bool difference_element(const Moved *m, StoreTensor *param, int64_t i, double analytic,
                               double scale, Worst *worst)
{
    double error = INFINITY, numeric = 0;
    for (size_t k = 0; k < sizeof steps / sizeof steps[0] && error > TOLERANCE; k++) {
        double slope;
        if (!difference(m, (double *)param->data + i, steps[k], &slope))
            return false;
        double greatest = fmax(fmax(fabs(analytic), fabs(slope)), fmax(scale, SMALLEST));
        double found = fabs(slope - analytic) / greatest;
        if (found < error) {
            error = found;
            numeric = slope;
        }
    }
    worst->elements++;
    bool kink = false;
    if (!(error <= TOLERANCE) && !find_kink(m, (double *)param->data + i, analytic, scale, &kink))
        return false;
    worst->kinks += kink;
    if (kink)
        return true;
    if (!(error <= TOLERANCE))
        worst->failed++;
    if (!(error <= worst->error)) {
        worst->error = error;
        worst->name = param->name;
        worst->element = i;
        worst->analytic = analytic;
        worst->numeric = numeric;
    }
    return true;
}

static double root_mean_square(const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i] * values[i];
    return n ? sqrt(sum / (double)n) : 0;
}

/* Element k of the sample: by turns any one, and the next from there with a
 * gradient (most rows of an embedding have none). */
static int64_t pick_element(const Check *check, const double *gradient, int64_t n, int64_t k)
{
    const uint32_t key[2] = {(uint32_t)check->seed, 77},
                   counter[4] = {(uint32_t)k, (uint32_t)n, 0, 0};
    uint32_t random[4];
    philox4x32(counter, key, random);
    int64_t i = (int64_t)random[0] % n;
    for (int64_t tried = 0; k % 2 && gradient[i] == 0 && tried < n; tried++)
        i = (i + 1) % n;
    return i;
}

static bool check_param(const Moved *m, StoreTensor *param, const double *gradient, Worst *worst)
{
    const Check *check = m->check;
    int64_t n = param->count < check->samples ? param->count : check->samples;
    double scale = root_mean_square(gradient, param->count);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = n == param->count ? k : pick_element(check, gradient, param->count, k);
        if (!difference_element(m, param, i, gradient[i], scale, worst))
            return false;
    }
    return true;
}

/* The gradients of the variant's last run against differences. */
static bool check_params(const Moved *m, int *n_params, Worst *worst)
{
    const Variant *v = m->v;
    Arena *arena = arena_new();
    const double **gradients = ARENA_ARRAY(arena, const double *, store_count(v->store) + 1);
    for (int64_t i = 0; i < store_count(v->store); i++) {
        const StoreTensor *param = store_at(v->store, i);
        const void *out = exec_output(v->exec, arena_printf(arena, "grad.%s", param->name));
        if (out) /* the next run overwrites it */
            gradients[i] = arena_copy(arena, out, (size_t)param->count * sizeof(double));
    }
    bool ok = true;
    for (int64_t i = 0; ok && i < store_count(v->store); i++)
        if (gradients[i]) {
            ok = check_param(m, store_at(v->store, i), gradients[i], worst);
            ++*n_params;
        }
    arena_free(arena);
    return ok;
}

/* Runs the gradient, and gives its loss, bound to the same batch, from the same states. */
static bool run_gradient(Check *check, Variant *v, Exec **loss)
{
    SyntheticOptions shape = check_shape(check, check->usual);
    const void *states = variant_states(v, check->job->arena);
    if (!variant_feed(check, v, &shape) || !variant_run(check, v))
        return false;
    variant_put_states(v, states);
    const TfcProgram *program =
        session_compile(&v->session, held_loss(v->meaning, "loss of differences"));
    if (!program)
        return false;
    if (!store_add_program(v->store, program) || !(*loss = exec_new(program, v->store)))
        return job_no_memory(check->job);
    return held_bind(check, v, program, *loss);
}

bool check_gradients(Check *check, Variant *v)
{
    Worst worst = {.error = -1};
    int n_params = 0;
    Moved moved = {.check = check, .v = v};
    bool ok = run_gradient(check, v, &moved.loss) && check_params(&moved, &n_params, &worst);
    exec_free(moved.loss);
    if (!ok)
        return false;
    Arena *arena = check->job->arena;
    const char *kinks =
        worst.kinks ? arena_printf(arena, "; %" PRId64 " lie on a kink", worst.kinks) : "";
    const char *rest =
        arena_printf(arena, "%s%s%s", kinks, held_text(check, v), check->passed_over);
    const char *detail =
        arena_printf(arena, "%" PRId64 " elements of %d params, worst %.1e (%s)%s", worst.elements,
                     n_params, fmax(worst.error, 0), worst.name ? worst.name : "none", rest);
    if (worst.failed)
        detail = arena_printf(arena,
                              "%s[%" PRId64 "]: %.9g, by differences %.9g; %" PRId64 " of %" PRId64
                              " elements differ%s",
                              worst.name, worst.element, worst.analytic, worst.numeric,
                              worst.failed, worst.elements, rest);
    check_row(check, "gradients = central differences (f64)",
              worst.failed ? CHECK_FAILED : CHECK_OK, detail);
    return true;
}
