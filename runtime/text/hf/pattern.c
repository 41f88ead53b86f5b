/* Patterns: literals and properties here, regular expressions where characters.h says. */
#define _GNU_SOURCE
#include "runtime/text/hf/characters.h"

#include <string.h>

static bool next_literal(const HfPattern *p, const char *text, size_t length, size_t *start,
                         size_t *end)
{
    const char *found =
        p->n_literal ? memmem(text + *start, length - *start, p->literal, p->n_literal) : NULL;
    if (!found)
        return false;
    *start = (size_t)(found - text);
    *end = *start + p->n_literal;
    return true;
}

bool pattern_next(const HfPattern *pattern, const char *text, size_t length, size_t *start,
                  size_t *end, bool *failed)
{
    *failed = false;
    if (pattern->regex)
        return *start < length && regex_next(pattern, text, length, start, end, failed);
    if (pattern->literal)
        return *start < length && next_literal(pattern, text, length, start, end);
    for (size_t size; *start < length; *start += size)
        if (pattern->is(uni_decode(text + *start, length - *start, &size))) {
            *end = *start + size;
            return true;
        }
    return false;
}
