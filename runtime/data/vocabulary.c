/* One interface over tokenizers and word lists. */
#include "runtime/data/vocabulary_of.h"

#include "base/arena.h"
#include "runtime/text/words/word_tokens.h"
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/words/token_words.h"

#include <assert.h>

struct Vocabulary {
    Tokenizer *pieces;
    VocabKind kind;
    bool characters;   /* of a list */
    const char *bytes; /* of the tokenizer's file */
    size_t n_bytes;
    const char **tokens; /* its pieces, each ended by a NUL */
    TokenRules rules;
    bool is_stream;     /* vocab_set_stream */
    Vocabulary *source; /* of the other side; NULL: this one serves both */
    uint64_t hash;
};

/* ---- making ---- */

/* Decoding begins with eos where there is no bos; a source ends as a target does. */
static TokenRules plain_rules(int32_t pad, int32_t unk, int32_t bos, int32_t eos)
{
    return (TokenRules){.pad = pad,
                        .unk = unk,
                        .begin = bos < 0 ? eos : bos,
                        .end = eos,
                        .source_begin = -1,
                        .source_end = eos,
                        .first = -1,
                        .mask = -1};
}

/* Whether generation by the rule has a use for the token. */
static bool is_used(const TextRule *text, int32_t id)
{
    bool used = id == text->newline;
    for (int32_t i = 0; i < text->n_stops; i++)
        used = used || id == text->stops[i];
    return used;
}

/* The parts of the text's rule that nobody said. */
static void complete_rules(Vocabulary *vocab)
{
    TokenRules *rules = &vocab->rules;
    TextRule *text = &rules->text;
    bool stream = vocab->is_stream;
    int32_t newline = vocab->characters ? vocab_find(vocab, "\n") : -1;
    int32_t line_end = newline >= 0 ? newline : rules->end;
    if (!(rules->said & SAID_BEGIN))
        text->begin = stream ? line_end : rules->begin;
    if (!(rules->said & SAID_END))
        text->end = stream ? line_end : rules->end;
    if (!(rules->said & SAID_NEWLINE))
        text->newline = line_end;
    if (!(rules->said & SAID_STOPS)) {
        text->n_stops = !stream && rules->end >= 0;
        text->stops[0] = rules->end;
    }
    text->start = rules->begin >= 0 ? rules->begin : rules->end >= 0 ? rules->end : 0;
    const int32_t special[TEXT_FORBIDDEN] = {rules->pad, rules->begin, rules->unk, rules->end};
    for (int i = 0; i < TEXT_FORBIDDEN; i++) /* published models may choose what they like */
        text->forbidden[i] =
            rules->said & SAID_BEGIN || is_used(text, special[i]) ? -1 : special[i];
}

static const char **copy_pieces(Arena *arena, const Tokenizer *pieces)
{
    int32_t n = tokenizer_size(pieces);
    const char **tokens = ARENA_ARRAY(arena, const char *, n);
    for (int32_t i = 0; i < n; i++) {
        size_t length;
        const char *piece = tokenizer_piece(pieces, i, &length);
        tokens[i] = arena_strndup(arena, piece, length);
    }
    return tokens;
}

/* The bytes of the tokenizer's file live in the arena. */
static Vocabulary *from_pieces(Arena *arena, Tokenizer *pieces, VocabKind kind, const char *bytes,
                               size_t n)
{
    Vocabulary *vocab = ARENA_NEW(arena, Vocabulary);
    TokenizerSpecial special = tokenizer_special(pieces);
    *vocab = (Vocabulary){.pieces = pieces,
                          .kind = kind,
                          .bytes = bytes,
                          .n_bytes = n,
                          .tokens = copy_pieces(arena, pieces),
                          .rules = plain_rules(special.pad, special.unk, special.bos, special.eos)};
    vocab->rules.mask = vocab_find(vocab, MASK_TOKEN);
    if (vocab->rules.mask < 0)
        vocab->rules.mask = vocab_find(vocab, "[MASK]");
    vocab->hash = hash_bytes(HASH_SEED, bytes, n);
    complete_rules(vocab);
    return vocab;
}

static void release(void *pieces) { tokenizer_free(pieces); }

Vocabulary *vocab_of_words(Diagnostics *diags, Arena *arena, const WordList *words)
{
    Text text = {0};
    wordlist_print(words, &text);
    size_t n = text.length;
    const char *bytes = arena_copy(arena, text.data, n), *problem = NULL;
    text_free(&text);
    Tokenizer *pieces = tokenizer_words(bytes, n, &problem);
    if (!pieces) {
        diag_error(diags, (Loc){0}, "the list of words: %s",
                   problem ? problem : "there is no memory for it");
        return NULL;
    }
    arena_own(arena, pieces, release);
    Vocabulary *vocab = from_pieces(arena, pieces, VOCAB_WORDS, bytes, n);
    vocab->characters = words->characters;
    complete_rules(vocab);
    vocab->hash = hash_u64(HASH_SEED, words->characters);
    for (size_t i = 0; i < words->tokens.count; i++)
        vocab->hash =
            hash_bytes(vocab->hash, words->tokens.data[i], strlen(words->tokens.data[i]) + 1);
    return vocab;
}

