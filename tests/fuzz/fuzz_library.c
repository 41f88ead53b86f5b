/* Fuzz target: any calls of a compiled library (tests/fuzz/library), with any arguments that C can
 * tell from right ones: each array is as long as the call says, or it is NULL. An input's bytes
 * choose the calls and what they are given. Each gives a status of the header and the words for it;
 * what it gives back can be read, and is what the header says; after all of them a new session
 * computes what one computed at first. The library is C with its kernels, so that sanitizers watch
 * all of it. */
#include "library.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MODELS = 2, SESSIONS = 3, MOST_CALLS = 12, MOST_ROWS = 6, MOST_IDS = 200, MOST_TEXT = 100 };
enum { MOST_RESULTS = 1 << 10, WORDS = 12 };

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* ---- what the bytes say ---- */

typedef struct World {
    const uint8_t *at, *end;
    library *models[MODELS];
    library_session *sessions[SESSIONS];
    void *made[64]; /* arrays of the call */
    int n_made;
} World;

static int byte(World *w) { return w->at < w->end ? *w->at++ : 0; }

/* Mostly 0 to 7, sometimes what is nearly right, or far from it. */
static int32_t number(World *w)
{
    static const int32_t odd[] = {-1, INT32_MAX, INT32_MIN, 11,      12, 16,
                                  17, 1024,      1025,      1 << 18, -2, 100};
    int b = byte(w);
    return b < 192 ? b % 8 : odd[b % 12];
}

static double real(World *w)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -1,   1e-300, 1e300,
                                 0.5, 1.5,      -0.0,      1000, 1001,   100};
    int b = byte(w);
    return b < 128 ? b % 8 : odd[b % 12];
}

/* A block of exactly the size, so that a sanitizer reports reads past its end. */
static void *make(World *w, size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    need(memory && w->n_made < 64);
    return w->made[w->n_made++] = memory;
}

static bool is_absent(World *w) { return byte(w) >= 250; }

/* n numbers; NULL where that is no length of an array, and sometimes. */
static const int32_t *numbers(World *w, int64_t n)
{
    if (n < 0 || n > MOST_IDS || is_absent(w))
        return NULL;
    int32_t *list = make(w, (size_t)n * sizeof *list);
    for (int64_t i = 0; i < n; i++)
        list[i] = number(w);
    return list;
}

/* What n lengths come to, as far as they are lengths. */
static int64_t sum(const int32_t *lengths, int64_t n)
{
    int64_t all = 0;
    for (int64_t i = 0; lengths && i < n; i++)
        all += lengths[i] > 0 ? lengths[i] : 0;
    return all;
}

static int32_t rows(World *w)
{
    int32_t n = number(w);
    return n > MOST_ROWS && n <= MOST_IDS ? MOST_ROWS : n;
}

static library *model(World *w)
{
    int b = byte(w);
    return b >= 250   ? (library *)(void *)w
           : b >= 240 ? (library *)w->sessions[0]
                      : w->models[b % MODELS];
}

static library_session *session(World *w)
{
    int b = byte(w);
    return b >= 250   ? (library_session *)(void *)w
           : b >= 240 ? (library_session *)w->models[0]
                      : w->sessions[b % SESSIONS];
}

/* Words of the vocabulary, others, and what is no text; *length: with it, sometimes another. */
static const char *text(World *w, int64_t *length)
{
    static const char *const parts[] = {"a",   " ",    "b c",  "\n",           "d@@ e", "\xc3\xa4",
                                        " \t", "\r\n", "\xff", "\xed\xa0\x80", "<s>",   "f g"};
    int n = byte(w) % 16;
    char *out = make(w, MOST_TEXT);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        int b = byte(w);
        const char *part = b < 250 ? parts[b < 200 ? b % 8 : b % WORDS] : "";
        memcpy(out + at, part, strlen(part));
        at += strlen(part) + (b == 250); /* a NUL */
    }
    char *exact = make(w, at);
    memcpy(exact, out, at);
    *length = is_absent(w) ? number(w) : (int64_t)at;
    *length = *length > (int64_t)at && *length < 1 << 28 ? (int64_t)at : *length;
    return is_absent(w) ? NULL : exact;
}

