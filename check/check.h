/* Whether the compiler computes what a model says (tfc check), one function a check. Each
 * adds a row to the table; they share reduced sizes, made-up inputs and seeds. */
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
    bool drawn;                   /* from 1 to these, by the seed; else these */
    int32_t source[3], target[3]; /* the longest of them at least 1 */
} CheckBatch;
extern const CheckBatch check_batches[];
extern const int check_batch_count;

typedef struct Check {
    Job *job;
    const char *path, *library; /* as in SessionOptions */
    TextList settings;          /* --set, and the sizes that were reduced */
    int64_t samples;            /* elements a param */
    uint64_t seed;
    const CheckBatch *usual; /* the first whose loss is a number; NULL: none is */
    const char *passed_over; /* which are not, and what it is there; "" if it is the first */
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
    bool holds; /* outputs, too, of what stop() takes (held_add_outputs) */
} VariantOptions;

/* Runs every check below, each of which adds a row. False when one could not be done (an error is
 * in the diagnostics); a check that fails is a row, and no error. */
bool check_model(Check *check);

/* Adds the settings that make the model small, as far as it has them. */
void check_reduce(Check *check);
/* Compiles, and gives params their initial values. variant_close follows in any case. */
bool variant_open(Check *check, Variant *variant, const VariantOptions *options);
/* Makes up inputs, in place of those there were, and binds them. */
bool variant_feed(Check *check, Variant *variant, const SyntheticOptions *shape);
SyntheticOptions check_shape(const Check *check, const CheckBatch *batch);
bool variant_run(Check *check, Variant *variant);
/* The states of the model as they are now; puts them into a variant of the same type. */
const void *variant_states(const Variant *variant, Arena *arena);
void variant_put_states(Variant *variant, const void *states);
void variant_close(Variant *variant);
void check_row(Check *check, const char *name, int result, const char *detail);
/* An element of a tensor of a program. */
double check_element(TfcType type, const void *data, int64_t i);

/* The names of batches without a finite loss, with one more; "": none so far. */
const char *check_without(Check *check, const char *list, const CheckBatch *batch);
/* Finds check->usual by the loss of a variant. */
bool check_choose_batch(Check *check, Variant *gradient);

/* The least size that an output counts as having where its error is divided by its size, as a part
 * of the greatest output's. Terms that cancel, as those of attention over one key, leave some ulps
 * of what they were: such an output is zero but for rounding. */
#define CHECK_SMALL 1e-2

/* ---- held.c ---- */

/* Adds an output "held.N" of what each stop() takes. */
void held_add_outputs(Function *gradient);
/* The loss alone, in which these are inputs, and which changes no state. */
Function *held_loss(const Function *gradient, const char *name);
/* "; 2 stopped values held", for a row; "": none is. */
const char *held_text(const Check *check, const Variant *gradient);
/* Binds that loss, compiled, to the inputs of a variant that holds and what its last run gave. */
bool held_bind(Check *check, Variant *gradient, const TfcProgram *program, Exec *exec);

/* Each false only when it could not be done (an error is in the diagnostics). */
/* Of a variant that holds, against central differences, in which states and what stop() gives are
 * held. */
bool check_gradients(Check *check, Variant *f64);
bool check_same(Check *check, const char *name, Variant *a, Variant *b, double tolerance);
/* Every output on every batch against the interpreter, within the bounds of rounding and the
 * tolerance, of each tensor's size. */
bool check_meaning(Check *check, const char *name, Variant *variant, double tolerance);
/* The same of the interpreter's, on every batch. */
bool check_slopes(Check *check, Variant *gradient);
bool check_threads(Check *check);  /* steps of training with 1 and with 2 threads, bit for bit */
bool check_decoding(Check *check); /* a token at a time against forward */

#endif
