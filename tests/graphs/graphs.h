/* Random graphs: what the generator, the comparisons, the shrinker and the driver share.
 *
 * A case is all that decides a result, as text: a module whose function "model" computes
 * in f64, the shapes of one or two batches, a seed for values and random numbers. A run is
 * one way to compile and run it. Each check takes a case and a run, and says whether what
 * comes out is what the oracle (oracle/oracle.h) says. The same case and run give the same
 * bits everywhere, so a finding is a file that is read again (case_file.c).
 *
 *   rng.h, batch.c          numbers at random; dimensions of batches
 *   grow.c, op_*.c          graphs op by op, with the range of every value
 *   block_*.c, generate.c   parts of models, and families of graphs made of both
 *   values.c, program.c     leaves' values; programs and their results
 *   interpreted.c           programs whose kernels are interpreted as loop IR
 *   check*.c, config.c      the comparisons; at random which of them
 *   shrink.c, case_file.c   the smallest case with the same failure, as a file
 *   driver.c, main.c        processes, findings, counts */
#ifndef TESTS_GRAPHS_GRAPHS_H
#define TESTS_GRAPHS_GRAPHS_H

#include "codegen/codegen.h"
#include "ir/graph.h"
#include "oracle/oracle.h"
#include "passes/pass.h"
#include "tests/graphs/rng.h"

/* ---- cases ---- */

/* MAX_CASE_DIMS: of the symbols of a module, with those that derive_incremental adds to it. */
enum { MAX_CASE_DIMS = 64, MAX_CASE_ROWS = 48, MAX_BATCHES = 2 };

/* What a batch makes of one symbol. */
typedef struct BatchDim {
    int64_t extent;
    int n; /* of a ragged one: rows of its batch; else -1 */
    int32_t lengths[MAX_CASE_ROWS];
} BatchDim;

typedef struct Batch {
    BatchDim dims[MAX_CASE_DIMS]; /* one a symbol of the module */
} Batch;

/* Ends the program with a message if the module has more symbols than a Batch has dimensions. */
void batch_expect_room(const Module *module);
/* Sets the dimensions that are made of others. */
void batch_make_dims(const Module *module, Batch *batch);

typedef struct Case {
    const char *text; /* the module, its floats f64 where they are not one type by intent */
    const char *family;
    int n_batches; /* run one after the other by the same executor */
    Batch batches[MAX_BATCHES];
    uint64_t seed;
} Case;

/* Families of graphs; see generate.c. */
typedef struct Family {
    const char *name, *help;
    int weight;
} Family;
extern const Family families[];
extern const int family_count;

/* Graph `number` of the sequence that `seed` begins; `family` NULL: any. */
void generate_case(Arena *arena, uint64_t seed, int64_t number, const char *family, Case *out);
/* Ops of the function that compute something. */
int count_ops(const Function *function);

/* The symbol's sizes for the oracle: one a symbol. */
const OracleDim *batch_dims(Arena *arena, const Batch *batch, int n);

/* ---- values ---- */

/* Element i of an input or param, a number that its type can hold. */
double leaf_value(uint64_t seed, const char *name, ParamRole role, DType dtype, int64_t i);
/* The nearest seed of numbers that are of no multiple, differ from each other and are of about one
 * size. */
uint64_t plain_seed(uint64_t seed);
void store_value(DType dtype, void *data, int64_t i, double value);
double load_value(DType dtype, const void *data, int64_t i);

/* ---- runs ---- */

typedef struct Run {
    const char *function; /* "model", or one to derive: forward, loss, gradient, train_step, … */
    DType real;           /* what f64 of the text is read as: f64 or f32 */
    ProductPrecision precision;
    int opt_level;
    bool scalar;
    const char *passes; /* as PipelineOptions */
    const char *cpu;    /* as TargetOptions */
    GemmChoice gemm;
    int threads;
    int64_t budget; /* bytes of a MemoryBudget; -1: none */
} Run;
Run run_defaults(void);
bool run_equal(const Run *a, const Run *b);
/* "function=gradient real=f32 opt=0 …": what is not as by default. */
void run_print(const Run *run, Text *out);
bool run_parse(Arena *arena, const char *text, Run *out);

/* The case read anew, with the function that the run asks for. */
typedef struct Opened {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Function *function; /* before the passes */
} Opened;
/* False: the text is no module, or there is no such function; diags say why. */
bool case_open(Opened *opened, const Case *c, const Run *run);
void case_close(Opened *opened);

/* What goes in, by name; params as they are after what ran before. */
typedef struct Given {
    int n;
    OracleTensor *tensors;
} Given;
Given give_leaves(Opened *opened, const Case *c, const Batch *batch);

/* A tensor that came out of a program. */
typedef struct Made {
    const char *name;
    DType dtype;
    int64_t count;
    void *bytes;
} Made;
typedef VEC(Made) MadeList;

/* ---- checks ---- */

