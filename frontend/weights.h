/* The weights block: what weights.c and weight_parts.c share. */
#ifndef FRONTEND_WEIGHTS_H
#define FRONTEND_WEIGHTS_H

#include "frontend/elab.h"

/* Stars: what each * of a pattern of our params matched in a param's name; the texts are not
 * NUL-terminated. */
enum { MAX_STARS = 8 };
typedef struct Stars {
    int n;
    const char *text[MAX_STARS];
    size_t length[MAX_STARS];
} Stars;

/* A foreign name: the k-th * of the foreign pattern is replaced by what the k-th * of ours
 * matched. */
const char *stars_fill(Elab *e, const char *pattern, const Stars *stars);

/* Sets the parts of `map`, of which the expression `from` makes the param; in the arena. False
 * after a message. */
bool weight_parts(Elab *e, const Node *from, const ParamInfo *param, const Stars *stars,
                  WeightMap *map);

#endif