/* Whether the bytes are lines of text. */
static bool is_list(const char *bytes, size_t n)
{
    bool text = n && memchr(bytes, '\n', n);
    for (size_t i = 0, length; text && i < n; i += length) {
        length = utf8_length(bytes + i, n - i);
        text = length && ((unsigned char)bytes[i] >= ' ' || strchr("\t\r\n", bytes[i])) && bytes[i];
    }
    return text;
}

Vocabulary *vocab_of_model(Diagnostics *diags, Arena *arena, const char *name, const char *bytes,
                           size_t n, bool is_json)
{
    const char *problem = NULL, *what = is_json ? "tokenizer.json" : "SentencePiece model";
    Tokenizer *pieces = is_json ? tokenizer_json(arena, bytes, n, &problem)
                                : tokenizer_sentencepiece(bytes, n, &problem);
    Loc loc = {.source = diag_source(arena, name, "", 0)};
    const char *stand_in = pieces || is_json ? NULL : text_stand_in(bytes, n);
    if (stand_in)
        problem = arena_printf(arena, "it is %s", stand_in);
    else if (!pieces && !is_json && is_list(bytes, n)) {
        diag_error(
            diags, loc,
            "not a SentencePiece model, but lines of text: words:%s reads it as a list of words, a word a "
            "line",
            name);
        return NULL;
    }
    if (!pieces) {
        diag_error(diags, loc, "not a %s%s: %s", what, is_json ? " that is read" : "",
                   problem ? problem : "there is no memory for it");
        return NULL;
    }
    arena_own(arena, pieces, release);
    return from_pieces(arena, pieces, is_json ? VOCAB_JSON : VOCAB_SENTENCEPIECE, bytes, n);
}

/* ---- using ---- */

int32_t vocab_size(const Vocabulary *vocab)
{
    int32_t n = tokenizer_size(vocab->pieces);
    return vocab->rules.size > n ? vocab->rules.size : n;
}

const TokenRules *vocab_rules(const Vocabulary *vocab) { return &vocab->rules; }

void vocab_set_rules(Vocabulary *vocab, const TokenRules *rules)
{
    vocab->rules = *rules;
    vocab->hash = hash_bytes(vocab->hash, rules, offsetof(TokenRules, first));
    if (rules->first >= 0)
        vocab->hash = hash_u64(vocab->hash, (uint64_t)rules->first);
    if (rules->said & SAID_MASK)
        vocab->hash = hash_u64(vocab->hash, (uint64_t)rules->mask);
    complete_rules(vocab);
    const TextRule *text = &vocab->rules.text;
    /* stops change nothing that is learnt */
    const int32_t said[] = {text->begin, text->end, text->newline};
    for (int i = 0; i < 3; i++)
        if (rules->said & 1U << i)
            vocab->hash = hash_u64(hash_u64(vocab->hash, (uint64_t)i), (uint64_t)said[i]);
}

void vocab_set_stream(Vocabulary *vocab, bool is_stream)
{
    vocab->is_stream = is_stream;
    complete_rules(vocab);
}

const Tokenizer *vocab_tokenizer(const Vocabulary *vocab) { return vocab->pieces; }

TokenizerFrame vocab_frame(const Vocabulary *vocab) { return tokenizer_frame(vocab->pieces); }

const Vocabulary *vocab_source(const Vocabulary *vocab)
{
    return vocab->source ? vocab->source : vocab;
}

bool vocab_sides_agree(const Vocabulary *vocab)
{
    const Vocabulary *source = vocab_source(vocab);
    const int32_t n = tokenizer_size(vocab->pieces);
    bool agree = tokenizer_size(source->pieces) == n;
    for (int32_t id = 0; id < n && agree && source != vocab; id++)
        agree = !strcmp(source->tokens[id], vocab->tokens[id]);
    return agree;
}

void vocab_join(Vocabulary *vocab, Vocabulary *source)
{
    vocab->source = source;
    vocab->rules.source_end = source->rules.end;
    vocab->hash = hash_u64(vocab->hash, source->hash);
}

uint64_t vocab_hash(const Vocabulary *vocab) { return vocab->hash; }

VocabKind vocab_kind(const Vocabulary *vocab) { return vocab->kind; }

const char *vocab_bytes(const Vocabulary *vocab, size_t *size)
{
    *size = vocab->n_bytes;
    return vocab->bytes;
}

bool vocab_is_characters(const Vocabulary *vocab) { return vocab->characters; }

bool vocab_is_words(const Vocabulary *vocab)
{
    return vocab->kind == VOCAB_WORDS && !vocab->characters;
}

bool vocab_is_empty(const Vocabulary *vocab)
{
    return vocab_is_words(vocab) && vocab_size(vocab) <= WORDS_SPECIALS;
}

bool vocab_encode(const Vocabulary *vocab, const char *text, size_t length, Ids *ids)
{
    bool ok = tokenizer_encode(vocab->pieces, text, length, ids);
    memory_need(ok || tokenizer_problem());
    return ok;
}

