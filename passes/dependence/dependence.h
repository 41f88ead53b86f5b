/* Dependence: which positions of a text the values of a function depend on, proved from its graph.
 *
 * Positions count along one ragged dimension, `time`: the tokens of the text. A value may have
 * several axes of it: [B, H, T~, T~] has scores of queries (i) and keys (j). A value is *causal* if
 * each of its elements follows from the tokens up to the greatest of its own positions: element [i]
 * from the tokens 0 … i, element [i, j] from the tokens up to max(i, j), and from nothing that
 * changes when the text gets longer, nor from other rows of the batch. So a text can be decoded
 * token by token if its logits are causal: what was computed of a prefix stays as it is.
 *
 * A dimension made of the text's may have other positions before the text, `dim M = 2 + S + T`:
 * what stands there follows from no token at all. Positions along any of these dimensions are
 * counted from the first token on, so those before it are negative (find_before).
 *
 * Most ops are causal if their operands are. An op that combines positions (a sum, a maximum, a
 * softmax, a product) along the axis j is so if, for a remaining axis i, each element with j > i
 * adds nothing: it is 0 in a sum, -inf in a maximum or a softmax. Whether it is follows from what
 * is known of a value there (known.h): masks are comparisons of positions, whatever their form.
 *
 * What is taken for granted: numbers that the model computes are finite, and no divisor, nor what
 * a logarithm or a power below 0 is taken of, is 0, as long as no constant of the model says
 * otherwise (0 times such a number is 0; a length is not 0); positions are below MOST_POSITION
 * (ir/position_form.h); and in a softmax, a maximum or a logsumexp, what has -1e9 or less added, or
 * in its place, counts as -inf if the query's own position is seen not to be masked so. Without
 * that, a row may be masked as a whole, and would then be the mean of all its positions. */
#ifndef PASSES_DEPENDENCE_DEPENDENCE_H
#define PASSES_DEPENDENCE_DEPENDENCE_H

#include "ir/position_form.h"

typedef struct Dependence Dependence;

/* Whether a dimension is `of`, or made of it and others; false of NO_SYMBOL. */
bool is_made_of(const Module *module, int symbol, int of);

/* Whether positions along the dimension are those of the text `time`, behind others: it is `time`,
 * or a sum of it and of dimensions that are not made of it, with which it makes a formula.
 * `before`: how many positions stand before the text. False of NO_SYMBOL. */
bool find_before(const Module *module, int symbol, int time, LengthSum *before);

/* What is known of a function, in the arena of its module; computed as it is asked for. It is valid
 * as long as the function and its ids do not change. */
Dependence *dependence_of(const Function *function, int time);

/* The op at which a value that is not causal begins to depend on later positions, though its
 * operands do not; NULL: the value is causal. */
const Op *dependence_leak(Dependence *d, const Value *v);

/* Reports an error at the leak of the value, with notes along the path from there to the value,
 * which is called `name`. */
void dependence_report(Dependence *d, const Value *v, const char *name, Diagnostics *diags);

/* What a lookup finds for positions of the text, along the axis that it looks up in. */
typedef enum Found {
    FOUND_ANY,
    FOUND_OWN,    /* the same position of the text */
    FOUND_NOTHING /* zeros: the operand has no such position */
} Found;
Found dependence_found(Dependence *d, const Op *lookup);
/* How many positions before its own a lookup reads at most, along an axis of the text that its
 * result has, too; -1: nothing says, or it reads later ones. */
int64_t dependence_reach(Dependence *d, const Op *lookup);

/* "this product in layer.0.self": an op in the words of a model, with its scope if it has one. */
const char *dependence_op_in_words(Arena *arena, const Op *op);

#endif
