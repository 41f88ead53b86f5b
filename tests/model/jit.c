/* The same as library.c through the JIT, by the calls that tfc run, train and
 * translate make.
 *
 * Usage: model_jit MODEL.tfg FOLDER SEED THREADS GEMM */
#include "tests/model/batches.h"

#include "driver/run/inference.h"
#include "driver/run/weights.h"
#include "runtime/train/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20, FORWARDS = 3, BEAM = 4 };

typedef struct Driver {
    Job *job;
    Session session;
    Store *store;
    Inference inference;
    Exec *forward, *train;
    uint64_t seed;
} Driver;

static void fail(Driver *d, const char *what)
{
    job_error(d->job, "%s", what);
    Text text = {0};
    diag_render(&d->job->diags, &text);
    fputs(text.data, stderr);
    exit(1);
}

static Exec *new_exec(Driver *d, const char *function)
{
    const TfcProgram *program =
        session_compile(&d->session, session_function(&d->session, function));
    if (!program || !store_add_program(d->store, program))
        fail(d, function);
    return exec_new(program, d->store);
}

static void open_driver(Driver *d, const char *model)
{
    SessionOptions options = session_defaults(model);
    if (!session_open(&d->session, d->job, &options))
        fail(d, model);
    d->forward = new_exec(d, "forward");
    d->train = new_exec(d, "train_step");
    inference_init(&d->inference, &d->session, d->store, NULL);
    if (!inference_prepare_decode(&d->inference) ||
        !weights_initialise(d->job, d->inference.session->model, d->store, 7))
        fail(d, "no decoder or initial values");
}

static void feed(Exec *exec, const TestBatch *batch, bool trains)
{
    exec_set_ragged(exec, exec_dim(exec, "S"), batch->rows, batch->source_lengths, NULL);
    exec_set_ragged(exec, exec_dim(exec, "T"), batch->rows, batch->target_lengths, NULL);
    exec_input(exec, "src", batch->source);
    exec_input(exec, "tgt", batch->target);
    if (trains)
        exec_input(exec, "tgt.next", batch->next);
}

static void put_logits(Driver *d, FILE *out)
{
    int64_t vocab = d->inference.ports.vocab;
    for (int number = 0; number < FORWARDS; number++) {
        TestBatch batch;
        test_batch(&batch, 1000 + number, (int32_t)vocab);
        feed(d->forward, &batch, false);
        if (!exec_run(d->forward))
            fail(d, "forward");
        fwrite(exec_output(d->forward, "logits"), sizeof(float),
               (size_t)(batch.target_tokens * vocab), out);
    }
}

static void put_beams(Driver *d, int32_t beam, FILE *out)
{
    TestBatch batch;
    Arena *arena = arena_new();
    test_batch(&batch, 2000, (int32_t)d->inference.ports.vocab);
    DecodeSettings settings = decode_defaults();
    settings.beam = settings.nbest = beam;
    settings.bos = TEST_BOS;
    settings.eos = TEST_EOS;
    settings.length_limit = (int32_t)inference_max_length(&d->inference) - 1;
    Decoded decoded[MOST_ROWS];
    const Sources sources = {
        .n = batch.rows, .lengths = {[SIDE_SOURCE] = batch.source_lengths}, .tokens = batch.source};
    if (!decode_batch(&d->inference.stepper, &settings, &sources, NULL, NULL, batch.rows, arena,
                      decoded))
        fail(d, "decode");
    for (int32_t b = 0; b < batch.rows; b++)
        for (int32_t i = 0; i < decoded[b].n; i++) {
            const Hypothesis *h = &decoded[b].best[i];
            fprintf(out, "%a %a:", h->log_probability, h->score);
            for (int32_t k = 0; k < h->n; k++)
                fprintf(out, " %d", h->ids[k]);
            fputc('\n', out);
        }
    arena_free(arena);
}

static void put_losses(Driver *d, FILE *out)
{
    for (int step = 1; step <= STEPS; step++) {
        TestBatch batch;
        const float rate = (float)test_rate(step), number = (float)step;
        test_batch(&batch, step, (int32_t)d->inference.ports.vocab);
        feed(d->train, &batch, true);
        exec_input(d->train, "rate", &rate);
        exec_input(d->train, "step", &number);
        exec_set_rng(d->train, d->seed, (uint64_t)step);
        if (!exec_run(d->train))
            fail(d, "train_step");
        fprintf(out, "%d %a\n", step, *(const float *)exec_output(d->train, "loss"));
    }
}

static void run(Driver *d, const char *folder)
{
    Arena *arena = d->job->arena;
    FILE *logits = fopen(arena_printf(arena, "%s/logits", folder), "wb");
    FILE *beams = fopen(arena_printf(arena, "%s/beams", folder), "w");
    FILE *losses = fopen(arena_printf(arena, "%s/losses", folder), "w");
    for (int trained = 0; trained < 2; trained++) {
        put_logits(d, logits);
        put_beams(d, 1, beams);
        put_beams(d, BEAM, beams);
        if (!trained)
            put_losses(d, losses);
    }
    fclose(logits);
    fclose(beams);
    fclose(losses);
    TrainState state = {.step = STEPS, .seed = d->seed};
    if (!checkpoint_save(&d->job->diags, arena,
                         arena_printf(arena, "%s/trained.safetensors", folder), false, d->store,
                         &state))
        fail(d, "save");
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    Job job = {.arena = arena_new(), .gemm = argv[5]};
    diag_init(&job.diags, job.arena);
    Driver d = {.job = &job, .store = store_new(), .seed = strtoull(argv[3], NULL, 10)};
    exec_set_threads(atoi(argv[4]));
    open_driver(&d, argv[1]);
    run(&d, argv[2]);
    exec_free(d.forward);
    exec_free(d.train);
    inference_free(&d.inference);
    session_close(&d.session);
    store_free(d.store);
    arena_free(job.arena);
    return 0;
}
