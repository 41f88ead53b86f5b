/* The columns of a table that feed a model: what each holds, from the input's type and what the
 * model does with it. */
#ifndef DRIVER_PORTS_COLUMNS_H
#define DRIVER_PORTS_COLUMNS_H

#include "driver/ports/ports.h"
#include "driver/job.h"
#include "frontend/frontend.h"
#include "runtime/decode/feed.h"

/* The names of the model's inputs and dimensions that a batch sets. */
Feed feed_of(const Module *module, const ModelPorts *ports);

/* DataColumns: specs[i] is of ports->columns[i].
 *   words   where the labels of column i are from: "words:FILE", beside the model, or "words", of
 *           the data; NULL: it has no list of its own
 *   own     what makes the vocabulary that text i has of its own, as vocab_make takes it; NULL: it
 *           has none */
typedef struct DataColumns {
    ColumnSpec *specs;
    const char **words, **own;
    const SideFormula *formulas; /* MOST_SIDES of them: how sides are made of others */
    int n;
} DataColumns;

/* In the job's arena; without the lists of labels and the vocabularies. False after errors: a type
 * that no column can feed. */
bool columns_of(Job *job, const Module *module, const ModelPorts *ports, DataColumns *out);
/* Settles what depends on the vocabulary: of a text that it cuts into pieces the words have the
 * labels (ColumnSpec.by_words), and special tokens around them if it has one that begins a source.
 * Checks the sizes of labels' lists and of the vocabulary against what the model tells apart, and
 * that there is a mask token where tokens are hidden. False after errors. */
bool columns_take_vocabulary(Job *job, const Model *model, const DataColumns *columns,
                             const Vocabulary *vocab);
/* Whether column c is text that the run's vocabulary encodes. */
bool column_is_shared_text(const DataColumns *columns, int c);
/* Whether source, target or a column is such text. */
bool columns_have_text(const ModelPorts *ports, const DataColumns *columns);
/* Whether a column hides tokens of the run's vocabulary. */
bool columns_hide(const DataColumns *columns);
/* RowParams: params that have a row for each token of a vocabulary, or for each label.
 *   names      the first n_tables are tables in which the tokens are looked up: rows are along
 *              axis 0; of the others, along the one axis of as many elements
 *   rows       how many the params have; 0: unknown */
typedef struct RowParams {
    TextList names;
    size_t n_tables;
    int64_t rows;
} RowParams;
/* The params that make the logits with which the loss compares an input of labels
 * (id_uses.h): those reached from the logits without passing a product or a look-up in which a
 * param takes part. If some have an axis of as many elements as there are classes, these alone. In
 * the module's arena; no names: the input holds no labels of a loss. (label_params.c) */
RowParams ports_label_params(const Module *module, const Op *input);
/* Those of the vocabulary of the sides, HAS_SOURCE or HAS_TARGET or both: tables, and what makes
 * logits of targets. In the module's arena. (label_params.c) */
RowParams ports_token_params(const Module *module, const ModelPorts *ports,
                             const DataColumns *columns, unsigned sides);
/* The column of that input; -1: none. */
int columns_find(const DataColumns *columns, const char *input);

#endif
