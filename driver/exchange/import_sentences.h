/* Folders of sentence-transformers: modules.json names what makes a vector of a text after the
 * encoder, in folders of their own (1_Pooling, 2_Normalize), and sentence_bert_config.json the
 * longest text. Sources: documentation of sentence-transformers, "Creating custom models". */
#ifndef DRIVER_EXCHANGE_IMPORT_SENTENCES_H
#define DRIVER_EXCHANGE_IMPORT_SENTENCES_H

#include "base/text.h"
#include "driver/formats/modules.h"
#include "driver/job.h"

#define SENTENCES_MODULES MODULES_FILE
#define SENTENCES_TEXTS "sentence_bert_config.json"
#define SENTENCES_SETTINGS "config_sentence_transformers.json"
#define SENTENCES_LONGEST "max_seq_length" /* of it, in tokens */

/* SentencesPooling: a way of pooling, by the key that switches it on, by its word in newer files
 * ("pooling_mode"), and in models/sentences.tfg. */
typedef struct SentencesPooling {
    const char *key, *word, *ours;
} SentencesPooling;
extern const SentencesPooling sentences_poolings[]; /* up to one whose `key` is NULL */

/* Whether the folder is of this kind. */
bool import_sentences_is(Job *job, const char *folder);
/* ImportSentences: how a vector is made of what the encoder gives.
 *   poolings        words of models/sentences.tfg, at least one; the vectors of several stand one
 *                   behind the other
 *   word_width      numbers of a token's vector, by the pooling; 0: it does not say
 *   layer_input     numbers of the vector that the first Dense takes; 0: it does not say
 *   leaves_prompt   tokens of a prompt are not pooled
 *   n_layers        Dense layers behind the pooling
 *   finish          the block of models/sentences.tfg that has them, with their weights; NULL:
 *                   there is nothing but, perhaps, the last
 *   is_normalised   the last module makes vectors of length 1 */
typedef struct ImportSentences {
    TextList poolings;
    int64_t word_width, layer_input;
    bool leaves_prompt, is_normalised;
    int n_layers;
    const char *finish;
} ImportSentences;
/* Reads modules.json and what it names; without it, vectors are means, as models/sentences.tfg has
 * it. False after errors. */
bool import_sentences_read(Job *job, const char *folder, ImportSentences *sentences);
/* The name of the folder's file of texts' settings: SENTENCES_TEXTS, or what it was called for an
 * encoder of another kind. */
const char *import_sentences_texts(Job *job, const char *folder);
/* Appends the const `longest`, the tokens of the longest text, by the key of a file; *found: it
 * says so. The tokenizer's is a float where there is no limit. False after an error. */
bool import_sentences_longest(Job *job, const char *folder, const char *file, const char *key,
                              bool *found, Text *out);
/* Appends the consts of models/sentences.tfg that the folder's files decide; `width`: of the
 * encoder's vectors. False after errors: a file that cannot be read, a module, a function or a way
 * of pooling that the model does not have, a layer for vectors of another width. */
bool import_sentences_model(Job *job, const char *folder, int64_t width, Text *out);

#endif
