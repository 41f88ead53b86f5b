/* SentencePiece models as they are in memory, and the stages of encoding: normalize, cut into
 * pieces by the kind of model, ids. For the files sp_*.c and sentencepiece.c alone. */
#ifndef RUNTIME_TEXT_SENTENCEPIECE_SP_H
#define RUNTIME_TEXT_SENTENCEPIECE_SP_H

#include "runtime/text/grow.h"
#include "runtime/text/trie.h"

typedef enum SpType { SP_NORMAL = 1, SP_UNKNOWN, SP_CONTROL, SP_USER, SP_UNUSED, SP_BYTE } SpType;
typedef enum SpKind { SP_UNIGRAM = 1, SP_BPE, SP_WORD, SP_CHAR } SpKind;

/* A field of the model that SentencePiece leaves to others: how many pieces have an id
 * (runtime/data/marian_vocab.h). */
enum { SP_LISTED_FIELD = 200 };

typedef struct SpPiece {
    const char *text; /* in the model's bytes */
    uint32_t length;
    float score;
    unsigned char type; /* SpType */
    unsigned char byte; /* of SP_BYTE */
} SpPiece;

typedef struct SpNormalizer {
    Trie rules;               /* to places among the replacements */
    const char *replacements; /* each ends with a NUL */
    size_t n_replacements;    /* bytes */
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
    int32_t listed; /* pieces from here on have no id: text cut into them is unknown */
    bool is_listed; /* a list gave the ids */
    Trie known;     /* normal, user-defined and unused pieces */
    Trie reserved;  /* the others */
    Trie user;      /* user-defined ones: never cut, never normalized */
    SpNormalizer normalizer, denormalizer;
    bool has_denormalizer, byte_fallback, has_unused;
    SpText unk_piece, bos_piece, eos_piece, pad_piece, unk_surface;
    int32_t unk;        /* of the piece that is unknown */
    int32_t bytes[256]; /* with byte_fallback */
    float least, most;  /* scores of normal pieces */
} SpModel;

/* Reads the model; false: no model, and model->problem tells, or no memory. */
bool sp_read(SpModel *model, const void *bytes, size_t size, const char **problem);
/* As the library looks up: reserved pieces first; unk where absent. */
int32_t sp_id(const SpModel *model, const char *piece, size_t length);

/* Appends the normalized text. `user` may be empty. false: no memory, or too long. */
bool sp_normalize(const SpNormalizer *normalizer, const Trie *user, const char *text, size_t length,
                  TokenText *out);

/* Bytes of the character that starts here, by its first byte alone, at most those available. */
size_t sp_char(const char *text, size_t available);
/* Bytes of the user-defined piece, or the character, that the text begins with. */
size_t sp_unit(const Trie *user, const char *text, size_t available, bool *is_user);

/* What cuts a normalized text gives its pieces in order. */
typedef struct SpCut {
    uint32_t length; /* bytes */
    int32_t id;
} SpCut;
typedef struct SpCuts {
    SpCut *at; /* malloc-backed */
    size_t n, capacity;
} SpCuts;
bool sp_cuts_push(SpCuts *cuts, uint32_t length, int32_t id);
/* Of text that is not empty; false: no memory. */
bool sp_cut_unigram(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_bpe(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_words(const SpModel *model, const char *text, size_t length, SpCuts *cuts);
bool sp_cut_chars(const SpModel *model, const char *text, size_t length, SpCuts *cuts);

#define SP_SPACE "\xe2\x96\x81" /* U+2581 */
enum { SP_SPACE_SIZE = 3 };

#endif
