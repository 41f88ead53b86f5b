/* Names of the functions derived from a model, and of the values that one passes to another. */
#ifndef BASE_FUNCTIONS_H
#define BASE_FUNCTIONS_H

#include <stdbool.h>
#include <string.h>

/* Inputs and outputs "total.N": sums over the rows of a batch (passes/batch_sums.h,
 * runtime/train/pieces.h). */
#define TOTAL_PREFIX "total."
/* The input "piece.share", f32[]: a piece's share of the batch's tokens. */
#define SHARE_INPUT "piece.share"
/* Inputs of functions that update params, which no input of a model may be called: the rate and the
 * number of a step, and the norm of the gradient. */
#define UPDATE_INPUTS {"rate", "step", "gradient_norm"}

/* The most new tokens that decode_step is fed at once, besides one for each text, where all texts
 * have few: enough that reading the weights is a small part of the step's time. */
enum { DECODE_STEP_FED = 512 };

typedef enum ModelFunction {
#define FUNCTION(NAME, ...) FUNCTION_##NAME,
#define INNER_FUNCTION(NAME, ...) FUNCTION_##NAME,
#include "base/functions.def"
    FUNCTION_COUNT
} ModelFunction;

/* The FUNCTION_COUNT names. The functions that libraries may have come first, in the order of
 * TfcFunction. */
static inline const char *const *function_names(void)
{
    static const char *const names[] = {
#define FUNCTION(NAME, name, needs_loss) #name,
#define INNER_FUNCTION(NAME, name, needs_loss) #name,
#include "base/functions.def"
    };
    return names;
}

static inline bool function_needs_loss(ModelFunction function)
{
    static const bool needs[] = {
#define FUNCTION(NAME, name, needs_loss) needs_loss,
#define INNER_FUNCTION(NAME, name, needs_loss) needs_loss,
#include "base/functions.def"
    };
    return needs[function];
}

/* The function of that name; FUNCTION_COUNT: there is none. */
static inline ModelFunction function_named(const char *name)
{
    int i = 0;
    while (i < FUNCTION_COUNT && strcmp(function_names()[i], name))
        i++;
    return (ModelFunction)i;
}

#endif
