/* The table of published models: for each model_type the rows that read its config.json. */
#ifndef DRIVER_EXCHANGE_IMPORT_MODELS_H
#define DRIVER_EXCHANGE_IMPORT_MODELS_H

#include "driver/job.h"

/* ImportKind: what becomes of one key of config.json. */
typedef enum ImportKind {
    IMPORT_CONST,      /* a const of the model takes its value, with `value` behind it; null: the
                        * model's own value */
    IMPORT_FLAG,       /* a const of the model: whether the value is `value` */
    IMPORT_RENAME,     /* of another program's settings: config.json calls the key `to` */
    IMPORT_KEY,        /* read by other rows, which name it in `absent` */
    IMPORT_ACTIVATION, /* the model's block `activation` is this function */
    IMPORT_SAME,       /* the model has one const for two keys, whose values must be equal */
    IMPORT_MUST,       /* the model is written for this value alone, or for those of a list */
    IMPORT_TOKEN,      /* an id: a rule of the vocabulary (runtime/data/token_rules.h) */
    IMPORT_PIECE,      /* `key` is a token, not a key: a const of the model takes its id */
    IMPORT_FIXED,      /* `key` is a value, not a key, which a const of the model takes */
    IMPORT_FRONT,   /* `key` is how tensors' names begin, not a key: a const takes it, or "" where
                        * none begins so */
    IMPORT_LAYERS,  /* a const takes each how many-th layer is another, by a list with
                    * "full_attention" for those that see all tokens, or 0, and
                    * "sliding_attention" or 1 for the rest (1: all are others, 0: none). With the
                    * `value` "first" they are counted from the first layer, which is one; with
                    * "from" the others stand before the rest, and the const takes how many */
    IMPORT_FACTORS, /* a block of the model gives the numbers of the list */
    IMPORT_LABELS,  /* a const takes how many labels there are, and the run their list
                    * (import_labels.h) */
    IMPORT_IGNORE /* `key` is a pattern (driver/ports/patterns.h) of tensors that are not needed */
} ImportKind;
typedef struct ImportRow {
    ImportKind kind;
    const char *key; /* "key", or "object.key" of an object within, or deeper */

    /* the const; of IMPORT_SAME the other key, of IMPORT_MUST the JSON value, of IMPORT_TOKEN the
     * rule; of the kinds that need none, NULL */
    const char *to;
    /* the JSON value if config.json lacks the key, or "=KEY": the value of another key, also where
     * it is null; NULL: the key is required (for IMPORT_TOKEN: the model has no such token). Of
     * several rows with one key the first has it for all */
    const char *absent;
    /* IMPORT_FLAG: the JSON value for which the const is true; IMPORT_CONST: what follows the
     * value, " + 1", or NULL */
    const char *value;
} ImportRow;

/* Whether the row's `key` is one of config.json. */
static inline bool import_row_has_key(const ImportRow *row)
{
    return row->kind != IMPORT_IGNORE && row->kind != IMPORT_PIECE && row->kind != IMPORT_FIXED &&
           row->kind != IMPORT_FRONT;
}

typedef enum ImportGives { GIVES_OTHER, GIVES_VECTORS, GIVES_SCORE, GIVES_LABELS } ImportGives;

/* ImportModel: a model_type of config.json, or of one that has several heads one of these.
 *   files     names in models/: the model's file, then the files that it uses
 *   rows      up to a row whose key is NULL
 *   head      a tensor that only weights of this head have; NULL: any weights
 *   gives     vectors of texts (import_sentences.h); a number for a text, by a head with one label;
 *             any number of labels, each with a probability of its own; or what its other outputs
 *             are
 *   pairs     it reads two texts together (import_pairs.h)
 *   ending    how the name of its class ends (`architectures`), where others of the type have the
 *             same tensors; NULL: whatever the class */
typedef struct ImportModel {
    const char *type;
    const char *files[3];
    const ImportRow *rows;
    const char *head;
    ImportGives gives;
    const char *ending;
    bool pairs;
} ImportModel;
const ImportModel *import_model_at(int i); /* of all, from 0 on; NULL: there are no more */

/* ImportSought: what a folder says of its model.
 *   type         model_type
 *   class_name   the first of `architectures`; NULL: it is not said
 *   tensors      the names of the weights
 *   vectors      it makes vectors of texts
 *   one_label    its head has one label (import_labels.h)
 *   independent  each of its labels has a probability of its own (`problem_type`)
 *   pairs        it reads two texts together */
typedef struct ImportSought {
    const char *type, *class_name;
    const TextList *tensors;
    bool vectors, one_label, independent, pairs;
} ImportSought;
/* The first model of the type and class whose head is among the tensors, or which needs none;
 * `vectors`: the first that makes vectors. NULL after an error, which lists the known types. */
const ImportModel *import_model(Job *job, const ImportSought *sought);

#endif
