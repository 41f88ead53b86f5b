#define _GNU_SOURCE
#include "faults_calls.h"

#include "filed.h"

#include "runtime/decode/decode.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/sp.h"
#include "runtime/text/tokenizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 32 };
static const int32_t BOS = N(BOS);

void world_need(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %d (%s)\n", what, status, N(error_detail)());
    exit(1);
}

/* ---- inputs ---- */

static const int32_t source_lengths[] = {3, 1, 2}, target_lengths[] = {2, 4, 1};
static const int32_t source[] = {4, 5, 6, 7, 8, 9}, target[] = {1, 8, 1, 9, 10, 11, 1};
static const int32_t next[] = {8, 2, 9, 10, 11, 2, 2};

double world_sum(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)(1 + i % 7);
    return sum;
}

static int forward(World *w)
{
    N(forward_in)
    in = {.B = 3,
          .S_lengths = source_lengths,
          .T_lengths = target_lengths,
          .src = source,
          .tgt = target};
    N(forward_out) out;
    int status = N(forward)(w->session, &in, &out);
    w->result = status ? 0 : world_sum(out.logits, 7 * N(VOCABULARY));
    return status;
}

static int loss(World *w)
{
    N(loss_in)
    in = {.B = 3,
          .S_lengths = source_lengths,
          .T_lengths = target_lengths,
          .src = source,
          .tgt = target,
          .tgt_next = next};
    N(loss_out) out;
    int status = N(loss)(w->session, &in, &out);
    w->result = status ? 0 : out.loss;
    return status;
}

/* The next tokens are the library's business. */
static int loss_of_next(World *w)
{
    N(loss_in)
    in = {.B = 3,
          .S_lengths = source_lengths,
          .T_lengths = target_lengths,
          .src = source,
          .tgt = target};
    N(loss_out) out;
    int status = N(loss)(w->session, &in, &out);
    w->result = status ? 0 : out.loss;
    return status;
}

int call_train_step(World *w)
{
    N(train_step_in)
    in = {.seed = 3,
          .B = 3,
          .S_lengths = source_lengths,
          .T_lengths = target_lengths,
          .src = source,
          .tgt = target,
          .tgt_next = next,
          .rate = 1e-3};
    N(train_step_out) out;
    int status = N(train_step)(w->session, &in, &out);
    w->result = status ? 0 : out.loss + (double)N(steps)(w->model);
    return status;
}

/* A batch of more rows than a chunk has, so that sums over chunks are kept apart. */
int call_train_long(World *w)
{
    enum { LONG = 700 };
    static int32_t ids[LONG], lengths[] = {LONG};
    for (int i = 0; i < LONG; i++)
        ids[i] = 3 + i % 50;
    N(train_step_in)
    in = {.seed = 3,
          .B = 1,
          .S_lengths = source_lengths,
          .T_lengths = lengths,
          .src = source,
          .tgt = ids,
          .tgt_next = ids,
          .rate = 1e-3};
    N(train_step_out) out;
    int status = N(train_step)(w->session, &in, &out);
    w->result = status ? 0 : out.loss;
    return status;
}

static int encode(World *w) { return N(encode)(w->session, 3, source_lengths, source, 4); }

int call_decode_step(World *w)
{
    static const int32_t sentence[] = {0, 1, 2, 2}, slot[] = {3, 1, 2, 0},
                         token[] = {BOS, BOS, BOS, 5};
    const float *logits;
    int status = N(decode_step)(w->session, 4, sentence, slot, token, &logits);
    w->result = status ? 0 : world_sum(logits, 4 * N(VOCABULARY));
    return status;
}

static int align(World *w)
{
    enum { SOURCE = 3, TARGET = 2 };
    static const int32_t from[SOURCE] = {4, 5, 6}, to[TARGET] = {BOS, 5};
    const float *weights;
    int status = N(alignment)(w->session, SOURCE, from, TARGET, to, &weights);
    w->result = 0;
    for (int i = 0; !status && i < SOURCE * TARGET; i++)
        w->result += (double)weights[i] * (i + 1);
    return status;
}

static int generate_with(World *w, int beam, int sample)
{
    N(generation) s;
    N(result) results[9];
    int status = N(generation_defaults)(w->model, &s);
    s.beam = s.nbest = beam;
    s.sample = sample;
    s.length_limit = 3;
    s.first = sample ? -1 : 5;
    if (!status)
        status = N(generate)(w->session, &s, 3, source_lengths, source, results);
    w->result = 0;
    for (int i = 0; !status && i < 3 * beam; i++) {
        w->result += results[i].log_probability;
        for (int64_t k = 0; k < results[i].n; k++)
            w->result += (double)results[i].ids[k] * (double)(k + 1);
    }
    return status;
}

