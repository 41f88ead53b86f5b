/* The labels of a published classifier: id2label of its config.json. */
#ifndef DRIVER_EXCHANGE_IMPORT_LABELS_H
#define DRIVER_EXCHANGE_IMPORT_LABELS_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"

/* Appends the labels of ids 0, 1, … of `all`, what the file config has: where there is no id2label,
 * as many LABEL_N as it says by num_labels, or two. False after an error: ids that are not 0 to
 * n - 1, or labels that are equal or cannot be lines of a list. */
bool import_labels_read(Job *job, const Source *config, const JsonValue *all, TextList *labels);
/* Whether there is one label. */
bool import_labels_one(const JsonValue *all);
/* Whether the model has labels (IMPORT_LABELS). */
bool import_labels_are(const ImportModel *model);
/* The labels as the text of their file (runtime/data/labels.h); in_words: those of a text stand
 * between blanks. False after an error. */
bool import_labels_print(Job *job, const Source *config, const JsonValue *all, bool in_words,
                         Text *out);

#endif
