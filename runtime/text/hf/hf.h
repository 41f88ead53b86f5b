/* A tokenizer.json in memory: normalizers, pre-tokenizers (which cut), a model and decoders; and
 * the parts into which they cut a text. Only for the files of this folder. */
#ifndef RUNTIME_TEXT_HF_HF_H
#define RUNTIME_TEXT_HF_HF_H

#include "base/json_read.h"
#include "runtime/text/char_rules.h"
#include "runtime/text/hf/pattern.h"
#include "runtime/text/kind.h"

/* ---- parts ---- */

typedef struct HfPart {
    size_t end; /* it begins where the one before ends */
    int32_t id; /* of an added token; -1: text */
    bool first; /* the whole text begins with it */
} HfPart;

/* HfParts: consecutive texts. `failed`: memory ran out, or a step failed (tokenizer_problem);
 * nothing more is added then. */
typedef struct HfParts {
    TokenText text;
    HfPart *at; /* malloc-backed */
    size_t n, capacity;
    bool failed;
} HfParts;

void parts_clear(HfParts *parts);
void parts_free(HfParts *parts);
void parts_put(HfParts *parts, const char *bytes, size_t length); /* appends to the open part */
/* Ends the open part; drops it if it is empty and `id` is -1. */
void parts_end(HfParts *parts, int32_t id, bool first);
static inline const char *parts_text(const HfParts *parts, size_t i, size_t *length)
{
    size_t from = i ? parts->at[i - 1].end : 0;
    *length = parts->at[i].end - from;
    return parts->text.data ? parts->text.data + from : "";
}

/* ---- steps ---- */

typedef enum HfStepKind {
    /* normalizers */
    HF_FORM,
    HF_LOWER,
    HF_STRIP_ACCENTS,
    HF_STRIP,
    HF_REPLACE,
    HF_PREPEND,
    HF_PRECOMPILED,
    HF_PRECOMPILED_ABSENT, /* the map is null: does what transformers.js does then */
    HF_BERT,
    /* pre-tokenizers */
    HF_SPLIT,
    HF_SPACE_BEFORE, /* puts a space before a part that does not begin with one */
    HF_BYTES,
    HF_METASPACE,
    /* decoders; HF_REPLACE too */
    HF_FROM_BYTES,
    HF_FROM_WORDPIECE,
    HF_FROM_METASPACE,
    HF_FROM_SUFFIX,
    HF_FROM_FALLBACK,
    HF_FUSE,
    HF_STRIP_CONTENT,
} HfStepKind;

typedef enum HfBehavior {
    HF_REMOVED,
    HF_ISOLATED,
    HF_MERGED_WITH_PREVIOUS,
    HF_MERGED_WITH_NEXT,
    HF_CONTIGUOUS
} HfBehavior;

typedef enum HfPrepend { HF_NEVER, HF_FIRST, HF_ALWAYS } HfPrepend;

typedef struct HfStep {
    HfStepKind kind;
    UniForm form;
    HfPattern pattern;
    HfBehavior behavior;
    HfPrepend prepend;
    const char *content;
    size_t n_content;
    bool left, right;                       /* of a strip */
    bool clean, ideographs, accents, lower; /* of BERT's */
    bool invert, cleanup;
    int32_t from_start, from_end; /* of a strip of content */
    CharRules rules;              /* of a precompiled map */
} HfStep;

typedef struct HfSteps {
    HfStep *at;
    size_t n, capacity;
} HfSteps;

/* These three change `text` or `parts` in place. false: memory ran out; or a pattern takes too
 * long, or the text becomes too long, and tokenizer_problem is set. The content of `text` or
 * `parts` is undefined then. */
bool hf_normalize(const HfSteps *steps, TokenText *text);
bool hf_split(const HfSteps *steps, HfParts *parts);
bool hf_join(const HfSteps *steps, HfParts *parts);

/* The character that stands for a byte in byte-level BPE, and back (-1: none). */
uint32_t hf_byte_character(unsigned char byte);
int hf_character_byte(uint32_t character);

