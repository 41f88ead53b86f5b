/* What tfc check does to a model, one function a check. Each adds a row to the
 * table; they share reduced sizes, made-up inputs and seeds. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/inference.h"
#include "cli/synthetic.h"

typedef struct CheckRow {
    const char *name, *detail;
    enum { CHECK_OK, CHECK_FAILED, CHECK_SKIPPED } result;
} CheckRow;

typedef struct Check {
    Cli *cli;
    const char *path, *library; /* as in SessionOptions */
    TextList settings; /* --set, and the sizes that were reduced */
    int64_t samples;   /* elements a param */
    uint64_t seed;
    VEC(CheckRow) rows;
} Check;

/* A function of the model compiled one way, with its own params and inputs. */
typedef struct Variant {
    Session session;
    Store *store;
    Binding binding;
    const TfcProgram *program;
    Exec *exec;
} Variant;

typedef struct VariantOptions {
    const char *function; /* as session_function; NULL: gradient with dropout, as in training */
    DType type;
    int opt_level;
    bool scalar;
    int64_t batch, length; /* of the inputs; 0: a few short rows */
} VariantOptions;

/* Adds the settings that make the model small, as far as it has them. */
void check_reduce(Check *check);
bool variant_open(Check *check, Variant *variant, const VariantOptions *options);
bool variant_run(Check *check, Variant *variant);
void variant_close(Variant *variant);
void check_row(Check *check, const char *name, int result, const char *detail);

/* Each false only when it could not be done (an error is in the diagnostics). */
bool check_gradients(Check *check); /* f64 against central differences */
bool check_same(Check *check, const char *name, VariantOptions a, VariantOptions b,
                double tolerance);
bool check_threads(Check *check); /* two steps of training with 1 and with 2 threads, bit for bit */
bool check_decoding(Check *check); /* a token at a time against forward */

#endif
