/* ImportWeights: the weights of a model that is being imported. */
#ifndef DRIVER_EXCHANGE_IMPORT_WEIGHTS_H
#define DRIVER_EXCHANGE_IMPORT_WEIGHTS_H

#include "driver/exchange/import_config.h"
#include "driver/session/session.h"

/* ImportWeights
 *   path     the folder or file; absolute
 *   source   what the user called it
 *   config   of the model; read by the functions that take a module, session or run */
typedef struct ImportWeights {
    Job *job;
    const char *path, *source;
    const ImportConfig *config;
} ImportWeights;

/* The names of the tensors; none of a folder without weights. False after an error. */
bool import_weights_names(const ImportWeights *w, TextList *names);
/* False after the error of a folder that has none. */
bool import_weights_check(const ImportWeights *w);
/* Puts them at RUN/weights, as a link or a copy. False after an error. */
bool import_weights_place(const ImportWeights *w, const char *run, bool copy);
/* Compares the sizes that config.json gives the model with the weights, before memory is taken for
 * it. False after an error. */
bool import_weights_check_sizes(const ImportWeights *w, const Module *module);
/* Reads every tensor once: all are there, and have the shapes of the model. *unused: the tensors
 * that no param takes. Warns of those that the model should have, and of a head that config.json
 * says otherwise of. False after errors. */
bool import_weights_try(const ImportWeights *w, Session *session, TextList *unused);

/* Of blocks of a GGUF that are computed in `quant`, a word of base/quants.def: adds to *keep, as
 * patterns_keep takes them, the matrices whose blocks another type holds: of several tensors that
 * are a param, the one of most bits; f32 for floats. False after errors. */
bool import_weights_types(const ImportWeights *w, const Model *model, const char *quant,
                          TextList *keep);

#endif
