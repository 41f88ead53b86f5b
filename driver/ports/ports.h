/* What the inputs and outputs of a model are for, from their names and types. */
#ifndef DRIVER_PORTS_PORTS_H
#define DRIVER_PORTS_PORTS_H

#include "base/diag.h"
#include "base/id_range.h"
#include "driver/job.h"
#include "ir/graph.h"
#include "runtime/data/corpus.h"

typedef struct ModelPorts {
    /* the first input of tokens [B, S~] that is neither the target nor next tokens; NULL: none */
    const char *source;

    /* tokens [B, T~] whose next tokens are an input, too; if the model reads no next tokens, the
     * first input of tokens whose ragged dimension is not the source's; NULL: none */
    const char *target;
    const char *next;    /* "TARGET.next"; NULL: none */
    const char *further; /* "TARGET.next.next"; NULL: none */

    /* output [B, T~, V]: the one named "logits" or, if there is none, the first whose V is the
     * number of tokens that are predicted or looked up; NULL: none */
    const char *logits;
    int64_t vocab; /* V, or 0 */

    /* Whether the data is a table: an input says which column feeds it. All inputs are then fields
     * of it, called as they say or by their names. Without a target that has next tokens there is
     * no source and no target */
    bool is_table;
    /* the inputs that are neither source nor target nor next tokens, of a table; n_columns may be
     * greater than MOST_COLUMNS, and the rest is left out */
    const Op *columns[MOST_COLUMNS];
    int n_columns;
} ModelPorts;

ModelPorts ports_of(const Module *module);
/* Whether the model gives probabilities of its target's next tokens. */
bool ports_predict(const ModelPorts *ports);
/* The field of a table that feeds an input of the model: as the input says, or its name. */
const char *ports_field(const Op *input);
/* What an input of floats has where a value is missing: of what `missing(…)` feeds, 1 there and 0
 * elsewhere; 0 there, if an input of the same field asks so; or else it is an error. */
MissingKind ports_missing(const Module *module, const Op *input);
/* The input of this name, as the model declares it; NULL: there is none. */
const Op *ports_input(const Module *module, const char *name);
/* The kind of corpus that batches are made of. `lines`: for a language model, each line is a text
 * of its own; otherwise all lines are one stream. */
CorpusKind ports_kind(const ModelPorts *ports, bool lines);
/* Whether texts or columns feed all inputs of the model that the function reads. */
bool ports_are_fed(const ModelPorts *ports, const Function *function);
/* Checks that batches of text feed every input of a function made from the model. Inputs that the
 * model does not have come from other functions, and are not checked. False after an error, which
 * names the first input that is not fed, and the inputs that are. */
bool ports_feed(const ModelPorts *ports, const Function *function, Diagnostics *diags);

/* The whole numbers that an input of them may hold, in the module's arena: id_ranges of
 * ir/id_uses.h; for next tokens whose uses say nothing, tokens of the logits and all below 0. */
IdRanges ports_ids(const Module *module, const Op *input);
/* The most tokens that the vocabulary of an input may have: the rows of its smallest table; for a
 * target without next tokens also the n of a `position(n)` with which it is compared. 0: any
 * number. `input` is ports->source or ports->target; NULL gives 0. */
int64_t ports_vocabulary(const Module *module, const ModelPorts *ports, const char *input);

/* PositionTable: a table with a row for each position.
 *   length   how many positions have a row; 0: there is no table, and any length is allowed
 *   name     of the param; "of positions" if the table is computed */
typedef struct PositionTable {
    int64_t length;
    const char *name;
} PositionTable;

/* The shortest table in which positions along the dimension are looked up. Dimension NULL: along
 * any, and `length` is that of the longest text: if the dimension is made of others, of each of
 * these, or of one of several columns that are cut together (SideFormula.joined). */
PositionTable position_table(const Module *module, const char *dimension);

/* The owner of a name that no input, output, dimension or model may have in C and Python, in words
 * ("C++"): a row of reserved_names.def. `of_model`: the name is a model's, which is a type in C,
 * begins the names of functions and is a module of Python. NULL: the name is free. */
const char *ports_name_owner(const char *name, bool of_model);

#endif
