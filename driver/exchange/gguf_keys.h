/* The keys of a GGUF's metadata and those of config.json that mean the same; both directions use
 * these tables. */
#ifndef DRIVER_EXCHANGE_GGUF_KEYS_H
#define DRIVER_EXCHANGE_GGUF_KEYS_H

/* GgufKey: a key of the architecture as one of config.json.
 *   model_type   of config.json; "": all that are no GPT-2
 *   missing      the value where a GGUF does not say; 0: config.json then lacks the key, too */
typedef struct GgufKey {
    const char *model_type, *theirs, *published;
    double missing;
} GgufKey;
extern const GgufKey gguf_keys[]; /* up to one whose `theirs` is NULL */

/* Of all that are no GPT-2: keys whose values are head_dim; up to NULL. Without the second
 * llama.cpp takes embedding_length / head_count. */
extern const char *const gguf_head_widths[];

/* GgufCut: how texts are cut before merges (tokenizer.ggml.pre), by the pattern that the
 * tokenizer.json of the models has; NULL: as GPT-2. Up to one whose `name` is NULL. */
typedef struct GgufCut {
    const char *name, *pattern;
} GgufCut;
extern const GgufCut gguf_cuts[];

/* GgufToken: a special token: its key in a GGUF behind "tokenizer.ggml.", and in config.json. */
typedef struct GgufToken {
    const char *theirs, *published;
    int piece_field; /* of SentencePiece's TrainerSpec */
} GgufToken;
extern const GgufToken gguf_tokens[]; /* up to one whose `theirs` is NULL */

#endif
