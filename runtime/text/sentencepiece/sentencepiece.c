/* Encoding and decoding with a SentencePiece model: from pieces to ids and back, as the
 * library does it. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/text/kind.h"
#include "runtime/text/sentencepiece/sp.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

static const char *sp_piece(const Tokenizer *tokenizer, int32_t id, size_t *length)
{
    const SpModel *m = tokenizer->own;
    *length = m->pieces[id].length;
    return m->pieces[id].text;
}

static int32_t sp_find(const Tokenizer *tokenizer, const char *text, size_t length)
{
    const SpModel *m = tokenizer->own;
    int32_t id = sp_id(m, text, length);
    bool same = m->pieces[id].length == length && !memcmp(m->pieces[id].text, text, length);
    return same && id < m->listed ? id : -1;
}

/* ---- encoding ---- */

static bool cut_pieces(const SpModel *m, const TokenText *text, SpCuts *cuts)
{
    static bool (*const cutters[])(const SpModel *, const char *, size_t,
                                   SpCuts *) = {[SP_UNIGRAM] = sp_cut_unigram,
                                                [SP_BPE] = sp_cut_bpe,
                                                [SP_WORD] = sp_cut_words,
                                                [SP_CHAR] = sp_cut_chars};
    return !text->length || cutters[m->kind](m, text->data, text->length, cuts);
}

/* A run of unknown pieces is one; with a fallback their bytes are. A control symbol in a text is
 * an error to the library, which gives no ids then. */
static bool put_ids(const SpModel *m, const TokenText *text, const SpCuts *cuts, TokenIds *ids)
{
    size_t first = ids->count;
    const char *at = text->data;
    bool was_unknown = false;
    for (size_t i = 0; i < cuts->n; i++) {
        int32_t id = cuts->at[i].id;
        bool unknown = id == m->unk;
        if (m->pieces[id].type == SP_CONTROL) {
            ids->count = first;
            return true;
        }
        if (unknown && m->byte_fallback) {
            for (uint32_t k = 0; k < cuts->at[i].length; k++)
                if (!token_ids_push(ids, m->bytes[(unsigned char)at[k]]))
                    return false;
        } else if ((!unknown || !was_unknown) &&
                   !token_ids_push(ids, id < m->listed ? id : m->unk)) {
            return false;
        }
        was_unknown = unknown;
        at += cuts->at[i].length;
    }
    return true;
}

/* A text for a model of several languages begins with the one to translate into, such as
 * ">>fra<<": a token by itself. Gives its bytes, 0 where there is none. */
static size_t language_length(const SpModel *m, const char *text, size_t length)
{
    if (!m->is_listed || length < 5 || memcmp(text, ">>", 2))
        return 0;
    for (size_t at = 3; at + 2 <= length; at++)
        if (!memcmp(text + at, "<<", 2))
            return at + 2;
    return 0;
}

/* A text without tokens that stand by themselves. */
static bool encode_plain(const SpModel *m, const char *text, size_t length, TokenIds *ids)
{
    TokenText normal = {0};
    SpCuts cuts = {0};
    bool ok = sp_normalize(&m->normalizer, &m->user, text, length, &normal) &&
              cut_pieces(m, &normal, &cuts) && put_ids(m, &normal, &cuts, ids);
    token_text_free(&normal);
    free(cuts.at);
    return ok;
}

/* Bytes of the text before the first name of a control piece, the longest that begins there; *size
 * are that name's bytes, 0 where there is none. */
static size_t find_control(const SpModel *m, const char *text, size_t length, size_t *size,
                           int32_t *id)
{
    *size = 0;
    for (size_t at = 0; at < length && m->specials.n; at++)
        if ((*size = trie_longest(&m->specials, text + at, length - at, id)))
            return at;
    return length;
}

static bool sp_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids)
{
    const SpModel *m = tokenizer->own;
    size_t language = language_length(m, text, length);
    int32_t id = language ? sp_find(tokenizer, text, language) : -1;
    bool ok = !language || token_ids_push(ids, id < 0 ? m->unk : id);
    const char *at = text + language, *end = text + length;
    if (tokenizer->is_plain || !m->specials.n)
        return ok && encode_plain(m, at, (size_t)(end - at), ids);
    while (ok && at < end) {
        size_t size, n = find_control(m, at, (size_t)(end - at), &size, &id);
        ok = (!n || encode_plain(m, at, n, ids)) &&
             (!size || token_ids_push(ids, id < m->listed ? id : m->unk));
        at += n + size;
    }
    return ok;
}

/* ---- decoding ---- */

typedef struct PieceDecoding {
    const SpModel *model;
    TokenText text;
    bool at_start, cut_one; /* a blank at the start is still to be dropped; one was */
} PieceDecoding;

