/* Quantising a run: another run whose matrices are integers as products of that type round them
 * (docs/quantised.md): in int8 with a scale for each output channel (of a table in which rows are
 * looked up, for each row), else with one for each 32 of its terms. Its params are in the file
 * weights/model.safetensors; its record says that it is quantised, so that commands compute in that
 * type unless told otherwise. */
#ifndef DRIVER_RUN_QUANTISE_H
#define DRIVER_RUN_QUANTISE_H

#include "driver/run/record.h"

/* QuantisedParam: what became of a param.
 *   stays   why it stays f32; NULL: it is quantised, in the type `quant`
 *   is_vector   it has no two dimensions, and so stays f32
 *   error   the root of the mean square of what rounding changed, as a share of that of the
 *           param's elements
 *   groups  how many share a scale
 *   small   how many of these have a scale below f16's normal numbers, which are coarse there, and
 *           small_error is the error of their elements */
typedef struct QuantisedParam {
    const char *name, *stays, *quant;
    bool is_vector;
    int64_t before, bytes;
    double error;
    int64_t groups, small;
    double small_error;
} QuantisedParam;
typedef VEC(QuantisedParam) QuantisedParams;

/* QuantiseOptions: the run's folder, a checkpoint as run_checkpoint takes it or NULL, the new
 * folder, a word of base/quants.def, patterns (patterns_keep) of params with their own type, and
 * the command as it was typed. */
typedef struct QuantiseOptions {
    const char *run, *checkpoint, *out, *dtype;
    TextList keep, command;
} QuantiseOptions;

/* Whether the folder can be written, of a checkpoint that can be read and is not quantised. False
 * after an error. */
bool quantise_check(Job *job, const QuantiseOptions *options);
/* After quantise_check writes the folder, and lists all params. Memory holds
 * one param at a time; all of them quantised are in a file that is mapped. In 4 bits small tables
 * become q8_0 (quantise.c). False after errors; then nothing is written. */
bool quantise_run(Job *job, const QuantiseOptions *options, QuantisedParams *params);

/* Of a run that tfc quantize has made, sets *type to the GGUF type whose blocks hold the run's
 * integers ("q8_0", "q4_0"), and *others to the types of the params that have another one or stay
 * floats ("f32"), by name. *type is NULL
 * if GGUF has no such type, and for other runs. False after an error. */
bool quantise_gguf(Job *job, const char *run, const Module *module, const char **type, Map *others);

#endif
