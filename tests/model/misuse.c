/* Every function of a compiled multi30k_small with arguments that are not allowed: each call
 * gives the status that the header tells, the detail names the argument, and the session
 * computes afterwards what it computed before.
 *
 * Usage: misuse WEIGHTS   (a safetensors file that fits) */
#include "multi30k_small.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(name) multi30k_small_##name
enum { BOS = 1, EOS = 2, ARGUMENT = N(ERROR_ARGUMENT), MEMORY = N(ERROR_MEMORY) };

static int wrong;

/* Runs the call and compares status and words; `words` is a part of the detail. */
#define REFUSES(status, words, call)                                                          \
    do {                                                                                      \
        int got_ = (call);                                                                    \
        if (got_ != (status) || !strstr(N(error_detail)(), (words))) {                        \
            fprintf(stderr, "%s: %d (%s), not %d (… %s …)\n", #call, got_, N(error_detail)(), \
                    (int)(status), (words));                                                  \
            wrong++;                                                                          \
        }                                                                                     \
    } while (0)
#define WORKS(call)                                                           \
    do {                                                                      \
        int got_ = (call);                                                    \
        if (got_) {                                                           \
            fprintf(stderr, "%s: %d (%s)\n", #call, got_, N(error_detail)()); \
            wrong++;                                                          \
        }                                                                     \
    } while (0)

/* ---- what is right ---- */

static const int32_t lengths[] = {3, 1}, src[] = {4, 5, 6, 7}, tgt[] = {1, 8, 1, 9},
                     target_lengths[] = {2, 2};
static const int32_t slots[] = {0, 1}, tokens[] = {BOS, BOS};

static N(forward_in) right_forward(void)
{
    return (N(forward_in)){
        .B = 2, .S_lengths = lengths, .T_lengths = target_lengths, .src = src, .tgt = tgt};
}

static N(train_step_in) right_step(void)
{
    static const int32_t next[] = {8, EOS, 9, EOS};
    return (N(train_step_in)){.seed = 1,
                              .B = 2,
                              .S_lengths = lengths,
                              .T_lengths = target_lengths,
                              .src = src,
                              .tgt = tgt,
                              .tgt_next = next,
                              .rate = 1e-3};
}

static N(generation) right_settings(multi30k_small *model)
{
    N(generation) settings;
    WORKS(N(generation_defaults)(model, &settings));
    settings.bos = BOS;
    settings.eos = EOS;
    settings.length_limit = 8;
    return settings;
}

/* One number that follows from everything a session does. */
static double digest(multi30k_small *model, N(session) * session)
{
    N(forward_in) in = right_forward();
    N(forward_out) out;
    N(generation) settings = right_settings(model);
    N(result) result[2];
    const float *logits;
    double sum = 0;
    WORKS(N(forward)(session, &in, &out));
    for (int i = 0; i < 4 * N(VOCABULARY); i++)
        sum += out.logits[i];
    WORKS(N(generate)(session, &settings, 2, lengths, src, result));
    sum += result[0].log_probability + result[1].log_probability;
    WORKS(N(encode)(session, 2, lengths, src, 2));
    WORKS(N(decode_step)(session, 2, NULL, slots, tokens, &logits));
    for (int i = 0; i < 2 * N(VOCABULARY); i++)
        sum += logits[i];
    return sum;
}

/* ---- models ---- */

static void open_wrong(const char *weights)
{
    multi30k_small *model = (void *)&wrong;
    REFUSES(ARGUMENT, "model is NULL", N(open)(weights, NULL));
    REFUSES(ARGUMENT, "model is NULL", N(open_new)(1, NULL));
    REFUSES(ARGUMENT, "model is NULL", N(open_checkpoint)(weights, NULL));
    REFUSES(ARGUMENT, "path is NULL", N(open_checkpoint)(NULL, &model));
    REFUSES(N(ERROR_WEIGHTS), "absent", N(open_checkpoint)("absent.safetensors", &model));
    REFUSES(N(ERROR_WEIGHTS), "no weights are inside", N(open)(NULL, &model));
    REFUSES(N(ERROR_WEIGHTS), "cannot read", N(open)("", &model));
    REFUSES(N(ERROR_VERSION), "another", N(open_version)(N(HEADER) + 1, weights, &model));
    if (model)
        wrong++, fprintf(stderr, "a model after an error\n");
}

static void use_model_wrong(multi30k_small *model)
{
    N(parameter_info) info;
    N(session) * session;
    N(generation) settings;
    REFUSES(ARGUMENT, "model is NULL", N(save)(NULL, "x.safetensors"));
    REFUSES(ARGUMENT, "path is NULL", N(save)(model, NULL));
    REFUSES(N(ERROR_FILE), "cannot write", N(save)(model, ""));
    REFUSES(N(ERROR_FILE), "cannot write", N(save)(model, "no/such/folder.safetensors"));
    REFUSES(N(ERROR_FILE), "folder", N(save)(model, "."));
    REFUSES(-1, "model is NULL", (int)N(steps)(NULL));
    REFUSES(-1, "model is NULL", (int)N(parameter_count)(NULL));
    REFUSES(ARGUMENT, "model is NULL", N(parameter)(NULL, 0, &info));
    REFUSES(ARGUMENT, "info is NULL", N(parameter)(model, 0, NULL));
    REFUSES(ARGUMENT, "number -1", N(parameter)(model, -1, &info));
    REFUSES(ARGUMENT, "they go from 0", N(parameter)(model, N(parameter_count)(model), &info));
    REFUSES(ARGUMENT, "number 9223372036854775807", N(parameter)(model, INT64_MAX, &info));
    REFUSES(ARGUMENT, "name is NULL", N(parameter_named)(model, NULL, &info));
    REFUSES(ARGUMENT, "no parameter 'nobody'", N(parameter_named)(model, "nobody", &info));
    REFUSES(ARGUMENT, "info is NULL", N(parameter_named)(model, "embedding", NULL));
    REFUSES(ARGUMENT, "0 threads", N(set_threads)(0));
    REFUSES(ARGUMENT, "-1 threads", N(set_threads)(-1));
    REFUSES(ARGUMENT, "from 1 to 1024", N(set_threads)(100000));
    REFUSES(ARGUMENT, "model is NULL", N(session_new)(NULL, &session));
    REFUSES(ARGUMENT, "session is NULL", N(session_new)(model, NULL));
    REFUSES(ARGUMENT, "model is NULL", N(generation_defaults)(NULL, &settings));
    REFUSES(ARGUMENT, "settings is NULL", N(generation_defaults)(model, NULL));
    N(close)(NULL);
    N(session_free)(NULL);
    if (!strstr(N(error_text)(12345), "no such error") ||
        !strstr(N(error_text)(-1), "no such error"))
        wrong++, fprintf(stderr, "a text for an error that there is not\n");
}

/* ---- tensors ---- */

static void forward_wrong(N(session) * session)
{
    static const int32_t negative[] = {3, -1}, huge[] = {INT32_MAX, INT32_MAX},
                         large[] = {INT32_MAX, 0};
    static const int32_t beyond[] = {4, 5, 6, N(VOCABULARY)}, below[] = {4, -1, 6, 7};
    N(forward_in) in = right_forward();
    N(forward_out) out;
    REFUSES(ARGUMENT, "session is NULL", N(forward)(NULL, &in, &out));
    REFUSES(ARGUMENT, "in is NULL", N(forward)(session, NULL, &out));
    REFUSES(ARGUMENT, "out is NULL", N(forward)(session, &in, NULL));
#define WITH(field, value, status, words)                       \
    do {                                                        \
        in = right_forward();                                   \
        in.field = (value);                                     \
        REFUSES(status, words, N(forward)(session, &in, &out)); \
    } while (0)
    WITH(B, -1, ARGUMENT, "dimension B is -1");
    WITH(B, INT64_MAX, ARGUMENT, "dimension B");
    WITH(S_lengths, NULL, ARGUMENT, "S_lengths is NULL");
    WITH(S_lengths, negative, ARGUMENT, "S_lengths[1] is -1");
    WITH(T_lengths, huge, ARGUMENT, "pass 2^31");
    WITH(src, NULL, ARGUMENT, "'src' is NULL");
    WITH(tgt, NULL, ARGUMENT, "'tgt' is NULL");
    WITH(src, beyond, ARGUMENT, "id 3 of 'src' is 40: ids go from 0 to 39 (row 1, position 0)");
    WITH(tgt, below, ARGUMENT, "id 1 of 'tgt' is -1");
#undef WITH
    /* 2^31 tokens against 2^31 tokens: no product of sizes overflows on the way to the answer. */
    in = right_forward();
    in.S_lengths = in.T_lengths = large;
    in.src = in.tgt = NULL;
    REFUSES(MEMORY, "out of memory", N(forward)(session, &in, &out));
    in = (N(forward_in)){0}; /* nothing at all is allowed */
    WORKS(N(forward)(session, &in, &out));
}

static void train_wrong(N(session) * session)
{
    static const int32_t beyond[] = {8, EOS, N(VOCABULARY), EOS};
    N(train_step_in) in = right_step();
    N(train_step_out) out;
    REFUSES(ARGUMENT, "session is NULL", N(train_step)(NULL, &in, &out));
    REFUSES(ARGUMENT, "in is NULL", N(train_step)(session, NULL, &out));
    REFUSES(ARGUMENT, "out is NULL", N(train_step)(session, &in, NULL));
#define WITH(field, value, words)                                    \
    do {                                                             \
        in = right_step();                                           \
        in.field = (value);                                          \
        REFUSES(ARGUMENT, words, N(train_step)(session, &in, &out)); \
    } while (0)
    WITH(rate, NAN, "'rate' is nan");
    WITH(rate, -INFINITY, "'rate' is -inf");
    WITH(tgt_next, beyond,
         "id 2 of 'tgt.next' is 40: ids go from 0 to 39, and below 0 there is none (row 1, "
         "position 0)");
    WITH(tgt_next, NULL, "'tgt.next' is NULL"); /* no eos is known, of which it could be made */
#undef WITH
    in = (N(train_step_in)){.rate = 1e-3}; /* no sentence, so nothing to learn: allowed */
}

/* ---- decoding ---- */

static void decode_wrong(N(session) * session)
{
    static const int32_t negative[] = {3, -1}, huge[] = {INT32_MAX, INT32_MAX},
                         beyond[] = {4, 5, 6, 40};
    static const int32_t twice[] = {1, 1}, three[] = {0, 1, 2}, three_tokens[] = {BOS, BOS, BOS};
    static const int32_t strange[] = {BOS, 40}, many[5] = {0};
    const float *logits;
    REFUSES(ARGUMENT, "no decoding is in progress",
            N(decode_step)(session, 2, NULL, slots, tokens, &logits));
    REFUSES(ARGUMENT, "no decoding is in progress", N(decode_copy)(session, 0, 1));
    REFUSES(ARGUMENT, "session is NULL", N(encode)(NULL, 2, lengths, src, 2));
    REFUSES(ARGUMENT, "n is -1; expected 0 or more", N(encode)(session, -1, lengths, src, 2));
    REFUSES(ARGUMENT, "lengths is NULL", N(encode)(session, 2, NULL, src, 2));
    REFUSES(ARGUMENT, "ids is NULL", N(encode)(session, 2, lengths, NULL, 2));
    REFUSES(ARGUMENT, "lengths[1] is -1; expected 0 or more",
            N(encode)(session, 2, negative, src, 2));
    REFUSES(ARGUMENT, "pass 2^31", N(encode)(session, 2, huge, src, 2));
    REFUSES(ARGUMENT, "id 3 of 'src' is 40", N(encode)(session, 2, lengths, beyond, 2));
    REFUSES(ARGUMENT, "slots is -1; expected 0 or more", N(encode)(session, 2, lengths, src, -1));
    REFUSES(MEMORY, "out of memory", N(encode)(session, 2, lengths, src, INT32_MAX));
    REFUSES(ARGUMENT, "no decoding is in progress",
            N(decode_step)(session, 2, NULL, slots, tokens, &logits));
    WORKS(N(encode)(session, 2, lengths, src, 2));
    REFUSES(ARGUMENT, "session is NULL", N(decode_step)(NULL, 2, NULL, slots, tokens, &logits));
    REFUSES(ARGUMENT, "n is -1", N(decode_step)(session, -1, NULL, slots, tokens, &logits));
    REFUSES(ARGUMENT, "slot is NULL", N(decode_step)(session, 2, NULL, NULL, tokens, &logits));
    REFUSES(ARGUMENT, "token is NULL", N(decode_step)(session, 2, NULL, slots, NULL, &logits));
    REFUSES(ARGUMENT, "logits is NULL", N(decode_step)(session, 2, NULL, slots, tokens, NULL));
    REFUSES(ARGUMENT, "slot[2] is 2: slots go from 0, and the session has 2",
            N(decode_step)(session, 3, NULL, three, three_tokens, &logits));
    REFUSES(ARGUMENT, "slot[1] is 0, as", N(decode_step)(session, 5, NULL, many, many, &logits));
    REFUSES(ARGUMENT, "slot[1] is 1, as",
            N(decode_step)(session, 2, slots, twice, tokens, &logits));
    REFUSES(ARGUMENT, "slot[1] is -1",
            N(decode_step)(session, 2, slots, (int32_t[]){0, -1}, tokens, &logits));
    REFUSES(ARGUMENT, "sentence[1] is 2",
            N(decode_step)(session, 2, (int32_t[]){0, 2}, slots, tokens, &logits));
    REFUSES(ARGUMENT, "id 1 of 'tgt' is 40",
            N(decode_step)(session, 2, NULL, slots, strange, &logits));
    REFUSES(ARGUMENT, "from is 0 and to is 2: slots go from 0", N(decode_copy)(session, 0, 2));
    REFUSES(ARGUMENT, "from is -1 and to is 0", N(decode_copy)(session, -1, 0));
    REFUSES(ARGUMENT, "session is NULL", N(decode_copy)(NULL, 0, 1));
    WORKS(N(decode_step)(session, 2, NULL, slots, tokens, &logits));
    WORKS(N(decode_copy)(session, 1, 1));
    WORKS(N(decode_copy)(session, 0, 1));
    WORKS(N(decode_step)(session, 0, NULL, NULL, NULL, &logits));
    /* More slots than sentences: which sentence a slot is of must be said. */
    WORKS(N(encode)(session, 1, lengths, src, 2));
    REFUSES(ARGUMENT, "sentence[1] is 1: sentences go from 0, and the session has 1",
            N(decode_step)(session, 2, NULL, slots, tokens, &logits));
    WORKS(N(decode_step)(session, 2, (int32_t[]){0, 0}, slots, tokens, &logits));
    WORKS(N(encode)(session, 0, NULL, NULL, 0));
}

static void align_wrong(N(session) * session)
{
    const float *weights;
    REFUSES(ARGUMENT, "weights is NULL", N(alignment)(session, 3, src, 2, tgt, NULL));
    REFUSES(ARGUMENT, "session is NULL", N(alignment)(NULL, 3, src, 2, tgt, &weights));
    REFUSES(ARGUMENT, "n_source is -1", N(alignment)(session, -1, src, 2, tgt, &weights));
    REFUSES(ARGUMENT, "n_target is 2147483647: from 0 to",
            N(alignment)(session, 3, src, INT32_MAX, tgt, &weights));
    REFUSES(ARGUMENT, "source is NULL", N(alignment)(session, 3, NULL, 2, tgt, &weights));
    REFUSES(ARGUMENT, "target is NULL", N(alignment)(session, 3, src, 2, NULL, &weights));
    REFUSES(ARGUMENT, "id 1 of 'src' is 40",
            N(alignment)(session, 2, (int32_t[]){4, N(VOCABULARY)}, 2, tgt, &weights));
    REFUSES(ARGUMENT, "id 0 of 'tgt' is -1",
            N(alignment)(session, 3, src, 1, (int32_t[]){-1}, &weights));
    if (weights)
        wrong++, fprintf(stderr, "weights after an error\n");
    WORKS(N(alignment)(session, 0, NULL, 0, NULL, &weights));
    WORKS(N(alignment)(session, 0, NULL, 2, tgt, &weights));
    WORKS(N(alignment)(session, 3, src, 2, tgt, &weights));
    for (int t = 0; t < 2; t++) {
        float sum = weights[3 * t] + weights[3 * t + 1] + weights[3 * t + 2];
        if (fabsf(sum - 1) > 1e-5F)
            wrong++, fprintf(stderr, "row %d sums to %g\n", t, (double)sum);
    }
}

static void generate_wrong(multi30k_small *model, N(session) * session)
{
    N(generation) s;
    N(result) result[8];
#define WITH(field, value, words)                                                    \
    do {                                                                             \
        s = right_settings(model);                                                   \
        s.field = (value);                                                           \
        REFUSES(ARGUMENT, words, N(generate)(session, &s, 2, lengths, src, result)); \
    } while (0)
    WITH(beam, 0, "beam is 0");
    WITH(beam, 100000000, "beam is 100000000; expected a whole number from 1 to 1024");
    WITH(nbest, 0, "nbest is 0");
    WITH(nbest, 5, "nbest is 5: a search gives no more than its beam, 4");
    WITH(length_extra, -1, "length_extra is -1");
    WITH(length_limit, -1, "length_limit is -1");
    WITH(length_factor, NAN, "length_factor is nan");
    WITH(length_factor, -1, "length_factor is -1");
    WITH(length_penalty, NAN, "length_penalty is nan");
    WITH(length_penalty, INFINITY, "length_penalty is inf");
    WITH(sample, 2, "sample is 2");
    WITH(temperature, NAN, "temperature is nan");
    WITH(temperature, -1, "temperature is -1");
    WITH(top_k, -1, "top_k is -1");
    WITH(top_p, NAN, "top_p is nan");
    WITH(top_p, 1.5, "top_p is 1.5");
    WITH(bos, -1, "bos is -1");
    WITH(eos, N(VOCABULARY), "eos is 40");
    WITH(forbidden[2], N(VOCABULARY), "forbidden[2] is 40");
    WITH(forbidden[0], -2, "forbidden[0] is -2");
    WITH(best_of, 4, "best_of is for samples");
    WITH(best_of, INT32_MAX, "best_of is 2147483647; expected a whole number from 0 to 1024");
    WITH(alternatives, -1, "alternatives is -1");
    WITH(alternatives, INT32_MAX, "alternatives is 2147483647");
    WITH(no_repeat_ngram, INT32_MIN, "no_repeat_ngram is -2147483648");
    WITH(repetition_penalty, NAN, "repetition_penalty is nan");
    WITH(repetition_penalty, 0.5, "repetition_penalty is 0.5; expected a number from 1 to 1000");
    WITH(prefix_text, "a", "prefix_text is for texts");
    const int32_t beginnings[] = {1, -1}, negative[] = {0, -1}, huge[] = {INT32_MAX, INT32_MAX};
    WITH(prefix_lengths, beginnings, "prefix_lengths[1] is -1");
    WITH(prefix_lengths, negative, "prefix_lengths[1] is -1");
    WITH(prefix_lengths, huge, "prefix_lengths[0] is 2147483647");
    const int32_t one_each[] = {1, 1}, foreign[] = {1, N(VOCABULARY)};
    WITH(prefix_lengths, one_each, "prefixes is NULL");
#undef WITH
    s = right_settings(model);
    s.prefix_lengths = one_each;
    s.prefixes = foreign;
    REFUSES(ARGUMENT, "id 1 of 'tgt' is 40", N(generate)(session, &s, 2, lengths, src, result));
    s = right_settings(model);
    s.nbest = 2;
    s.alternatives = 2;
    REFUSES(ARGUMENT, "leave nbest at 1", N(generate)(session, &s, 2, lengths, src, result));
    s.nbest = 1;
    s.sample = 1;
    REFUSES(ARGUMENT, "leave sample at 0", N(generate)(session, &s, 2, lengths, src, result));
    s.alternatives = 0;
    s.nbest = 4;
    s.best_of = 3;
    REFUSES(ARGUMENT, "best_of is less than nbest",
            N(generate)(session, &s, 2, lengths, src, result));
    s = right_settings(model);
    REFUSES(ARGUMENT, "session is NULL", N(generate)(NULL, &s, 2, lengths, src, result));
    REFUSES(ARGUMENT, "n is -1", N(generate)(session, &s, -1, lengths, src, result));
    REFUSES(ARGUMENT, "lengths is NULL", N(generate)(session, &s, 2, NULL, src, result));
    REFUSES(ARGUMENT, "ids is NULL", N(generate)(session, &s, 2, lengths, NULL, result));
    REFUSES(ARGUMENT, "results is NULL", N(generate)(session, &s, 2, lengths, src, NULL));
    /* no vocabulary */
    REFUSES(ARGUMENT, "bos is -1", N(generate)(session, NULL, 2, lengths, src, result));
    WORKS(N(generate)(session, &s, 0, NULL, NULL, NULL));
    s.length_factor = INT32_MAX; /* a limit is a limit */
    WORKS(N(generate)(session, &s, 2, lengths, src, result));
}

/* ---- handles ---- */

static void use_closed(const char *weights)
{
    multi30k_small *model, *other;
    N(session) * session, *left;
    N(forward_in) in = right_forward();
    N(forward_out) out;
    N(parameter_info) info;
    const float *logits;
    WORKS(N(open)(weights, &model));
    WORKS(N(session_new)(model, &session));
    WORKS(N(session_new)(model, &left));
    WORKS(N(encode)(left, 2, lengths, src, 2));
    N(session_free)(session);
    N(session_free)(session);
    REFUSES(ARGUMENT, "session is closed", N(forward)(session, &in, &out));
    N(close)(model);
    N(close)(model);
    WORKS(N(open)(weights, &other)); /* perhaps where the other was */
    REFUSES(ARGUMENT, "model is closed", N(save)(model, "x.safetensors"));
    REFUSES(ARGUMENT, "model is closed", N(parameter)(model, 0, &info));
    REFUSES(ARGUMENT, "model is closed", N(session_new)(model, &session));
    REFUSES(-1, "model is closed", (int)N(steps)(model));
    REFUSES(ARGUMENT, "session's model is closed", N(forward)(left, &in, &out));
    REFUSES(ARGUMENT, "session's model is closed",
            N(decode_step)(left, 2, NULL, slots, tokens, &logits));
    N(session_free)(left);
    REFUSES(ARGUMENT, "session is closed", N(decode_copy)(left, 0, 1));
    /* One for the other, and what never was a handle. */
    REFUSES(ARGUMENT, "session is closed", N(forward)((void *)other, &in, &out));
    REFUSES(ARGUMENT, "model is closed", N(save)((void *)&wrong, "x.safetensors"));
    REFUSES(ARGUMENT, "session is closed", N(forward)((void *)(uintptr_t)1, &in, &out));
    N(close)(other);
}

enum { CALLS = 400 };

typedef struct Race {
    N(session) * session;
    atomic_int busy, ran, other;
} Race;

static void *call_again_and_again(void *argument)
{
    Race *race = argument;
    N(forward_in) in = right_forward();
    N(forward_out) out;
    for (int ran = 0; ran < CALLS && !race->other;) {
        int status = N(forward)(race->session, &in, &out);
        atomic_fetch_add(status == N(ERROR_BUSY) ? &race->busy
                         : status                ? &race->other
                                                 : &race->ran,
                         1);
        ran += !status;
    }
    return NULL;
}

/* Two threads on one session: each call runs or is refused, and who goes on calling gets
 * through. */
static void share_session(multi30k_small *model)
{
    pthread_t threads[2];
    Race race = {0};
    WORKS(N(session_new)(model, &race.session));
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, call_again_and_again, &race))
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    N(session_free)(race.session);
    if (race.other || race.ran != 2 * CALLS)
        wrong++, fprintf(stderr, "%d ran, %d were refused, %d failed\n", race.ran, race.busy,
                         race.other);
}

