/* tfc prepare: makes a folder of prepared data (runtime/data/prepared.h) from texts, in memory that
 * does not grow with them.
 *
 * The texts are read once to count and to hash them, then a shard at a time by several threads. A
 * shard has a range of the lines of one text, so it does not depend on other shards. A shard that
 * the folder already has from the same lines and options is kept. The files do not depend on the
 * number of threads, nor on how often the command was killed and begun again. */
#ifndef DRIVER_CORPUS_PREPARE_H
#define DRIVER_CORPUS_PREPARE_H

#include "driver/corpus/text_files.h"
#include "driver/run/vocabularies.h"
#include "runtime/data/prepared.h"

/* The default size of a shard in bytes of text: a window then has lines from a dozen places of the
 * texts, and a hundred million pairs are some thousand files. And the most bytes from which an auto
 * vocabulary is made: the beginnings of all texts together. */
#define PREPARE_SHARD_BYTES (INT64_C(8) << 20)
#define PREPARE_SAMPLE_LINES INT64_C(1000000)
#define PREPARE_SAMPLE_BYTES (INT64_C(256) << 20)

typedef struct PrepareOptions {
    TextFiles texts;
    const char *languages; /* of translation memories */
    bool lines;            /* each line is a text of its own; else the text is one stream */
    VocabularyChoice vocab;
    int64_t max_length;     /* tokens; 0: no limit */
    int64_t line_limit;     /* bytes; 0: LINE_LIMIT */
    int64_t rows_per_shard; /* lines; 0: PREPARE_SHARD_BYTES of text */
    int64_t window_rows;    /* rows that a training is to have in memory */
    int threads;
    const char *folder;
    /* Called when `done` of `shards` shards are there, by any thread. NULL: no callback. */
    void (*progress)(int64_t done, int64_t shards);
} PrepareOptions;

/* PrepareResult: the prepared data, and how many of its shards were kept from before. */
typedef struct PrepareResult {
    Prepared prepared;
    int64_t kept;
} PrepareResult;

/* Makes the folder. False after errors; shards made by then stay for the next call. */
bool prepare(Job *job, const PrepareOptions *options, PrepareResult *result);

#endif
