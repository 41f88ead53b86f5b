/* SentencePiece models in memory, and the stages of encoding: normalize, cut into
 * pieces by the kind of model, ids. Only for the files sp_*.c and sentencepiece.c. */
#ifndef RUNTIME_TEXT_SENTENCEPIECE_SP_H
#define RUNTIME_TEXT_SENTENCEPIECE_SP_H

#include "runtime/text/char_rules.h"
#include "runtime/text/grow.h"
#include "runtime/text/sentencepiece/fields.h"

typedef struct SpPiece {
    const char *text; /* in the model's bytes */
    uint32_t length;
    float score;
    unsigned char type; /* SpType */
    unsigned char byte; /* of SP_BYTE */
} SpPiece;

typedef struct SpNormalizer {
    CharRules rules;
    bool dummy_prefix, remove_extra, escape, as_suffix;
} SpNormalizer;

/* A text of the trainer's settings, in the model's bytes. */
typedef struct SpText {
    const char *text;
    size_t length;
} SpText;

typedef struct SpModel {
    Arena *arena;
    SpKind kind;
    SpPiece *pieces;
    int32_t size;
    int32_t listed; /* pieces from this index on have no id: text cut into them is unknown */
    bool is_listed; /* the model has SP_MODEL_listed */
    int32_t rows;   /* SP_MODEL_rows; 0: for all */
    Trie known;     /* normal, user-defined and unused pieces */
    Trie reserved;  /* the others */
    Trie user;      /* user-defined ones: never cut, never normalized */
    Trie specials;  /* control pieces, if texts may name them */
    bool reads_specials;
    SpNormalizer normalizer, denormalizer;
    bool has_denormalizer, byte_fallback, has_unused;
    SpText unk_piece, bos_piece, eos_piece, pad_piece, unk_surface;
    int32_t unk;        /* the id of the unknown piece */
    int32_t bytes[256]; /* ids of the bytes' pieces; without byte_fallback -1 */
    float least, most;  /* the least and greatest score of a normal piece */
} SpModel;

/* Reads the model. false: the bytes are no model, and *problem says why; or memory ran out, and
 * *problem is NULL. */
bool sp_read(SpModel *model, const void *bytes, size_t size, const char **problem);
/* The id of a piece, looked up as libsentencepiece does: reserved pieces first; absent: unk. */
int32_t sp_id(const SpModel *model, const char *piece, size_t length);

/* Appends the normalized text. `user` may be empty. false, and nothing is appended: memory ran out,
 * or the result is too long. */
bool sp_normalize(const SpNormalizer *normalizer, const Trie *user, const char *text, size_t length,
                  TokenText *out);

/* Bytes of the character that the text begins with, by its first byte; at most `available`. */
size_t sp_char(const char *text, size_t available);
/* Bytes of the longest user-defined piece, else of the character, that the text begins with. */
size_t sp_unit(const Trie *user, const char *text, size_t available, bool *is_user);

/* The pieces of a normalized text, in order. */
typedef struct SpCut {
    uint32_t length; /* bytes */
    int32_t id;
} SpCut;
typedef struct SpCuts {
    SpCut *at; /* malloc-backed */
    size_t n, capacity;
} SpCuts;
bool sp_cuts_push(SpCuts *cuts, uint32_t length, int32_t id);
/* Cut a text that is not empty and append its pieces. false: memory ran out. */
bool sp_cut_unigram(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_bpe(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_words(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_chars(const SpModel *model, const char *text, size_t length, SpCuts *cuts);

#define SP_SPACE "\xe2\x96\x81" /* U+2581 */
enum { SP_SPACE_SIZE = 3 };

#endif
