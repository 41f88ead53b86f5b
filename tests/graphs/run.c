/* Runs: how a case is read, compiled and run; as text and as options. */
#define _GNU_SOURCE
#include "ir/text.h"
#include "tests/graphs/graphs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

Run run_defaults(void)
{
    return (Run){.function = "model",
                 .real = DT_F64,
                 .opt_level = 2,
                 .gemm = GEMM_AUTO,
                 .threads = 1,
                 .budget = -1};
}

static bool same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool run_equal(const Run *a, const Run *b)
{
    return same(a->function, b->function) && a->real == b->real && a->precision == b->precision &&
           a->opt_level == b->opt_level && a->scalar == b->scalar && same(a->passes, b->passes) &&
           same(a->cpu, b->cpu) && a->gemm == b->gemm && a->threads == b->threads &&
           a->budget == b->budget;
}

static const char *const precision_names[] = {
    "typed",
    "bf16",
#define QUANT(NAME, word, ...) word,
#include "base/quants.def"
};
static const char *const gemm_names[] = {"blas", "native", "auto"};

void run_print(const Run *run, Text *out)
{
    text_add(out, "function=%s", run->function);
    if (run->real != DT_F64)
        text_add(out, " real=%s", dtype_name(run->real));
    if (run->precision != PRODUCTS_AS_TYPED)
        text_add(out, " compute=%s", precision_names[run->precision]);
    if (run->opt_level != 2)
        text_add(out, " opt=%d", run->opt_level);
    if (run->scalar)
        text_add(out, " scalar=1");
    if (run->passes)
        text_add(out, " passes=%s", run->passes);
    if (run->cpu)
        text_add(out, " cpu=%s", run->cpu);
    if (run->gemm != GEMM_AUTO)
        text_add(out, " gemm=%s", gemm_names[run->gemm]);
    if (run->threads != 1)
        text_add(out, " threads=%d", run->threads);
    if (run->budget >= 0)
        text_add(out, " budget=%" PRId64, run->budget);
}

static bool set_field(Run *run, const char *key, const char *value)
{
    int64_t number = strtoll(value, NULL, 10);
    if (!strcmp(key, "function"))
        run->function = value;
    else if (!strcmp(key, "real"))
        return dtype_parse(value, &run->real);
    else if (!strcmp(key, "compute"))
        run->precision = quant_of_word(value)     ? precision_of_quant(quant_of_word(value))
                         : !strcmp(value, "bf16") ? PRODUCTS_BF16
                                                  : PRODUCTS_AS_TYPED;
    else if (!strcmp(key, "opt"))
        run->opt_level = (int)number;
    else if (!strcmp(key, "scalar"))
        run->scalar = number;
    else if (!strcmp(key, "passes"))
        run->passes = value;
    else if (!strcmp(key, "cpu"))
        run->cpu = value;
    else if (!strcmp(key, "gemm"))
        run->gemm = !strcmp(value, "blas")     ? GEMM_BLAS
                    : !strcmp(value, "native") ? GEMM_NATIVE
                                               : GEMM_AUTO;
    else if (!strcmp(key, "threads"))
        run->threads = (int)number;
    else if (!strcmp(key, "budget"))
        run->budget = number;
    else
        return false;
    return true;
}

bool run_parse(Arena *arena, const char *text, Run *out)
{
    *out = run_defaults();
    char *copy = arena_strdup(arena, text), *rest = NULL;
    for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals)
            return false;
        *equals = 0;
        if (!set_field(out, word, equals + 1))
            return false;
    }
    return true;
}

PipelineOptions run_pipeline(const Run *run)
{
    return (PipelineOptions){
        .opt_level = run->opt_level, .passes = run->passes, .precision = run->precision};
}

/* With both products, some shapes of either. */
TargetOptions run_target(const Run *run)
{
    return (TargetOptions){.cpu = run->cpu,
                           .scalar = run->scalar,
                           .opt_level = run->opt_level,
                           .gemm = run->gemm,
                           .choice = {{0x5a5a5a5a5, 0xa5a5a5a5a}}};
}

/* ---- opening ---- */

static Function *derive(Module *module, const char *name)
{
    const OptimizerSpec sgd = {.kind = OPTIMIZER_SGD, .momentum = 0.5, .clip_norm = 0.5};
    const OptimizerSpec adam = {.kind = OPTIMIZER_ADAM, .beta1 = 0.5, .beta2 = 0.75, .eps = 1e-2};
    const OptimizerSpec adamw = {.kind = OPTIMIZER_ADAMW,
                                 .beta1 = 0.5,
                                 .beta2 = 0.75,
                                 .eps = 1e-2,
                                 .weight_decay = 0.125,
                                 .clip_norm = 1};
    ModelFunction which = function_named(name);
    if (!strcmp(name, "gradient"))
        return derive_gradient(module, true);
    if (!strcmp(name, "gradient.quiet"))
        return derive_function(module, FUNCTION_GRADIENT, NULL);
    if (!strcmp(name, "train_step.adamw"))
        return derive_train_step(module, &adamw);
    if (!strcmp(name, "train_step.sgd"))
        return derive_train_step(module, &sgd);
    if (which != FUNCTION_COUNT)
        return derive_function(module, which, which == FUNCTION_UPDATE ? &adamw : &adam);
    return module_function(module, name);
}

static bool has_loss(const Function *function)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_output && !strcmp(op_string(op, ATTR_name), "loss"))
            return op->args[0]->type.rank == 0;
    return false;
}

bool case_open(Opened *opened, const Case *c, const Run *run)
{
    *opened = (Opened){.arena = arena_new()};
    diag_init(&opened->diags, opened->arena);
    char *text = arena_strdup(opened->arena, c->text);
    if (run->real == DT_F32)
        for (char *at = strstr(text, "f64"); at; at = strstr(at, "f64"))
            memcpy(at, "f32", 3);
    const Source *source = diag_source(opened->arena, "graph.tir", text, strlen(text));
    opened->module = ir_parse(opened->arena, &opened->diags, source);
    if (!opened->module || !ir_verify(opened->module, &opened->diags))
        return false;
    Function *model = module_function(opened->module, "model");
    bool plain = !strcmp(run->function, "model") || !strcmp(run->function, "forward");
    if (!model || (!plain && !has_loss(model))) {
        diag_error(&opened->diags, (Loc){0}, "the module has no function model, or no loss");
        return false;
    }
    opened->function = derive(opened->module, run->function);
    return opened->function && !opened->diags.errors && ir_verify(opened->module, &opened->diags);
}

void case_close(Opened *opened) { arena_free(opened->arena); }

bool oracle_of(Opened *opened, const Case *c, const Batch *batch, const Given *given, uint64_t step,
               DType compute, OracleRun *out)
{
    *out = (OracleRun){.dims = batch_dims(opened->arena, batch, (int)opened->module->symbols.count),
                       .seed = c->seed,
                       .step = step,
                       .training = true,
                       .compute = compute,
                       .as_written = compute == DT_F64,
                       .given = given->tensors,
                       .n_given = given->n};
    return oracle_run(opened->function, out, opened->arena, &opened->diags);
}