static int generate(World *w) { return generate_with(w, 3, 0); }
static int sample(World *w) { return generate_with(w, 2, 1); }

/* A model of chains: what comes next depends on the last token alone. */
enum { LETTERS = 7, MOST_FED = 64 };
static float chain_logits[MOST_FED][LETTERS];

static bool chain_begin(void *self, const Sources *sources, int32_t n_slots)
{
    (void)self, (void)sources;
    return n_slots > 0;
}

static const float *chain_step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                               const int32_t *counts, const int32_t *tokens)
{
    (void)self, (void)sentence, (void)slot;
    int32_t fed = 0;
    for (int32_t r = 0; r < n; r++)
        for (int32_t k = 0; k < counts[r] && fed < MOST_FED; k++, fed++)
            for (int32_t i = 0; i < LETTERS; i++)
                chain_logits[fed][i] = (float)((tokens[fed] * 5 + i * 3) % LETTERS);
    return chain_logits[0];
}

static bool chain_feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                       const int32_t *counts, const int32_t *tokens)
{
    return chain_step(self, n, sentence, slot, counts, tokens) != NULL;
}

static void chain_copy(void *self, int32_t from, int32_t to) { (void)self, (void)from, (void)to; }

/* Rules, forced beginnings and alternatives, on a model that needs no memory of its own. */
static int decode_with(World *w, bool sample)
{
    static const int32_t ids[] = {4, 5, 4};
    static const Tokens prefixes[] = {{ids, 3}, {ids, 0}};
    Stepper chain = {.vocab = LETTERS,
                     .most_fed = STEPPER_MOST_FED,
                     .begin = chain_begin,
                     .step = chain_step,
                     .feed = chain_feed,
                     .copy = chain_copy};
    DecodeSettings s = decode_defaults();
    s.bos = 1;
    s.eos = 2;
    s.beam = s.nbest = 2;
    s.best_of = 4;
    s.sample = sample;
    s.alternatives = sample ? 0 : 3;
    s.no_repeat_ngram = 2;
    s.repetition_penalty = 1.5;
    s.length_extra = 6;
    s.prefixes = prefixes;
    Decoded decoded[2];
    Arena *arena = arena_try_new();
    bool ok = arena && decode_batch(&chain, &s, NULL, NULL, NULL, 2, arena, decoded);
    w->result = 0;
    for (int i = 0; ok && i < 2; i++)
        for (int32_t k = 0; k < decoded[i].n; k++)
            w->result += (k + 1) * decoded[i].best[k].log_probability + decoded[i].best[k].n;
    if (arena)
        arena_free(arena);
    return ok ? 0 : N(ERROR_MEMORY);
}

static int search_by_rules(World *w) { return decode_with(w, false); }
static int sample_by_rules(World *w) { return decode_with(w, true); }

static double sum_of_text(const char *text, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)(unsigned char)text[i] * (double)(1 + i % 7);
    return sum;
}

static int translate_text(World *w)
{
    static const char lines[] = "1 2 3\n\n4 none 5\n7";
    const char *text;
    int64_t length;
    N(generation) s;
    int status = N(generation_defaults)(w->model, &s);
    s.length_limit = 3;
    if (!status)
        status = N(translate_text)(w->session, &s, lines, sizeof lines - 1, &text, &length);
    w->result = status ? 0 : sum_of_text(text, length);
    return status;
}

/* Results with forced beginnings, as a list. */
static int list_translations(World *w)
{
    static const char lines[] = "1 2 3\n\n4 none 5\n7", prefix[] = "2 3\n\n\n1";
    const N(translation) * list;
    int64_t n;
    N(generation) s;
    int status = N(generation_defaults)(w->model, &s);
    s.length_limit = 3;
    s.nbest = 2;
    s.prefix_text = prefix;
    s.prefix_length = sizeof prefix - 1;
    if (!status)
        status = N(translations)(w->session, &s, lines, sizeof lines - 1, &list, &n);
    w->result = 0;
    for (int64_t i = 0; !status && i < n; i++)
        w->result += sum_of_text(list[i].text, list[i].length) + list[i].result.log_probability;
    return status;
}

/* Longer than the model sees at once. */
static int generate_text(World *w)
{
    const char *text;
    int64_t length;
    speaking_generation s;
    int status = speaking_generation_defaults(w->speaker, &s);
    s.length_extra = 20;
    if (!status)
        status = speaking_generate_text(w->speech, &s, "ab\nca", 5, &text, &length);
    w->result = status ? 0 : sum_of_text(text, length);
    return status;
}

static int generate_behind(World *w)
{
    static const int32_t lengths[] = {2, 1}, ids[] = {5, 6, 7};
    speaking_generation s;
    speaking_result results[2];
    int status = speaking_generation_defaults(w->speaker, &s);
    s.length_extra = 3;
    if (!status)
        status = speaking_generate(w->speech, &s, 2, lengths, ids, results);
    w->result = status ? 0 : results[0].log_probability + results[1].log_probability;
    return status;
}

