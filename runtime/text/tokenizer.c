/* Tokenizers of any kind: arguments are checked here, and what failed leaves nothing behind. */
#include "runtime/text/kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FREE_STEPS = 60000000, BYTE_STEPS = 100 };

/* Of this thread's call. */
static _Thread_local char problem_text[240]; /* "": no memory */
_Thread_local int64_t tokenizer_steps_left;

void tokenizer_begin(size_t length)
{
    *problem_text = 0;
    tokenizer_steps_left = FREE_STEPS + BYTE_STEPS * (int64_t)length;
}

bool tokenizer_spend(int64_t steps)
{
    tokenizer_steps_left -= steps;
    return tokenizer_steps_left >= 0;
}

/* Whether the call has kept its limit of steps; if not, it has failed. */
static bool steps_end(void)
{
    if (tokenizer_steps_left < 0 && !*problem_text)
        tokenizer_give_up("the tokenizer's long tokens take too long on it");
    return tokenizer_steps_left >= 0;
}

const char *tokenizer_problem(void) { return *problem_text ? problem_text : NULL; }

void tokenizer_give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(problem_text, sizeof problem_text, format, args);
    va_end(args);
}

Arena *tokenizer_arena(Budget budget, size_t size)
{
    return arena_within(NULL, budget_bytes(budget, size));
}

Tokenizer *tokenizer_drop(Arena *arena, const char **problem)
{
    if (arena && arena_is_over(arena))
        *problem = BUDGET_PROBLEM;
    arena_free(arena);
    return NULL;
}

void tokenizer_free(Tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    if (tokenizer->kind->close)
        tokenizer->kind->close(tokenizer);
    arena_free(tokenizer->arena);
}

bool tokenizer_is_words(const Tokenizer *tokenizer) { return tokenizer->is_words; }

int32_t tokenizer_size(const Tokenizer *tokenizer) { return tokenizer ? tokenizer->size : 0; }

TokenizerSpecial tokenizer_special(const Tokenizer *tokenizer)
{
    return tokenizer ? tokenizer->special : (TokenizerSpecial){-1, -1, -1, -1};
}

TokenizerFrame tokenizer_frame(const Tokenizer *tokenizer)
{
    return tokenizer ? tokenizer->frame : (TokenizerFrame){0};
}

void tokenizer_read_special(Tokenizer *tokenizer, bool reads)
{
    if (tokenizer)
        tokenizer->is_plain = !reads;
}

const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id, size_t *length)
{
    *length = 0;
    bool has = id >= 0 && id < tokenizer_size(tokenizer);
    return has ? tokenizer->kind->piece(tokenizer, id, length) : "";
}

int32_t tokenizer_find(const Tokenizer *tokenizer, const char *piece, size_t length)
{
    const int32_t id = tokenizer && piece ? tokenizer->kind->find(tokenizer, piece, length) : -1;
    return id < tokenizer_size(tokenizer) ? id : -1;
}

/* ---- models with fewer rows than there are tokens ---- */

static bool is_around(const int32_t *ids, int32_t n, int32_t rows)
{
    bool is = true;
    for (int32_t i = 0; i < n; i++)
        is = is && ids[i] < rows;
    return is;
}

bool tokenizer_limit(Tokenizer *tokenizer, int64_t rows)
{
    if (rows < 0 || rows >= tokenizer->size)
        return true;
    TokenizerSpecial *special = &tokenizer->special;
    int32_t *const ids[] = {&special->pad, &special->unk, &special->bos, &special->eos};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (*ids[i] >= rows)
            *ids[i] = -1;
    tokenizer->size = (int32_t)rows;
    tokenizer->is_cut = true;
    const TokenizerFrame *frame = &tokenizer->frame;
    return is_around(frame->before, frame->n_before, tokenizer->size) &&
           is_around(frame->after, frame->n_after, tokenizer->size);
}

/* Whether the model has a row for each of these ids. */
static bool has_rows(const Tokenizer *tokenizer, const TokenIds *ids, size_t from)
{
    for (size_t i = from; tokenizer->is_cut && i < ids->count; i++) {
        size_t length;
        if (ids->data[i] < tokenizer->size)
            continue;
        const char *piece = tokenizer->kind->piece(tokenizer, ids->data[i], &length);
        tokenizer_give_up(
            "it has the token '%.*s', number %d, and the model has rows for %d tokens",
            length < 60 ? (int)length : 60, piece, (int)ids->data[i], (int)tokenizer->size);
        return false;
    }
    return true;
}

bool tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids)
{
    tokenizer_begin(length);
    if (!tokenizer || !ids || (!text && length) || length > TOKENIZER_MOST)
        return false;
    size_t before = ids->count;
    bool ok = tokenizer->kind->encode(tokenizer, text, length, ids) && steps_end() &&
              has_rows(tokenizer, ids, before);
    if (!ok)
        ids->count = before;
    return ok;
}

bool tokenizer_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text)
{
    tokenizer_begin(n);
    if (!tokenizer || (!ids && n) || !text)
        return false;
    size_t before = text->length;
    bool ok = tokenizer->kind->decode(tokenizer, ids, n, text) && steps_end();
    if (!ok)
        text->length = before;
    return ok;
}

bool tokenizer_decode_text(const Tokenizer *tokenizer, const int32_t *ids, size_t n,
                           TokenText *text)
{
    static const char replacement[] = {'\357', '\277', '\275'};
    enum { MORE = sizeof replacement - 1 }; /* bytes than a NUL */
    size_t before = text ? text->length : 0, nuls = 0;
    bool ok = tokenizer_decode(tokenizer, ids, n, text);
    for (size_t at = before; ok && at < text->length; at++)
        nuls += !text->data[at];
    if (!ok || !nuls)
        return ok;
    if (!token_text_reserve(text, MORE * nuls)) {
        text->length = before;
        return false;
    }
    size_t from = text->length;
    for (size_t to = text->length += MORE * nuls; to > from;) /* until no NUL is before it */
        if (text->data[--from])
            text->data[--to] = text->data[from];
        else
            memcpy(text->data + (to -= sizeof replacement), replacement, sizeof replacement);
    return true;
}
