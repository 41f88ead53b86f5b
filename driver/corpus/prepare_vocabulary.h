/* The vocabulary of prepared data: loading it or making it from the texts, and writing it to the
 * folder. */
#ifndef DRIVER_CORPUS_PREPARE_VOCABULARY_H
#define DRIVER_CORPUS_PREPARE_VOCABULARY_H

#include "driver/corpus/prepare_texts.h"

/* The vocabulary that the options choose: loaded, or made from the beginnings of the texts
 * (PREPARE_SAMPLE_LINES) if its kind needs text. *tokens gets the rules of its tokens. NULL after
 * errors. */
Vocabulary *prepare_vocabulary(Job *job, const PrepareOptions *options, const TextParts *parts,
                               TextList *tokens);
/* Writes the vocabulary to the folder in a form that vocab_load reads. False after errors, also if
 * other files of the folder make vocab_load read another vocabulary. */
bool prepare_vocabulary_save(Job *job, const PrepareOptions *options, const Vocabulary *vocab,
                             const TextList *tokens);

#endif
