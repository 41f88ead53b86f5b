/* Whether the compiler computes what a model says (tfc check). Each check is a function that adds a
 * row to the table; the checks share reduced sizes, made-up inputs and seeds. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "driver/run/inference.h"
#include "driver/values/synthetic.h"

typedef struct CheckRow {
    const char *name, *detail;
    enum { CHECK_OK, CHECK_FAILED, CHECK_SKIPPED } result;
} CheckRow;

/* The lengths of the sentences of a made-up batch. */
typedef struct CheckBatch {
    const char *name;
    int64_t n;                    /* sentences */
    bool drawn;                   /* by the seed, from 1 to these lengths; else these lengths */
    int32_t source[3], target[3]; /* lengths in tokens, on each side one of at least 1 */
} CheckBatch;
extern const CheckBatch check_batches[];
extern const int check_batch_count;

typedef struct Check {
    Job *job;
    const char *path, *library; /* as in SessionOptions */
    TextList settings;          /* --set, and the sizes that were reduced */
    int64_t samples;            /* of each param so many elements' gradients are checked */
    uint64_t seed;
    const CheckBatch *usual; /* the first batch whose loss is finite; NULL: none */
    const char *passed_over; /* for a row: the batches before it; "" if it is the first */
    VEC(CheckRow) rows;
} Check;

/* A function of the model compiled one way, with its own params and inputs. */
typedef struct Variant {
    Session session;
    Store *store;
    Binding binding;
    const Function *meaning; /* as it was before the passes */
    const TfcProgram *program;
    Exec *exec;
} Variant;

typedef struct VariantOptions {
    const char *function; /* as session_function; NULL: gradient with dropout, as in training */
    DType type;
    int opt_level;
    bool scalar;
    bool holds; /* with the outputs of held_add_outputs */
} VariantOptions;

/* Runs every check below, each of which adds a row. False: one could not be done (an error is in
 * the diagnostics). A check that fails is a row, not an error. */
bool check_model(Check *check);

/* Adds the settings that make the model small, as far as it has them. */
void check_reduce(Check *check);
/* Compiles the function, and gives params their initial values. False after an error;
 * variant_close is to follow then, too. */
bool variant_open(Check *check, Variant *variant, const VariantOptions *options);
/* Makes up inputs, in place of those there were, and binds them. */
bool variant_feed(Check *check, Variant *variant, const SyntheticOptions *shape);
SyntheticOptions check_shape(const Check *check, const CheckBatch *batch);
bool variant_run(Check *check, Variant *variant);
/* A copy of the model's states as they are now, in the arena, for variant_put_states. */
const void *variant_states(const Variant *variant, Arena *arena);
/* Sets the states of a variant, which may be another one of the same element type. */
void variant_put_states(Variant *variant, const void *states);
void variant_close(Variant *variant);
void check_row(Check *check, const char *name, int result, const char *detail);
/* An element of a tensor of a program. */
double check_element(TfcType type, const void *data, int64_t i);

/* `list`, the names of batches without a finite loss ("": none so far), with one more. */
const char *check_without(Check *check, const char *list, const CheckBatch *batch);
/* Sets check->usual and check->passed_over by the loss of a variant; false after an error. */
bool check_choose_batch(Check *check, Variant *gradient);

/* An output's error is divided by its norm, or by this part of the greatest output's norm if that
 * is more. An output whose terms cancel, as in attention over one key, holds nothing but the
 * rounding errors of its terms: its own norm is no measure. */
#define CHECK_SMALL 1e-2

/* ---- held.c ---- */

/* Adds for each stop_gradient an output "held.N": its operand. */
void held_add_outputs(Function *gradient);
/* A function that computes the gradient's loss alone, reads the results of its stop_gradients from
 * inputs "held.N", and changes no state. */
Function *held_loss(const Function *gradient, const char *name);
/* "; 2 stopped values held", for a row; "": none is. */
const char *held_text(const Check *check, const Variant *gradient);
/* Binds that loss, compiled, to the inputs of a variant with such outputs and to these outputs of
 * its last run. */
bool held_bind(Check *check, Variant *gradient, const TfcProgram *program, Exec *exec);

/* Each check returns false only when it could not be done (an error is in the diagnostics). */
/* The gradients of a variant that `holds` against central differences of its loss, in which states
 * and the results of stop_gradients are constant. */
bool check_gradients(Check *check, Variant *f64);
/* The outputs of a against those of b on check->usual; tolerance: a part of each output's norm. */
bool check_same(Check *check, const char *name, Variant *a, Variant *b, double tolerance);
/* Every output on every batch against the interpreter's: each element within its bound of rounding,
 * each tensor within `tolerance`, a part of its norm. */
bool check_meaning(Check *check, const char *name, Variant *variant, double tolerance);
/* The gradients that the interpreter computes against central differences of the loss that it
 * computes, on every batch. */
bool check_slopes(Check *check, Variant *gradient);
bool check_threads(Check *check);  /* steps of training with 1 and with 2 threads, bit for bit */
bool check_decoding(Check *check); /* a token at a time against forward */

#endif