/* The SentencePiece model as one of another kind, with a piece that is not used. */
static char *read_pieces(SpKind kind, size_t *size)
{
    static const char unused[] = {
        1 << 3 | PROTO_BYTES, 6, 1 << 3 | PROTO_BYTES, 2, 'a', 'b', 3 << 3, SP_UNUSED};
    static char bytes[1 << 20];
    FILE *file = fopen("pieces", "rb");
    *size = file ? fread(bytes, 1, sizeof bytes - sizeof unused, file) : 0;
    if (file)
        fclose(file);
    memcpy(bytes + *size, unused, sizeof unused);
    *size += sizeof unused;
    Proto model = proto_message(bytes, *size);
    for (ProtoField f; proto_next(&model, &f);)
        if (f.number == 2 && f.kind == PROTO_BYTES) {
            Proto trainer = proto_message(f.bytes, f.size);
            for (ProtoField t; proto_next(&trainer, &t);)
                if (t.number == 3 && t.kind == PROTO_VARINT)
                    bytes[(const char *)trainer.at - bytes - 1] = (char)kind;
        }
    return bytes;
}

static int tokenize(World *w)
{
    static const char line[] = "  ab b\xc3\xa9 cabab \xff abba";
    size_t size;
    const char *bytes = read_pieces((SpKind)(w->path[0] - '0'), &size), *problem;
    TokenIds ids = {0};
    TokenText text = {0};
    Tokenizer *t = tokenizer_sentencepiece(bytes, size, &problem);
    bool ok = t && tokenizer_encode(t, line, sizeof line - 1, &ids) &&
              tokenizer_decode(t, ids.data, ids.count, &text);
    w->result = ok ? (double)ids.count + sum_of_text(text.data, (int64_t)text.length) : 0;
    token_ids_free(&ids);
    token_text_free(&text);
    tokenizer_free(t);
    return ok ? 0 : problem ? N(ERROR_ARGUMENT) : N(ERROR_MEMORY);
}

int call_open(World *w)
{
    int status = N(open)(w->path, &w->model);
    w->result = status ? 0 : (double)N(parameter_count)(w->model);
    return status;
}

static int open_new(World *w) { return N(open_new)(7, &w->model); }

static int open_checkpoint(World *w)
{
    int status = N(open_checkpoint)(w->path, &w->model);
    w->result = status ? 0 : (double)N(steps)(w->model);
    return status;
}

/* Two models, whose mean is taken. */
static int open_ensemble(World *w) { return speaking_open(NULL, &w->speaker); }

static int session_new(World *w) { return N(session_new)(w->model, &w->session); }

static int session_take(World *w) { return N(session_take)(w->model, &w->session); }

/* Of another model, whose initial values are those of a file: there is no such way. */
static int open_new_file(World *w)
{
    filed *model;
    return filed_open_new(7, &model);
}

int call_save(World *w) { return N(save)(w->model, w->path); }

/* An error while there is no memory for its words. */
static int mistake(World *w)
{
    int status = N(save)(w->model, NULL);
    w->result = N(error_detail)() != NULL;
    return status;
}

/* ---- what comes before and after ---- */

static const char *saved;

static void with_model(World *w) { world_need(N(open)(saved, &w->model), "open"); }

static void with_session(World *w)
{
    with_model(w);
    world_need(N(session_new)(w->model, &w->session), "session_new");
}

/* All was done once, so that the next batch only makes it larger. */
static void with_use(World *w)
{
    N(forward_in)
    in = {.B = 1,
          .S_lengths = source_lengths,
          .T_lengths = target_lengths,
          .src = source,
          .tgt = target};
    N(forward_out) out;
    with_session(w);
    world_need(N(forward)(w->session, &in, &out), "forward");
}

void world_trained(World *w)
{
    with_session(w);
    world_need(call_train_step(w), "train_step");
}

static void with_sentences(World *w)
{
    with_session(w);
    world_need(encode(w), "encode");
}

/* The next token makes the caches grow. */
static void with_full_caches(World *w)
{
    static const int32_t sentence[] = {0, 1, 2, 2}, slot[] = {3, 1, 2, 0}, token[] = {BOS, 6, 7, 5};
    const float *logits;
    with_sentences(w);
    for (int i = 0; i < BEFORE; i++)
        world_need(N(decode_step)(w->session, 4, sentence, slot, token, &logits), "decode_step");
}

static void with_speaker(World *w)
{
    world_need(speaking_open(NULL, &w->speaker), "open");
    world_need(speaking_session_new(w->speaker, &w->speech), "session_new");
}

