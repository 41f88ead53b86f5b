/* The thresholds of predicted sets of labels as checkpoints keep them (ST_THRESHOLDS): JSON of the
 * predictions' names, {"tag": [0.5, 0.31]}. */
#ifndef RUNTIME_DATA_LABEL_THRESHOLDS_H
#define RUNTIME_DATA_LABEL_THRESHOLDS_H

#include "base/diag.h"

#include <stdint.h>

/* Of a label for which no validation has chosen one. */
#define SETS_THRESHOLD 0.5
/* Of a class without a label: no probability is as large. */
#define THRESHOLD_OF_NONE 2

/* LabelThresholds: those of a prediction with n labels; NULL: it is none of sets. */
typedef struct LabelThresholds {
    const char *name;
    const float *thresholds;
    int64_t n;
} LabelThresholds;

/* The text of them all, in the arena; NULL: none is of sets, or memory ran out. */
const char *label_thresholds_text(Arena *arena, const LabelThresholds *all, int64_t n);
/* Takes the n thresholds of the prediction `name` from the checkpoint's text; classes without a
 * label keep theirs. What the text has not, or a text NULL, leaves all as they are. False after an
 * error: the text is damaged, or is of another number of labels. */
bool label_thresholds_take(Diagnostics *diags, const char *checkpoint, const char *text,
                           const char *name, float *thresholds, int64_t n);

#endif