typedef struct Sharing {
    N(session) * session;
    bool trains;
    atomic_int *refused; /* calls of each thread that were */
} Sharing;

/* Until calls of both threads were refused: each by what the other one does. */
static void *train_or_compute(void *argument)
{
    const Sharing *s = argument;
    const char *words = s->trains ? "other calls use the model, which train_step would change"
                                  : "another call trains the model";
    N(train_step_in) step = right_step();
    N(train_step_out) stepped;
    N(forward_in) in = right_forward();
    N(forward_out) out;
    for (int i = 0; i < 100 * CALLS && !(s->refused[0] && s->refused[1]); i++) {
        int status = s->trains ? N(train_step)(s->session, &step, &stepped)
                               : N(forward)(s->session, &in, &out);
        if (status == N(ERROR_BUSY) && strstr(N(error_detail)(), words))
            s->refused[s->trains]++;
        else if (status)
            REFUSES(N(ERROR_BUSY), words, status);
    }
    return NULL;
}

static void share_model(multi30k_small *model)
{
    pthread_t threads[2];
    atomic_int refused[2] = {0};
    Sharing sharing[2] = {{.refused = refused}, {.trains = true, .refused = refused}};
    for (int i = 0; i < 2; i++)
        WORKS(N(session_new)(model, &sharing[i].session));
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, train_or_compute, &sharing[i]))
            exit(1);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        N(session_free)(sharing[i].session);
    }
    if (!refused[0] || !refused[1])
        wrong++, fprintf(stderr, "%d forwards, %d steps were refused\n", refused[0], refused[1]);
}

int main(int argc, char **argv)
{
    multi30k_small *model;
    N(session) * session;
    if (argc != 2)
        return 2;
    open_wrong(argv[1]);
    WORKS(N(open)(argv[1], &model));
    WORKS(N(session_new)(model, &session));
    use_model_wrong(model);
    decode_wrong(session);
    double before = digest(model, session);
    forward_wrong(session);
    generate_wrong(model, session);
    align_wrong(session);
    decode_wrong(session);
    train_wrong(session);
    if (N(steps)(model) || digest(model, session) != before)
        wrong++, fprintf(stderr, "the session is not what it was\n");
    static const int32_t some[] = {8, -2, 9, EOS}; /* nothing to predict at the second */
    N(train_step_in) in = right_step();
    N(train_step_out) out;
    in.tgt_next = some;
    WORKS(N(train_step)(session, &in, &out));
    if (N(steps)(model) != 1 || !isfinite(out.loss))
        wrong++, fprintf(stderr, "the training step is missing\n");
    share_session(model);
    N(session_free)(session);
    N(close)(model);
    use_closed(argv[1]);
    printf("%d calls went wrong\n", wrong);
    return wrong != 0;
}
