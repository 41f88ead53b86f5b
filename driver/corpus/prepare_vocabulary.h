/* The vocabulary of prepared data: making it from the texts, and writing it to the folder. */
#ifndef DRIVER_CORPUS_PREPARE_VOCABULARY_H
#define DRIVER_CORPUS_PREPARE_VOCABULARY_H

#include "driver/corpus/prepare_texts.h"

/* Makes the vocabulary of the options, an auto kind from the beginnings of the texts. *tokens: its
 * rules. NULL after errors. */
Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *options, const TextParts *parts,
                               TextList *tokens);
/* Writes the vocabulary to the folder in a form that vocab_load reads; false after errors. */
bool prepare_vocabulary_save(Job *job, const PrepareOptions *options, const Vocabulary *vocab,
                             const TextList *tokens);

#endif
