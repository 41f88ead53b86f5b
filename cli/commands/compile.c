/* tfc compile: a model as a library, an object or a program of its own. */
#include "cli/commands/commands.h"
#include "cli/options/endings.h"
#include "driver/compile/compile.h"

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
    if (!compile->o.target && text_ends(compile->o.output, ".wasm"))
        compile->o.target = "wasm32-wasi";
    ModelArgument model;
    bool ok = common_model(job, &compile->common, arguments->words[0], &model);
    compile->o.run = model.run;
    compile->o.with = &compile->common.with;
    return cli_finish(job, ok && compile_model(job, &model.options, &compile->o));
}

static const Option options[] = {
    {"-o", "FILE", OUTPUT(Compile, o.output), 0, NULL,
     "what to write; NAME.h, and of a library NAME.py, are put beside it"},
    {"emit", "so|obj|exe|c|llvm|asm|bc|js|html", FIELD(Compile, o.emit), 0, NULL,
     "library, object (to be linked with the runtime), program, C (one file, runtime included),\n"
     "text, bitcode, package of JavaScript (a folder), page (as FILE ends: .so, .o, none or\n"
     ".wasm, .c, .ll, .s, .bc, .html)"},
    {"function", "NAMES", FIELD(Compile, o.functions), 0, NULL,
     "of forward,loss,train_step,encode,decode_step (all that the model has), and alignment"},
    {"weights", "FILE", FIELD(Compile, o.weights), 0, NULL,
     "puts the params of this safetensors file inside (a run's best checkpoint)"},
    {"store", "f32|bf16", FIELD(Compile, o.store), 0, NULL,
     "params of a page or package as they are, or rounded, which halves a page (f32)"},
    {"vocab", "FILE", FIELD(Compile, o.vocab.spec), 0, NULL,
     "a SentencePiece model, tokenizer.json or list of words to be put inside, for text in and out; tells how\n"
     "targets begin and end, too (a run's own); else generation's settings must"},
    {"source-vocab", "FILE", FIELD(Compile, o.vocab.source), 0, NULL,
     "the sources' vocabulary, where it is another"},
    OPTION_TOKEN(Compile, o.vocab.tokens),
    OPTION_WITH(Compile),
    {"target", "TRIPLE", FIELD(Compile, o.target), 0, NULL,
     "x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu, wasm32-wasi (this system)"},
    {"cpu", "NAMES", FIELD(Compile, o.cpus), 0, NULL,
     "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native; of several the best is picked at load\n"
     "(the level of this machine); of another architecture one name, such as cortex-a76; of C\n"
     "which vectors it is written for, or generic: none"},
    {"gemm", "blas|native|auto", FIELD(Compile, o.gemm), 0, NULL,
     "what multiplies: OpenBLAS, kernels of its own, or what tfc train takes (auto)\n"
     "(native: nothing else is needed)"},
    OPTION_PRODUCTS(Compile),
    OPTION_SET(Compile),
};

const Command command_compile = {
    .name = "compile",
    .summary = "make a native library with a C header of a model",
    .arguments = "MODEL.tfg|RUN -o FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .trains = true,
    .text = "Compiles a model to native code with a C header beside it (docs/compile.md).",
    COMMAND_OPTIONS(Compile, options),
    .run = run_compile,
};
