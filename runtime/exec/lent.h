/* Lent: what a program need not prepare, because the panels are there already, in a file. The steps
 * that would make them are left out, and so are those whose results only such steps read. */
#ifndef RUNTIME_EXEC_LENT_H
#define RUNTIME_EXEC_LENT_H

#include "runtime/exec/panels.h"
#include "runtime/exec/program.h"

typedef struct Lent {
    bool any;
    const void **panels; /* of each buffer: what is lent for it; NULL: nothing */
    bool *left;          /* of each prepared step: it is left out */
    bool *absent; /* of each kept buffer: it is lent, or only steps that are left out use it */
} Lent;

/* Returns the data of panels that agree with those wanted, which have none; NULL: there are
 * none. */
typedef const void *LendPanels(void *context, const TfcPanels *wanted);
/* Fills *lent, whose lists have room for the program's buffers and prepared steps. `read`: of each
 * buffer, as slab_mark_read gives it. Returns whether other buffers are absent than before. */
bool lent_find(Lent *lent, const TfcProgram *program, const bool *read, LendPanels *lend,
               void *context);
/* Whether the step is left out. */
static inline bool lent_leaves(const Lent *lent, const TfcProgram *program, int32_t step)
{
    return step < program->n_prepared && lent->left[step];
}
/* Whether a step that is not left out reads or writes the buffer, or it is kept between runs. */
bool lent_uses(const Lent *lent, const TfcProgram *program, const bool *read, int32_t buffer);

#endif
