/* TokenRules by words: what --token says of a vocabulary's special tokens. */
#ifndef RUNTIME_DATA_TOKEN_RULES_H
#define RUNTIME_DATA_TOKEN_RULES_H

#include "runtime/data/vocabulary.h"

/* Rules from n texts "NAME=TOKEN", such as "begin=<pad>" or "source-end=none", or "size=N", in turn. False
 * after an error: no such name, or the vocabulary has no such token. */
bool token_rules_set(Vocabulary *vocab, Diagnostics *diags, const char *const *texts, size_t n);

#endif
