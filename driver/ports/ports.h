/* What the inputs and outputs of a model are for, from their names and types. */
#ifndef DRIVER_PORTS_PORTS_H
#define DRIVER_PORTS_PORTS_H

#include "base/diag.h"
#include "ir/graph.h"
#include "runtime/data/corpus.h"

typedef struct ModelPorts {
    const char *source; /* tokens [B, S~] that are read and not predicted; NULL: none */

    /* tokens [B, T~] whose next tokens the model reads or, if it reads none, the second input of
     * tokens, along another dimension; NULL: none */
    const char *target;
    const char *next;    /* "TARGET.next"; NULL: none */
    const char *further; /* "TARGET.next.next"; NULL: none */

    /* output [B, T~, V]: the one of this name or, if there is none, the first whose V is the number
     * of tokens that are predicted or looked up; NULL: none */
    const char *logits;
    int64_t vocab; /* V, or 0 */
} ModelPorts;

ModelPorts ports_of(const Module *module);
/* Whether the model gives probabilities of its target's next tokens. */
bool ports_predict(const ModelPorts *ports);
/* The kind of corpus that batches are made of. `lines`: each line is a text of its own for a
 * language model. */
CorpusKind ports_kind(const ModelPorts *ports, bool lines);
/* Whether texts feed all inputs of the model that the function reads. */
bool ports_are_fed(const ModelPorts *ports, const Function *function);
/* Checks that batches of text feed every input of a function made from the model. Inputs that the
 * model does not have come from other functions, and are not checked. False after an error, which
 * names the first input that is not fed, and the inputs that are. */
bool ports_feed(const ModelPorts *ports, const Function *function, Diagnostics *diags);

/* The ids that an input may hold: least ≤ id < below. */
typedef struct IdRange {
    int64_t least, below; /* below = 0: any integer, since no table is looked up by it */
} IdRange;
/* The range of an input's ids: the rows of the tables in which they are looked up; for next tokens
 * the columns of the logits and -1, which losses skip. */
IdRange ports_ids(const Module *module, const Op *input);
/* The most tokens that the vocabulary of an input may have: as many as its tables have rows or, for
 * a target that is not predicted, as there are positions with which it is compared. 0: any number.
 * `input` may be NULL. */
int64_t ports_vocabulary(const Module *module, const ModelPorts *ports, const char *input);

/* PositionTable: a param with a row a position: its name and how many rows. length 0: there is
 * none, and any length is allowed. */
typedef struct PositionTable {
    int64_t length;
    const char *name;
} PositionTable;

/* The shortest table in which positions along the dimension are looked up; dimension NULL: along
 * any. */
PositionTable position_table(const Module *module, const char *dimension);

#endif
