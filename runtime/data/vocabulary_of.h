/* A vocabulary of one tokenizer, before it has a source side: what vocabulary_make.c makes those of
 * specs, texts and files from. */
#ifndef RUNTIME_DATA_VOCABULARY_OF_H
#define RUNTIME_DATA_VOCABULARY_OF_H

#include "runtime/data/vocabulary.h"
#include "runtime/data/wordlist.h"

/* Of a list of words or characters. NULL after an error. */
Vocabulary *vocab_of_words(Diagnostics *diags, Arena *arena, const WordList *words);
/* Of the bytes of a tokenizer.json or a SentencePiece model, which live in the arena. `name`: the
 * file, for messages. NULL after an error. */
Vocabulary *vocab_of_model(Diagnostics *diags, Arena *arena, const char *name, const char *bytes,
                           size_t n, bool is_json);

#endif
