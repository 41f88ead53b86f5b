/* tfc prepare: makes a folder of prepared data (runtime/data/prepared.h) from texts, or from tables
 * that feed a model, which may be larger than memory; only a translation memory is read whole, and
 * compressed files are unpacked into the folder for as long as the call takes.
 *
 * The texts are read once to count and to hash them; then `threads` threads make the shards, each
 * thread one at a time. A shard has a range of the lines of one text, so it does not depend on
 * other shards. A shard that the folder already has is kept if it was made from the same lines of
 * the same whole text, with the same vocabulary and limits. The shards do not depend on the number
 * of threads, nor on how often the command was killed and started again. */
#ifndef DRIVER_CORPUS_PREPARE_H
#define DRIVER_CORPUS_PREPARE_H

#include "driver/corpus/prepare_model.h"
#include "driver/corpus/text_files.h"
#include "driver/run/vocabularies.h"
#include "runtime/data/prepared.h"

/* PREPARE_SHARD_BYTES: the default size of a shard, in bytes of text, both sides together. A window
 * then has lines from a dozen places of the texts, and a hundred million pairs make some thousand
 * files.
 * PREPARE_SAMPLE_LINES, PREPARE_SAMPLE_BYTES: the sample that a vocabulary is made from, if its
 * kind needs text (vocabulary_needs_text). Of n texts each gives its beginning, up to 1 / n of
 * these lines and bytes; its last line may exceed the bytes. */
#define PREPARE_SHARD_BYTES (INT64_C(8) << 20)
#define PREPARE_SAMPLE_LINES INT64_C(1000000)
#define PREPARE_SAMPLE_BYTES (INT64_C(256) << 20)

typedef struct PrepareOptions {
    TextFiles texts;
    PrepareModel *table;   /* the model that the table texts.data feeds; NULL: they are texts */
    TextList settings;     /* "NAME=VALUE": of the model */
    const char *languages; /* of translation memories */
    bool lines; /* of --text: each line is a text of its own; else the text is one stream */
    VocabularyChoice vocab;
    int64_t max_length;     /* tokens of a line, or of each side of a pair; 0: no limit */
    int64_t line_limit;     /* bytes; 0: LINE_LIMIT */
    int64_t rows_per_shard; /* lines; 0: PREPARE_SHARD_BYTES of text */
    int64_t window_rows;    /* most rows that a training has in memory, but at least a shard's */
    int threads;
    const char *folder;
    /* Called for each shard once it was made or kept, by the thread that did so, so perhaps by
     * several threads at once: `done` of `shards` are made or kept. NULL: no callback. */
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
