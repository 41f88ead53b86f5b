/* What the printer and the parser of the IR's text share: its words. */
#ifndef IR_WORDS_H
#define IR_WORDS_H

#include "ir/graph.h"

extern const char *const tir_roles[PARAM_ROLES];

/* numbers: how many of ParamInfo's a and b follow in brackets. */
typedef struct InitWord {
    const char *name;
    int numbers;
} InitWord;
extern const InitWord tir_inits[INIT_COUNT];

#endif
