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
    bool drawn;                   /* one length is the longest below, the others drawn up to it */
    int32_t source[3], target[3]; /* lengths in tokens, on each side one of at least 1 */
} CheckBatch;
extern const CheckBatch check_batches[];
extern const int check_batch_count;

typedef struct Check {
    Job *job;
    const char *path, *library; /* as in SessionOptions */
    FileReach reach;            /* … and this */
    TextList settings;          /* --set, and the sizes that were reduced */
    int64_t samples;            /* of each param: elements whose gradients are checked, at most */
    uint64_t seed;
    /* the first batch with a finite loss, NULL if none has one; without a loss the first batch */
    const CheckBatch *usual;
    const char *passed_over; /* text for a row: the batches before `usual`; "": there are none */
    bool shares; /* made-up floats are from 0 to 1, as no others have given a finite loss */
    VEC(CheckRow) rows;
} Check;

/* A function of the model, compiled with one set of options, with its own params and inputs. */
typedef struct Variant {
    Session session;
    Store *store;
    Binding binding;
    const Function *meaning; /* as it was before the passes */
    const TfcProgram *program;
    Exec *exec;
} Variant;

typedef struct VariantOptions {
    const char *function; /* as session_function; NULL: the gradient as in training, with dropout */
    DType type;
    int opt_level;
    bool scalar;
    double holds; /* with the outputs of held_add_outputs, of this factor; 0: without them */
} VariantOptions;

/* Runs the checks below, each of which adds a row; of a model without a loss only those that need
 * none. If no batch has a finite loss, one failed row says so. False: a check could not be done (an
 * error is in the diagnostics). A check that fails is a row, not an error. */
bool check_model(Check *check);

/* Adds the settings that make the model small, those that the model has and loads with. */
void check_reduce(Check *check);
/* Compiles the function, and gives params their initial values. False after an error; call
 * variant_close then, too. */
bool variant_open(Check *check, Variant *variant, const VariantOptions *options);
/* Makes up inputs, in place of earlier ones, and binds them. False after an error. */
bool variant_feed(Check *check, Variant *variant, const SyntheticOptions *shape);
SyntheticOptions check_shape(const Check *check, const CheckBatch *batch);
bool variant_run(Check *check, Variant *variant);
/* A copy of the model's states as they are now, in the arena, for variant_put_states. */
const void *variant_states(const Variant *variant, Arena *arena);
/* Sets the states of a variant to those of variant_states, also of another variant with the same
 * element type. */
void variant_put_states(Variant *variant, const void *states);
void variant_close(Variant *variant);
void check_row(Check *check, const char *name, int result, const char *detail);

/* `list`, a text that names batches without a finite loss ("": none so far), with one more. */
const char *check_without(Check *check, const char *list, const CheckBatch *batch);
/* Sets check->usual, passed_over and shares by the loss of a variant; false after an error. */
bool check_choose_batch(Check *check, Variant *gradient);

/* An output's error is divided by the output's norm, or by this part of the greatest output's norm
 * if that is more. An output whose terms cancel, as in attention over one key, consists of rounding
 * errors alone: its own norm is no measure. */
#define CHECK_SMALL 1e-2

/* ---- held.c ---- */

/* Adds for each stop_gradient an output "held.N": its operand, which is multiplied by the factor
 * before. */
void held_add_outputs(Function *gradient, double factor);
/* A new function that computes only the loss of `gradient`, reads the results of stop_gradients
 * from inputs "held.N", and changes no state. */
Function *held_loss(const Function *gradient, const char *name);
/* "; 2 stopped values held", for a row; "": the function has no stop_gradient. */
const char *held_text(const Check *check, const Variant *gradient);
/* Binds the compiled program of held_loss to the inputs of the variant `gradient` and, for its
 * inputs "held.N", to the outputs of the variant's last run. */
bool held_bind(Check *check, Variant *gradient, const TfcProgram *program, Exec *exec);

/* Each check returns false only when it could not be done (an error is in the diagnostics). */
/* The gradients of a variant that `holds`, of `samples` elements of each param on check->usual,
 * against central differences of its loss, in which states and the results of stop_gradients are
 * constant. */
bool check_gradients(Check *check, Variant *f64);
/* The outputs of a against the outputs of b of the same names, on check->usual and from the same
 * states; tolerance: relative to each output's norm (or see CHECK_SMALL). */
bool check_same(Check *check, const char *name, Variant *a, Variant *b, double tolerance);
/* Every output and every changed param against the interpreter's, on every batch: each element
 * within its bound of rounding, each tensor within `tolerance`, relative to its norm (or see
 * CHECK_SMALL). Not compared: a NaN, an infinity or a truth value that rounding may change. */
bool check_meaning(Check *check, const char *name, Variant *variant, double tolerance);
/* The gradients that the interpreter computes against central differences of the loss that it
 * computes, on every batch whose loss is finite. */
bool check_slopes(Check *check, Variant *gradient);
bool check_threads(Check *check);  /* steps of training with 1 and with 2 threads, bit for bit */
bool check_decoding(Check *check); /* decoding by one and by several tokens against forward */

#endif
