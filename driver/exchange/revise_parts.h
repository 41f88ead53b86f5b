/* What the comparisons of a run with its published files share (revise.h). */
#ifndef DRIVER_EXCHANGE_REVISE_PARTS_H
#define DRIVER_EXCHANGE_REVISE_PARTS_H

#include "driver/exchange/import_config.h"
#include "driver/exchange/json_edit.h"
#include "driver/exchange/revise.h"
#include "driver/run/record.h"

/* RevisedFile: a file that is to be written.
 *   json    what it will hold; NULL: the bytes
 *   bytes   NULL, without json: the file is left out */
typedef struct RevisedFile {
    const char *name;
    JsonValue *json;
    const char *bytes;
    size_t size;
    bool is_changed; /* json was edited, not only read */
} RevisedFile;

/* Revise: one comparison.
 *   quiet    a job without messages, for what is tried
 *   folder   of the files that are compared
 *   is       the run's model, as it computes
 *   vocab    the run's, with the rules of the run
 *   differs  of what is compared now: "norm_eps is 0.1 (published: 1e-5)" */
typedef struct Revise {
    Job *job;
    Job quiet;
    const ReviseOptions *options;
    const char *run, *folder;
    RunRecord record;
    const Model *is;
    Vocabulary *vocab;
    ImportConfig config;
    VEC(RevisedFile) files;
    TextList differs;
} Revise;

/* ---- the comparisons: each adds what differs, and edits the files that can say it ---- */

/* The vocabulary. (revise_tokenizer.c) */
bool revise_tokenizer(Revise *r);
/* The function from inputs to outputs, the longest text, and the consts by which they differ.
 * (revise_model.c) */
bool revise_model(Revise *r);
/* The rules of the vocabulary: which tokens begin and end texts. (revise_tokens.c) */
bool revise_tokens(Revise *r);
/* The list of labels. (revise_labels.c) */
bool revise_labels(Revise *r);
/* The settings of generation that hold where no option says. (revise_generation.c) */
bool revise_generation(Revise *r);

/* Writes a const of models/sentences.tfg into the files of sentence-transformers, which are made
 * where the folder has none; whether these say a const. (revise_sentences.c) */
void revise_sentences(Revise *r, const char *name, const char *value);
bool revise_sentences_say(const char *name);
/* The same of a cross-encoder's files. (revise_pairs.c) */
void revise_pairs(Revise *r, const char *name, const char *value);
bool revise_pairs_say(const char *name);

/* ---- for these ---- */

/* Forgets the errors of what was tried. */
void revise_quiet(Revise *r);

/* Adds a difference. */
void revise_differs(Revise *r, const char *what, const char *is, const char *published);
/* The JSON value of a file, to be edited: the folder's, or, where it has none and `makes`, an empty
 * object. NULL: there is none, or it cannot be read. */
JsonValue *revise_read(Revise *r, const char *name, bool makes);
/* Says that the value of revise_read was edited. */
void revise_changed(Revise *r, const char *name);
/* Sets "key" or "object.key" of a JSON file, which is made if the folder has none. */
void revise_set(Revise *r, const char *name, const char *key, JsonValue value);
/* Replaces a file; bytes NULL: leaves it out. */
void revise_replace(Revise *r, const char *name, const char *bytes, size_t size);
/* Makes generation_config.json of what config.json says of tokens, where the folder has none:
 * transformers reads nothing of config.json for generate() once there is one. */
void revise_make_generation(Revise *r);
/* The value of the run's const; NULL: its model has none of that name. */
const char *revise_const(const Model *model, const char *name);

#endif
