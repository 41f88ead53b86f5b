/* tfc compile: a model as a library, an object or a program of its own. */
#include "cli/compile.h"

#include "base/cpu.h"
#include "base/file.h"
#include "cli/weights.h"
#include "runtime/data/vocabulary.h"

#include <string.h>

typedef struct Compile {
    const char *output, *emit, *function, *weights, *cpu, *vocab, *gemm;
    TextList settings;
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
        {".so", "so"}, {".o", "obj"}, {".ll", "llvm"}, {".s", "asm"}};
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
    if (!a->functions[f] || !session_lower(&a->session, a->functions[f], NULL, NULL))
        return false;
    a->names[f] = function_names[f];
    return true;
}

/* encode and decode_step are halves of one derivation and go together. */
static bool add_decoding(Artifact *a)
{
    Incremental incremental;
    const char *target, *logits;
    if (a->names[TFC_DECODE_STEP])
        return true;
    if (!session_incremental(&a->session, &incremental, &target, &logits))
        return false;
    Function *halves[] = {incremental.encode, incremental.decode_step};
    for (int i = 0; i < 2; i++) {
        TfcFunction f = i ? TFC_DECODE_STEP : TFC_ENCODE;
        if (!halves[i])
            continue;
        if (!session_lower(&a->session, halves[i], NULL, NULL))
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
            return f == TFC_ENCODE || f == TFC_DECODE_STEP ? add_decoding(a)
                                                           : add_function(a, (TfcFunction)f);
    const char *near = text_nearest(name, function_names, TFC_N_FUNCTIONS);
    return cli_error(a->cli, "there is no function '%s' to compile%s%s%s", name,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool add_functions(Artifact *a, const char *list)
{
    bool exe = !strcmp(a->emit, "exe");
    if (!list) {
        bool decodes = a->ports.target && a->ports.logits;
        bool trains = a->session.model->has_loss && !exe;
        return (exe || add_function(a, TFC_FORWARD)) && (!(decodes || exe) || add_decoding(a)) &&
               (!trains || (add_function(a, TFC_LOSS) && add_function(a, TFC_TRAIN_STEP)));
    }
    char *names = arena_strdup(a->cli->arena, list), *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_named(a, name))
            return false;
    if (exe && !a->names[TFC_DECODE_STEP])
        return cli_error(a->cli, "a program of its own decodes: it needs the function decode_step");
    return true;
}

/* ---- CPUs ---- */

static bool add_cpu(Artifact *a, const char *name)
{
    static const char *const names[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};
    int level = 0;
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i]))
            level = i < 4 ? i + 1 : cpu_level();
    if (!level) {
        const char *near = text_nearest(name, names, 5);
        return cli_error(a->cli,
                         "no CPU to compile for is called \"%s\": x86-64, x86-64-v2, x86-64-v3, "
                         "x86-64-v4 or native%s%s%s",
                         name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    for (int i = 0; i < a->n_cpus; i++)
        if (a->cpus[i].level == level)
            return cli_error(a->cli, "--cpu names %s twice (%s is the same level)", a->cpus[i].name, name);
    int at = a->n_cpus++;
    for (; at > 0 && a->cpus[at - 1].level < level; at--)
        a->cpus[at] = a->cpus[at - 1];
    a->cpus[at] = (CompiledCpu){.name = name, .level = level};
    return true;
}

static bool add_cpus(Artifact *a, const char *list)
{
    static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    if (!list)
        return add_cpu(a, levels[cpu_level() - 1]);
    char *names = arena_strdup(a->cli->arena, list), *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_cpu(a, name))
            return false;
    return a->n_cpus > 0 || cli_error(a->cli, "--cpu names none");
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
        TargetOptions target = {.cpu = a->cpus[c].name, .opt_level = 2, .gemm = a->gemm};
        const char *prefix = arena_printf(a->cli->arena, "%s_v%d_", a->name, a->cpus[c].level);
        if (!object_compile(list, n, &target, prefix, a->cli->arena, &a->cpus[c].objects,
                            &a->cli->diags))
            return false;
    }
    for (int f = 0, p = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f])
            a->programs[f] = a->cpus[0].objects.programs[p++];
    return true;
}

static bool load_weights(Artifact *a, const char *path)
{
    if (!path)
        return true;
    a->weights = store_new();
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->programs[f] && !store_add_program(a->weights, a->programs[f]))
            return cli_error(a->cli, "out of memory");
    return weights_load(a->cli, a->session.model, a->weights, path);
}

