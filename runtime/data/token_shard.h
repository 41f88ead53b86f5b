/* Token shard: rows of ids in one file, a part of prepared data (prepared.h).
 *
 *   fields     15 little-endian words of 64 bits: "tfcshard", version, kind, bytes of an id, rows,
 *              lines, lines with an empty side, lines that are too long, then tokens of sources and
 *              targets, the longest of each, parameters, checksums (XXH64) of the rest of the file
 *              and of the words before
 *   lengths    of the sources, of the targets: 32 bits a row
 *   ids        of the sources, of the targets: 16 or 32 bits each, without special ones
 *   columns    of version 2 alone, which is written if there are any: their number, 64 bits; then
 *              for each bytes of a value, values and those of the longest row, 64 bits each,
 *              lengths of 32 bits a row, values of 16 or 32 bits
 *
 * A side that the kind lacks has no lengths and no ids. A stream is one row of targets. */
#ifndef RUNTIME_DATA_TOKEN_SHARD_H
#define RUNTIME_DATA_TOKEN_SHARD_H

#include "runtime/data/corpus.h"

/* TokenSide: a source, a target or a column. */
typedef struct TokenSide {
    int64_t tokens, longest;            /* of all rows, and of one; of a column: values */
    int bytes;                          /* of an id: 2 or 4 */
    const unsigned char *lengths, *ids; /* in the file's bytes */
} TokenSide;

typedef struct TokenShard {
    const char *path; /* the caller's */
    CorpusKind kind;  /* CORPUS_PAIRS; CORPUS_LINES, CORPUS_STREAM: targets alone; CORPUS_RECORDS */
    int id_bytes;     /* of sources and targets, 2 or 4 */
    int64_t rows;
    /* lines that it was made of; those left out because a side is empty, or too long */
    int64_t lines, empty, long_;
    union {
        struct {
            TokenSide source, target, columns[MOST_COLUMNS];
        };
        TokenSide sides[MOST_VALUES]; /* of Corpus.values */
    };
    int n_columns;
    uint64_t parameters;       /* hash of all that decides what the rows are */
    uint64_t checksum;         /* of what follows the fields */
    const unsigned char *data; /* private */
    size_t size;               /* private */
    const void *map;           /* private; NULL: not mapped */
} TokenShard;

/* Bytes of an id, 2 or 4, for vocabularies of these sizes; 0: of ids of any value. */
int token_shard_id_bytes(int64_t source_size, int64_t target_size);
/* Writes the rows of a corpus to PATH. The caller sets the shard's id_bytes and parameters; the
 * other fields are set here, except the pointers into the file. False after an error. */
bool token_shard_write(Diagnostics *diags, const char *path, const Corpus *rows, TokenShard *shard);
/* Maps the file and checks the fields, their sums and the file's size; false after an error, which
 * names the file. Closed by token_shard_close. */
bool token_shard_open(Diagnostics *diags, const char *path, TokenShard *shard);
/* The same for bytes in memory, which must outlive the shard. */
bool token_shard_parse(Diagnostics *diags, const char *path, const void *bytes, size_t size,
                       TokenShard *shard);
/* Reads the whole file: its checksum must match, and the ids of each side must be below its size
 * (corpus_sizes). False after an error. */
bool token_shard_check(Diagnostics *diags, const TokenShard *shard, const int64_t *sizes);
void token_shard_close(TokenShard *shard);
/* Adds to *count the ids of a side of an open shard, and those among them that equal `unk`. */
void token_shard_unknown(const TokenSide *side, int32_t unk, UnknownCount *count);

/* Tokens of row i of a side; 0 if the shard lacks the side. */
int64_t token_shard_length(const TokenSide *side, int64_t i);
/* Appends n ids of a side, from the one at place `first`. */
void token_shard_ids(const TokenSide *side, int64_t first, int64_t n, Ids *out);

#endif
