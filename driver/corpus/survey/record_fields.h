/* What tfc data counts of the cells of a column. */
#ifndef DRIVER_CORPUS_SURVEY_RECORD_FIELDS_H
#define DRIVER_CORPUS_SURVEY_RECORD_FIELDS_H

#include "base/map.h"
#include "driver/corpus/survey/text_counts.h"
#include "runtime/data/corpus.h"

/* RecordField: what is counted of a column, or of source and target, which have no spec.
 *   value    which of Corpus.values it is
 *   lines    its cells in the current cut
 *   counts   how many have each label; entries[i].value is the number */
typedef struct RecordField {
    const char *input, *field;
    int value;
    ColumnKind kind;
    const ColumnSpec *spec;    /* NULL: source or target */
    bool has_labels, is_label; /* is_label: one of each record, no input */
    const Lines *lines;
    TextCounts text;
    int64_t numbers;
    Map counts;
    double sum, least, most;
    const char *example; /* of values beside the target; is_telling: its values differ */
    bool is_telling;
} RecordField;

/* Counts a value of a cell. */
void record_field_count(RecordField *field, int32_t value);
/* Counts the values beside the target of the corpus's only row, those of its own tokens, and keeps
 * them as the example, in the arena, if they are the first that differ, or the first at all.
 * `text`: the target; has_tokens: the corpus has its vocabulary, else tokens are words; `record`:
 * its number, from 1. */
void record_field_count_beside(Arena *arena, RecordField *field, const Corpus *corpus, int column,
                               const Line *text, bool has_tokens, int64_t record);

#endif
