/* GGUF, the files of llama.cpp (docs/gguf.md of ggml), versions 2 and 3: metadata by key, and
 * tensors in the mapping, of which some are blocks of few bits. Reading trusts nothing. */
#ifndef DRIVER_FORMATS_GGUF_H
#define DRIVER_FORMATS_GGUF_H

#include "driver/formats/tensor_list.h"

typedef enum GgufKind {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_KINDS
} GgufKind;
/* GgufValue: n values of a kind that is no array, one after the other; n 1 where is_array is
 * false.
 *   data     of the first, in the mapping */
typedef struct GgufValue {
    const char *key;
    GgufKind kind;
    bool is_array;
    uint64_t n;
    const unsigned char *data;
} GgufValue;

typedef struct Gguf {
    TensorList list; /* tensors under the names of the file; its arena is the caller's */
    VEC(GgufValue *) values;
    Map index;                /* private: key → value */
    const char *architecture; /* "llama"; "" if it is not said */
} Gguf;

/* Reads the bytes of a file, which must outlive it, within the budget. NULL after an error. */
Gguf *gguf_read(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                uint64_t size);
const GgufValue *gguf_find(const Gguf *gguf, const char *key); /* NULL if absent */
/* A key behind the architecture: "block_count" is llama.block_count. */
const GgufValue *gguf_own(const Gguf *gguf, const char *key);
/* Value i, of any kind but strings, as a number; 0 of strings and beyond the last. */
double gguf_number(const GgufValue *value, uint64_t i);
/* The same as a whole number, cut off behind its point; 0 of what an int64_t cannot hold. */
int64_t gguf_integer(const GgufValue *value, uint64_t i);
/* A string, in the arena; NULL if it is none, or the arena has failed. */
const char *gguf_text(const Gguf *gguf, const GgufValue *value);
/* The next string of a list, of which *at is value->data at first, in `text`, whose content it
 * replaces. */
const char *gguf_next(const unsigned char **at, Text *text);

/* FormatParse (formats.h): tensors under the names of published models, if the architecture is
 * known (gguf_names.c), and otherwise under their own. */
StFile *gguf_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                   uint64_t size);
/* What is said of a file whose version is not read: for the table of formats. */
bool gguf_is_read(const unsigned char *bytes, uint64_t size);

/* ---- types of elements (gguf_blocks.c) ---- */

/* GgufType: a type by its number in files.
 *   name     "Q4_0"
 *   blocks   of blocks; NULL: elements are of `type`
 *   quant    the word of base/quants.def in which products with such weights are computed; NULL: in
 *            that of the run */
typedef struct GgufType {
    uint32_t number;
    const char *name;
    StType type;
    const StBlocks *blocks;
    const char *quant;
} GgufType;
const GgufType *gguf_type(uint32_t number); /* NULL: it is not known */
/* The word of base/quants.def in which products with such blocks are computed; NULL: floats. */
const char *gguf_quant(const StBlocks *blocks);
/* The type of a name, in capitals or not; NULL: it is not known. */
const GgufType *gguf_type_named(const char *name);
/* Whether tensors of the type are read. */
bool gguf_type_is_read(const GgufType *type);
/* Writes n elements, a multiple of a block's, in the type: f32, f16, bf16, q8_0, q4_0 or q4_1.
 * False: another type. */
bool gguf_encode(const GgufType *type, const float *values, int64_t n, void *out);
/* The least magnitude that the type has no finite number for; infinity: f32 has none. */
float gguf_limit(const GgufType *type);
uint64_t gguf_bytes(const GgufType *type, int64_t n); /* of n elements */

/* ---- names (gguf_names.c) ---- */

/* GgufName: a tensor of an architecture; "*" is the number of a block.
 *   how   what a published tensor is of llama.cpp's: the same; the same, which is never rounded;
 *         transposed; with the rows of each head in another order (of a head's rows 0, 1, 2 … the
 *         published one has 0, 2, 4 …, then 1, 3, 5 …); or, of gains, less by 1 */
typedef enum GgufHow {
    GGUF_SAME,
    GGUF_UNROUNDED,
    GGUF_TRANSPOSED,
    GGUF_ROWS,
    GGUF_KEY_ROWS,
    GGUF_GAIN
} GgufHow;
typedef struct GgufName {
    const char *theirs, *published;
    GgufHow how;
} GgufName;
/* GgufArchitecture: a model_type of config.json, and llama.cpp's name of it.
 *   key     a key behind the architecture that files of the model_type have; NULL: any file
 *   front   how published names may begin, before `published` of the rows; NULL: with them */
typedef struct GgufArchitecture {
    const char *name, *model_type;
    const GgufName *names; /* up to one whose `theirs` is NULL */
    const char *key, *front;
} GgufArchitecture;
const GgufArchitecture *gguf_architecture(const Gguf *gguf);          /* NULL: it is not known */
const GgufArchitecture *gguf_architecture_of(const char *model_type); /* NULL: it has none */
/* The architectures, or the model_types: "llama, qwen2 and gpt2". In the arena. */
const char *gguf_architectures(Arena *arena, bool published);
/* The row of a tensor's name, by `published` or else by `theirs`; *block is the number that stands
 * for "*", -1 of none. NULL: there is none. */
const GgufName *gguf_name(const GgufArchitecture *architecture, const char *name, bool published,
                          int64_t *block);
/* The name with the block's number in it. */
const char *gguf_name_text(Arena *arena, const char *pattern, int64_t block);

#endif
