/* Labels: the words that a column of labels may have; the number of each is its place in the list,
 * from 0. In a file each is a line. */
#ifndef RUNTIME_DATA_LABELS_H
#define RUNTIME_DATA_LABELS_H

#include "base/map.h"
#include "runtime/data/lines.h"
#include "runtime/rows/cell.h"

typedef struct Labels {
    VEC(const char *) words;
    Map index; /* private: word → Label number + 1 */
    Arena *arena;
} Labels;

/* The lines of a text, in their order. NULL after an error: there is none, or one is empty, stands
 * twice, or has the mark in it that is between labels of a cell. */
Labels *labels_parse(Diagnostics *diags, Arena *arena, const Lines *lines, LabelMarks marks);
/* LabelSet: the different labels of cells that have been seen. Empty cells have none. All lives in
 * the arena of label_set_init. */
typedef struct LabelSet {
    Map seen;
    Arena *arena;
    LabelMarks marks;
} LabelSet;

void label_set_init(LabelSet *set, Arena *arena, LabelMarks marks);
void label_set_see(LabelSet *set, const Lines *cells);
void label_set_join(LabelSet *set, const LabelSet *other); /* adds what `other` has */
/* The texts as a list, in the order of their bytes. */
Labels *label_set_list(const LabelSet *set, Arena *arena);
/* The number of a label; -1: the list does not have it. */
int32_t labels_find(const Labels *labels, const char *text, size_t length);
uint64_t labels_hash(const Labels *labels);
/* Appends the list as the text of its file. */
void labels_print(const Labels *labels, Text *out);

#endif
