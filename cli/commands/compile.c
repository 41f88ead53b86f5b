/* tfc compile: a model as a library, an object or a program of its own. */
#include "cli/commands/commands.h"
#include "cli/options/endings.h"
#include "driver/compile/compile.h"
#include "driver/exchange/prompts.h"

typedef struct Compile {
    Common common;
    CompileOptions o;
} Compile;

static int run_compile(Job *job, void *record, const Arguments *arguments)
{
    Compile *compile = record;
    if (!(compile->o.emit =
              ending_kind(job, "compile", compile->o.output, "--emit", compile->o.emit)))
        return EXIT_USAGE;
    const char *name = compile->o.name,
               *problem = name ? compile_name_problem(job->arena, name) : NULL;
    if (problem)
        return cli_usage_error("--name is '%s'; %s", name, problem);
    if (!compile->o.target && text_ends(compile->o.output, ".wasm"))
        compile->o.target = "wasm32-wasi";
    ModelArgument model;
    bool ok = common_model(job, &compile->common, arguments->words[0], &model);
    compile->o.run = model.run;
    const char *prompt = NULL;
    ok = ok && (!model.run || prompts_of_run(job, model.run, NULL, &prompt));
    if (prompt)
        diag_warning(
            &job->diags, (Loc){0},
            "the library writes no prompt before texts, as tfc predict does: give it texts "
            "that begin with '%s'",
            text_visible_name(job->arena, prompt));
    compile->o.with = &compile->common.with;
    compile->o.one_type = compile->common.dtype != NULL;
    compile->o.shortlist = compile->common.shortlist;
    return cli_finish(job, ok && compile_model(job, &model.options, &compile->o));
}

static const Option options[] = {
    {"output", "FILE", OUTPUT(Compile, o.output), 0, NULL,
     "file to write, or folder of a JavaScript package; NAME.h is put beside a library, an object "
     "or C source, and NAME.py beside a library"},
    {"emit", "so|obj|exe|c|llvm|asm|bc|js|html", FIELD(Compile, o.emit), 0, NULL,
     "make a library, an object (to be linked with the runtime), a program, C source (one file "
     "with the runtime), LLVM IR, assembly, bitcode, a JavaScript package (a folder) or a page "
     "(as FILE ends: .so, .o, none or .wasm, .c, .ll, .s, .bc, .html)"},
    {"name", "NAME", FIELD(Compile, o.name), 0, NULL,
     "begin the names of all functions and types with NAME, and call NAME.h, NAME.py and the package "
     "so: a program can hold several models, each of a name of its own (the model's name)"},
    {"function", "NAMES", FIELD(Compile, o.functions), 0, NULL,
     "some of forward, loss, train_step, encode, decode_step, alignment and predict, with commas between "
     "them (all that the model has "
     "but alignment; in a program, page, package or ensemble only those that decode, or else "
     "predict)"},
    {"only", "NAME", FIELD(Compile, o.only), 0, NULL,
     "the prediction of the function predict (all that the model makes)"},
    {"weights", "FILE", FIELD(Compile, o.weights), 0, NULL,
     "put the params of this safetensors file inside (a run's: those that tfc info names)"},
    {"store", "f32|bf16", FIELD(Compile, o.store), 0, NULL,
     "params of a page or package as they are, or rounded to bf16, which halves a page (f32)"},
    {"vocab", "FILE", FIELD(Compile, o.vocab.spec), 0, NULL,
     "put this vocabulary inside, for text in and out: a SentencePiece model, a tokenizer.json or "
     "words:FILE (a run's own); without one, callers set how targets begin and end"},
    {"source-vocab", "FILE", FIELD(Compile, o.vocab.source), 0, NULL,
     "vocabulary of the sources (that of --vocab)"},
    OPTION_TOKEN(Compile, o.vocab.tokens),
    OPTION_WITH(Compile),
    OPTION_SHORTLIST(Compile),
    {"target", "TRIPLE", FIELD(Compile, o.target), 0, NULL,
     "compile for x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu or wasm32-wasi (this "
     "system)"},
    {"cpu", "NAMES", FIELD(Compile, o.cpus), 0, NULL,
     "compile for x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or native; of several, the best is "
     "chosen at load (the level of this machine). For another architecture one name, such as "
     "cortex-a76; for C the processor whose vectors the loops are written for, or generic: none"},
    {"gemm", "blas|native|auto", FIELD(Compile, o.gemm), 0, NULL,
     "compute products by OpenBLAS, by native kernels, or (auto) as tfc train does (native)"},
    OPTION_FMA(Compile),
    OPTION_PRODUCTS(Compile),
    OPTION_SET(Compile),
    OPTION_ALLOW_OUTSIDE(Compile),
};

const Command command_compile = {
    .name = "compile",
    .summary = "compile a model to a library, a program, C source, a page or a package",
    .arguments = "MODEL.tfg|RUN -o FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .trains = true,
    .text = "Compiles a model to native code, C source, LLVM IR, or WebAssembly with JavaScript "
            "(docs/compile.md).",
    COMMAND_OPTIONS(Compile, options),
    .run = run_compile,
};
