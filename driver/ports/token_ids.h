/* Which integers an input of a model may hold, from what the model does with them. */
#ifndef DRIVER_PORTS_TOKEN_IDS_H
#define DRIVER_PORTS_TOKEN_IDS_H

#include "ir/graph.h"

typedef struct TokenRange {
    int64_t size;      /* ids are below it; INT64_MAX: no limit is known */
    bool has_negative; /* ids below 0 are allowed; of labels they mean that there is no label */
} TokenRange;

/* Below, an input is an op of the model. What is said of it also holds where casts and ops that
 * change only the shape stand between and, if it holds tokens, a select that puts others in the
 * place of some.
 *
 * The number of rows of the table in which an input is looked up, or of the classes of the CTC loss
 * that takes it as labels. Of several numbers the least; 0: none. */
int64_t token_table(const Function *model, const Op *input);
/* Whether an input is looked up in a table; whether it is the labels of a CTC loss, which count
 * from 1. */
bool token_is_looked_up(const Function *model, const Op *input);
bool token_is_ctc_label(const Function *model, const Op *input);
/* Whether the model looks two inputs up in one table. */
bool token_table_is_shared(const Function *model, const Op *a, const Op *b);
/* The n of the positions `position(n)`, n a constant, with which an input is compared. Of several
 * the least; INT64_MAX: none. */
int64_t token_labels(const Function *model, const Op *input);
/* The range of an input's integers. An input that indexes a table, not by way of a select, has row
 * numbers; next tokens that are compared with the positions of a vocabulary are labels. Any other
 * input has values, without bounds. */
TokenRange token_ids_of(const Module *module, const char *input);

#endif