void vocab_read_special(Vocabulary *vocab, bool reads)
{
    tokenizer_read_special(vocab->pieces, reads);
    if (vocab->source)
        vocab_read_special(vocab->source, reads);
}

/* ---- what is unknown ---- */

enum { MOST_TOLD = 5 };

static bool is_unknown(const Vocabulary *vocab, const Line *unit)
{
    Ids ids = {0};
    bool found = false;
    vocab_encode(vocab, unit->text, unit->length, &ids);
    for (size_t i = 0; i < ids.count; i++)
        found = found || ids.data[i] == vocab->rules.unk;
    ids_free(&ids);
    return found;
}

/* The next word, or the next character, from *at on, which goes past it; false: the end. */
static bool next_unit(bool words, const char *text, size_t length, size_t *at, Line *unit)
{
    while (*at < length && (text[*at] == '\n' || (words && strchr(" \t\r\f\v", text[*at]))))
        ++*at;
    if (*at >= length)
        return false;
    size_t n = words ? 0 : utf8_length(text + *at, length - *at);
    while (words && *at + n < length && !strchr(" \t\r\f\v\n", text[*at + n]))
        n++;
    *unit = (Line){text + *at, n ? n : 1};
    *at += unit->length;
    return true;
}

static bool is_told(const Line *told, int n, const Line *unit)
{
    for (int i = 0; i < n && i < MOST_TOLD; i++)
        if (told[i].length == unit->length && !memcmp(told[i].text, unit->text, unit->length))
            return true;
    return false;
}

const char *vocab_unknown(const Vocabulary *vocab, Arena *arena, const char *text, size_t length)
{
    Line unit, told[MOST_TOLD];
    int n = 0;
    bool words = vocab_is_words(vocab) || tokenizer_is_words(vocab->pieces);
    for (size_t at = 0; n <= MOST_TOLD && next_unit(words, text, length, &at, &unit);)
        if (!is_told(told, n, &unit) && is_unknown(vocab, &unit) && n++ < MOST_TOLD)
            told[n - 1] = unit;
    const char *list = NULL;
    for (int i = 0; i < n && i < MOST_TOLD; i++)
        list = arena_printf(arena, "%s%s'%.*s'", list ? list : "", list ? ", " : "",
                            (int)told[i].length, told[i].text);
    return n > MOST_TOLD ? arena_printf(arena, "%s and others", list) : list;
}

void vocab_decode(const Vocabulary *vocab, const int32_t *ids, size_t n, Text *out)
{
    for (size_t i = 0; i < n; i++)
        assert(ids[i] >= 0 && ids[i] < vocab_size(vocab));
    TokenText text = {0};
    bool ok = tokenizer_decode_text(vocab->pieces, ids, n, &text);
    memory_need(ok || tokenizer_problem());
    if (!ok) /* decoders that never end */
        text_string(out, "\xEF\xBF\xBD");
    text_put(out, text.data, text.length);
    token_text_free(&text);
}

int64_t vocab_token_words(const Vocabulary *vocab, const Line *line, const int32_t *ids, int64_t n,
                          int64_t *word)
{
    int64_t n_words;
    memory_need(
        token_words(vocab->pieces, line->text, line->length, ids, (size_t)n, word, &n_words));
    return n_words;
}

const char *vocab_token(const Vocabulary *vocab, int32_t id)
{
    assert(id >= 0 && id < vocab_size(vocab));
    return id < tokenizer_size(vocab->pieces) ? vocab->tokens[id] : "";
}

int32_t vocab_find(const Vocabulary *vocab, const char *token)
{
    return tokenizer_find(vocab->pieces, token, strlen(token));
}

int32_t vocab_blank(const Vocabulary *vocab)
{
    return vocab->kind == VOCAB_SENTENCEPIECE ? vocab_find(vocab, "\xE2\x96\x81") : -1;
}

bool vocab_is_special(const Vocabulary *vocab, int32_t id)
{
    const TokenRules *r = &vocab->rules;
    const int32_t special[] = {r->pad,          r->unk,        r->begin, r->end,
                               r->source_begin, r->source_end, r->first, r->mask};
    const int32_t twice[] = {id, id}; /* a blank alone is no text, and two have one between them */
    Text text = {0};
    bool found = false;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        found = found || special[i] == id;
    if (!found)
        vocab_decode(vocab, twice, 2, &text);
    found = found || !text.length;
    text_free(&text);
    return found;
}

/* How many words the text of ids is. */
static int64_t decoded_words(const Vocabulary *vocab, const int32_t *ids, size_t n)
{
    Text text = {0};
    int64_t words = 0;
    vocab_decode(vocab, ids, n, &text);
    for (size_t i = 0; i < text.length; i++)
        words += text.data[i] != ' ' && (!i || text.data[i - 1] == ' ');
    text_free(&text);
    return words;
}

bool vocab_begins_word(const Vocabulary *vocab, int32_t before, int32_t id)
{
    const int32_t ids[] = {before, id};
    return decoded_words(vocab, ids, 2) > decoded_words(vocab, ids, 1);
}