/* The defaults with some fields changed; a longest result, so that the call ends. */
static const library_generation *settings(World *w, int64_t n, library_generation *s)
{
    int n_changed = byte(w) % 8;
    if (is_absent(w) || library_generation_defaults(w->models[0], s))
        return NULL;
    s->length_limit = 1 + byte(w) % 8;
    for (int i = 0; i < n_changed; i++)
        switch (byte(w) % 22) {
        case 0: s->beam = number(w); break;
        case 1: s->nbest = number(w); break;
        case 2: s->length_extra = number(w); break;
        case 3: s->length_limit = byte(w) - 248 > 0 ? -1 : 4; break;
        case 4: s->sample = number(w) % 3; break;
        case 5: s->top_k = number(w); break;
        case 6: s->length_penalty = real(w); break;
        case 7: s->length_factor = real(w); break;
        case 8: s->temperature = real(w); break;
        case 9: s->top_p = real(w); break;
        case 10: s->seed = (uint64_t)number(w); break;
        case 11: s->bos = number(w); break;
        case 12: s->eos = number(w); break;
        case 13: s->forbidden[byte(w) % 4] = number(w); break;
        case 14: s->best_of = number(w); break;
        case 15: s->alternatives = number(w); break;
        case 16: s->no_repeat_ngram = number(w); break;
        case 17: s->first = number(w); break;
        case 18: s->repetition_penalty = real(w); break;
        case 19:
            s->prefix_lengths = numbers(w, n), s->prefixes = numbers(w, sum(s->prefix_lengths, n));
            break;
        case 20: s->prefix_text = text(w, &s->prefix_length); break;
        case 21: s->refuse_long = number(w); break;
        }
    return s;
}

/* ---- what calls give ---- */

static bool is_good(int status)
{
    need(status >= library_OK && status <= library_ERROR_NUMBER && library_error_text(status)[0]);
    need(!status || library_error_detail()[0]);
    return !status;
}

static double read_all(const float *values, int64_t n)
{
    volatile double all = 0;
    for (int64_t i = 0; i < n; i++)
        all += values[i];
    return all;
}

static void read_result(const library_result *r)
{
    need(r->n >= 0 && r->n_each >= 0 && (!r->n_each || r->n_each == r->n || r->n_each == r->n + 1));
    for (int64_t i = 0; i < r->n; i++)
        need(r->ids[i] >= 0 && r->ids[i] < library_VOCABULARY);
    for (int64_t i = 0; i < r->n_each; i++)
        need(r->each[i] <= 1e-3 || isnan(r->each[i]));
}

static void read_text(const char *utf8, int64_t length, int status)
{
    need(!status == (utf8 != NULL) && (utf8 ? length == (int64_t)strlen(utf8) : !length));
}

static int64_t breaks(const char *utf8, int64_t length)
{
    int64_t n = 0;
    for (int64_t i = 0; i < length; i++)
        n += utf8[i] == '\n';
    return n;
}

/* ---- calls ---- */

static void call_models(World *w)
{
    int k = byte(w) % MODELS;
    library *m = model(w);
    int32_t n = number(w);
    bool absent = is_absent(w);
    library_parameter_info info;
    switch (byte(w) % 9) {
    case 0:
        library_close(w->models[k]);
        is_good(library_open_new((uint64_t)n, absent ? NULL : &w->models[k]));
        break;
    case 1: library_close(m); break;
    case 2: need(!is_good(library_open(NULL, &w->models[k])) && !w->models[k]); break;
    case 3: need(library_parameter_count(m) >= -1); break;
    case 4:
        if (is_good(library_parameter(m, n, absent ? NULL : &info)))
            need(info.type == 0 && strlen(info.name) && read_all(info.data, info.count) < 1e300);
        break;
    case 5:
        is_good(library_parameter_named(m, absent ? NULL : n % 2 ? "embedding" : "nobody", &info));
        break;
    case 6: is_good(library_set_threads(n > 3 && n <= library_MOST_THREADS ? 3 : n)); break;
    case 7: need(library_error_text(n)[0]); break;
    case 8: need(!is_good(library_save(m, NULL))); break;
    }
}

static void call_sessions(World *w)
{
    int k = byte(w) % SESSIONS;
    if (byte(w) % 2) {
        library_session_free(session(w));
        return;
    }
    library_session_free(w->sessions[k]);
    library *of = model(w);
    need(is_good(library_session_new(of, &w->sessions[k])) == (w->sessions[k] != NULL));
}

/* Taken sessions are given back, or freed when the world ends. */
static void call_pool(World *w)
{
    int k = byte(w) % SESSIONS;
    library *of = model(w);
    switch (byte(w) % 4) {
    case 0:
    case 1: {
        bool alone = byte(w) % 2;
        library_session_free(w->sessions[k]);
        need(is_good((alone ? library_session_take_alone : library_session_take)(
                 of, &w->sessions[k])) == (w->sessions[k] != NULL));
        break;
    }
    case 2: is_good(library_session_give(session(w))); break;
    case 3: is_good(library_set_sessions(of, number(w))); break;
    }
}

static void call_encode(World *w)
{
    int32_t n = rows(w);
    const int32_t *lengths = numbers(w, n), *ids = numbers(w, sum(lengths, n));
    library_session *s = session(w);
    is_good(library_encode(s, n, lengths, ids, number(w)));
}

static void call_step(World *w)
{
    int32_t n = rows(w);
    const int32_t *sentence = byte(w) % 2 ? NULL : numbers(w, n), *slot = numbers(w, n),
                  *token = numbers(w, n);
    const float *logits = NULL;
    bool ok = is_good(library_decode_step(session(w), n, sentence, slot, token, &logits));
    need(ok ? n >= 0 && (logits || !n) : !logits);
    if (ok)
        read_all(logits, (int64_t)n * library_VOCABULARY);
}

