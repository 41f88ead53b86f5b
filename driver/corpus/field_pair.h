/* Two fields of a table that belong together: the source and the target of a translator, the text
 * and the label of a project. Which fields of a file they are, as --column, a header or their order
 * says. */
#ifndef DRIVER_CORPUS_FIELD_PAIR_H
#define DRIVER_CORPUS_FIELD_PAIR_H

#include "driver/job.h"
#include "runtime/data/table.h"

/* FieldPair: the names that --column and a header have for the two fields.
 *   needs_both   a header must have both names, since each may be a word of a text */
typedef struct FieldPair {
    const char *names[2];
    bool needs_both;
} FieldPair;

/* Whether each of `given` is "NAME=FIELD" with one of the names. False after an error, which ends
 * in `advice`. */
bool field_pair_check(Job *job, const FieldPair *pair, const TextList *given, const char *advice);
/* The fields of a file that begins so; its first record must be whole. Those that `given` lacks
 * have the pair's names if the file names its fields: keys of JSON, or a header. Else they are the
 * first two; of CoNLL's columns the first and the last; of CoNLL-U FORM and UPOS. */
void field_pair_choose(Job *job, const FieldPair *pair, const TextList *given,
                       const Source *beginning, TableFormat format, const char *fields[2]);
/* Whether both are numbers. */
bool field_pair_is_numbered(const char *const fields[2]);
/* Adds the note that --column chooses other fields. */
void field_pair_advise(Job *job, const FieldPair *pair, const Source *source);

#endif
