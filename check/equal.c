/* Two ways to compute the same must agree. */
#include "check/check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ||a|| and ||a - b|| of an output; infinite where only one is a number. */
static void norms(const TfcPort *port, const void *a, const void *b, int64_t n, double *size,
                  double *apart)
{
    double sum = 0, distance = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = element_value(port->type, a, i), y = element_value(port->type, b, i);
        if (x == y || (isnan(x) && isnan(y))) {
            sum += isfinite(x) ? x * x : 0;
            continue;
        }
        sum += x * x;
        distance += isfinite(x - y) ? (x - y) * (x - y) : INFINITY;
    }
    *size = isfinite(sum) ? sqrt(sum) : 0;
    *apart = sqrt(distance);
}

static const TfcPort *find_output(const TfcProgram *program, const char *name)
{
    for (int i = 0; i < program->n_outputs; i++)
        if (!strcmp(program->outputs[i].name, name))
            return &program->outputs[i];
    return NULL;
}

/* The greatest relative difference of any output. */
static double compare_outputs(Variant *a, Variant *b, const char **worst)
{
    double greatest = 0, error = 0, size, apart;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < a->program->n_outputs; i++) {
            const TfcPort *port = &a->program->outputs[i];
            if (!find_output(b->program, port->name))
                continue;
            norms(port, exec_output(a->exec, port->name), exec_output(b->exec, port->name),
                  exec_output_count(a->exec, port->name), &size, &apart);
            if (pass == 0) {
                greatest = fmax(greatest, size);
                continue;
            }
            double found = apart > 0 ? apart / fmax(size, CHECK_SMALL * greatest) : 0;
            if (!(found <= error)) {
                error = found;
                *worst = port->name;
            }
        }
    return error;
}

bool check_same(Check *check, const char *name, Variant *a, Variant *b, double tolerance)
{
    SyntheticOptions shape = check_shape(check, check->usual);
    variant_put_states(b, variant_states(a, check->job->arena)); /* runs so far have changed them */
    bool ok = variant_feed(check, a, &shape) && variant_feed(check, b, &shape) &&
              variant_run(check, a) && variant_run(check, b);
    if (ok) {
        const char *worst = "none";
        double error = compare_outputs(a, b, &worst);
        check_row(check, name, error <= tolerance ? CHECK_OK : CHECK_FAILED,
                  arena_printf(check->job->arena, "%d outputs, worst %.1e (%s)",
                               a->program->n_outputs, error, worst));
    }
    return ok;
}

/* ---- threads ---- */

enum { THREAD_STEPS = 3 };

static bool train_steps(Check *check, Variant *v, const SyntheticOptions *shape, int threads)
{
    exec_set_threads(threads);
    v->binding = (Binding){.job = check->job};
    synthetic_inputs(&v->binding, v->session.model->module, shape);
    const float rate = 1e-2f;
    float step = 1;
    const StTensor scalars[] = {
        {.name = "rate", .type = ST_F32, .count = 1, .data = &rate, .bytes = 4},
        {.name = "step", .type = ST_F32, .count = 1, .data = &step, .bytes = 4}};
    for (int i = 0; i < 2; i++)
        vec_push(check->job->arena, v->binding.made, scalars[i]);
    if (!tensors_bind(&v->binding, v->program, v->exec))
        return false;
    for (; step <= THREAD_STEPS; step++) {
        exec_input(v->exec, "step", &step);
        if (!variant_run(check, v))
            return false;
    }
    return true;
}

bool check_threads(Check *check)
{
    static const char name[] = "1 thread = 2 threads, bit for bit";
    Variant v[2];
    VariantOptions options = {.function = "train_step", .type = DT_F32, .opt_level = 2};
    /* Large enough that loops are shared out, short enough for every model's context. */
    SyntheticOptions shape = {.batch = 150,
                              .source_length = 12,
                              .target_length = 12,
                              .ragged = true,
                              .seed = check->seed};
    int before = exec_threads();
    bool ok = true;
    for (int i = 0; i < 2; i++)
        ok = variant_open(check, &v[i], &options) && ok;
    for (int i = 0; i < 2; i++)
        ok = ok && train_steps(check, &v[i], &shape, i + 1);
    exec_set_threads(before);
    const char *differs = NULL;
    for (int64_t i = 0; ok && i < store_count(v[0].store) && !differs; i++) {
        const StoreTensor *a = store_at(v[0].store, i), *b = store_at(v[1].store, i);
        if (memcmp(a->data, b->data, (size_t)a->count * 4))
            differs = a->name;
    }
    if (ok)
        check_row(check, name, differs ? CHECK_FAILED : CHECK_OK,
                  arena_printf(check->job->arena,
                               differs ? "after %d steps of training %s differs"
                                       : "params and optimizer after %d steps of training%s",
                               THREAD_STEPS, differs ? differs : ""));
    variant_close(&v[0]);
    variant_close(&v[1]);
    return ok;
}
