/* Encoding and decoding with a SentencePiece model: from pieces to ids and back, as the
 * library does it. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/text/sp.h"
#include "runtime/text/tokenizer.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct Tokenizer {
    SpModel sp;
    TokenizerSpecial special;
};

/* ---- making ---- */

/* The id of a piece that is of this type. */
static int32_t special_id(const SpModel *m, SpText piece, SpType type)
{
    int32_t id = sp_id(m, piece.text, strnlen(piece.text, piece.length));
    return m->pieces[id].type == type ? id : -1;
}

Tokenizer *tokenizer_sentencepiece(const void *bytes, size_t size, const char **problem)
{
    const char *ignored;
    problem = problem ? problem : &ignored;
    *problem = NULL;
    if (!bytes) {
        *problem = "there are no bytes";
        return NULL;
    }
    Arena *arena = arena_try_new();
    Tokenizer *t = arena ? ARENA_NEW(arena, Tokenizer) : NULL;
    if (t)
        t->sp.arena = arena;
    if (!t || !sp_read(&t->sp, bytes, size, problem)) {
        arena_free(arena);
        return NULL;
    }
    t->special = (TokenizerSpecial){.pad = special_id(&t->sp, t->sp.pad_piece, SP_CONTROL),
                                    .unk = t->sp.unk,
                                    .bos = special_id(&t->sp, t->sp.bos_piece, SP_CONTROL),
                                    .eos = special_id(&t->sp, t->sp.eos_piece, SP_CONTROL)};
    return t;
}

void tokenizer_free(Tokenizer *tokenizer)
{
    if (tokenizer)
        arena_free(tokenizer->sp.arena);
}

/* ---- asking ---- */

int32_t tokenizer_size(const Tokenizer *tokenizer) { return tokenizer ? tokenizer->sp.size : 0; }

TokenizerSpecial tokenizer_special(const Tokenizer *tokenizer)
{
    return tokenizer ? tokenizer->special : (TokenizerSpecial){-1, -1, -1, -1};
}

const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id, size_t *length)
{
    bool has = id >= 0 && id < tokenizer_size(tokenizer);
    *length = has ? tokenizer->sp.pieces[id].length : 0;
    return has ? tokenizer->sp.pieces[id].text : "";
}

int32_t tokenizer_find(const Tokenizer *tokenizer, const char *piece, size_t length)
{
    if (!tokenizer || !piece)
        return -1;
    const SpModel *m = &tokenizer->sp;
    int32_t id = sp_id(m, piece, length);
    bool same = m->pieces[id].length == length && !memcmp(m->pieces[id].text, piece, length);
    return same ? id : -1;
}

/* ---- encoding ---- */

static bool cut(const SpModel *m, const TokenText *text, SpCuts *cuts)
{
    static bool (*const cutters[])(const SpModel *, const char *, size_t, SpCuts *) = {
        [SP_UNIGRAM] = sp_cut_unigram,
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
    const char *piece = text->data;
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
                if (!token_ids_push(ids, m->bytes[(unsigned char)piece[k]]))
                    return false;
        } else if ((!unknown || !was_unknown) && !token_ids_push(ids, id)) {
            return false;
        }
        was_unknown = unknown;
        piece += cuts->at[i].length;
    }
    return true;
}

bool tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids)
{
    if (!tokenizer || !ids || (!text && length) || length > TOKENIZER_MOST)
        return false;
    const SpModel *m = &tokenizer->sp;
    TokenText normal = {0};
    SpCuts cuts = {0};
    size_t first = ids->count;
    bool ok = sp_normalize(&m->normalizer, &m->user, text, length, &normal) &&
              cut(m, &normal, &cuts) && put_ids(m, &normal, &cuts, ids);
    if (!ok)
        ids->count = first;
    token_text_free(&normal);
    free(cuts.at);
    return ok;
}

/* ---- decoding ---- */

typedef struct Decoding {
    const SpModel *model;
    TokenText text;
    bool at_start, cut_one; /* a blank at the start is still to be dropped; one was */
} Decoding;

/* Bytes [from, to) of the text came one by one: what is no UTF-8 among them becomes U+FFFD. */
static bool mend_bytes(Decoding *d, const unsigned char *bytes, size_t n)
{
    for (size_t at = 0, size; at < n; at += size ? size : 1) {
        size = utf8_length((const char *)bytes + at, n - at);
        if (size ? !token_text_put(&d->text, (const char *)bytes + at, size)
                 : !token_text_put(&d->text, "\xef\xbf\xbd", 3))
            return false;
    }
    return true;
}

static bool put_piece(Decoding *d, const SpPiece *piece)
{
    const SpNormalizer *n = &d->model->normalizer;
    const char *at = piece->text, *end = at + piece->length;
    if (d->cut_one || d->text.length)
        d->at_start = false;
    d->cut_one = false;
    if (piece->type == SP_CONTROL)
        return true;
    if (piece->type == SP_UNKNOWN)
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
    const SpPiece *piece = &m->pieces[id];
    return piece->type == SP_NORMAL || piece->type == SP_USER || piece->type == SP_UNUSED
               ? &m->pieces[sp_id(m, piece->text, piece->length)]
               : piece;
}

static bool decode(Decoding *d, const int32_t *ids, size_t n)
{
    const SpModel *m = d->model;
    unsigned char *bytes = malloc(n ? n : 1);
    size_t n_bytes = 0;
    bool ok = bytes;
    for (size_t i = 0; ok && i < n; i++) {
        if (ids[i] < 0 || ids[i] >= m->size)
            continue;
        const SpPiece *piece = piece_of(m, ids[i]);
        if (piece->type == SP_BYTE) {
            bytes[n_bytes++] = piece->byte;
            continue;
        }
        ok = mend_bytes(d, bytes, n_bytes) && put_piece(d, piece);
        n_bytes = 0;
    }
    ok = ok && mend_bytes(d, bytes, n_bytes);
    free(bytes);
    return ok;
}

bool tokenizer_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text)
{
    if (!tokenizer || (!ids && n) || !text)
        return false;
    const SpModel *m = &tokenizer->sp;
    Trie none = {0};
    Decoding d = {.model = m, .at_start = true};
    bool ok = decode(&d, ids, n);
    if (ok)
        ok = m->has_denormalizer
                 ? sp_normalize(&m->denormalizer, &none, d.text.data, d.text.length, text)
                 : token_text_put(text, d.text.data, d.text.length);
    token_text_free(&d.text);
    return ok;
}