static bool read_vocabulary(Artifact *a, const char *path)
{
    a->bos = a->eos = a->pad = a->unk = -1;
    if (!path)
        return true;
    Vocabulary *vocab = vocab_load(&a->cli->diags, a->cli->arena, path);
    if (!vocab)
        return false;
    a->bos = vocab_bos(vocab);
    a->eos = vocab_eos(vocab);
    a->pad = vocab_pad(vocab);
    a->unk = vocab_unk(vocab);
    bool fits = !a->ports.vocab || vocab_size(vocab) == a->ports.vocab;
    if (!fits)
        cli_error(a->cli, "%s has %d tokens, but the model's outputs have %d", path, vocab_size(vocab),
                  (int)a->ports.vocab);
    vocab_free(vocab);
    return fits;
}

/* LLVM IR or assembly of every function's kernels. */
static bool write_text(Artifact *a)
{
    TargetOptions target = {.cpu = a->cpus[0].name, .opt_level = 2, .gemm = a->gemm};
    if (a->n_cpus > 1)
        return cli_error(a->cli, "text is for one CPU: --cpu names %d", a->n_cpus);
    const Function *list[TFC_N_FUNCTIONS];
    int n = list_functions(a, list);
    Text text = {0};
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = codegen_dump(list[i], &target, !strcmp(a->emit, "asm"), &text, &a->cli->diags);
    ok = ok && file_write_all(&a->cli->diags, a->output, text.data, text.length);
    text_free(&text);
    return ok;
}

static bool compile(Artifact *a, const Compile *o)
{
    a->ports = ports_of(a->session.model->module);
    if (!read_vocabulary(a, o->vocab) || !add_cpus(a, o->cpu) || !add_functions(a, o->function))
        return false;
    if (!strcmp(a->emit, "llvm") || !strcmp(a->emit, "asm"))
        return (!o->weights || cli_error(a->cli, "text holds no weights: leave --weights out")) &&
               write_text(a);
    if (!compile_objects(a) || !load_weights(a, o->weights))
        return false;
    Text header = {0};
    compile_header(a, &header);
    bool ok = compile_link(a, header.data);
    text_free(&header);
    return ok;
}

/* models/multi30k_small.tfg → multi30k_small */
static const char *model_name(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return artifact_c_name(arena, has_suffix(name, ".tfg") ? arena_strndup(arena, name, length - 4) : name);
}

int command_compile(Cli *cli, int argc, char **argv)
{
    Compile o = {.gemm = "blas"};
    const Option options[] = {
        {"-o", "FILE", OPTION_TEXT, &o.output, 0, "what to write; NAME.h is put beside it"},
        {"emit", "so|obj|exe|llvm|asm", OPTION_CHOICE, &o.emit, 0,
         "library, object (to be linked with libtfc_runtime.a), program, text (as FILE is called)"},
        {"function", "NAMES", OPTION_TEXT, &o.function, 0,
         "of forward,loss,train_step,encode,decode_step (all that the model has)"},
        {"weights", "FILE", OPTION_TEXT, &o.weights, 0, "puts the params of this safetensors file inside"},
        {"vocab", "FILE", OPTION_TEXT, &o.vocab, 0,
         "tells bos, eos and so on; else generation's settings must"},
        {"cpu", "NAMES", OPTION_TEXT, &o.cpu, 0,
         "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native; of several the best is picked at load\n"
         "(the level of this machine)"},
        {"gemm", "blas|native|auto", OPTION_CHOICE, &o.gemm, 0,
         "what multiplies: OpenBLAS, kernels of its own, or the faster one for each shape (blas)"},
        {"set", "NAME=VALUE", OPTION_LIST, &o.settings, 0, "change a constant of the model"},
    };
    const Usage usage = {"compile", "MODEL.tfg -o FILE",
                         "Compiles a model to native code with a C header beside it (docs/compile.md).", 1,
                         1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (!o.output)
        return cli_usage_error("compile: -o FILE is missing");
    Artifact artifact = {.cli = cli,
                         .output = o.output,
                         .emit = o.emit ? o.emit : emit_of(o.output),
                         .gemm = !strcmp(o.gemm, "blas")     ? GEMM_BLAS
                                 : !strcmp(o.gemm, "native") ? GEMM_NATIVE
                                                             : GEMM_AUTO,
                         .name = model_name(cli->arena, arguments.words[0])};
    SessionOptions session = session_defaults(arguments.words[0]);
    session.settings = o.settings;
    bool ok = session_open(&artifact.session, cli, &session) && compile(&artifact, &o);
    store_free(artifact.weights);
    session_close(&artifact.session);
    return cli_finish(cli, ok);
}
