/* tfc compile: a model as a library, an object or a program of its own. */
#include "driver/compile.h"

#include "base/file.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "driver/weights.h"
#include "runtime/data/vocabulary.h"

#include <string.h>

typedef struct Compile {
    const char *output, *emit, *function, *weights, *target, *cpu, *vocab, *gemm;
    TextList settings;
    const char *run; /* whose weights and vocabulary go inside unless told; NULL: of no run */
} Compile;

static const char *const function_names[TFC_N_FUNCTIONS] = {"forward", "loss", "train_step", "encode",
                                                            "decode_step"};

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && !strcmp(name + n - m, suffix);
}

static const char *emit_of(const char *output)
{
    static const char *const kinds[][2] = {
        {".so", "so"}, {".o", "obj"}, {".ll", "llvm"}, {".s", "asm"}, {".bc", "bc"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_suffix(output, kinds[i][0]))
            return kinds[i][1];
    return "exe";
}

/* ---- functions ---- */

static bool add_function(Artifact *a, TfcFunction f)
{
    if (a->names[f])
        return true;
    a->functions[f] = session_function(&a->session, function_names[f]);
    if (!a->functions[f] || !session_lower(&a->session, a->functions[f], NULL))
        return false;
    a->names[f] = function_names[f];
    return true;
}

/* Sentences and the tokens so far are all that generation has to give. Where that is not
 * enough, and nobody asked for these functions, they are left out with a note. */
static bool decoding_is_fed(Artifact *a, Function *const halves[2], bool asked)
{
    Diagnostics why;
    diag_init(&why, a->job->arena);
    for (int i = 0; i < 2; i++)
        if (halves[i] && !ports_feed(&a->ports, halves[i], asked ? &a->job->diags : &why)) {
            if (!asked)
                diag_note(&a->job->diags, vec_last(why.list).loc,
                          "encode and decode_step are left out: %s", vec_last(why.list).message);
            return false;
        }
    return true;
}

/* encode and decode_step are halves of one derivation and go together. */
static bool add_decoding(Artifact *a, bool asked)
{
    Incremental incremental;
    const char *target, *logits;
    if (a->names[TFC_DECODE_STEP])
        return true;
    if (!session_incremental(&a->session, &incremental, &target, &logits))
        return false;
    Function *halves[] = {incremental.encode, incremental.decode_step};
    if (!decoding_is_fed(a, halves, asked))
        return !asked;
    for (int i = 0; i < 2; i++) {
        TfcFunction f = i ? TFC_DECODE_STEP : TFC_ENCODE;
        if (!halves[i])
            continue;
        if (!session_lower(&a->session, halves[i], NULL))
            return false;
        a->functions[f] = halves[i];
        a->names[f] = function_names[f];
    }
    return true;
}

static bool add_named(Artifact *a, const char *name)
{
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (!strcmp(name, function_names[f]))
            return f == TFC_ENCODE || f == TFC_DECODE_STEP ? add_decoding(a, true)
                                                           : add_function(a, (TfcFunction)f);
    return job_error(a->job, "there is no function '%s' to compile%s", name,
                     text_suggest(a->job->arena, "'", name, function_names, TFC_N_FUNCTIONS));
}

static bool add_functions(Artifact *a, const char *list)
{
    bool exe = !strcmp(a->emit, "exe");
    if (!list) {
        bool decodes = a->ports.target && a->ports.logits;
        bool trains = a->session.model->has_loss && !exe;
        return (exe || add_function(a, TFC_FORWARD)) && (!(decodes || exe) || add_decoding(a, exe)) &&
               (!trains || (add_function(a, TFC_LOSS) && add_function(a, TFC_TRAIN_STEP)));
    }
    char *names = arena_strdup(a->job->arena, list), *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_named(a, name))
            return false;
    if (exe && !a->names[TFC_DECODE_STEP])
        return job_error(a->job, "a program of its own decodes: it needs the function decode_step");
    return true;
}

/* ---- compiling ---- */

static int list_functions(const Artifact *a, const Function *list[TFC_N_FUNCTIONS])
{
    int n = 0;
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f])
            list[n++] = a->functions[f];
    return n;
}

static bool compile_objects(Artifact *a)
{
    const Function *list[TFC_N_FUNCTIONS];
    int n = list_functions(a, list);
    for (int c = 0; c < a->n_cpus; c++) {
        TargetOptions target = artifact_target(a, c);
        const char *prefix = arena_printf(a->job->arena, "%s_v%d_", a->name, a->cpus[c].level);
        if (!object_compile(list, n, &target, prefix, a->job->arena, &a->cpus[c].objects,
                            &a->job->diags))
            return false;
    }
    for (int f = 0, p = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f])
            a->programs[f] = a->cpus[0].objects.programs[p++];
    return true;
}

static bool load_weights(Artifact *a, const Compile *o)
{
    const char *path = o->run ? run_checkpoint(a->job, o->run, o->weights) : o->weights;
    if (!path)
        return !o->run;
    a->weights = store_new();
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->programs[f] && !store_add_program(a->weights, a->programs[f]))
            return job_error(a->job, "out of memory");
    return weights_load(a->job, a->session.model, a->weights, path);
}