/* How a program is made: in this process, with its kernels interpreted, linked into a library, as C
 * that cc compiles, or for an OpenCL device. */
typedef enum Build { BUILD_HERE, BUILD_INTERPRETED, BUILD_LIBRARY, BUILD_C, BUILD_OPENCL } Build;

typedef enum Check {
    CHECK_TEXT,        /* print, parse, print; verify */
    CHECK_PASSES,      /* the oracle before the passes and after each of them */
    CHECK_PROGRAM,     /* a program against the oracle, over all batches */
    CHECK_INTERPRETED, /* the same of one whose kernels are interpreted as loop IR */
    CHECK_THREADS,     /* 1 thread = 3 threads, bit for bit */
    CHECK_BUDGET,      /* within a budget of memory = without, bit for bit */
    CHECK_LIBRARY,     /* the objects linked into a library = the JIT, bit for bit */
    CHECK_CPUS,        /* as x86-64-v3 = as this machine, bit for bit */
    CHECK_C_BITS,      /* the same of one written as C for x86-64-v3 */
    CHECK_C,           /* a program written as C against the oracle */
    CHECK_OPENCL,      /* a program on an OpenCL device against the oracle */
    CHECK_DIFFERENCES, /* gradients by the oracle = central differences of its loss */
    CHECK_CAUSAL,      /* what is taken to depend on no later position does not, by the oracle */
    CHECK_STEPS,       /* decode_step, fed a text in pieces, gives the logits of the whole text */
    CHECK_COUNT
} Check;
extern const char *const check_names[CHECK_COUNT];

typedef enum Result {
    RESULT_OK,
    RESULT_REFUSED, /* a diagnostic says that it cannot be compiled */
    RESULT_DIFFERS,
    RESULT_INVALID, /* the verifier refuses what a pass made, or the text */
    RESULT_CRASHED, /* seen from outside only */
    RESULT_TIMEOUT,
    RESULT_COUNT
} Result;
extern const char *const result_names[RESULT_COUNT];

/* What was seen on the way, for the counts at the end. */
typedef struct Seen {
    int64_t elements, decided;       /* compared; of those the oracle knows closely */
    int64_t passes[24];              /* programs that the pass changed */
    int64_t causal, causal_elements; /* values taken to be causal */
    int64_t steps, undecodable;      /* of decoders */
    int64_t rows, columns, attentions, chunks, epilogues, panels, kept, programs, remade;
} Seen;

typedef struct Outcome {
    Result result;
    const char *where; /* the pass, or the output, that is wrong: short, for a signature */
    char message[600];
} Outcome;

bool opencl_is_here(void); /* whether this build knows OpenCL, and there is a device */

/* Runs one check in this process. */
Outcome check_case(const Case *c, Check check, const Run *run, Seen *seen);

/* For the files of the checks. */
Outcome outcome(Result result, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline Outcome outcome_ok(void) { return (Outcome){.result = RESULT_OK, .where = ""}; }
Outcome outcome_of_diags(Result result, const Diagnostics *diags, const char *where);
Outcome check_text(const Case *c, const Run *run);
Outcome check_passes(const Case *c, const Run *run, Seen *seen);
Outcome check_program(const Case *c, const Run *run, Build build, Seen *seen);
Outcome check_same_bits(const Case *c, Check check, const Run *run, Seen *seen);
Outcome check_differences(const Case *c, const Run *run, Seen *seen);
Outcome check_causal(const Case *c, const Run *run, Seen *seen);
Outcome check_steps(const Case *c, const Run *run, Seen *seen);
bool oracle_of(Opened *opened, const Case *c, const Batch *batch, const Given *given, uint64_t step,
               DType compute, OracleRun *out);
PipelineOptions run_pipeline(const Run *run);
TargetOptions run_target(const Run *run);
/* The passes of the run over the opened function. */
bool lower_opened(const Run *run, Opened *opened, const Batch *batch, PipelineOptions options);
void note_function(const Function *function, Seen *seen);

/* The checks of a graph, some at random. */
typedef struct Task {
    Check check;
    Run run;
} Task;
typedef VEC(Task) Tasks;
void plan_tasks(Arena *arena, const Case *c, Rng *rng, Tasks *out);
/* What a golden case is held to, beside the check that it names: every kind of check, type and
 * level of its function. */
void plan_all_tasks(Arena *arena, const Case *c, const Run *own, Tasks *out);

/* ---- shrinking and files ---- */

/* Runs the check in a process of its own; crashes and more than `seconds` are outcomes. */
Outcome check_apart(const Case *c, Check check, const Run *run, int seconds);
/* The smallest case and run found that fail alike. */
void shrink_case(Arena *arena, Case *c, Check check, Run *run, Outcome *as, int seconds);

bool case_write(const char *path, const Case *c, Check check, const Run *run, const Outcome *as);
bool case_read(Arena *arena, const char *path, Case *c, Task *task);

#endif
