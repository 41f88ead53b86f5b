/* ImportConfig: a config.json, read by the rows of its model (import_models.h), and the
 * generation_config.json beside it. */
#ifndef DRIVER_EXCHANGE_IMPORT_CONFIG_H
#define DRIVER_EXCHANGE_IMPORT_CONFIG_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"
#include "driver/exchange/published_tokens.h"
#include "runtime/data/vocabulary.h"

typedef struct ImportConfig {
    const Source *source;
    const JsonValue *json;
    const JsonValue *generation; /* NULL: there is no such file */
    const ImportModel *model;
    TextList tensors;  /* the names of the folder's, where it has weights */
    const char *shown; /* what messages call files of the folder that was made of it; NULL: their
                        * own names */
} ImportConfig;

/* Reads a folder's config.json and checks it. `tensors`: the names of the folder's, which tell
 * models of one type apart; NULL: none. False after errors: the file cannot be read or is not JSON,
 * its model_type is missing or not known, or it has values that the model is not written for, or
 * keys that nobody reads; each has an error of its own. */
bool import_config_read(Job *job, const char *folder, const TextList *tensors,
                        ImportConfig *config);
/* The same of a file of any name within reach, whose tokenizer is in the folder. `shown`: what
 * errors call the file, where it was made of another one; NULL: its path. `pairs`: the model reads
 * pairs of texts, whatever the files say; config->source then says it. */
bool import_config_read_file(Job *job, FileReach reach, const char *path, const char *folder,
                             const char *shown, const TextList *tensors, bool pairs,
                             ImportConfig *config);
struct Model; /* frontend.h */
/* The names of the model's published tensors, as import_config_read takes them. */
TextList import_config_tensors(Arena *arena, const struct Model *model);
/* Checks the values of a config that was read in another way. False after errors.
 * (import_config_check.c) */
bool import_config_check(Job *job, const ImportConfig *config);
/* Reads the folder's generation_config.json, if it has one. False after an error. */
bool import_config_generation(Job *job, const char *folder, ImportConfig *config);
/* The value of a key, or the value that its absence means (ImportRow.absent); of a token
 * (published_tokens.h) what either file says, of a list the first. NULL: the key is absent, and its
 * absence means no value. */
const JsonValue *import_config_value(Job *job, const ImportConfig *config, const char *key);
/* ---- import_config_lines.c ---- */
/* Appends the lines of model.tfg after `use`: consts, the activation, and the pooling that the
 * folder's other files say. False after errors. */
bool import_config_model(Job *job, const char *folder, const ImportConfig *config,
                         const Vocabulary *vocab, Text *out);
/* Appends the rule "size=N" where the model has rows for no token: published tables are of a round
 * size. False after an error: it has fewer rows than there are tokens. */
bool import_config_rows(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                        TextList *tokens);
/* Whether the vocabulary has a token of this id. */
bool import_config_has_token(const Vocabulary *vocab, int64_t id);
/* Appends rules of the vocabulary (token_rules.h); false after errors. */
bool import_config_tokens(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                          TextList *tokens);

/* ---- import_config.c, import_config_check.c ---- */
/* import_config_value of a key as a whole number; -1: there is no value, or not a whole number. */
int64_t import_config_size(Job *job, const ImportConfig *config, const char *key);
/* The same of a const of the model, such as "d_model"; *key: the key that says it. -1, too: there
 * is no such const. */
int64_t import_config_const(Job *job, const ImportConfig *config, const char *name,
                            const char **key);
/* Of a key of IMPORT_LAYERS: each how many-th layer sees all tokens; 0: none does. -1: there is no
 * such key, or its layers are not each n-th. */
int64_t import_config_layers(Job *job, const ImportConfig *config, const char *key);

/* ImportActivation: the function of the block `activation` (IMPORT_ACTIVATION), by its word in
 * config.json and as .tfg writes it of x. */
typedef struct ImportActivation {
    const char *theirs, *ours;
} ImportActivation;
extern const ImportActivation import_activations[]; /* up to one whose `theirs` is NULL */

/* ---- what its files share ---- */

/* An error at the file; false. */
bool import_config_refuse(Job *job, const ImportConfig *config, const char *text);
/* What the files say of a token, or of several, by its row; else what the absence of its key means,
 * if the model has the key. NULL: nothing. *file: the name of the file that says it, or would. */
const JsonValue *import_config_token(Job *job, const ImportConfig *config,
                                     const PublishedToken *token, const char **file);
/* The first row of a key; NULL: there is none. */
const ImportRow *import_config_row(const ImportConfig *config, const char *key);
/* The member "key" of a value, or "object.key", and so on; NULL: it is absent. */
const JsonValue *import_config_member(Job *job, const JsonValue *json, const char *key);
/* The key that import_config_value's value stands under. */
const char *import_config_spoken_key(Job *job, const ImportConfig *config, const char *key);

/* ---- import_keys.c ---- */

/* Keys of config.json that no row of its model reads. */

/* Checks that what no row reads does not change what the model computes. It does not where it is
 * false, null or empty, or known to say something else, such as a setting of training. A key by
 * which the class in transformers computes is an error; so is any that is unknown, where the folder
 * names a class of its own. Other keys get one warning with their names. `config`: where the object
 * `json` is from. False after errors, one a key. */
bool import_keys_check(Job *job, const Source *config, const JsonValue *json,
                       const ImportModel *model);

/* ---- import_generation.c ---- */

/* The settings of generation that a published folder recommends. */

/* Appends the settings of published_sampling.h that generation_config.json has, where they
 * are not what tfc does anyway, as a run records them (driver/run/generation.h). With do_sample
 * false none of those for draws is; those for searches are of models with an encoder. What tfc
 * does not take is left out, with a warning. */
void import_generation(Job *job, const ImportConfig *config, TextList *settings);

#endif
