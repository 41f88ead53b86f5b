/* Tokenizers of lists of words or characters. */
#include "runtime/text/words/word_tokens.h"

#include "base/text.h"
#include "runtime/text/kind.h"
#include "runtime/text/trie.h"

#include <string.h>

const char *const words_specials[WORDS_SPECIALS] = {"<pad>", "<unk>", "<s>", "</s>"};

typedef struct Word {
    const char *text;
    uint32_t length;
} Word;

typedef struct Words {
    bool characters;
    Word *tokens;
    Trie ids;
    int32_t special[WORDS_SPECIALS];
} Words;

bool words_is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool words_next(bool characters, const char *text, size_t length, size_t *at, size_t *begin)
{
    while (!characters && *at < length && words_is_space(text[*at]))
        ++*at;
    *begin = *at;
    if (*at >= length)
        return false;
    if (characters) {
        size_t n = utf8_length(text + *at, length - *at);
        *at += n ? n : 1;
    }
    while (!characters && *at < length && !words_is_space(text[*at]))
        ++*at;
    return true;
}

/* ---- using ---- */

/* Neither written out in a text nor shown. */
static bool is_silent(const Words *w, int32_t id)
{
    return id == w->special[WORDS_PAD] || id == w->special[WORDS_BOS] ||
           id == w->special[WORDS_EOS];
}

static const char *words_piece(const Tokenizer *tokenizer, int32_t id, size_t *length)
{
    const Words *w = tokenizer->own;
    *length = w->tokens[id].length;
    return w->tokens[id].text;
}

static int32_t words_find(const Tokenizer *tokenizer, const char *text, size_t length)
{
    const Words *w = tokenizer->own;
    int32_t id = trie_find(&w->ids, text, length);
    return id == TRIE_NOWHERE ? -1 : id;
}

static bool encode_words(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids)
{
    const Words *w = tokenizer->own;
    for (size_t at = 0, begin; words_next(w->characters, text, length, &at, &begin);) {
        int32_t id = words_find(tokenizer, text + begin, at - begin);
        if (!token_ids_push(ids, id < 0 || is_silent(w, id) ? w->special[WORDS_UNK] : id))
            return false;
    }
    return true;
}

/* A word after others; `joined`: no space is due, and whether the next one's is. */
static bool put_word(TokenText *text, const Word *word, bool *joined)
{
    bool ok = *joined || token_text_put(text, " ", 1);
    *joined = word->length > 2 && !memcmp(word->text + word->length - 2, "@@", 2);
    return ok && token_text_put(text, word->text, *joined ? word->length - 2 : word->length);
}

static bool words_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text)
{
    const Words *w = tokenizer->own;
    bool joined = true, ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        if (ids[i] < 0 || ids[i] >= tokenizer->size || is_silent(w, ids[i]))
            continue;
        const Word *token = &w->tokens[ids[i]];
        if (!w->characters)
            ok = put_word(text, token, &joined);
        else if (ids[i] == w->special[WORDS_UNK])
            ok = token_text_put(text, "\xEF\xBF\xBD", 3); /* U+FFFD */
        else
            ok = token_text_put(text, token->text, token->length);
    }
    return ok;
}

/* ---- making ---- */

static const TokenizerKind words_kind = {encode_words, words_decode, words_piece, words_find, NULL};

static const char *line_end(const char *line, const char *end)
{
    const char *found = memchr(line, '\n', (size_t)(end - line));
    return found ? found : end;
}

/* The token that a line is. */
static Word read_token(const char *line, size_t length, bool characters)
{
    static const char escapes[] = WORDS_ESCAPES;
    for (const char *e = escapes; characters && length == 2 && line[0] == '\\' && *e; e += 2)
        if (line[1] == e[0])
            return (Word){e + 1, 1};
    return (Word){line, (uint32_t)length};
}

/* The tokens of the lines; false: no memory, or a problem. */
static bool read_tokens(Tokenizer *t, Words *w, const char *text, const char *end,
                        const char **problem)
{
    int32_t n = 0;
    for (const char *line = text; line < end; line = line_end(line, end) + 1)
        n++;
    w->tokens = ARENA_ARRAY(t->arena, Word, n + 1);
    Arena *scratch = w->tokens ? arena_scratch(t->arena) : NULL;
    TrieKey *keys = scratch ? ARENA_ARRAY(scratch, TrieKey, n + 1) : NULL;
    for (const char *line = text, *stop; keys && line < end; line = stop + 1) {
        stop = line_end(line, end);
        Word token = read_token(line, (size_t)(stop - line), w->characters);
        if (!token.length || memchr(token.text, 0, token.length))
            *problem = "a line is empty, or holds a NUL";
        keys[t->size] = (TrieKey){token.text, token.length, t->size};
        w->tokens[t->size++] = token;
    }
    const TrieKey *twice = NULL;
    bool ok = keys && !*problem && trie_build(&w->ids, t->arena, keys, (size_t)n, &twice);
    if (twice)
        *problem = "a token is there twice";
    arena_free(scratch);
    return ok;
}

static bool find_specials(Tokenizer *t, Words *w, const char **problem)
{
    for (int i = 0; i < WORDS_SPECIALS; i++) {
        w->special[i] = words_find(t, words_specials[i], strlen(words_specials[i]));
        if (w->special[i] < 0)
            *problem = "it lacks one of <pad>, <unk>, <s> and </s>";
    }
    t->special = (TokenizerSpecial){.pad = w->special[WORDS_PAD],
                                    .unk = w->special[WORDS_UNK],
                                    .bos = w->special[WORDS_BOS],
                                    .eos = w->special[WORDS_EOS]};
    return !*problem;
}

static Tokenizer *words_make(Arena *arena, const char *text, size_t size, const char **problem)
{
    static const char mark[] = WORDS_CHARACTERS "\n";
    Tokenizer *t = ARENA_NEW(arena, Tokenizer);
    Words *w = ARENA_NEW(arena, Words);
    if (!t || !w)
        return NULL;
    size_t skip = sizeof mark - 1;
    w->characters = size >= skip && !memcmp(text, mark, skip);
    *t = (Tokenizer){&words_kind, arena, .own = w};
    bool ok = read_tokens(t, w, text + (w->characters ? skip : 0), text + size, problem) &&
              find_specials(t, w, problem);
    return ok ? t : NULL;
}

Tokenizer *tokenizer_words(const void *bytes, size_t size, const char **problem)
{
    const char *ignored;
    problem = problem ? problem : &ignored;
    *problem = !bytes ? "there are no bytes" : size > TOKENIZER_MOST ? "it is too long" : NULL;
    Arena *arena = *problem ? NULL : tokenizer_arena(BUDGET_TEXT, size);
    Tokenizer *t = arena ? words_make(arena, bytes, size, problem) : NULL;
    return t ? t : tokenizer_drop(arena, problem);
}
