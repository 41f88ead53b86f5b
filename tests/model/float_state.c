/* A compiled multi30k_small whose caller's thread flushes denormals to zero or rounds upwards, as
 * libraries linked with -ffast-math leave it, for float_state.sh: the same bits, on helper threads,
 * too, and afterwards the thread's state is what it was. */
#include "multi30k_small.h"

#include "batches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { USUAL = 0x1f80, FLUSHES = 0x9fc0, UPWARDS = 0x5f80, FLAGS = 0x3f, STEPS = 3 };
enum { MOST = 1 << 16 };

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, multi30k_small_error_text(status),
            multi30k_small_error_detail());
    exit(1);
}

static size_t forward(multi30k_small_session *session, float *logits)
{
    TestBatch batch;
    test_batch(&batch, 1000, multi30k_small_VOCABULARY);
    multi30k_small_forward_in in = {.B = batch.rows,
                                    .S_lengths = batch.source_lengths,
                                    .T_lengths = batch.target_lengths,
                                    .src = batch.source,
                                    .tgt = batch.target};
    multi30k_small_forward_out results;
    check(multi30k_small_forward(session, &in, &results), "forward");
    size_t n = (size_t)batch.target_tokens * multi30k_small_VOCABULARY;
    n = n < MOST ? n : MOST;
    memcpy(logits, results.logits, n * sizeof *logits);
    return n;
}

static void train(multi30k_small_session *session, float *losses)
{
    for (int step = 1; step <= STEPS; step++) {
        TestBatch batch;
        test_batch(&batch, step, multi30k_small_VOCABULARY);
        multi30k_small_train_step_in in = {.seed = 3,
                                           .B = batch.rows,
                                           .S_lengths = batch.source_lengths,
                                           .T_lengths = batch.target_lengths,
                                           .src = batch.source,
                                           .tgt = batch.target,
                                           .tgt_next = batch.next,
                                           .rate = test_rate(step)};
        multi30k_small_train_step_out results;
        check(multi30k_small_train_step(session, &in, &results), "train_step");
        losses[step - 1] = results.loss;
    }
}

/* Denormals among the logits: the embedding, by which they are multiplied, becomes tiny. */
static void shrink(multi30k_small *model)
{
    multi30k_small_parameter_info info;
    check(multi30k_small_parameter(model, 0, &info), "parameter");
    for (int64_t i = 0; i < info.count; i++) {
        uint32_t bits;
        char *at = (char *)info.data + i * (int64_t)sizeof bits;
        memcpy(&bits, at, sizeof bits);
        bits = bits % 2 ? 0x00700000 : 0x80600000;
        memcpy(at, &bits, sizeof bits);
    }
}

/* All that is computed in this state, into the file. */
static size_t run(unsigned state, const char *path, float *out, float *losses)
{
    multi30k_small *model;
    multi30k_small_session *session;
    _mm_setcsr(state);
    check(multi30k_small_open_new(7, &model), "open_new");
    check(multi30k_small_session_new(model, &session), "session");
    train(session, losses);
    check(multi30k_small_save(model, path), "save");
    multi30k_small_session_free(session);
    multi30k_small_close(model);
    check(multi30k_small_open_new(7, &model), "open_new");
    shrink(model);
    check(multi30k_small_session_new(model, &session), "session");
    size_t n = forward(session, out);
    multi30k_small_session_free(session);
    multi30k_small_close(model);
    unsigned after = _mm_getcsr();
    _mm_setcsr(USUAL);
    if ((after & ~(unsigned)FLAGS) != (state & ~(unsigned)FLAGS)) {
        fprintf(stderr, "MXCSR was 0x%x, and is 0x%x afterwards\n", state, after);
        exit(1);
    }
    return n;
}

int main(void)
{
    static const unsigned states[] = {FLUSHES, USUAL, UPWARDS};
    static const char *const files[] = {"flushes.safetensors", "usual.safetensors",
                                        "upwards.safetensors"};
    static float logits[3][MOST], losses[3][STEPS];
    size_t n = 0, denormals = 0;
    multi30k_small_set_threads(2);
    for (int i = 0; i < 3; i++)
        n = run(states[i], files[i], logits[i], losses[i]);
    for (size_t i = 0; i < n; i++)
        denormals += logits[1][i] != 0 && __builtin_fabsf(logits[1][i]) < __FLT_MIN__;
    if (!denormals) {
        fprintf(stderr, "no logit is denormal\n");
        return 1;
    }
    for (int i = 0; i < 3; i += 2)
        if (memcmp(logits[i], logits[1], n * sizeof(float)) ||
            memcmp(losses[i], losses[1], sizeof losses[i])) {
            fprintf(stderr, "0x%x: other results\n", states[i]);
            return 1;
        }
    return 0;
}