static void call_copy(World *w)
{
    library_session *s = session(w);
    int32_t from = number(w);
    is_good(library_decode_copy(s, from, number(w)));
}

static void call_generate(World *w)
{
    library_generation s;
    int32_t n = rows(w);
    const int32_t *lengths = numbers(w, n), *ids = numbers(w, sum(lengths, n));
    const library_generation *given = settings(w, n, &s);
    int64_t places = !given ? 1 : s.alternatives ? s.alternatives : s.nbest;
    int64_t room = n > 0 && n <= MOST_ROWS && places > 0 && places <= MOST_RESULTS ? n * places : 0;
    library_result *results = make(w, (size_t)room * sizeof *results);
    memset(results, 0xff, (size_t)room * sizeof *results);
    library_session *of = session(w);
    if (is_good(library_generate(of, given, n, lengths, ids, is_absent(w) ? NULL : results)))
        for (int64_t i = 0; i < room; i++)
            read_result(&results[i]);
}

static void call_align(World *w)
{
    int32_t n = number(w), m = number(w);
    const int32_t *source = numbers(w, n), *target = numbers(w, m);
    const float *weights = NULL;
    bool ok = is_good(library_alignment(session(w), n, source, m, target, &weights));
    need(ok || !weights);
    for (int64_t t = 0; ok && n && t < m; t++)
        need(fabs(read_all(weights + t * n, n) - 1) < 1e-4);
}

static void call_text(World *w)
{
    library_generation s;
    int64_t length, n = -5, tokens = -5, unknown = -5;
    const char *utf8 = text(w, &length), *out = "old", *note = "old";
    const library_generation *given = settings(w, 1, &s);
    library_session *of = session(w);
    const library_translation *list = NULL;
    if (byte(w) % 2) {
        int status = library_translate_text(of, given, utf8, length, &out, &n);
        is_good(status);
        read_text(out, n, status);
        need(status || breaks(out, n) == breaks(utf8, length));
    } else if (is_good(library_translations(of, given, utf8, length, &list, &n))) {
        for (int64_t i = 0; i < n; i++) {
            read_text(list[i].text, list[i].length, 0);
            read_result(&list[i].result);
            need(list[i].line >= 0 && list[i].line <= breaks(utf8, length));
        }
    } else {
        need(!list && !n);
    }
    bool ok = is_good(library_unknown(of, &tokens, &unknown, &note));
    need(unknown >= 0 && unknown <= tokens && (ok || (!tokens && !note)) && (!note || note[0]));
}

static void call_forward(World *w)
{
    int32_t n = rows(w);
    library_forward_in in = {.B = n};
    library_forward_out out;
    library_session *of = session(w);
    in.S_lengths = numbers(w, n);
    in.T_lengths = numbers(w, n);
    in.src = numbers(w, sum(in.S_lengths, n));
    in.tgt = numbers(w, sum(in.T_lengths, n));
    if (is_good(library_forward(of, is_absent(w) ? NULL : &in, &out)))
        read_all(out.logits, sum(in.T_lengths, n) * library_VOCABULARY);
}

/* ---- the whole ---- */

/* One number that follows from what a new session does. */
static double digest(void)
{
    static const int32_t lengths[] = {3, 1}, ids[] = {4, 5, 6, 7}, slots[] = {0, 1},
                         tokens[] = {library_BOS, 8};
    library *m;
    library_session *s = NULL;
    const float *logits;
    need(!library_open_new(7, &m) && !library_session_new(m, &s) &&
         !library_encode(s, 2, lengths, ids, 2));
    need(!library_decode_step(s, 2, NULL, slots, tokens, &logits));
    const double all = read_all(logits, 2 * library_VOCABULARY);
    library_session_free(s);
    library_close(m);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const calls[])(World *) = {
        call_encode, call_step,  call_step,    call_generate, call_text,   call_text,
        call_copy,   call_align, call_forward, call_sessions, call_models, call_pool};
    static double first;
    World w = {.at = bytes, .end = bytes + size};
    if (first == 0)
        first = digest();
    need(!library_set_threads(1));
    for (int i = 0; i < MODELS; i++)
        need(!library_open_new((uint64_t)i, &w.models[i]) &&
             !library_session_new(w.models[i], &w.sessions[i]));
    for (int i = 0; i < MOST_CALLS && w.at < w.end; i++) {
        calls[byte(&w) % (int)(sizeof calls / sizeof *calls)](&w);
        while (w.n_made)
            free(w.made[--w.n_made]);
    }
    for (int i = 0; i < SESSIONS; i++)
        library_session_free(w.sessions[i]);
    for (int i = 0; i < MODELS; i++)
        library_close(w.models[i]);
    need(!library_set_threads(1) && digest() == first);
    return 0;
}
