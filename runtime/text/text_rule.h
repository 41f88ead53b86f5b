/* TextRule: which tokens begin, end and separate the texts of a language model, one rule for
 * training, scoring and generation. Of a model with a source the stops alone count: they end a
 * translation, as the end token of its targets does. Ids; -1: none.
 *
 *   begin      stands before a text, and is fed but not predicted
 *   end        is predicted behind a text
 *   newline    stands for a line break within a text; -1: the tokenizer's tokens of "\n" do
 *   start      is fed if there is neither `begin` nor a prompt
 *   stops      generation ends before one of these n_stops; n_stops 0: at its limit
 *   forbidden  generation never chooses one of these */
#ifndef RUNTIME_TEXT_TEXT_RULE_H
#define RUNTIME_TEXT_TEXT_RULE_H

#include <stdint.h>

enum { TEXT_STOPS = 16, TEXT_FORBIDDEN = 4 };

typedef struct TextRule {
    int32_t begin, end, newline, start;
    int32_t n_stops, stops[TEXT_STOPS];
    int32_t forbidden[TEXT_FORBIDDEN];
} TextRule;

#endif
