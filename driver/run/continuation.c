/* A language model goes on with texts. */
#define _GNU_SOURCE /* memmem */
#include "driver/run/continuation.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool continuation_encode(const Vocabulary *vocab, const char *prompt, Ids *ids)
{
    const bool ok = continue_encode(vocab_tokenizer(vocab), &vocab_rules(vocab)->text, prompt,
                                    strlen(prompt), ids);
    memory_need(ok || tokenizer_problem());
    return ok;
}

static void put_prompt(const Vocabulary *vocab, const Continuation *text, Text *prompt)
{
    continuation_put(vocab, &(Ids){.data = text->ids.data, .count = text->prompt}, prompt);
}

/* The prompt's bytes at the beginning of a text; 0 if the text does not begin with it. */
static size_t find_behind(const Text *all, const Text *prompt)
{
    const bool begins = prompt->length && prompt->length <= all->length &&
                        !memcmp(all->data, prompt->data, prompt->length);
    return begins ? prompt->length : 0;
}

/* The length of a text up to the first of the stops that begins at byte `from` or behind. */
static size_t find_end(const Text *all, size_t from, const TextList *stops)
{
    size_t end = all->length;
    for (size_t i = 0; all->data && stops && i < stops->count; i++) {
        const char *found =
            memmem(all->data + from, all->length - from, stops->data[i], strlen(stops->data[i]));
        if (found && (size_t)(found - all->data) < end)
            end = (size_t)(found - all->data);
    }
    return end;
}

size_t continuation_text(const Vocabulary *vocab, const Continuation *text, const TextList *stops,
                         Text *out)
{
    Text all = {0}, prompt = {0};
    continuation_put(vocab, &text->ids, &all);
    put_prompt(vocab, text, &prompt);
    const size_t behind = find_behind(&all, &prompt);
    text_put(out, all.data ? all.data : "", find_end(&all, behind, stops));
    text_free(&prompt);
    text_free(&all);
    return behind;
}

DecodeSettings continuation_settings(const Inference *inference)
{
    DecodeSettings s = inference_decode_settings(inference);
    s.sample = true;
    continue_settings(&vocab_rules(inference->vocab)->text, &s);
    return s;
}

bool continuation_fits(const Inference *inference, const DecodeSettings *settings,
                       const Continuation *text, int64_t *seen)
{
    const ContinuePart part =
        continue_part(&vocab_rules(inference->vocab)->text, settings, &text->ids, text->left,
                      inference_max_length(inference));
    *seen = part.prompt.n;
    return !part.is_cut;
}

/* ---- watching ---- */

/* WatchedText: a text with the ids of the part that is under way, and the text of its prompt, of
 * which `behind` bytes are the text's beginning. */
typedef struct WatchedText {
    GrowingText grown;
    Text prompt;
    size_t behind;
} WatchedText;

typedef struct Watched {
    const Vocabulary *vocab;
    const ContinuationWatch *watch;
    Continuation *texts;
    WatchedText *come; /* of each text */
    int n;
    size_t told; /* bytes, of the first text */
} Watched;

/* Bytes at the end of a text that may become others: an unfinished character, which stands as
 * U+FFFD, and what a stop may begin with. */
static size_t unsure(const char *text, size_t length, const TextList *stops)
{
    static const char replacement[] = "\357\277\275";
    size_t least = length;
    while (least >= 3 && !memcmp(text + least - 3, replacement, 3))
        least -= 3;
    for (size_t i = 0; stops && i < stops->count; i++) {
        size_t n = strlen(stops->data[i]);
        for (size_t at = length > n ? length - n : 0; at < least; at++)
            if (!strncmp(stops->data[i], text + at, length - at))
                least = at;
    }
    return length - least;
}

static void tell_grown(Watched *w, const Text *text, bool is_whole)
{
    size_t sure =
        text->length -
        (is_whole ? 0 : unsure(text->data ? text->data : "", text->length, w->watch->stops));
    if (!w->watch->grown || sure <= w->told)
        return;
    w->watch->grown(w->watch->context, text->data + w->told, sure - w->told);
    w->told = sure;
}