/* Bytes [from, to) of the text came one by one: what is no UTF-8 among them becomes U+FFFD. */
static bool mend_bytes(PieceDecoding *d, const unsigned char *bytes, size_t n)
{
    for (size_t at = 0, size; at < n; at += size ? size : 1) {
        size = utf8_length((const char *)bytes + at, n - at);
        if (size ? !token_text_put(&d->text, (const char *)bytes + at, size)
                 : !token_text_put(&d->text, "\xef\xbf\xbd", 3))
            return false;
    }
    return true;
}

static bool put_piece(PieceDecoding *d, const SpPiece *from)
{
    const SpNormalizer *n = &d->model->normalizer;
    const char *at = from->text, *end = at + from->length;
    if (d->cut_one || d->text.length)
        d->at_start = false;
    d->cut_one = false;
    if (from->type == SP_CONTROL)
        return true;
    if (from->type == SP_UNKNOWN)
        return token_text_put(&d->text, d->model->unk_surface.text, d->model->unk_surface.length);
    if (d->at_start && (n->dummy_prefix || n->remove_extra) && end - at >= SP_SPACE_SIZE &&
        !memcmp(at, SP_SPACE, SP_SPACE_SIZE)) {
        at += SP_SPACE_SIZE;
        d->cut_one = !n->remove_extra;
    }
    while (at < end) {
        bool space = end - at >= SP_SPACE_SIZE && !memcmp(at, SP_SPACE, SP_SPACE_SIZE);
        if (!token_text_put(&d->text, space ? " " : at, 1))
            return false;
        at += space ? SP_SPACE_SIZE : 1;
    }
    return true;
}

/* The piece that the library means by an id: the one it finds by its text. */
static const SpPiece *piece_of(const SpModel *m, int32_t id)
{
    const SpPiece *by_id = &m->pieces[id];
    return by_id->type == SP_NORMAL || by_id->type == SP_USER || by_id->type == SP_UNUSED
               ? &m->pieces[sp_id(m, by_id->text, by_id->length)]
               : by_id;
}

static bool put_pieces(PieceDecoding *d, const int32_t *ids, size_t n)
{
    const SpModel *m = d->model;
    unsigned char *bytes = malloc(n ? n : 1);
    size_t n_bytes = 0;
    bool ok = bytes;
    for (size_t i = 0; ok && i < n; i++) {
        if (ids[i] < 0 || ids[i] >= m->listed)
            continue;
        const SpPiece *next = piece_of(m, ids[i]);
        if (next->type == SP_BYTE) {
            bytes[n_bytes++] = next->byte;
            continue;
        }
        ok = mend_bytes(d, bytes, n_bytes) && put_piece(d, next);
        n_bytes = 0;
    }
    ok = ok && mend_bytes(d, bytes, n_bytes);
    free(bytes);
    return ok;
}

static bool sp_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text)
{
    const SpModel *m = tokenizer->own;
    Trie none = {0};
    PieceDecoding d = {.model = m, .at_start = true};
    bool ok = put_pieces(&d, ids, n);
    if (ok)
        ok = m->has_denormalizer
                 ? sp_normalize(&m->denormalizer, &none, d.text.data, d.text.length, text)
                 : token_text_put(text, d.text.data, d.text.length);
    token_text_free(&d.text);
    return ok;
}

/* ---- making ---- */

static const TokenizerKind sentencepiece = {sp_encode, sp_decode, sp_piece, sp_find, NULL};

/* The id of a piece that is of this type. */
static int32_t special_id(const SpModel *m, SpText text, SpType type)
{
    int32_t id = sp_id(m, text.text, strnlen(text.text, text.length));
    return m->pieces[id].type == type && id < m->listed ? id : -1;
}

static Tokenizer *sp_make(Arena *arena, const void *bytes, size_t size, const char **problem)
{
    Tokenizer *t = ARENA_NEW(arena, Tokenizer);
    SpModel *m = ARENA_NEW(arena, SpModel);
    if (!t || !m)
        return NULL;
    m->arena = arena;
    if (!sp_read(m, bytes, size, problem))
        return NULL;
    *t = (Tokenizer){&sentencepiece, arena, .own = m, .size = m->listed};
    t->special = (TokenizerSpecial){.pad = special_id(m, m->pad_piece, SP_CONTROL),
                                    .unk = m->unk,
                                    .bos = special_id(m, m->bos_piece, SP_CONTROL),
                                    .eos = special_id(m, m->eos_piece, SP_CONTROL)};
    if (m->rows)
        tokenizer_limit(t, m->rows); /* it has no frame */
    return t;
}

Tokenizer *tokenizer_sentencepiece(const void *bytes, size_t size, const char **problem)
{
    const char *ignored;
    problem = problem ? problem : &ignored;
    *problem = bytes ? NULL : "there are no bytes";
    Arena *arena = bytes ? tokenizer_arena(BUDGET_BINARY, size) : NULL;
    Tokenizer *t = arena ? sp_make(arena, bytes, size, problem) : NULL;
    return t ? t : tokenizer_drop(arena, problem);
}