static bool read_vocabulary(Artifact *a, const Compile *o)
{
    const char *path = o->vocab ? o->vocab : o->run;
    a->bos = a->eos = a->pad = a->unk = -1;
    if (!path)
        return true;
    Vocabulary *vocab = (o->vocab ? vocab_load : vocab_load_run)(&a->job->diags, a->job->arena, path);
    if (!vocab)
        return false;
    a->bos = vocab_bos(vocab);
    a->eos = vocab_eos(vocab);
    a->pad = vocab_pad(vocab);
    a->unk = vocab_unk(vocab);
    bool fits = !a->ports.vocab || vocab_size(vocab) == a->ports.vocab;
    if (!fits)
        job_error(a->job, "%s has %d tokens, but the model's outputs have %d", path, vocab_size(vocab),
                  (int)a->ports.vocab);
    vocab_free(vocab);
    return fits;
}

static bool is_text(const Artifact *a) { return !strcmp(a->emit, "llvm") || !strcmp(a->emit, "asm"); }

/* LLVM IR or assembly of every function's kernels; or the programs as bitcode. */
static bool put_code(Artifact *a, Text *out)
{
    TargetOptions target = artifact_target(a, 0);
    const Function *list[TFC_N_FUNCTIONS];
    int n = list_functions(a, list);
    if (!is_text(a))
        return object_bitcode(list, n, &target, arena_printf(a->job->arena, "%s_", a->name), out,
                              &a->job->diags);
    for (int i = 0; i < n; i++)
        if (!codegen_dump(list[i], &target, !strcmp(a->emit, "asm"), out, &a->job->diags))
            return false;
    return true;
}

static bool write_code(Artifact *a)
{
    const char *what = is_text(a) ? "text" : "bitcode";
    if (a->n_cpus > 1)
        return job_error(a->job, "%s is for one CPU: --cpu names %d", what, a->n_cpus);
    Text code = {0};
    bool ok = put_code(a, &code) &&
              file_write_all(&a->job->diags, a->output, code.data, code.length);
    text_free(&code);
    return ok;
}

static bool compile(Artifact *a, const Compile *o)
{
    const Module *module = a->session.model->module;
    a->ports = ports_of(module);
    a->name = artifact_c_name(a->job->arena, module->name);
    if (!strncmp(a->name, "tfc_", 4))
        return job_error(a->job, "the model is called %s: names that begin with tfc_ are the runtime's", a->name);
    if (!artifact_choose_target(a, o->target, o->cpu, o->gemm) || !read_vocabulary(a, o) ||
        !add_functions(a, o->function))
        return false;
    if (is_text(a) || !strcmp(a->emit, "bc"))
        return (!o->weights || job_error(a->job, "%s holds no weights: leave --weights out",
                                         is_text(a) ? "text" : "bitcode")) &&
               write_code(a);
    if (!compile_objects(a) || !load_weights(a, o))
        return false;
    Text header = {0};
    compile_header(a, &header);
    bool ok = compile_link(a, header.data);
    text_free(&header);
    return ok;
}

int command_compile(Job *job, int argc, char **argv)
{
    Compile o = {0};
    const Option options[] = {
        {"-o", "FILE", OPTION_TEXT, &o.output, 0, "what to write; NAME.h is put beside it"},
        {"emit", "so|obj|exe|llvm|asm|bc", OPTION_CHOICE, &o.emit, 0,
         "library, object (to be linked with the runtime), program, text, bitcode\n"
         "(as FILE is called)"},
        {"function", "NAMES", OPTION_TEXT, &o.function, 0,
         "of forward,loss,train_step,encode,decode_step (all that the model has)"},
        {"weights", "FILE", OPTION_TEXT, &o.weights, 0,
         "puts the params of this safetensors file inside (a run's best checkpoint)"},
        {"vocab", "FILE", OPTION_TEXT, &o.vocab, 0,
         "tells bos, eos and so on (a run's own); else generation's settings must"},
        {"target", "TRIPLE", OPTION_TEXT, &o.target, 0,
         "aarch64-linux-gnu, riscv64-linux-gnu, wasm32-wasi (x86_64-linux-gnu)"},
        {"cpu", "NAMES", OPTION_TEXT, &o.cpu, 0,
         "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native; of several the best is picked at load\n"
         "(the level of this machine); of another target one name, such as cortex-a76"},
        {"gemm", "blas|native|auto", OPTION_CHOICE, &o.gemm, 0,
         "what multiplies: OpenBLAS, kernels of its own, or the faster one for each shape\n"
         "(native: nothing else is needed)"},
        {"set", "NAME=VALUE", OPTION_LIST, &o.settings, 0, "change a constant of the model"},
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
    Artifact artifact = {.job = job,
                         .output = o.output,
                         .emit = o.emit ? o.emit : emit_of(o.output)};
    ModelArgument model;
    bool ok = model_argument(job, arguments.words[0], &o.settings, &model);
    o.run = model.run;
    ok = ok && session_open(&artifact.session, job, &model.options) && compile(&artifact, &o);
    store_free(artifact.weights);
    session_close(&artifact.session);
    return cli_finish(job, ok);
}
