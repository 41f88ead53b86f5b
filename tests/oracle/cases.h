/* Running small functions by the oracle: text in, numbers out. */
#ifndef TESTS_ORACLE_CASES_H
#define TESTS_ORACLE_CASES_H

#include "oracle/oracle.h"

enum { MOST_NUMBERS = 24, MOST_OPERANDS = 3 };

typedef struct Numbers {
    int n;
    double x[MOST_NUMBERS];
} Numbers;
#define NUMBERS(...)                                                      \
    {                                                                     \
        sizeof((double[]){__VA_ARGS__}) / sizeof(double), { __VA_ARGS__ } \
    }

/* What is given is %0, %1, %2 (inputs "a", "b", "c"); the body makes %9, which is given out.
 * Dimensions: B is 2; S has rows of 3 and 1, T of 2 and 3, L of 1 and 0, P of 3 and 2,
 * Q of 1 and 2; E is 0 long. */
typedef struct OracleCase {
    const char *type[MOST_OPERANDS];
    Numbers given[MOST_OPERANDS];
    const char *body;
    Numbers expected; /* in storage order */
} OracleCase;

typedef struct OracleResult {
    Arena *arena;
    Diagnostics diags;
    Module *module; /* NULL: it did not parse */
    OracleRun run;
    OracleTensor *out; /* NULL after an error */
} OracleResult;

OracleResult case_run(const OracleCase *c, DType compute);
void case_free(OracleResult *result);

#endif
