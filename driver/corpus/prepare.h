/* tfc prepare: texts as a folder of prepared data (runtime/data/prepared.h), in memory that does not
 * grow with them.
 *
 * The texts are read once to count and to hash them, then a shard at a time by several threads. A
 * shard has the lines of one text from one place to another, so it does not depend on
 * others: what is in the folder already and was made of the same lines in the same way is kept, and
 * the files are the same for any number of threads, however often it was killed. */
#ifndef DRIVER_CORPUS_PREPARE_H
#define DRIVER_CORPUS_PREPARE_H

#include "driver/corpus/text_files.h"
#include "driver/run/vocabularies.h"
#include "runtime/data/prepared.h"

/* Bytes of text of a shard, where nobody says how many lines: a window then has a dozen places of the
 * texts, and a hundred million pairs some thousand files; and what an auto vocabulary is made
 * from at most, of all texts together, their beginnings. */
#define PREPARE_SHARD_BYTES (INT64_C(8) << 20)
#define PREPARE_SAMPLE_LINES INT64_C(1000000)
#define PREPARE_SAMPLE_BYTES (INT64_C(256) << 20)

typedef struct PrepareOptions {
    TextFiles texts;
    const char *languages;   /* of translation memories */
    bool lines;              /* a text's lines stand alone; else it is one stream */
    VocabularyChoice vocab;
    int64_t max_length;      /* tokens; 0: no limit */
    int64_t line_limit;      /* bytes; 0: LINE_LIMIT */
    int64_t rows_per_shard;  /* lines; 0: PREPARE_SHARD_BYTES of text */
    int64_t window_rows;     /* rows that a training is to have in memory */
    int threads;
    const char *folder;
    /* Of so many shards so many are there now; called by any thread. NULL: nobody is told. */
    void (*progress)(int64_t done, int64_t shards);
} PrepareOptions;

/* What was made, and how many of its shards were there already. */
typedef struct PrepareResult {
    Prepared prepared;
    int64_t kept;
} PrepareResult;

/* False after errors; what was made by then stays for the next call. */
bool prepare(Job *job, const PrepareOptions *options, PrepareResult *result);

#endif