static void with_predictor(World *w)
{
    world_need(predicting_open(NULL, &w->predictor), "open");
    world_need(predicting_session_new(w->predictor, &w->reading), "session_new");
}

static void with_describer(World *w)
{
    world_need(describing_open(NULL, &w->describer), "open");
    world_need(describing_session_new(w->describer, &w->telling), "session_new");
}

void world_end(World *w)
{
    describing_session_free(w->telling);
    describing_close(w->describer);
    predicting_session_free(w->reading);
    predicting_close(w->predictor);
    speaking_session_free(w->speech);
    speaking_close(w->speaker);
    N(session_free)(w->session);
    N(close)(w->model);
}

void close_model(World *w)
{
    N(close)(w->model);
    w->model = NULL;
}

static void close_speaker(World *w)
{
    speaking_close(w->speaker);
    w->speaker = NULL;
}

static void free_session(World *w)
{
    N(session_free)(w->session);
    w->session = NULL;
}

const Scenario *scenarios_of(const char *file_saved, const char *link, const char *open_path,
                             size_t *n)
{
    static Scenario list[64];
    const int weights = N(ERROR_WEIGHTS), file = N(ERROR_FILE);
    saved = file_saved;
    const Scenario all[] = {
        {"a mistake", with_model, mistake, NULL, 0, NULL, N(ERROR_ARGUMENT)},
        {"forward", with_session, forward, NULL, 0, NULL, 0},
        {"open", NULL, call_open, close_model, weights, saved, 0},
        {"open_new", NULL, open_new, close_model, 0, NULL, 0},
        {"open_new, of a file", NULL, open_new_file, NULL, 0, NULL, weights},
        {"open_checkpoint", NULL, open_checkpoint, close_model, weights, "checkpoint.safetensors",
         0},
        {"open, an ensemble", NULL, open_ensemble, close_speaker, 0, NULL, 0},
        {"session_new", with_model, session_new, free_session, 0, NULL, 0},
        {"session_take", with_model, session_take, free_session, 0, NULL, 0},
        {"forward again", with_use, forward, NULL, 0, NULL, 0},
        {"loss", with_session, loss, NULL, 0, NULL, 0},
        {"loss of next", with_session, loss_of_next, NULL, 0, NULL, 0},
        {"encode", with_session, encode, NULL, 0, NULL, 0},
        {"decode_step", with_sentences, call_decode_step, NULL, 0, NULL, 0},
        {"decode_step, full", with_full_caches, call_decode_step, NULL, 0, NULL, 0},
        {"generate", with_session, generate, NULL, 0, NULL, 0},
        {"alignment", with_session, align, NULL, 0, NULL, 0},
        {"generate, by two threads", with_session, generate, NULL, 0, NULL, 0, 2},
        {"sample", with_session, sample, NULL, 0, NULL, 0},
        {"search, by rules", NULL, search_by_rules, NULL, 0, NULL, 0},
        {"sample, by rules", NULL, sample_by_rules, NULL, 0, NULL, 0},
        {"translate_text", with_session, translate_text, NULL, 0, NULL, 0},
        {"translations", with_session, list_translations, NULL, 0, NULL, 0},
        {"generate_text", with_speaker, generate_text, NULL, 0, NULL, 0},
        {"generate behind prompts", with_speaker, generate_behind, NULL, 0, NULL, 0},
        {"predict_text", with_predictor, call_predict_text, NULL, 0, NULL, 0},
        {"predict_texts", with_predictor, call_predict_texts, NULL, 0, NULL, 0},
        {"translations of records", with_describer, call_describe, NULL, 0, NULL, 0},
        {"generate from rows", with_describer, call_describe_rows, NULL, 0, NULL, 0},
        {"encode rows", with_describer, call_begin_describing, NULL, 0, NULL, 0},
        {"pieces", NULL, tokenize, NULL, 0, "1", 0},
        {"pieces, merged", NULL, tokenize, NULL, 0, "2", 0},
        {"pieces, words", NULL, tokenize, NULL, 0, "3", 0},
        {"pieces, characters", NULL, tokenize, NULL, 0, "4", 0},
        {"train_step", with_session, call_train_step, NULL, 0, NULL, 0},
        {"train_step, in chunks", world_trained, call_train_long, NULL, 0, NULL, 0},
        {"save", world_trained, call_save, NULL, file, "written.safetensors", 0},
        {"save to a link", with_model, call_save, NULL, file, link, 0},
        {"save to a pipe", with_model, call_save, NULL, file, PIPE, 0},
        {"save to an open file", with_model, call_save, NULL, file, open_path, 0},
        {"save to a folder that is not there", with_model, call_save, NULL, file,
         "no/written.safetensors", file},
    };
    *n = sizeof all / sizeof all[0];
    memcpy(list, all, sizeof all);
    return list;
}
