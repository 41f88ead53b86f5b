/* The vocabulary of prepared data: in the folder, and what it is made from. */
#ifndef DRIVER_CORPUS_PREPARE_VOCABULARY_H
#define DRIVER_CORPUS_PREPARE_VOCABULARY_H

#include "driver/corpus/prepare_texts.h"

/* Makes the vocabulary that the options tell of, an auto kind from the beginnings of the texts.
 * *tokens: its rules. NULL after errors. */
Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *options, const TextParts *parts,
                               TextList *tokens);
/* Writes it to the folder, from which it can be read again; false after errors. */
bool prepare_vocabulary_save(Job *job, const PrepareOptions *options, const Vocabulary *vocab,
                             const TextList *tokens);

#endif
