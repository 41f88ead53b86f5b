/* Programs whose kernels run as loop IR: the JIT's program, its products too, with the interpreter
 * behind every kernel.
 *
 * A kernel is called by its address alone. So there is a function for each of MOST_KERNELS slots,
 * and one program at a time. */
#include "codegen/emit/emit.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/verify.h"
#include "codegen/plan/plan.h"
#include "tests/graphs/program.h"
#include "tests/loop/interpret.h"

#include <pthread.h>

enum { MOST_KERNELS = 64 };

/* Runs of one function at once would number its values at once, too. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static LoFunction *slots[MOST_KERNELS];
static LoRun how;
static Diagnostics *errors;

static void run_slot(int slot, const TfcKernelArgs *args, int64_t begin, int64_t end)
{
    const uint64_t given[] = {lo_address(args), (uint64_t)begin, (uint64_t)end};
    pthread_mutex_lock(&turn);
    if (!errors->errors)
        lo_interpret(slots[slot], given, &how, errors);
    pthread_mutex_unlock(&turn);
}

#define SLOT(n)                                                                 \
    static void slot_##n(const TfcKernelArgs *args, int64_t begin, int64_t end) \
    {                                                                           \
        run_slot(0##n, args, begin, end);                                       \
    }
#define EIGHT(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7)
#define ALL(DO) /* numbers are octal */ \
    EIGHT(DO, 0)                        \
    EIGHT(DO, 1) EIGHT(DO, 2) EIGHT(DO, 3) EIGHT(DO, 4) EIGHT(DO, 5) EIGHT(DO, 6) EIGHT(DO, 7)
#define NAME_OF_SLOT(n) slot_##n,
ALL(SLOT)
static const TfcKernel entries[MOST_KERNELS] = {ALL(NAME_OF_SLOT)};

static LoModule *emit_loops(const KernelSet *set, const TargetOptions *options, Program *program)
{
    CodeTarget target;
    Diagnostics *diags = &program->opened->diags;
    if (!codegen_target(options, &target, diags))
        return NULL;
    LoModule *loops = lo_module_new(program->opened->arena);
    emit_kernels(loops, set, 0, (int)set->list.count, "", &target);
    lo_run_passes(loops, &target);
    how = (LoRun){.fused = target.processor->fused && !target.scalar};
    program->rejected = !lo_verify(loops, diags);
    return program->rejected ? NULL : loops;
}

const TfcProgram *interpret_kernels(Program *program, const TargetOptions *options)
{
    KernelSet set;
    const TfcProgram *tables = program->tables;
    const Function *function = program->opened->function;
    Arena *arena = program->opened->arena;
    Diagnostics *diags = &program->opened->diags;
    if (tables->n_kernels > MOST_KERNELS) {
        diag_error(diags, (Loc){0}, "the program has more than %d kernels", MOST_KERNELS);
        return NULL;
    }
    LoModule *loops = plan_programs(&function, 1, options, &set, arena, diags)
                          ? emit_loops(&set, options, program)
                          : NULL;
    if (!loops)
        return NULL;
    for (int i = 0; i < tables->n_kernels; i++) {
        slots[i] = lo_find_function(loops, tables->kernel_names[i]);
        if (!slots[i]) {
            diag_error(diags, (Loc){0}, "there is no loop IR of %s", tables->kernel_names[i]);
            return NULL;
        }
    }
    errors = diags;
    TfcProgram *copy = arena_copy(arena, tables, sizeof *tables);
    copy->kernels = entries;
    return copy;
}
