/* Which integers an input of a model may hold, from what the model does with them. */
#ifndef DRIVER_PORTS_TOKEN_IDS_H
#define DRIVER_PORTS_TOKEN_IDS_H

#include "ir/graph.h"

typedef struct TokenRange {
    int64_t size;      /* ids are below it; INT64_MAX: nothing tells */
    bool has_negative; /* below 0 means: no label here */
} TokenRange;

/* The rows of the table that an index is looked up in, or the labels of a loss that it is given to,
 * through ops of one operand; of several the fewest; 0: none. */
int64_t token_table(const Function *model, const Value *index);
/* How many positions (`position(n)`, n a constant) an input is compared with: the fewest; INT64_MAX:
 * none. */
int64_t token_labels(const Function *model, const char *input);
/* An input that looks up rows of a table holds their numbers; the next tokens of an input that are
 * compared with the positions of a vocabulary are labels. Any other input holds values: nothing
 * bounds them. */
TokenRange token_ids_of(const Module *module, const char *input);

#endif
