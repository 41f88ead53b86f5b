/* TokenRules from text: what --token says of a vocabulary's special tokens. */
#ifndef RUNTIME_DATA_TOKEN_RULES_H
#define RUNTIME_DATA_TOKEN_RULES_H

#include "runtime/data/vocabulary.h"

/* Sets rules from n texts, in order: "NAME=TOKEN", such as "begin=<pad>", "source-end=none" or
 * "end=#2" (a token by its number), or "size=N". "stop=TOKEN" may be repeated, once for each token
 * that ends a generation. False after an error: no such name, no such token, a size that is not
 * allowed, or more than TEXT_STOPS stops. */
bool token_rules_set(Vocabulary *vocab, Diagnostics *diags, const char *const *texts, size_t n);
/* The text with which token_rules_set gives the rule `name` the token `id` (-1: "NAME=none"). It is
 * "NAME=#N" where another token has the same text, or the token's text is "none". In the arena. */
const char *token_rule_text(Arena *arena, const Vocabulary *vocab, const char *name, int32_t id);

/* The text that means of `now` what `text`, a rule of `was`, means there: the same token. NULL: it
 * means nothing there, as a size that `now` is not below. In the arena. */
const char *token_rule_moved(Arena *arena, const Vocabulary *was, const Vocabulary *now,
                             const char *text);

#endif
