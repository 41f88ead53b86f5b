/* A compiled multi30k_small, for equal.sh: what it computes goes into the folder's
 * files, as jit.c writes them.
 *
 * Usage: library FOLDER SEED THREADS */
#include "multi30k_small.h"

#include "batches.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 20, FORWARDS = 3, BEAM = 4 };

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, multi30k_small_error_text(status),
            multi30k_small_error_detail());
    exit(1);
}

static void put_logits(multi30k_small_session *session, FILE *out)
{
    for (int number = 0; number < FORWARDS; number++) {
        TestBatch batch;
        test_batch(&batch, 1000 + number, multi30k_small_VOCABULARY);
        multi30k_small_forward_in in = {.B = batch.rows,
                                        .S_lengths = batch.source_lengths,
                                        .T_lengths = batch.target_lengths,
                                        .src = batch.source,
                                        .tgt = batch.target};
        multi30k_small_forward_out results;
        check(multi30k_small_forward(session, &in, &results), "forward");
        fwrite(results.logits, sizeof(float),
               (size_t)batch.target_tokens * multi30k_small_VOCABULARY, out);
    }
}

static void put_beams(multi30k_small *model, multi30k_small_session *session, int32_t beam,
                      FILE *out)
{
    TestBatch batch;
    multi30k_small_generation settings;
    multi30k_small_result results[MOST_ROWS * BEAM];
    test_batch(&batch, 2000, multi30k_small_VOCABULARY);
    multi30k_small_generation_defaults(model, &settings);
    settings.beam = settings.nbest = beam;
    settings.bos = TEST_BOS;
    settings.eos = TEST_EOS;
    check(multi30k_small_generate(session, &settings, batch.rows, batch.source_lengths,
                                  batch.source, results),
          "generate");
    for (int32_t r = 0; r < batch.rows * beam; r++) {
        fprintf(out, "%a %a:", results[r].log_probability, results[r].score);
        for (int64_t i = 0; i < results[r].n; i++)
            fprintf(out, " %d", results[r].ids[i]);
        fputc('\n', out);
    }
}

static void put_losses(multi30k_small_session *session, uint64_t seed, FILE *out)
{
    for (int step = 1; step <= STEPS; step++) {
        TestBatch batch;
        test_batch(&batch, step, multi30k_small_VOCABULARY);
        multi30k_small_train_step_in in = {.seed = seed,
                                           .B = batch.rows,
                                           .S_lengths = batch.source_lengths,
                                           .T_lengths = batch.target_lengths,
                                           .src = batch.source,
                                           .tgt = batch.target,
                                           .tgt_next = batch.next,
                                           .rate = test_rate(step)};
        multi30k_small_train_step_out results;
        check(multi30k_small_train_step(session, &in, &results), "train_step");
        fprintf(out, "%d %a\n", step, results.loss);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4 || chdir(argv[1]))
        return 2;
    uint64_t seed = strtoull(argv[2], NULL, 10);
    multi30k_small *model;
    multi30k_small_session *session;
    multi30k_small_set_threads(atoi(argv[3]));
    check(multi30k_small_open_new(7, &model), "open_new");
    check(multi30k_small_session_new(model, &session), "session_new");
    FILE *logits = fopen("logits", "wb"), *beams = fopen("beams", "w"),
         *losses = fopen("losses", "w");
    /* the same session, before and after training */
    for (int trained = 0; trained < 2; trained++) {
        put_logits(session, logits);
        put_beams(model, session, 1, beams);
        put_beams(model, session, BEAM, beams);
        if (!trained)
            put_losses(session, seed, losses);
    }
    fclose(logits);
    fclose(beams);
    fclose(losses);
    check(multi30k_small_save(model, "trained.safetensors"), "save");
    multi30k_small_session_free(session);
    multi30k_small_close(model);
    return 0;
}
