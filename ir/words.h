/* What the printer and the parser of the IR's text share: its words. */
#ifndef IR_WORDS_H
#define IR_WORDS_H

#include "ir/graph.h"

/* Whether a name stands without quotes: [A-Za-z_][A-Za-z0-9_.]* */
bool tir_word_is_bare(const char *name);
static inline bool word_starts(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool word_goes_on(int c)
{
    return word_starts(c) || (c >= '0' && c <= '9') || c == '.';
}

extern const char *const tir_roles[PARAM_ROLES];

/* numbers: how many of ParamInfo's a and b follow in brackets. */
typedef struct InitWord {
    const char *name;
    int numbers;
} InitWord;
extern const InitWord tir_inits[INIT_COUNT];

#endif
