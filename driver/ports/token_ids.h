/* What an input's whole numbers are to a model: the words of a table or of a list of labels, from
 * what the model does with them. Which of them the input may hold: ports_ids (ports.h). */
#ifndef DRIVER_PORTS_TOKEN_IDS_H
#define DRIVER_PORTS_TOKEN_IDS_H

#include "ir/graph.h"

/* Below, an input is an op of the model. What is said of it also holds where casts and ops that
 * change only the shape stand between and, if it holds tokens, a select that puts others in the
 * place of some.
 *
 * Whether the runtime makes the input along with another one: its next tokens, its hidden ones. */
bool token_is_made(const Op *input);
/* The number of rows of the table in which an input is looked up, of the matrices of which it names
 * one, or of the classes of the CTC loss that takes it as labels. Of several numbers the least; 0:
 * none. */
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

#endif
