/* The weights block: what its two files share. */
#ifndef FRONTEND_WEIGHTS_H
#define FRONTEND_WEIGHTS_H

#include "frontend/elab.h"

/* Stars: what each * of one of our patterns met in a param's name. */
enum { MAX_STARS = 8 };
typedef struct Stars {
    int n;
    const char *text[MAX_STARS];
    size_t length[MAX_STARS];
} Stars;

/* A name there: the k-th * of the pattern stands for what the k-th of ours met. */
const char *stars_fill(Elab *e, const char *pattern, const Stars *stars);

/* weight_parts: the parts of `map`, which make the param out of the expression `from`; in the
 * arena. False after a message. */
bool weight_parts(Elab *e, const Node *from, const ParamInfo *param, const Stars *stars,
                  WeightMap *map);

#endif
