/* A compiled variant's function as the oracle has it: on the same batch and params. */
#ifndef CHECK_INTERPRET_H
#define CHECK_INTERPRET_H

#include "check/check.h"
#include "oracle/oracle.h"

/* Inputs, params and dimensions of a variant that was fed. `given` may be changed before it
 * is interpreted again. */
typedef struct Interpreted {
    Job *job;
    Arena *arena;
    const Function *function;
    OracleDim *dims;
    OracleTensors given;
    OracleRun run;
} Interpreted;

/* What `function` reads, from the binding and the store as they are now. */
void interpreted_open(Check *check, Variant *variant, const Function *function, Interpreted *in);
void interpreted_close(Interpreted *in);
/* Adds what another function gave, under the same names. */
void interpreted_give(Interpreted *in, const OracleTensors *outputs);
/* Fills in in->run; false after an error. */
bool interpreted_run(Interpreted *in);
const OracleTensor *interpreted_output(const Interpreted *in, const char *name); /* or NULL */

#endif