/* ---- models ---- */

typedef enum HfModelKind { HF_BPE, HF_UNIGRAM, HF_WORDPIECE, HF_WORDLEVEL } HfModelKind;

typedef struct HfMerge {
    int32_t left, right, rank, made; /* ids; rank -1: an empty slot */
} HfMerge;

typedef struct HfToken {
    const char *text;
    uint32_t length;
    bool special;
} HfToken;

typedef struct HfAdded {
    const char *text;
    int32_t id;
    bool special, single_word, lstrip, rstrip, normalized;
} HfAdded;

typedef struct Hf {
    HfSteps normalizers, splitters, decoders;
    bool has_decoder;
    HfModelKind model;
    HfToken *tokens; /* by id; text NULL: no token has the id */
    int32_t n_tokens;
    Trie vocabulary; /* the model's */
    const HfAdded *added;
    size_t n_added;
    Trie added_raw, added_normal; /* values: indices into `added` */
    int32_t unk;                  /* -1: none */
    bool byte_fallback, fuse_unk, ignore_merges;
    int32_t bytes[256];          /* tokens <0x00> … <0xFF>, -1 where absent */
    const char *prefix, *suffix; /* continuing_subword_prefix, end_of_word_suffix; "" */
    HfMerge *merges;             /* a hash table */
    size_t n_merges;             /* slots */
    uint64_t merge_factor;       /* of the slots' hash: odd, another one in each process */
    int merge_shift;             /* a slot's number is what is left of the hash's 64 bits */
    double *scores, unk_score;   /* of a unigram model */
    int32_t most_characters;     /* of a word, for WordPiece */
} Hf;

/* Appends the ids of a part, by each kind of model. false: memory ran out. */
bool hf_bpe(const Hf *hf, const char *text, size_t length, TokenIds *ids);
bool hf_unigram(const Hf *hf, const char *text, size_t length, TokenIds *ids);
bool hf_wordpiece(const Hf *hf, const char *text, size_t length, TokenIds *ids);
bool hf_wordlevel(const Hf *hf, const char *text, size_t length, TokenIds *ids);
/* The merge of two tokens; NULL or rank -1: there is none. */
const HfMerge *hf_merge(const Hf *hf, int32_t left, int32_t right);

/* ---- reading (read*.c) ---- */

typedef struct HfReading {
    Arena *arena; /* the tokenizer's; if it fails, reading fails */
    Hf *hf;
    const char *problem; /* the first; NULL: none so far */
    bool no_memory;      /* memory outside the arena ran out */
} HfReading;
/* Both return false. hf_refuse keeps the first problem; hf_no_memory notes that memory ran out. */
bool hf_refuse(HfReading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool hf_no_memory(HfReading *r);
/* Whether `object` is an object whose members all have names among the words of `names`; if not, it
 * is refused. `place`: where the object is in the file, for the message. */
bool hf_only(HfReading *r, const char *place, const JsonValue *object, const char *names);
/* The member's value; `otherwise` if it is missing or null. One of another kind is refused: the
 * file is not read. */
const char *hf_string(HfReading *r, const JsonValue *object, const char *key,
                      const char *otherwise);
bool hf_flag(HfReading *r, const JsonValue *object, const char *key, bool otherwise);
int64_t hf_whole(HfReading *r, const JsonValue *object, const char *key, int64_t most,
                 int64_t otherwise); /* 0 to `most` */
bool hf_read_normalizer(HfReading *r, const char *place, const JsonValue *from);
bool hf_read_splitter(HfReading *r, const char *place, const JsonValue *from);
bool hf_read_decoder(HfReading *r, const char *place, const JsonValue *from);
bool hf_read_model(HfReading *r, const JsonValue *from);
bool hf_read_frame(HfReading *r, const char *place, const JsonValue *from, Tokenizer *tokenizer);
TokenizerSpecial hf_special(const Tokenizer *tokenizer);

#endif
