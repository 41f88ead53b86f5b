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
/* Sets the n thresholds of the prediction `name` to those in the checkpoint's text, but not of
 * classes without a label. If the text is NULL or has no such prediction, nothing changes. False
 * after an error: the text is damaged, or has another number of labels. */
bool label_thresholds_take(Diagnostics *diags, const char *checkpoint, const char *text,
                           const char *name, float *thresholds, int64_t n);

#endif
