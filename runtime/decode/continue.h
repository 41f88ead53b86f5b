/* Continuing a text by the rule of its model (runtime/text/text_rule.h), also beyond the length
 * that the model sees at a time: shared by tfc generate and compiled libraries. A function that
 * returns false has changed nothing: memory ran out, or the tokenizer failed and tokenizer_problem
 * has the reason. */
#ifndef RUNTIME_DECODE_CONTINUE_H
#define RUNTIME_DECODE_CONTINUE_H

#include "runtime/decode/decode.h"
#include "runtime/text/text_rule.h"
#include "runtime/text/tokenizer.h"

/* Appends the ids of a prompt of one or more lines. */
bool continue_encode(const Tokenizer *tokenizer, const TextRule *rule, const char *text,
                     size_t length, TokenIds *ids);
/* Appends the text of ids, with "\n" for each id that is the rule's newline. */
bool continue_put(const Tokenizer *tokenizer, const TextRule *rule, const int32_t *ids, size_t n,
                  TokenText *out);

/* -1 if the token is `end` or one of the rule's stops, else the token: what a translation that
 * these end never chooses. */
int32_t unless_end(const TextRule *rule, int32_t end, int32_t token);
/* Sets which tokens begin and end a generation, and which it never chooses. */
void continue_settings(const TextRule *rule, DecodeSettings *settings);

/* ContinuePart: what one search adds to a text.
 *   prompt   the tokens that the model sees after bos: all of the text; if bos and the text are
 *            more than `longest` tokens, the text's last ones, which with bos fill half of
 *            `longest`; if text and bos are missing, the rule's `start`. Not owned: in the text or
 *            the rule
 *   limit    the most tokens to add; 1 or more
 *   is_cut   bos and the text are more than `longest` tokens */
typedef struct ContinuePart {
    Tokens prompt;
    int32_t limit;
    bool is_cut;
} ContinuePart;
/* The next part of a text. `left`: tokens still wanted, at least 1. `longest`: tokens of the
 * model's longest sequence, at least 1. */
ContinuePart continue_part(const TextRule *rule, const DecodeSettings *settings,
                           const TokenIds *text, int64_t left, int64_t longest);
/* Appends the best result, which must be there, to the text. *left: tokens still wanted, before and
 * after the call; 0 at the text's end. */
bool continue_take(const Decoded *decoded, TokenIds *text, int64_t *left);

/* Continuation: a text that grows.
 *   number   the key of the text's random numbers; each text has its own
 *   left     tokens still to generate
 *   ids      the prompt, then the generated tokens; freed by the caller
 *   prompt   how many ids are the prompt's
 *   ended    a token or a stop string has ended the text */
typedef struct Continuation {
    int64_t number, left;
    TokenIds ids;
    size_t prompt;
    bool ended;
} Continuation;

/* The most texts that continue_texts takes, and its results below 0. */
enum { CONTINUE_ROWS = 16, CONTINUE_NO_MEMORY = -1, CONTINUE_NO_NUMBERS = -2 };
/* Adds part number `part`, from 0, to each of n texts that has tokens left to generate. Returns how
 * many texts those were, or why it failed: memory ran out, or the model gives no numbers. */
int continue_texts(Stepper *stepper, const TextRule *rule, int64_t longest,
                   const DecodeSettings *settings, int64_t part, Continuation *texts, int n);

#endif
