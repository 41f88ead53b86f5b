/* What steps of a tokenizer look for in a text: a literal, a regular expression, or characters
 * of a property. */
#ifndef RUNTIME_TEXT_HF_PATTERN_H
#define RUNTIME_TEXT_HF_PATTERN_H

#include "runtime/text/hf/unicode.h"

typedef struct HfPattern {
    const char *literal; /* or NULL */
    size_t n_literal;
    void *regex;       /* or NULL */
    const char *shown; /* the regular expression as it was written */
    UniIs is;          /* or NULL */
} HfPattern;

/* Compiles a regular expression in Oniguruma's syntax, as far as published tokenizers use it.
 * NULL: it is not valid, and *problem, which the caller frees, says why; or memory ran out, and
 * *problem is NULL. *bytes: the memory that it has. */
void *pattern_regex(const char *regex, size_t length, char **problem, size_t *bytes);
void pattern_free(HfPattern *pattern);

/* Finds the next match that is not empty from *start on: [*start, *end). false: there is none; or,
 * with *failed, memory ran out, or the search took too long (tokenizer_problem). */
bool pattern_next(const HfPattern *pattern, const char *text, size_t length, size_t *start,
                  size_t *end, bool *failed);

#endif
