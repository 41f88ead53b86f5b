/* SentencePiece models from their bytes: the fields of ModelProto (sentencepiece_model.proto)
 * that encoding and decoding need, checked as the library checks them. */
#define _POSIX_C_SOURCE 200809L
#include "base/proto.h"
#include "runtime/text/sentencepiece/sp.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_PIECES = 1 << 24 };

typedef struct Reading {
    SpModel *model;
    const char *problem;
} Reading;

static bool sp_refuse(Reading *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

static bool whole(Reading *r, const Proto *message)
{
    return !message->bad || sp_refuse(r, "a field is cut off or damaged");
}

/* ---- fields ---- */

static bool read_piece(Reading *r, const ProtoField *from)
{
    Proto message = proto_message(from->bytes, from->size);
    ProtoField f;
    SpPiece piece = {.text = "", .type = SP_NORMAL};
    while (proto_next(&message, &f)) {
        if (f.number == SP_PIECE_piece && f.kind == PROTO_BYTES && f.size <= UINT32_MAX) {
            piece.text = f.bytes;
            piece.length = (uint32_t)f.size;
        } else if (f.number == SP_PIECE_score && f.kind == PROTO_4) {
            piece.score = proto_float(&f);
        } else if (f.number == SP_PIECE_type && f.kind == PROTO_VARINT && f.value >= SP_NORMAL &&
                   f.value <= SP_BYTE) {
            piece.type = (unsigned char)f.value;
        }
    }
    if (!piece.length)
        return whole(r, &message) && sp_refuse(r, "a piece is empty");
    if (memchr(piece.text, 0, piece.length))
        return sp_refuse(r, "a piece has a NUL");
    r->model->pieces[r->model->size++] = piece;
    return whole(r, &message);
}

static bool read_trainer(Reading *r, const ProtoField *from)
{
    Proto message = proto_message(from->bytes, from->size);
    ProtoField f;
    SpModel *m = r->model;
    while (proto_next(&message, &f)) {
        SpText text = {f.bytes, f.size};
        if (f.kind == PROTO_VARINT && f.number == SP_TRAINER_model_type && f.value >= SP_UNIGRAM &&
            f.value <= SP_CHAR)
            m->kind = (SpKind)f.value;
        else if (f.kind == PROTO_VARINT && f.number == SP_TRAINER_treat_whitespace_as_suffix)
            m->normalizer.as_suffix = f.value;
        else if (f.kind == PROTO_VARINT && f.number == SP_TRAINER_byte_fallback)
            m->byte_fallback = f.value;
        else if (f.kind == PROTO_BYTES && f.number == SP_TRAINER_unk_surface)
            m->unk_surface = (SpText){f.bytes, strnlen(f.bytes, f.size)};
        else if (f.kind == PROTO_BYTES && f.size && f.number >= SP_TRAINER_unk_piece &&
                 f.number <= SP_TRAINER_pad_piece)
            *(f.number == SP_TRAINER_unk_piece   ? &m->unk_piece
              : f.number == SP_TRAINER_bos_piece ? &m->bos_piece
              : f.number == SP_TRAINER_eos_piece ? &m->eos_piece
                                                 : &m->pad_piece) = text;
    }
    return whole(r, &message);
}

static bool read_normalizer(Reading *r, SpNormalizer *normalizer, const ProtoField *from)
{
    Proto message = proto_message(from->bytes, from->size);
    ProtoField f;
    while (proto_next(&message, &f)) {
        if (f.kind == PROTO_BYTES && f.number == SP_NORMALIZER_precompiled_charsmap && f.size &&
            !char_rules_open(&normalizer->rules, f.bytes, f.size))
            return sp_refuse(r, "its rules of normalization are damaged");
        if (f.kind != PROTO_VARINT)
            continue;
        if (f.number == SP_NORMALIZER_add_dummy_prefix)
            normalizer->dummy_prefix = f.value;
        else if (f.number == SP_NORMALIZER_remove_extra_whitespaces)
            normalizer->remove_extra = f.value;
        else if (f.number == SP_NORMALIZER_escape_whitespaces)
            normalizer->escape = f.value;
    }
    return whole(r, &message);
}

/* Room for the pieces of the model. */
static bool make_pieces(Reading *r, Proto message)
{
    size_t n = 0;
    for (ProtoField f; proto_next(&message, &f);)
        n += f.number == SP_MODEL_pieces && f.kind == PROTO_BYTES;
    if (n > MOST_PIECES)
        return sp_refuse(r, "it has too many pieces");
    r->model->pieces = ARENA_ARRAY(r->model->arena, SpPiece, n);
    return r->model->pieces;
}

static bool read_fields(Reading *r, const void *bytes, size_t size)
{
    SpModel *m = r->model;
    Proto message = proto_message(bytes, size);
    ProtoField f;
    bool ok = make_pieces(r, message);
    uint64_t listed = 0;
    while (ok && proto_next(&message, &f)) {
        if (f.kind == PROTO_VARINT && f.number == SP_MODEL_listed)
            listed = f.value;
        if (f.kind == PROTO_VARINT && f.number == SP_MODEL_specials)
            m->reads_specials = f.value;
        if (f.kind == PROTO_VARINT && f.number == SP_MODEL_rows && f.value <= MOST_PIECES)
            m->rows = (int32_t)f.value;
        if (f.kind != PROTO_BYTES)
            continue;
        if (f.number == SP_MODEL_pieces)
            ok = read_piece(r, &f);
        else if (f.number == SP_MODEL_trainer_spec)
            ok = read_trainer(r, &f);
        else if (f.number == SP_MODEL_normalizer_spec)
            ok = read_normalizer(r, &m->normalizer, &f);
        else if (f.number == SP_MODEL_denormalizer_spec)
            ok = read_normalizer(r, &m->denormalizer, &f);
    }
    m->is_listed = listed;
    m->listed = listed && listed < (uint64_t)m->size ? (int32_t)listed : m->size;
    m->has_denormalizer = m->denormalizer.rules.keys.n;
    return ok && whole(r, &message) && !arena_failed(m->arena);
}

/* ---- what they make ---- */

/* Of "<0x3A>"; -1: the piece is no such name. */
static int byte_of(const SpPiece *piece)
{
    static const char digits[] = "0123456789ABCDEF";
    if (piece->length != 6 || memcmp(piece->text, "<0x", 3) || piece->text[5] != '>')
        return -1;
    const char *high = strchr(digits, piece->text[3]), *low = strchr(digits, piece->text[4]);
    return high && low ? (int)((high - digits) * 16 + (low - digits)) : -1;
}

static bool check_bytes(Reading *r)
{
    SpModel *m = r->model;
    for (int i = 0; i < 256; i++)
        m->bytes[i] = -1;
    for (int32_t i = 0; i < m->size; i++) {
        if (m->pieces[i].type != SP_BYTE)
            continue;
        int byte = byte_of(&m->pieces[i]);
        if (!m->byte_fallback || byte < 0)
            return sp_refuse(r, "it has a piece for a byte that it does not fall back to");
        m->pieces[i].byte = (unsigned char)byte;
        m->bytes[byte] = i;
    }
    for (int i = 0; i < 256 && m->byte_fallback; i++)
        if (m->bytes[i] < 0)
            return sp_refuse(r, "it falls back to bytes and lacks pieces for some");
    return true;
}

static bool weigh(Reading *r)
{
    SpModel *m = r->model;
    m->least = FLT_MAX;
    m->most = FLT_MIN; /* above 0, as the library has it */
    for (int32_t i = 0; i < m->size; i++) {
        float score = m->pieces[i].score;
        m->has_unused = m->has_unused || m->pieces[i].type == SP_UNUSED;
        if (m->pieces[i].type != SP_NORMAL)
            continue;
        if (!isfinite(score))
            return sp_refuse(r, "the score of a piece is no number");
        m->least = score < m->least ? score : m->least;
        m->most = m->most < score ? score : m->most;
    }
    return true;
}

typedef enum Which { KNOWN, RESERVED, USER, NAMED } Which;

static bool is_of(const SpPiece *piece, Which which)
{
    bool known = piece->type == SP_NORMAL || piece->type == SP_USER || piece->type == SP_UNUSED;
    if (which == USER || which == NAMED)
        return piece->type == (which == USER ? SP_USER : SP_CONTROL);
    return known == (which == KNOWN);
}

static bool build(Reading *r, Trie *trie, Which which)
{
    SpModel *m = r->model;
    Arena *scratch = arena_scratch(m->arena);
    size_t n = 0;
    for (int32_t i = 0; i < m->size; i++)
        n += is_of(&m->pieces[i], which);
    TrieKey *keys = scratch ? ARENA_ARRAY(scratch, TrieKey, n) : NULL;
    n = 0;
    for (int32_t i = 0; keys && i < m->size; i++)
        if (is_of(&m->pieces[i], which))
            keys[n++] = (TrieKey){m->pieces[i].text, m->pieces[i].length, i};
    const TrieKey *twice = NULL;
    bool ok = keys && trie_build(trie, m->arena, keys, n, &twice);
    if (twice)
        sp_refuse(r, "a piece is there twice");
    arena_free(scratch);
    return ok;
}

static bool sp_finish(Reading *r)
{
    SpModel *m = r->model;
    m->unk = -1;
    for (int32_t i = 0; i < m->size; i++) {
        if (m->pieces[i].type != SP_UNKNOWN)
            continue;
        if (m->unk >= 0)
            return sp_refuse(r, "it has two pieces for what is unknown");
        m->unk = i;
    }
    if (m->unk < 0 || m->unk >= m->listed)
        return sp_refuse(r, "it has no piece for what is unknown");
    if (!weigh(r) || !check_bytes(r) || !build(r, &m->known, KNOWN) ||
        !build(r, &m->reserved, RESERVED) || !build(r, &m->user, USER) ||
        (m->reads_specials && !build(r, &m->specials, NAMED)))
        return false;
    return m->kind != SP_UNIGRAM || m->known.n || sp_refuse(r, "it has no pieces");
}

bool sp_read(SpModel *model, const void *bytes, size_t size, const char **problem)
{
    Reading r = {.model = model};
    SpNormalizer plain = {.dummy_prefix = true, .remove_extra = true, .escape = true};
    model->kind = SP_UNIGRAM;
    model->normalizer = model->denormalizer = plain;
    model->unk_piece = (SpText){"<unk>", 5};
    model->bos_piece = (SpText){"<s>", 3};
    model->eos_piece = (SpText){"</s>", 4};
    model->pad_piece = (SpText){"<pad>", 5};
    model->unk_surface = (SpText){" \xe2\x81\x87 ", 5};
    bool ok = read_fields(&r, bytes, size) && sp_finish(&r);
    *problem = r.problem;
    return ok;
}

int32_t sp_id(const SpModel *model, const char *piece, size_t length)
{
    int32_t id = trie_find(&model->reserved, piece, length);
    if (id == TRIE_NOWHERE)
        id = trie_find(&model->known, piece, length);
    return id == TRIE_NOWHERE ? model->unk : id;
}
