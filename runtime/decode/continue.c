/* Prompts, parts and texts of a generation. */
#include "runtime/decode/continue.h"

#include <string.h>

bool continue_encode(const Tokenizer *tokenizer, const TextRule *rule, const char *text,
                     size_t length, TokenIds *ids)
{
    size_t before = ids->count;
    bool ok = true;
    for (size_t at = 0; ok && at < length;) {
        const char *newline = rule->newline >= 0 ? memchr(text + at, '\n', length - at) : NULL;
        size_t size = newline ? (size_t)(newline - text) - at : length - at;
        ok = tokenizer_encode(tokenizer, text + at, size, ids) &&
             (!newline || token_ids_push(ids, rule->newline));
        at += size + (newline != NULL);
    }
    if (!ok)
        ids->count = before;
    return ok;
}

bool continue_put(const Tokenizer *tokenizer, const TextRule *rule, const int32_t *ids, size_t n,
                  TokenText *out)
{
    size_t before = out->length;
    bool ok = true;
    for (size_t from = 0, to; ok && from < n; from = to + 1) {
        for (to = from; to < n && (rule->newline < 0 || ids[to] != rule->newline);)
            to++;
        ok = tokenizer_decode_text(tokenizer, ids + from, to - from, out) &&
             (to == n || token_text_put(out, "\n", 1));
    }
    if (!ok)
        out->length = before;
    return ok;
}

void continue_settings(const TextRule *rule, DecodeSettings *settings)
{
    settings->bos = rule->begin;
    settings->eos = rule->n_stops ? rule->stops[0] : -1;
    settings->stops = rule->stops;
    settings->n_stops = rule->n_stops;
    settings->until_eos = rule->n_stops > 0;
    settings->open_end = true;
    memcpy(settings->forbidden, rule->forbidden, sizeof settings->forbidden);
}

int32_t unless_end(const TextRule *rule, int32_t end, int32_t token)
{
    bool ends = token == end;
    for (int32_t i = 0; i < rule->n_stops; i++)
        ends = ends || token == rule->stops[i];
    return ends ? -1 : token;
}

ContinuePart continue_part(const TextRule *rule, const DecodeSettings *settings,
                           const TokenIds *text, int64_t left, int64_t longest)
{
    int64_t before = settings->bos >= 0, n = (int64_t)text->count;
    ContinuePart part = {.is_cut = before + n > longest};
    int64_t seen = part.is_cut ? (longest - before + 1) / 2 : n;
    part.prompt = (Tokens){n ? text->data + (n - seen) : NULL, (int32_t)seen};
    if (!before && !n) {
        part.prompt = (Tokens){&rule->start, 1};
        seen = 1;
    }
    int64_t room = longest + 1 - before - seen; /* the last token is not fed */
    part.limit = (int32_t)(left < room ? left : room);
    return part;
}

bool continue_take(const Decoded *decoded, TokenIds *text, int64_t *left)
{
    const Hypothesis *best = decoded->best;
    size_t before = text->count;
    for (int32_t i = 0; i < best->n; i++)
        if (!token_ids_push(text, best->ids[i])) {
            text->count = before;
            return false;
        }
    *left = best->n_each > best->n || best->is_stuck || !best->n ? 0 : *left - best->n;
    return true;
}

int continue_texts(Stepper *stepper, const TextRule *rule, int64_t longest,
                   const DecodeSettings *settings, int64_t part, Continuation *texts, int n)
{
    int64_t numbers[CONTINUE_ROWS];
    int32_t limits[CONTINUE_ROWS];
    int row[CONTINUE_ROWS], rows = 0;
    Tokens prompts[CONTINUE_ROWS];
    Decoded decoded[CONTINUE_ROWS];
    DecodeSettings own = *settings;
    own.limits = limits;
    if (part)
        own.first = -1; /* it begins a text, not each part */
    for (int i = 0; i < n; i++) {
        if (texts[i].left <= 0)
            continue;
        const ContinuePart next = continue_part(rule, &own, &texts[i].ids, texts[i].left, longest);
        prompts[rows] = next.prompt;
        limits[rows] = next.limit;
        numbers[rows] = texts[i].number << 32 | part;
        row[rows++] = i;
    }
    if (!rows)
        return 0;
    Arena *arena = arena_try_new();
    int result = rows;
    if (!arena || !decode_batch(stepper, &own, NULL, prompts, numbers, rows, arena, decoded))
        result = CONTINUE_NO_MEMORY;
    for (int i = 0; result >= 0 && i < rows; i++)
        result = decoded_has_numbers(&decoded[i]) ? result : CONTINUE_NO_NUMBERS;
    for (int i = 0; result >= 0 && i < rows; i++) {
        Continuation *text = &texts[row[i]];
        if (!continue_take(&decoded[i], &text->ids, &text->left))
            result = CONTINUE_NO_MEMORY;
        text->ended = text->ended || decoded[i].best->n_each > decoded[i].best->n;
        text->left = text->ended ? 0 : text->left;
    }
    arena_free(arena);
    return result;
}
