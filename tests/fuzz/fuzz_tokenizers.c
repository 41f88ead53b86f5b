/* Fuzz target: any text through any tokenizer. An input is a letter (j: tokenizer.json, w: a list
 * of words, else a SentencePiece model), the bytes of the text in two bytes, low first, the text,
 * and the tokenizer. What is read encodes the text within a second, into ids that it has, the same
 * each time, wherever they are appended, and for bytes that are no UTF-8 as for U+FFFD; or it tells
 * why not. Ids are decoded, into texts without NUL where these are asked for. */
#define _GNU_SOURCE
#include "base/text.h"
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/kind.h"
#include "runtime/text/words/token_words.h"
#include "tests/fuzz/budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_TEXT = 2000, HEAD = 3, FIRST = -5 };

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* Of this thread, so that a machine that does other things does not count. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The tokenizer; NULL: it is refused, with a reason. */
static Tokenizer *read_tokenizer(char kind, Arena *arena, const uint8_t *bytes, size_t size)
{
    const char *problem = NULL;
    Tokenizer *t = kind == 'j'   ? tokenizer_json(arena, (const char *)bytes, size, &problem)
                   : kind == 'w' ? tokenizer_words(bytes, size, &problem)
                                 : tokenizer_sentencepiece(bytes, size, &problem);
    need(!t == (problem != NULL));
    if (t)
        need_budget(t->arena, kind == 'j' || kind == 'w' ? BUDGET_TEXT : BUDGET_BINARY, size);
    return t;
}

static bool same(const TokenIds *a, const TokenIds *b, size_t from)
{
    return a->count == b->count - from &&
           (!a->count || !memcmp(a->data, b->data + from, a->count * sizeof *a->data));
}

/* Whether there are ids; else a reason, and nothing is appended. */
static bool encode(const Tokenizer *t, const char *text, size_t length, TokenIds *ids)
{
    const size_t before = ids->count;
    const double begin = seconds();
    bool ok = tokenizer_encode(t, text, length, ids);
    need(seconds() - begin < 1);
    need(ok ? !tokenizer_problem() : tokenizer_problem() && ids->count == before);
    for (size_t i = before; i < ids->count; i++)
        need(ids->data[i] >= 0 && ids->data[i] < tokenizer_size(t));
    return ok;
}

static void need_same(const Tokenizer *t, const char *text, size_t length, bool ok,
                      const TokenIds *ids)
{
    TokenIds again = {0};
    need(token_ids_push(&again, FIRST) && encode(t, text, length, &again) == ok);
    need(again.data[0] == FIRST && (!ok || same(ids, &again, 1)));
    token_ids_free(&again);
}

static void put_valid(const char *text, size_t length, Text *out)
{
    for (size_t at = 0, n; at < length; at += n ? n : 1) {
        n = utf8_length(text + at, length - at);
        text_put(out, n ? text + at : "\xEF\xBF\xBD", n ? n : 3);
    }
}

/* As files of lists are, which are read as lines of UTF-8. */
static bool is_list(const uint8_t *bytes, size_t size)
{
    Text valid = {0};
    put_valid((const char *)bytes, size, &valid);
    bool is = valid.length == size;
    text_free(&valid);
    return is;
}

static void decode(const Tokenizer *t, const TokenIds *ids)
{
    TokenText text = {0}, plain = {0};
    const double begin = seconds();
    bool ok = tokenizer_decode(t, ids->data, ids->count, &text);
    need(seconds() - begin < 1 &&
         (ok ? !tokenizer_problem() : tokenizer_problem() && !text.length));
    need(tokenizer_decode_text(t, ids->data, ids->count, &plain) == ok &&
         plain.length >= text.length);
    need(!plain.length || !memchr(plain.data, 0, plain.length));
    token_text_free(&text);
    token_text_free(&plain);
}

static void find_words(const Tokenizer *t, const char *text, size_t length, const TokenIds *ids)
{
    int64_t *word = calloc(ids->count + 1, sizeof *word), n;
    bool ok = token_words(t, text, length, ids->data, ids->count, word, &n);
    for (size_t i = 0; ok && i < ids->count; i++)
        need(word[i] >= 0 && word[i] < (n ? n : 1));
    free(word);
    TokenIds firsts = {0};
    size_t odd;
    if (token_firsts(t, text, length, ids->data, ids->count, &firsts, &odd)) {
        need(firsts.count <= ids->count && odd <= length);
        for (size_t i = 0; i < firsts.count; i++)
            need(firsts.data[i] >= (i ? firsts.data[i - 1] + 1 : 0) &&
                 (size_t)firsts.data[i] < ids->count);
    }
    token_ids_free(&firsts);
}

static void try_text(const Tokenizer *t, const char *text, size_t length)
{
    TokenIds ids = {0};
    Text valid = {0};
    bool ok = encode(t, text, length, &ids);
    put_valid(text, length, &valid);
    need_same(t, text, length, ok, &ids);
    need_same(t, valid.data ? valid.data : "", valid.length, ok, &ids);
    if (ok)
        find_words(t, text, length, &ids);
    decode(t, &ids);
    text_free(&valid);
    token_ids_free(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    size_t length = data[1] | (size_t)data[2] << 8;
    length = length > size - HEAD ? size - HEAD : length;
    if (data[0] == 'w' && !is_list(data + HEAD + length, size - HEAD - length))
        return 0;
    Arena *arena = arena_new();
    Tokenizer *t = read_tokenizer((char)data[0], arena, data + HEAD + length, size - HEAD - length);
    const char *text = (const char *)data + HEAD;
    for (int plain = 0; t && plain < 2; plain++) {
        tokenizer_read_special(t, !plain);
        try_text(t, text, length < MOST_TEXT ? length : MOST_TEXT);
    }
    tokenizer_free(t);
    arena_free(arena);
    return 0;
}
