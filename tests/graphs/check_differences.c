/* Gradients by the oracle against central differences of its loss: no program takes part,
 * so what is wrong is a rule of autodiff.
 *
 * Five-point differences at several widths, as a kink may lie within the larger ones and
 * rounding drowns the smaller; one that agrees will do. The smallest are asked only where
 * rounding leaves three digits: of a million differences one meets a kink at every other width. */
#include "passes/clone.h"
#include "tests/graphs/graphs.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS = 10, A_PARAM = 3 };
static const double widths[] = {1e-4, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8};
enum { ALWAYS = 4 }; /* of the widths */

typedef struct Differences {
    const Case *c;
    Opened *opened;
    Function *loss; /* the same without the gradients */
    Given given;
} Differences;

static bool loss_at(Differences *d, double *at, double value, double *loss, double *error)
{
    double before = *at;
    Opened opened = *d->opened;
    opened.function = d->loss;
    opened.arena = arena_new();
    OracleRun run;
    *at = value;
    bool ok = oracle_of(&opened, d->c, &d->c->batches[0], &d->given, 1, DT_F64, &run) &&
              run.outputs.count == 1;
    *at = before;
    if (ok) {
        *loss = run.outputs.data[0].data[0];
        *error = fmax(*error, oracle_tolerance(&run.outputs.data[0], 0));
    }
    arena_free(opened.arena);
    return ok;
}

/* The difference quotient, and how far rounding may have moved it. */
static bool slope_at(Differences *d, double *at, double h, double *slope, double *error)
{
    double x = *at, loss[4];
    *error = 0;
    bool ok = loss_at(d, at, x + h, &loss[0], error) && loss_at(d, at, x - h, &loss[1], error) &&
              loss_at(d, at, x + 2 * h, &loss[2], error) &&
              loss_at(d, at, x - 2 * h, &loss[3], error);
    *slope = (8 * (loss[0] - loss[1]) - (loss[2] - loss[3])) / (12 * h);
    *error = *error * 1.5 / h;
    return ok;
}

static Outcome check_element(Differences *d, double *at, const OracleTensor *gradient, int64_t i,
                             double scale, Seen *seen)
{
    double nearest = INFINITY, by_differences = NAN;
    if (!isfinite(oracle_tolerance(gradient, i)))
        return outcome_ok();
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        double slope, error;
        if (!slope_at(d, at, widths[k], &slope, &error))
            return outcome_of_diags(RESULT_INVALID, &d->opened->diags, "loss");
        double apart = fabs(slope - gradient->data[i]);
        double room = 1e-5 * fmax(fmax(fabs(slope), fabs(gradient->data[i])), fmax(scale, 1e-3));
        if (k >= ALWAYS && !(error <= 100 * room))
            continue;
        if (!isfinite(error) || !isfinite(slope) ||
            apart <= room + error + oracle_tolerance(gradient, i)) {
            seen->elements++;
            seen->decided += isfinite(error);
            return outcome_ok();
        }
        if (apart < nearest) {
            nearest = apart;
            by_differences = slope;
        }
    }
    return outcome(RESULT_DIFFERS, "gradient", "element %lld of %s is %.9g, by differences %.9g",
                   (long long)i, gradient->name, gradient->data[i], by_differences);
}

static double *element_of(const Given *given, const char *param, int64_t i)
{
    for (int k = 0; k < given->n; k++)
        if (!strcmp(given->tensors[k].name, param) && i < given->tensors[k].count)
            return &given->tensors[k].data[i];
    return NULL;
}

static double root_mean_square(const OracleTensor *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->count; i++)
        sum += t->data[i] * t->data[i];
    return t->count ? sqrt(sum / (double)t->count) : 0;
}

static Outcome check_gradients(Differences *d, const OracleTensors *outputs, Seen *seen)
{
    int left = ELEMENTS;
    for (size_t k = 0; k < outputs->count; k++) {
        const OracleTensor *t = &outputs->data[k];
        if (strncmp(t->name, "grad.", 5))
            continue;
        for (int64_t n = 0; n < A_PARAM && n < t->count && left; n++, left--) {
            int64_t i = (int64_t)(mix64(d->c->seed + (uint64_t)n + k * 100) % (uint64_t)t->count);
            double *at = element_of(&d->given, t->name + 5, i);
            Outcome out =
                at ? check_element(d, at, t, i, root_mean_square(t), seen)
                   : outcome(RESULT_DIFFERS, "gradient", "%s is the gradient of no param", t->name);
            if (out.result != RESULT_OK)
                return out;
        }
    }
    return outcome_ok();
}

Outcome check_differences(const Case *c, const Run *run, Seen *seen)
{
    Opened opened;
    Case fine = *c;
    fine.seed = plain_seed(c->seed); /* no kink is hit */
    Outcome out;
    OracleRun gradient;
    Differences d = {.c = &fine, .opened = &opened};
    bool ok = case_open(&opened, &fine, run);
    if (ok)
        d.given = give_leaves(&opened, &fine, &fine.batches[0]);
    if (ok && oracle_of(&opened, &fine, &fine.batches[0], &d.given, 1, DT_F64, &gradient)) {
        d.loss = clone_function(opened.function, "loss.alone");
        FOR_OPS (op, &d.loss->body)
            if (op->kind == OP_assign ||
                (op->kind == OP_output && strcmp(op_string(op, ATTR_name), "loss")))
                block_remove(&d.loss->body, op);
        remove_dead(d.loss);
        out = check_gradients(&d, &gradient.outputs, seen);
    } else
        out = outcome_of_diags(RESULT_INVALID, &opened.diags, "gradient");
    case_close(&opened);
    return out;
}
