/* The table of published models: for each model_type the rows that read its config.json. */
#ifndef DRIVER_EXCHANGE_IMPORT_MODELS_H
#define DRIVER_EXCHANGE_IMPORT_MODELS_H

#include "driver/session/job.h"

/* ImportRow: what becomes of one key of config.json. */
typedef enum ImportKind {
    IMPORT_CONST,      /* a const of the model takes its value */
    IMPORT_FLAG,       /* a const of the model: whether the value is `value` */
    IMPORT_KEY,        /* read by other rows, which name it in `absent` */
    IMPORT_ACTIVATION, /* the model's block `activation` is this function */
    IMPORT_SAME,       /* the model has one const for two keys: both must be the same */
    IMPORT_MUST,       /* the model is written for this value alone, or for those of a list */
    IMPORT_TOKEN,      /* an id: a rule of the vocabulary (runtime/data/token_rules.h) */
    IMPORT_PIECE,      /* no key: a token, whose id a const of the model is */
    IMPORT_IGNORE /* no key: tensors of this pattern (driver/ports/patterns.h) are not needed */
} ImportKind;
typedef struct ImportRow {
    ImportKind kind;
    const char *key; /* of an object within: "object.key" */
    const char *to;  /* the const, the other key, the JSON value, the rule */

    /* the JSON value if config.json lacks the key, or "=KEY": the value of another key; NULL: the
     * key is required (a token: there is none) */
    const char *absent;
    const char *value; /* IMPORT_FLAG: the JSON value for which the const is true */
} ImportRow;

/* ImportModel: a model_type of config.json. */
typedef struct ImportModel {
    const char *type;
    const char *files[3]; /* names in models/: the model's file, then the files that it uses */
    const ImportRow *rows;
} ImportModel;
/* The model of a model_type; NULL after an error, which lists the known ones. */
const ImportModel *import_model(Job *job, const char *type);

#endif
