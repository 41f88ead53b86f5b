/* A hundred steps of Adam at the Noam rate, dropout off, on the batches of
 * tests/fixtures/transformer_steps.safetensors: the loss of every step is PyTorch's
 * within 0.1 %. The program is train_step itself, fed here instead of by the trainer. */
#include "tests/reference/harness.h"

#include "driver/run/weights.h"
#include "driver/session/session.h"
#include "runtime/train/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE "tests/fixtures/transformer_steps.safetensors"

enum { STEPS = 100, BATCHES = 4 };

/* A padded batch of the fixture, packed: the tokens that exist, row after row. */
typedef struct PackedBatch {
    int64_t rows;
    int32_t *source, *target, *next, *source_lengths, *target_lengths;
} PackedBatch;

static int32_t *read_ints(Harness *h, const StTensor *tensor)
{
    int32_t *values = ARENA_ARRAY(h->arena, int32_t, tensor->count);
    for (int64_t i = 0; i < tensor->count; i++)
        values[i] = (int32_t)st_value(tensor, i);
    return values;
}

static int32_t *pack(Harness *h, const StTensor *padded, const int32_t *lengths)
{
    int32_t *packed = ARENA_ARRAY(h->arena, int32_t, padded->count), *at = packed;
    for (int64_t row = 0; row < padded->dims[0]; row++)
        for (int32_t k = 0; k < lengths[row]; k++)
            *at++ = (int32_t)st_value(padded, row * padded->dims[1] + k);
    return packed;
}

static PackedBatch read_batch(Harness *h, const StFile *file, int number)
{
    static const char *const names[] = {"src", "tgt", "tgt.next", "src.lengths", "tgt.lengths"};
    const StTensor *tensors[5];
    for (int i = 0; i < 5; i++)
        tensors[i] = st_find(file, arena_printf(h->arena, "%d.%s", number, names[i]));
    PackedBatch batch = {.rows = tensors[0]->dims[0],
                         .source_lengths = read_ints(h, tensors[3]),
                         .target_lengths = read_ints(h, tensors[4])};
    batch.source = pack(h, tensors[0], batch.source_lengths);
    batch.target = pack(h, tensors[1], batch.target_lengths);
    batch.next = pack(h, tensors[2], batch.target_lengths);
    return batch;
}

static bool run_step(Exec *exec, const PackedBatch *batch, int step, double rate, double *loss)
{
    float rate_input = (float)rate, step_input = (float)step;
    exec_set_ragged(exec, exec_dim(exec, "S"), batch->rows, batch->source_lengths, NULL);
    exec_set_ragged(exec, exec_dim(exec, "T"), batch->rows, batch->target_lengths, NULL);
    bool ok = exec_input(exec, "src", batch->source) && exec_input(exec, "tgt", batch->target) &&
              exec_input(exec, "tgt.next", batch->next) && exec_input(exec, "rate", &rate_input) &&
              exec_input(exec, "step", &step_input);
    exec_set_rng(exec, 1, (uint64_t)step);
    if (!ok || !exec_run(exec))
        return false;
    *loss = *(const float *)exec_output(exec, "loss");
    return true;
}

static void run_steps(Harness *h, Exec *exec, const StFile *file, int level)
{
    PackedBatch batches[BATCHES];
    for (int i = 0; i < BATCHES; i++)
        batches[i] = read_batch(h, file, i);
    RateSettings rate = {.kind = RATE_NOAM,
                         .d_model = atof(st_meta(file, "d_model")),
                         .factor = atof(st_meta(file, "factor")),
                         .warmup = atoll(st_meta(file, "warmup"))};
    const StTensor *losses = st_find(file, "losses");
    double worst = 0, loss = NAN;
    for (int step = 1; step <= STEPS; step++) {
        bool ran =
            run_step(exec, &batches[(step - 1) % BATCHES], step, schedule_rate(&rate, step), &loss);
        if (!harness_check(h, ran, "-O%d, step %d did not run", level, step))
            return;
        double theirs = st_value(losses, step - 1), off = fabs(loss - theirs) / theirs;
        worst = fmax(worst, off);
        harness_check(h, off <= 1e-3, "-O%d, step %d: loss %g, PyTorch's %g", level, step, loss,
                      theirs);
    }
    printf("-O%d: %d steps, loss %.4f → %.4f, at most %.1e from PyTorch's\n", level, STEPS,
           st_value(losses, 0), loss, worst);
}

static bool train(Harness *h, Job *job, const StFile *file, int level)
{
    SessionOptions options = session_defaults("models/transformer_base.tfg");
    options.opt_level = level;
    vec_push(job->arena, options.settings, "p_drop=0");
    for (int64_t i = 0; i < file->n_meta; i++)
        if (strcmp(file->meta_keys[i], "warmup") && strcmp(file->meta_keys[i], "factor"))
            vec_push(job->arena, options.settings,
                     arena_printf(job->arena, "%s=%s", file->meta_keys[i], file->meta_values[i]));
    Session session;
    Store *store = store_new();
    bool ok = session_open(&session, job, &options);
    if (ok) {
        const TfcProgram *program =
            session_compile(&session, session_function(&session, "train_step"));
        ok = program && store_add_program(store, program) &&
             weights_initialise(job, session.model, store, 1) &&
             weights_load(job, session.model, store, FIXTURE, NULL);
        if (ok) {
            Exec *exec = exec_new(program, store);
            run_steps(h, exec, file, level);
            exec_free(exec);
        }
        session_close(&session);
    }
    store_free(store);
    return ok;
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    Job job = {.arena = h.arena};
    diag_init(&job.diags, job.arena);
    StFile *file = harness_open(&h, FIXTURE);
    for (int level = 0; level <= 2; level += 2)
        harness_check(&h, train(&h, &job, file, level), "-O%d: train_step was not made", level);
    harness_tell(&job.diags);
    st_close(file);
    return harness_finish(&h);
}