/* The bytes of the longest stop. */
static size_t longest_stop(const TextList *stops)
{
    size_t longest = 0;
    for (size_t i = 0; stops && i < stops->count; i++) {
        const size_t n = strlen(stops->data[i]);
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Adds a token; the text's length up to a stop. No stop lay in the text before, and a stop that is
 * new ends in what the token changed: only that is searched, so a token costs as much at the end of
 * a long text as at its beginning. */
static size_t push_watched(const Watched *w, WatchedText *come, int32_t token)
{
    GrowingText *grown = &come->grown;
    size_t same = grown->settled;
    growing_text_push(w->vocab, grown, token);
    same = grown->settled < same ? grown->settled : same;
    if (same < come->prompt.length)
        come->behind = find_behind(&grown->text, &come->prompt);
    const size_t longest = longest_stop(w->watch->stops),
                 first = same > longest ? same - longest : 0;
    return find_end(&grown->text, first > come->behind ? first : come->behind, w->watch->stops);
}

/* Whether the text goes on behind its new token. */
static bool watch_token(void *context, int64_t number, int32_t token)
{
    Watched *w = context;
    int i = 0;
    while (i < w->n && w->texts[i].number != number >> 32)
        i++;
    if (i == w->n)
        return true;
    WatchedText *come = &w->come[i];
    const size_t length = push_watched(w, come, token);
    Text cut = come->grown.text;
    cut.length = length;
    w->texts[i].ended = cut.length < come->grown.text.length;
    tell_grown(w, &cut, w->texts[i].ended);
    return !w->texts[i].ended;
}

static void begin_watching(Watched *w)
{
    for (int i = 0; i < w->n; i++) {
        growing_text_begin(w->vocab, &w->texts[i].ids, &w->come[i].grown);
        put_prompt(w->vocab, &w->texts[i], &w->come[i].prompt);
    }
    tell_grown(w, &w->come[0].grown.text, false);
}

static void end_watching(Watched *w, bool ok)
{
    Text text = {0};
    continuation_text(w->vocab, &w->texts[0], w->watch->stops, &text);
    if (ok)
        tell_grown(w, &text, true);
    text_free(&text);
    for (int i = 0; i < w->n; i++) {
        growing_text_free(&w->come[i].grown);
        text_free(&w->come[i].prompt);
    }
}

/* ---- growing ---- */

typedef struct ContinuedTexts {
    const Inference *inference;
    const DecodeSettings *settings;
    const ContinuationWatch *watch;
    Continuation *texts;
    int64_t n;
} ContinuedTexts;

/* A batch of texts, all their parts. */
static int64_t continue_task(void *context, Stepper *stepper, int64_t batch)
{
    const ContinuedTexts *all = context;
    Continuation *texts = all->texts + batch * CONTINUE_ROWS;
    const int64_t left = all->n - batch * CONTINUE_ROWS;
    const int n = left < CONTINUE_ROWS ? (int)left : CONTINUE_ROWS;
    const ContinuationWatch *watch = all->watch;
    DecodeSettings watched = *all->settings;
    WatchedText come[CONTINUE_ROWS] = {0};
    Watched w = {
        .vocab = all->inference->vocab, .watch = watch, .texts = texts, .come = come, .n = n};
    bool watches = n && watch && (watch->grown || (watch->stops && watch->stops->count));
    if (watches) {
        begin_watching(&w);
        watched.go_on = watch_token;
        watched.context = &w;
    }
    int rows = 1;
    for (int64_t part = 0; rows > 0; part++)
        rows = continue_texts(stepper, &vocab_rules(w.vocab)->text,
                              inference_max_length(all->inference), &watched, part, texts, n);
    if (watches)
        end_watching(&w, rows == 0);
    int64_t tokens = 0;
    for (int i = 0; i < n; i++)
        tokens += (int64_t)texts[i].ids.count;
    return rows ? -1 : tokens;
}

bool continuation_run(Inference *inference, const DecodeSettings *settings,
                      const ContinuationWatch *watch, Continuation *texts, int64_t n)
{
    ContinuedTexts all = {inference, settings, watch, texts, n};
    int64_t batches = (n + CONTINUE_ROWS - 1) / CONTINUE_ROWS;
    return inference_run_workers(inference, batches, continue_task, &all) ||
           job_error(inference->job,
                     "decoding failed: out of memory, or the model gives no numbers");
}
