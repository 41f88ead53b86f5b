/* Trains a compiled model for checkpoint.sh and saves it.
 *
 * Usage: resume FROM SEED STEPS SAVE BATCHES   (FROM: new, or a checkpoint; STEPS: -1: one
 * whose gradient is not finite, which must be told; BATCHES:
 * various, or pair: four times the pair "a b c", "c b a d" of checkpoint.sh's words).
 * Prints each step's number and loss. Exit status 10 + the library's, after errors. */
#include "pairs.h"

#include "batches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status)
{
    if (!status)
        return;
    fprintf(stderr, "%s (%s)\n", pairs_error_text(status), pairs_error_detail());
    exit(10 + status);
}

static void pair_batch(TestBatch *batch)
{
    static const int32_t source[] = {4, 5, 6, 3}, words[] = {2, 6, 5, 4, 7, 3};
    *batch = (TestBatch){.rows = 4};
    for (int32_t b = 0; b < batch->rows; b++) {
        memcpy(batch->source + 4 * b, source, sizeof source);
        memcpy(batch->target + 5 * b, words, 5 * sizeof *words);
        memcpy(batch->next + 5 * b, words + 1, 5 * sizeof *words);
        batch->source_lengths[b] = 4;
        batch->target_lengths[b] = 5;
    }
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    pairs *model;
    pairs_session *session;
    bool various = !strcmp(argv[5], "various");
    check(!strcmp(argv[1], "new") ? pairs_open_new(3, &model)
                                  : pairs_open_checkpoint(argv[1], &model));
    check(pairs_session_new(model, &session));
    int steps = atoi(argv[3]);
    for (int i = 0; i < (steps < 0 ? 1 : steps); i++) {
        TestBatch batch;
        int64_t step = pairs_steps(model) + 1;
        if (various)
            test_batch(&batch, (int)step, pairs_VOCABULARY);
        else
            pair_batch(&batch);
        pairs_train_step_in in = {.seed = strtoull(argv[2], NULL, 10),
                                  .B = batch.rows,
                                  .S_lengths = batch.source_lengths,
                                  .T_lengths = batch.target_lengths,
                                  .src = batch.source,
                                  .tgt = batch.target,
                                  .tgt_next = batch.next,
                                  .rate = various ? test_rate(step) : 0.01};
        pairs_train_step_out out;
        int status = pairs_train_step(session, &in, &out);
        if (steps < 0 && status == pairs_ERROR_NUMBER)
            continue;
        check(status);
        printf("%lld %a\n", (long long)pairs_steps(model), out.loss);
    }
    pairs_session_free(session);
    check(pairs_save(model, argv[4]));
    pairs_close(model);
    return 0;
}
