/* tfc compile: a model as a library, an object or a program of its own. */
#include "cli/options.h"
#include "driver/compile.h"
#include "driver/model_argument.h"

int command_compile(Job *job, int argc, char **argv)
{
    CompileOptions o = {0};
    TextList settings = {0};
    const Option options[] = {
        {"-o", "FILE", OPTION_TEXT, &o.output, 0, "what to write; NAME.h is put beside it"},
        {"emit", "so|obj|exe|llvm|asm|bc", OPTION_CHOICE, &o.emit, 0,
         "library, object (to be linked with the runtime), program, text, bitcode\n"
         "(as FILE is called)"},
        {"function", "NAMES", OPTION_TEXT, &o.functions, 0,
         "of forward,loss,train_step,encode,decode_step (all that the model has)"},
        {"weights", "FILE", OPTION_TEXT, &o.weights, 0,
         "puts the params of this safetensors file inside (a run's best checkpoint)"},
        {"vocab", "FILE", OPTION_TEXT, &o.vocab, 0,
         "tells bos, eos and so on (a run's own); else generation's settings must"},
        {"target", "TRIPLE", OPTION_TEXT, &o.target, 0,
         "aarch64-linux-gnu, riscv64-linux-gnu, wasm32-wasi (x86_64-linux-gnu)"},
        {"cpu", "NAMES", OPTION_TEXT, &o.cpus, 0,
         "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native; of several the best is picked at load\n"
         "(the level of this machine); of another target one name, such as cortex-a76"},
        {"gemm", "blas|native|auto", OPTION_CHOICE, &o.gemm, 0,
         "what multiplies: OpenBLAS, kernels of its own, or the faster one for each shape\n"
         "(native: nothing else is needed)"},
        {"set", "NAME=VALUE", OPTION_LIST, &settings, 0, "change a constant of the model"},
    };
    const Usage usage = {"compile", "MODEL.tfg|RUN -o FILE",
                         "Compiles a model to native code with a C header beside it (docs/compile.md).", 1,
                         1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (!o.output)
        return cli_usage_error("compile: -o FILE is missing");
    ModelArgument model;
    bool ok = model_argument(job, arguments.words[0], &settings, &model);
    o.run = model.run;
    return cli_finish(job, ok && compile_model(job, &model.options, &o));
}
