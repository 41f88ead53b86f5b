/* The texts that tfc prepare reads: their files, and how they are cut into shards. */
#ifndef DRIVER_CORPUS_PREPARE_TEXTS_H
#define DRIVER_CORPUS_PREPARE_TEXTS_H

#include "driver/corpus/prepare_parts.h"
#include "runtime/data/line_reader.h"

/* Lists the texts that the options name, hashes them, counts their lines and cuts them into shards.
 * False after errors. prepare_texts_free in any case: it frees memory that is not in the job's
 * arena, and removes temporary files. */
bool prepare_texts(Job *job, const PrepareOptions *options, TextParts *parts);
void prepare_texts_free(TextParts *parts);

/* PairReader: reads the lines of a part, from a cut on. */
typedef struct PairReader {
    const TextPart *part;
    LineReader *files[2];
} PairReader;

/* Opens a part at the first line of a cut. False after an error; pair_reader_close in any case. */
bool pair_reader_open(Diagnostics *diags, const TextPart *part, const TextCut *from,
                      int64_t line_limit, PairReader *reader);
/* Reads the next line, of both sides or of the only one; `sides` are valid until the next call.
 * False after an error; the end of the text is an error, since callers know how many lines there
 * are. */
bool pair_reader_next(Diagnostics *diags, PairReader *reader, Line sides[2]);
void pair_reader_close(PairReader *reader);

/* ---- prepare_vocabulary.c ---- */

/* The vocabulary of prepared data: loading it or making it from the texts, and writing it to the
 * folder. */

/* The vocabulary that the options choose: loaded, or made from the beginnings of the texts
 * (PREPARE_SAMPLE_LINES) if its kind needs text. *tokens gets the rules of its tokens. NULL after
 * errors. */
Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *options, const TextParts *parts,
                               TextList *tokens);
/* Writes the vocabulary to the folder in a form that vocab_load reads. False after errors, also if
 * other files of the folder make vocab_load read another vocabulary. */
bool prepare_vocabulary_save(Job *job, const PrepareOptions *options, const Vocabulary *vocab,
                             const TextList *tokens);

#endif
