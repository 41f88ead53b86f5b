/* Fuzz target: any bytes as IR text, through the passes and codegen. What verifies before a
 * pipeline verifies after it, and its print parses back to the same; what is refused is
 * refused with a message. The bytes choose the pipeline: -O0 or -O2, without one of the
 * passes or that one alone, f32 or bf16, of the function as it is or of one derived from it;
 * small functions go on to a plan and to code, which is not run. */
#include "codegen/codegen.h"
#include "ir/text.h"
#include "passes/pass.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEXT = 8192, MOST_OPS = 300, MOST_CODE_OPS = 40, CODE_IN = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void complain(const char *what, const Diagnostics *diags, const Module *module)
{
    Text text = {0};
    text_add(&text, "%s\n", what);
    diag_render(diags, &text);
    if (module)
        ir_print_module(module, &text);
    fputs(text.data, stderr);
    abort();
}

static uint32_t hash_of(const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* The next of a few choices. */
static uint32_t choose(uint32_t *rest, uint32_t n)
{
    uint32_t chosen = *rest % n;
    *rest = *rest / n * 2654435761u + chosen + 1;
    return chosen;
}

static int count_ops(const Block *block)
{
    int n = 0;
    FOR_OPS (op, block)
        n += 1 + (op->body ? count_ops(op->body) : 0);
    return n;
}

static bool is_small(const Module *module, int most)
{
    for (size_t i = 0; i < module->functions.count; i++)
        if (count_ops(&module->functions.data[i]->body) > most)
            return false;
    return module->functions.count > 0;
}

static bool has_loss(const Function *function)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_output && !strcmp(op_string(op, ATTR_name), "loss"))
            return op->args[0]->type.rank == 0 && dtype_is_float(op->args[0]->type.dtype);
    return false;
}

static Function *pick_function(Module *module, uint32_t *rest)
{
    static const OptimizerSpec adam = {
        .kind = OPTIMIZER_ADAM, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9, .clip_norm = 1};
    Function *model = module_function(module, "model");
    if (!model)
        return module->functions.data[choose(rest, (uint32_t)module->functions.count)];
    uint32_t which = choose(rest, has_loss(model) ? 4 : 1);
    return which == 0   ? derive_forward(module)
           : which == 1 ? derive_loss(module)
           : which == 2 ? derive_gradient(module, false)
                        : derive_train_step(module, &adam);
}

static void check_print(Arena *arena, const Module *module, const Diagnostics *diags)
{
    Diagnostics again;
    diag_init(&again, arena);
    Text first = {0}, second = {0};
    ir_print_module(module, &first);
    const Source *source = diag_source(arena, "printed.tir", first.data, first.length);
    Module *copy = ir_parse(arena, &again, source);
    if (!copy || !ir_verify(copy, &again))
        complain("what passes made is not read back", &again, module);
    ir_print_module(copy, &second);
    if (strcmp(first.data, second.data))
        complain("what passes made is read as something else", diags, module);
    text_free(&first);
    text_free(&second);
}

static void make_code(Arena *arena, const Function *function, uint32_t rest, Diagnostics *diags)
{
    static const GemmChoice products[] = {GEMM_NATIVE, GEMM_AUTO};
    TargetOptions target = {.cpu = "x86-64-v3",
                            .opt_level = choose(&rest, 2) ? 2 : 0,
                            .gemm = products[choose(&rest, 2)],
                            .scalar = choose(&rest, 8) == 0};
    Text text = {0};
    const TfcProgram *program = codegen_plan(function, arena, NULL, diags);
    if (program)
        plan_print(program, &text);
    if ((!program || !codegen_dump(function, &target, choose(&rest, 2), &text, diags)) &&
        !diags->errors)
        complain("no code, and no word why", diags, function->module);
    text_free(&text);
}

static void verify_after(void *observer, const PassInfo *pass, Function *function)
{
    Diagnostics *diags = observer;
    if (!ir_verify(function->module, diags)) {
        fprintf(stderr, "after %s:\n", pass->name);
        complain("a pass made what does not verify", diags, function->module);
    }
}

static void run_pipeline(Arena *arena, Module *module, uint32_t rest, Diagnostics *diags)
{
    static const char *const forms[] = {"-%s", "%s"};
    const char *pass = pass_info[choose(&rest, (uint32_t)pass_count)].name;
    uint32_t form = choose(&rest, 4); /* 2, 3: all passes */
    char passes[64];
    snprintf(passes, sizeof passes, forms[form % 2], pass);
    PipelineOptions options = {.opt_level = choose(&rest, 4) ? 2 : 0,
                               .passes = form < 2 ? passes : NULL,
                               .precision = (ProductPrecision)(choose(&rest, 4) % 3),
                               .observe = verify_after,
                               .observer = diags};
    Function *function = pick_function(module, &rest);
    if (!pipeline_run(function, &options, diags)) {
        if (!diags->errors)
            complain("refused without a word", diags, module);
        return;
    }
    check_print(arena, module, diags);
    if (form >= 2 && is_small(module, MOST_CODE_OPS) && choose(&rest, CODE_IN) == 0)
        make_code(arena, function, rest, diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LARGEST_TEXT)
        return 0;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *source = diag_source(arena, "fuzz.tir", (const char *)data, size);
    Module *module = ir_parse(arena, &diags, source);
    if (module && ir_verify(module, &diags) && is_small(module, MOST_OPS))
        run_pipeline(arena, module, hash_of(data, size), &diags);
    arena_free(arena);
    return 0;
}
