/* Interprets a function of a variant by the oracle, on the variant's batch and params. */
#ifndef CHECK_INTERPRET_H
#define CHECK_INTERPRET_H

#include "check/check.h"
#include "oracle/oracle.h"

/* A function, with inputs, params and dimensions of a variant after variant_feed. The elements of
 * `given` may be changed between runs. */
typedef struct Interpreted {
    Job *job;
    Arena *arena;
    const Function *function;
    OracleDim *dims;
    OracleTensors given;
    OracleRun run;
} Interpreted;

/* Fills in what `function` reads, from the variant's binding and store as they are now. */
void interpreted_open(Check *check, Variant *variant, const Function *function, Interpreted *in);
void interpreted_close(Interpreted *in);
/* Adds the outputs of another function's run as inputs of the same names. */
void interpreted_give(Interpreted *in, const OracleTensors *outputs);
/* Interprets the function and fills in in->run; false after an error. */
bool interpreted_run(Interpreted *in);
const OracleTensor *interpreted_output(const Interpreted *in, const char *name); /* or NULL */

#endif
