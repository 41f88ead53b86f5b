/* The gradients that autodiff builds, interpreted, against differences of the loss,
 * interpreted: neither runs compiled code. The loss is followed along one direction, which moves
 * every element of every param by ±h, so that all gradients are in one number a batch. Where the
 * differences do not agree, the params may lie on kinks, as those that begin at zero: they step
 * aside, and the gradients there are compared. (gradient.c judges those on the kinks.) */
#include "check/interpret.h"

#include "base/philox.h"

#include <math.h>
#include <string.h>

static const double steps[] = {1e-4, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8};
static const double TOLERANCE = 1e-6; /* of the gradient's length */
static const double SMALLEST = 1e-4;  /* lengths below this are compared to it */

/* ±1 for an element of a param. */
static double direction(const Check *check, int param, int64_t i)
{
    const uint32_t key[2] = {(uint32_t)check->seed, 78},
                   counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)param, 0};
    uint32_t random[4];
    philox4x32(counter, key, random);
    return random[0] & 1 ? 1 : -1;
}

static const OracleTensor *gradient_of(const Interpreted *gradient, const char *param)
{
    Text name = {0};
    text_add(&name, "grad.%s", param);
    const OracleTensor *found = interpreted_output(gradient, name.data);
    text_free(&name);
    return found;
}

/* The slope along the direction, and the length of the gradient. */
static double slope_of(const Check *check, const Interpreted *gradient, double *length)
{
    double slope = 0, squares = 0;
    for (size_t p = 0; p < gradient->given.count; p++) {
        const OracleTensor *g = gradient_of(gradient, gradient->given.data[p].name);
        for (int64_t i = 0; g && i < g->count; i++) {
            slope += g->data[i] * direction(check, (int)p, i);
            squares += g->data[i] * g->data[i];
        }
    }
    *length = sqrt(squares);
    return slope;
}

/* The loss h away along the direction. */
static bool loss_at(const Check *check, const Interpreted *gradient, Interpreted *loss, double h,
                    double *value)
{
    for (size_t p = 0; p < gradient->given.count; p++) {
        const OracleTensor *from = &gradient->given.data[p];
        OracleTensor *to = NULL;
        for (size_t k = 0; k < loss->given.count && gradient_of(gradient, from->name); k++)
            if (!strcmp(loss->given.data[k].name, from->name))
                to = &loss->given.data[k];
        for (int64_t i = 0; to && i < to->count; i++)
            to->data[i] = from->data[i] + h * direction(check, (int)p, i);
    }
    if (!interpreted_run(loss))
        return false;
    *value = interpreted_output(loss, "loss")->data[0];
    return true;
}

/* Five-point differences (error h^4) at a few sizes of h, until one agrees: larger ones cross
 * kinks, smaller ones round. */
static bool compare_slopes(const Check *check, const Interpreted *gradient, Interpreted *loss,
                           double *error)
{
    double length, slope = slope_of(check, gradient, &length);
    *error = INFINITY;
    for (size_t k = 0; k < sizeof steps / sizeof steps[0] && *error > TOLERANCE; k++) {
        const double h = steps[k];
        double f[4];
        for (int i = 0; i < 4; i++)
            if (!loss_at(check, gradient, loss, (i % 2 ? -h : h) * (1 + i / 2), &f[i]))
                return false;
        double found = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
        *error = fmin(*error, fabs(found - slope) / fmax(length, SMALLEST));
    }
    return true;
}

/* Moves the params off the kinks that they lie on, and runs the gradient there. */
static bool step_aside(const Check *check, Interpreted *gradient)
{
    enum { ASIDE = 79 }; /* the random numbers' stream */
    for (size_t p = 0; p < gradient->given.count; p++) {
        OracleTensor *param = &gradient->given.data[p];
        if (!gradient_of(gradient, param->name))
            continue;
        for (int64_t i = 0; i < param->count; i++) {
            const uint32_t key[2] = {(uint32_t)check->seed, ASIDE},
                           counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)p, 0};
            uint32_t random[4];
            philox4x32(counter, key, random);
            param->data[i] += 0.01 * (ldexp(random[0], -31) - 1);
        }
    }
    return interpreted_run(gradient);
}

typedef struct Slopes {
    int batches;
    double worst;
    const char *where, *without; /* the worst batch, and those whose loss is no number */
} Slopes;

static bool check_batch(Check *check, Variant *v, const Function *alone, const CheckBatch *batch,
                        Slopes *s)
{
    SyntheticOptions shape = check_shape(check, batch);
    if (!variant_feed(check, v, &shape))
        return false;
    Interpreted gradient, loss;
    interpreted_open(check, v, v->meaning, &gradient);
    interpreted_open(check, v, alone, &loss);
    double error = 0;
    bool ok = interpreted_run(&gradient);
    if (ok)
        interpreted_give(&loss, &gradient.run.outputs);
    if (ok && !isfinite(interpreted_output(&gradient, "loss")->data[0])) {
        s->without = check_without(check, s->without, batch);
    } else if (ok) {
        ok = compare_slopes(check, &gradient, &loss, &error);
        if (ok && error > TOLERANCE && step_aside(check, &gradient)) {
            interpreted_close(&loss); /* what is held is another */
            interpreted_open(check, v, alone, &loss);
            interpreted_give(&loss, &gradient.run.outputs);
            ok = compare_slopes(check, &gradient, &loss, &error);
        }
        s->batches++;
        if (!(error <= s->worst)) {
            s->worst = error;
            s->where = batch->name;
        }
    }
    interpreted_close(&gradient);
    interpreted_close(&loss);
    return ok;
}

bool check_slopes(Check *check, Variant *v)
{
    Slopes s = {.where = "none", .without = ""};
    const Function *alone = held_loss(v->meaning, "loss");
    for (int i = 0; i < check_batch_count; i++)
        if (!check_batch(check, v, alone, &check_batches[i], &s))
            return false;
    check_row(check, "gradients = differences (interpreted)",
              s.batches && s.worst <= TOLERANCE ? CHECK_OK : CHECK_FAILED,
              arena_printf(check->job->arena, "%d batches, worst %.1e (%s)%s%s", s.batches, s.worst,
                           s.where, held_text(check, v), s.without));
    return true;
}
