/* A program of an opened case, made as Build says. */
#ifndef TESTS_GRAPHS_PROGRAM_H
#define TESTS_GRAPHS_PROGRAM_H

#include "runtime/exec/exec.h"
#include "tests/graphs/graphs.h"

typedef struct ProgramCache {
    const char *name;
    void *data;
} ProgramCache;

typedef struct Program {
    const Case *c;
    Opened *opened;
    const TfcProgram *tables;
    Jit *jit;
    void *library; /* of dlopen */
    bool rejected; /* cc, or the verifier of loop IR, did not take what tfc wrote */
    Store *store;
    Exec *exec;
    ProgramCache *caches; /* n_caches */
    int n_caches;
    struct OpenclRun *device; /* what runs it in the place of exec, or NULL */
    Given params;             /* as they were given at first, to learn what was assigned */
} Program;

/* Compiles what case_open opened, passes included. Not RESULT_OK: why not. */
Outcome program_make(Program *program, Opened *opened, const Case *c, const Run *run, Build build,
                     Seen *seen);
void program_free(Program *program);
/* Params to the store as given, and caches to the executor, in memory of their own. */
void program_give(Program *program, const Given *given);
/* Params as they are now into `given`: what the next run of the oracle starts from. */
void program_params(Program *program, Given *given);
/* False: the executor fails, or an error in `diags` of `opened` says what a kernel did. */
bool program_run(Program *program, const Batch *batch, const Given *given, uint64_t step,
                 int threads);
/* The output or param of that name after a run; NULL: none. */
const void *program_output(Program *program, const char *name, int64_t *count);
const void *program_param(Program *program, const char *name, int64_t *count);

/* The program's tables with its kernels interpreted as loop IR, until the next call. NULL after
 * errors; loop IR that breaks a rule is rejected. */
const TfcProgram *interpret_kernels(Program *program, const TargetOptions *options);
/* The function on an OpenCL device (opencl.c): `tables` and `exec` of the program are set, too.
 * False after errors. */
bool opencl_make(Program *program);
void opencl_free(Program *program);
/* Runs the batch that is set, and brings params to the store. */
bool opencl_run(Program *program);
const void *opencl_output(Program *program, const char *name, int64_t count);

#endif
