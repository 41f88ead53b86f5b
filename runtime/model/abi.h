/* A compiled model: what `tfc compile` writes beside the programs, one constant
 * that the generated functions pass to those of model.h. Plain data, as program.h. */
#ifndef RUNTIME_MODEL_ABI_H
#define RUNTIME_MODEL_ABI_H

#include "runtime/decode/shortlist.h"
#include "runtime/exec/panels.h"
#include "runtime/exec/program.h"
#include "runtime/decode/settings.h"
#include "runtime/rows/row_column.h"
#include "runtime/text/text_rule.h"
#include "runtime/text/tokenizer.h"

enum { TFC_MODEL_ABI = 17 };

/* The generated header has the same numbers. */
typedef enum TfcStatus {
#define API_STATUS(name, ...) TFC_##name,
#include "runtime/model/statuses.def"
    TFC_N_STATUS
} TfcStatus;

typedef enum TfcFunction {
#define FUNCTION(NAME, ...) TFC_##NAME,
#include "base/functions.def"
    TFC_N_FUNCTIONS
} TfcFunction;

/* The programs for one level of processors; a program that was not compiled is NULL. */
typedef struct TfcVariant {
    int64_t level; /* x86-64 level that the machine must have; 0: any machine */
    const TfcProgram *programs[TFC_N_FUNCTIONS];
} TfcVariant;

/* A param's values, in its own element type, from its first element on. */
typedef struct TfcWeight {
    const char *name;
    const void *data;
} TfcWeight;

/* The weights of one model; an ensemble has several. A param that only decoding's products read is
 * there as panels alone. */
typedef struct TfcMember {
    int64_t n;
    const TfcWeight *weights;
    int64_t n_panels;
    const TfcPanels *panels;
} TfcMember;

/* A range of the ids or labels of an input. */
typedef struct TfcIds {
    const char *input;
    IdRange range;
} TfcIds;

/* The most positions along a dimension. */
typedef struct TfcLength {
    const char *dim;
    int64_t most;
} TfcLength;

/* The bytes of a tokenizer's file, and the function that opens them. */
typedef struct TfcVocabulary {
    Tokenizer *(*open)(const void *bytes, size_t size, const char **problem);
    const void *bytes;
    int64_t size;
} TfcVocabulary;

/* Text in place of ids: both vocabularies, and what stands around a source. */
typedef struct TfcText {
    TfcVocabulary target, source; /* source.bytes NULL: the target's */
    TextFrame frame;
} TfcText;

/* TfcColumn: an input that takes texts, labels or numbers of records in place of ids.
 *   row        what they are
 *   own        the vocabulary that a text has of its own; NULL: the source's or the target's
 *   of_source  1: a text's tokens are of the source's vocabulary
 *   by_words   1: predictions along a text are of its words, by the first token of each
 *   next       the input of what follows each token of a text; NULL: it is not read */
typedef struct TfcColumn {
    RowColumn row;
    const TfcVocabulary *own;
    int64_t of_source, by_words;
    const char *next;
} TfcColumn;

static inline bool column_has_numbers(const TfcColumn *column)
{
    return column->row.kind == COLUMN_INTEGERS || column->row.kind == COLUMN_FLOATS;
}
/* Whether records say the lengths of a ragged dimension: numbers lie along it, or nothing does.
 * Else its texts or labels do. columns: of the program's inputs. */
static inline bool records_say_lengths(const TfcProgram *encode, const TfcColumn *columns,
                                       int32_t dim)
{
    bool along = false;
    for (int32_t i = 0; i < encode->n_inputs; i++) {
        const TfcShape *shape = &encode->inputs[i].shape;
        if (shape->rank < 2 || shape->dims[1].dim != dim)
            continue;
        if (column_has_numbers(&columns[i]))
            return true;
        along = true;
    }
    return !along;
}

/* What the function predict gives, in the order of its outputs (interface.def). */
typedef struct TfcPredictions {
    int64_t n;
    const struct TfcPrediction *all;
    const struct TfcLabelSet *sets; /* of each; zeros: it is none of sets */
    const TfcColumn *text;          /* NULL: other inputs are read than one text */
} TfcPredictions;

typedef struct TfcModel {
    int64_t abi;    /* TFC_MODEL_ABI */
    int64_t header; /* version of the generated header: a hash of its interface */
    const char *name;
    int64_t n_variants;
    const TfcVariant *variants; /* the most demanding first */

    /* 0: no weights inside; above 1: an ensemble: decoding takes the mean of the members'
     * probabilities, and the model cannot be opened with other weights */
    int64_t n_members;
    const TfcMember *members;
    const char *source, *target, *next, *logits; /* ports; NULL: none */
    int64_t vocab, bos, eos, pad, unk;           /* -1: not known */
    int64_t first;                               /* first id of every translation; -1: none */
    int64_t max_length;                          /* tokens of a sequence; 0: no limit known */
    int64_t n_ids;
    const TfcIds *ids; /* of the inputs that hold ids or labels; an input may have several */
    int64_t n_lengths;
    const TfcLength *lengths;          /* of the dimensions whose positions are looked up */
    const TfcText *text;               /* NULL: ids alone */
    TextRule rule;                     /* of a language model's texts */
    const Shortlist *shortlist;        /* decoding is over its candidates; NULL: over all tokens */
    const TfcPredictions *predictions; /* NULL: the function predict is not inside */
    int64_t n_columns;        /* 0: texts are generated from a source alone, or from nothing */
    const TfcColumn *columns; /* of the inputs of the program encode, in their order */
    int64_t n_defaults;
    const DecodeDefault *defaults; /* of settings that a caller leaves as they are */
} TfcModel;

#endif
