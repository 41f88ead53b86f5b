/* What the inputs and outputs of a model are for, from their names and types. */
#ifndef DRIVER_PORTS_PORTS_H
#define DRIVER_PORTS_PORTS_H

#include "base/diag.h"
#include "ir/graph.h"
#include "runtime/data/corpus.h"

typedef struct ModelPorts {
    const char *source; /* tokens [B, S~] that are only read; NULL: none */
    const char *target; /* tokens [B, T~] whose next tokens the model reads or, if it reads none,
                         * the second input of tokens, along another dimension; NULL: none */
    const char *next;   /* "TARGET.next"; NULL: none */
    const char *further; /* "TARGET.next.next"; NULL: none */
    const char *logits; /* output [B, T~, V]: the one of this name or, if there is none, the first whose
                         * V is the number of tokens that are predicted or looked up; NULL: none */
    int64_t vocab;      /* V, or 0 */
} ModelPorts;

ModelPorts ports_of(const Module *module);
/* Whether the model gives probabilities of its target's next tokens. */
bool ports_predict(const ModelPorts *ports);
/* What its batches are made of; `lines`: a language model's sentences stand apart. */
CorpusKind ports_kind(const ModelPorts *ports, bool lines);
/* Whether columns of the data feed all inputs of the model that the function reads. */
bool ports_are_fed(const ModelPorts *ports, const Function *function);
/* Whether batches of text feed every input of a function made from the model: those of the
 * ports, and those that the model does not have (other functions give them). If not, a
 * message names the first of the others, and what there is to feed. */
bool ports_feed(const ModelPorts *ports, const Function *function, Diagnostics *diags);

/* The ids that an input may hold: least ≤ id < below. */
typedef struct IdRange {
    int64_t least, below; /* below 0: they are not looked up, and may be any */
} IdRange;
/* From the tables that the input's ids are looked up in; of next tokens, from the logits,
 * and from -1, which losses skip. */
IdRange ports_ids(const Module *module, const Op *input);
/* How many tokens a vocabulary may have whose ids the input is given: by its tables and, of a
 * target that is not predicted, by the positions it is compared with. `input` may be NULL. 0: any
 * number. */
int64_t ports_vocabulary(const Module *module, const ModelPorts *ports, const char *input);

/* PositionTable: the rows that positions of a dimension may reach; `name`: the param's. length 0: there
 * is none, and any length will do. */
typedef struct PositionTable {
    int64_t length;
    const char *name;
} PositionTable;

/* The shortest one that positions along the dimension of this name are looked up in; of NULL, along any. */
PositionTable position_table(const Module *module, const char *dimension);

#endif
