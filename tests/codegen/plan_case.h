/* A function given as text, run by plan, kernels and executor and by the oracle,
 * over batches of several shapes, on one thread and on two. */
#ifndef TESTS_CODEGEN_PLAN_CASE_H
#define TESTS_CODEGEN_PLAN_CASE_H

#include "codegen/codegen.h"
#include "runtime/exec/exec.h"
#include "tests/codegen/elements.h"

/* The dims that the function may name: B, S~ and T~ ragged over it, and N. */
enum { SYM_B, SYM_S, SYM_T, SYM_N, SYMBOLS };
enum { SHAPES = 4 };
extern const SymbolValue shapes[SHAPES][SYMBOLS];

/* Common lines: an input, a param, an output. */
#define X "%0 = input {name = \"x\"} : f64[B, S~, 6]\n"
#define W "%1 = param {name = \"w\"} : f64[6, 4]\n"
#define OUT(v) "output %" v " {name = \"out" v "\"}\n"

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Function *function;
    Jit *jit;
    Store *store;
    Exec *exec;
    const TfcProgram *program;
    SideTable elements;
    BatchShape batch;
} Case;

/* `body`: the ops of a function, whose params need no declaration. Any fault fails the test. */
void open_case(Case *c, const char *body);
void open_native_case(Case *c, const char *body); /* with native products */
void close_case(Case *c);

/* The function in f64 and in f32 over all shapes. `kernels`, `gemms`: how many steps
 * of each kind the plan may need (copies in other kernels count), or -1. */
void check(const char *body, int gemms, int kernels);

/* The parts of it. */
void run_shape(Case *c, const SymbolValue *symbols);
void check_results(Case *c);
const char *in_f32(Arena *arena, const char *body);
int count_steps(const TfcProgram *program, TfcStepKind kind);
double random_value(void);
/* Random numbers for a value, in storage and for the oracle. */
void fill_leaf(Case *c, Value *value, void *storage);

#endif
