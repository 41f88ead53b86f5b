/* CharRules: rules of normalization as a SentencePiece model has them, and a tokenizer.json: which
 * text replaces which characters. */
#ifndef RUNTIME_TEXT_CHAR_RULES_H
#define RUNTIME_TEXT_CHAR_RULES_H

#include "runtime/text/trie.h"

#include <stdbool.h>

/* keys   what is replaced; values: offsets into `by`
 * by     n_by bytes: texts that end with a NUL, the last one too */
typedef struct CharRules {
    Trie keys;
    const char *by;
    size_t n_by;
} CharRules;

/* Reads the rules in place: the size of the trie, its units, and what they replace by. False: they
 * are damaged. */
bool char_rules_open(CharRules *rules, const char *bytes, size_t size);
/* The text of a key's value; TRIE_NOWHERE gives NULL. */
const char *char_rules_text(const CharRules *rules, int32_t value);

#endif
