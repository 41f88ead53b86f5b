/* Prepared data: a folder of token shards (token_shard.h), the files of their vocabulary, and
 * prepared.json, which is written last and describes them all; the rows of prepared_fields
 * (prepared.c) are its members.
 *
 * A training has one window of it in memory. An epoch is cut into windows: each is some shards, as
 * one corpus. The seed gives the order of the shards in an epoch. A window takes the next
 * shards, at least one, while it has at most window_rows rows, and WINDOW_TOKENS times as many
 * tokens. A batch (batch.h) has rows of one window only. Within a window the shards are in the
 * order of the text, so data of one window trains as its text would.
 *
 * Data that is mixed in (PreparedPart) is prepared, or a corpus in memory. A window draws of each
 * part `weight` times as many rows as it has of the main data, from where the window before it
 * ended (draws.h), and holds those rows alone. They count for its rows and tokens. In each
 * round a part is cut into windows, too, whose rows are drawn in a random order. A part of one
 * window is drawn as the text would be. */
#ifndef RUNTIME_DATA_PREPARED_H
#define RUNTIME_DATA_PREPARED_H

#include "base/file.h"
#include "base/json_record.h"
#include "runtime/data/batch.h"
#include "runtime/data/token_shard.h"

/* PreparedSide: a source, a target or a column, whose values count as tokens.
 *   unknown       of a text: tokens; -1: not recorded, by an earlier version
 *   input, field  of a table: what it feeds, and which field it is; else NULL
 *   holds         of a column: column_holds; else NULL */
typedef struct PreparedSide {
    int64_t tokens, longest, unknown;
    const char *input, *field, *holds;
} PreparedSide;

/* PreparedText: a text from which data or a vocabulary was made. */
typedef struct PreparedText {
    const char *option; /* "source", … */
    const char *file, *sha256;
    int64_t bytes, lines;
} PreparedText;

typedef struct PreparedShard {
    int64_t rows, source, target, values; /* source, target: tokens; values: of all columns */
    uint64_t parameters, checksum;
} PreparedShard;

typedef struct Prepared {
    const char *folder;
    const char *sha256; /* of prepared.json */
    int64_t bytes;      /* … and its size */
    int version;        /* private: 1; 2 with columns */
    CorpusKind kind;    /* CORPUS_PAIRS, CORPUS_LINES, CORPUS_STREAM, CORPUS_RECORDS */
    int id_bytes;
    int64_t max_length, window_rows, lines, rows, empty, long_;
    PreparedSide source, target;
    VEC(PreparedSide) columns; /* at most MOST_COLUMNS */
    const char *vocabulary;    /* as prepared_vocabulary writes it */
    VEC(const char *) tokens;
    uint64_t parameters;
    VEC(PreparedText) texts;
    VEC(PreparedShard) shards; /* at least one */
} Prepared;

/* The most tokens of a window, sides and columns together, for each of its window_rows rows. */
enum { WINDOW_TOKENS = 32 };

/* Whether the folder has a prepared.json. */
bool is_prepared(const char *folder);
/* Reads prepared.json of data.folder, which lies there unless data.outside. All lives in the arena;
 * NULL after an error. */
Prepared *prepared_open(Diagnostics *diags, Arena *arena, FileReach data);
/* The same from the file's text in memory; `folder` becomes Prepared.folder. */
Prepared *prepared_parse(Diagnostics *diags, Arena *arena, const char *folder, const Source *text);
bool prepared_write(Diagnostics *diags, const Prepared *prepared); /* false after an error */
/* prepared_unknown: counts of unknown tokens; zeros if they are not recorded. The second function
 * adds a note about them, as corpus_tell_unknown does. */
SidesUnknown prepared_unknown(const Prepared *prepared);
void prepared_tell_unknown(Diagnostics *diags, const Prepared *prepared);
/* Whether the data was prepared from a table, for one model. */
bool prepared_is_table(const Prepared *prepared);
/* FOLDER/shard-00000.tokens and so on. */
const char *prepared_shard_path(Arena *arena, const char *folder, int64_t i);
/* "8000 tokens, HASH"; in the arena. */
const char *prepared_vocabulary(Arena *arena, const Vocabulary *vocab);

/* ---- training (prepared_windows.c) ---- */

/* PreparedPart: data that is mixed into prepared data; its rows are of the same kind, and have the
 * same columns.
 *   prepared   NULL: the rows are in `rows`, with the options of the whole
 *   weight     > 0: rows an epoch, to each one of the main data */
typedef struct PreparedPart {
    const Prepared *prepared;
    Corpus *rows;
    double weight;
} PreparedPart;

/* How many windows an epoch has, at least 1. `whole`: a corpus whose rows are in prepared data. */
int64_t prepared_windows(const Corpus *whole, uint64_t seed, int64_t epoch);
/* A window's rows as a corpus in memory, with the options and the vocabulary of `whole`, a corpus
 * whose rows are in prepared data, with the same columns. Rows longer than its max_length are left
 * out. Asks the system to read ahead the files of the next window. NULL after an error; freed by
 * corpus_free. */
Corpus *prepared_window(Diagnostics *diags, const Corpus *whole, uint64_t seed, int64_t epoch,
                        int64_t window);
/* A shape that no batch, or piece of one, exceeds in any number. (prepared_largest.c) */
BatchShape prepared_largest(const Corpus *whole, const BatchOptions *options);

/* PreparedText, as prepared.json and run.json have it. */
extern const JsonRecord prepared_text_record;

#endif
