/* What is compiled of a model: which functions, with which weights and vocabulary, as code to
 * read or to link. */
#include "driver/compile/compile.h"

#include "base/bf16.h"
#include "base/file.h"
#include "base/functions.h"
#include "codegen/c/unit.h"
#include "codegen/cache.h"
#include "driver/compile/artifact.h"
#include "driver/run/folder.h"
#include "driver/run/inference.h"
#include "driver/run/thresholds.h"
#include "driver/run/weights.h"
#include "runtime/text/hf/tokenizer_json.h"

#include <math.h>
#include <string.h>

/* ---- functions ---- */

static bool add_function(Artifact *a, TfcFunction f)
{
    if (a->names[f])
        return true;
    a->functions[f] = session_function(&a->session, function_names()[f]);
    if (!a->functions[f] || !session_lower(&a->session, a->functions[f], NULL))
        return false;
    a->names[f] = function_names()[f];
    return true;
}

static void note_left_out(Artifact *a, const Diag *why)
{
    diag_remark(&a->job->diags, why->loc, "encode and decode_step are left out: %s", why->message);
}

/* The first input of the function that a column feeds; NULL: none. */
static const Op *find_read_column(const Artifact *a, const Function *function)
{
    for (int c = 0; function && c < a->ports.n_columns && c < MOST_COLUMNS; c++)
        if (function_reads(function, op_string(a->ports.columns[c], ATTR_name)))
            return a->ports.columns[c];
    return NULL;
}

/* Whether a call can hold the columns that encode reads, a source among them. */
static bool fits_call(const Artifact *a, const Function *encode, Diagnostics *diags)
{
    int n = 0;
    for (const Op *op = encode ? encode->body.first : NULL; op; op = op->next)
        n += op->kind == OP_input;
    if (n <= MOST_COLUMNS)
        return true;
    diag_error(
        diags, find_read_column(a, encode)->loc,
        "generation reads %d inputs, and functions that decode take %d at most: compile the others by --function",
        n, MOST_COLUMNS);
    return false;
}

/* The attention of a text over a source is computed from these two alone. */
static bool alignment_is_fed(const Artifact *a, const Function *function, Diagnostics *diags)
{
    const Op *column = find_read_column(a, function);
    if (column)
        diag_error(
            diags, column->loc,
            "the attention over the source depends on the column `%s`, and alignment is given "
            "a source and a target alone",
            op_string(column, ATTR_name));
    return !column;
}

/* Columns and the tokens so far are all that generation has to give. Where that is not enough, and
 * nobody asked for these functions, they are left out with a note. */
static bool decoding_is_fed(Artifact *a, Function *const halves[2], bool asked)
{
    Diagnostics why, *diags = asked ? &a->job->diags : &why;
    diag_init(&why, a->job->arena);
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++)
        ok = !halves[i] || ports_feed(&a->ports, halves[i], diags);
    ok = ok && fits_call(a, halves[0], diags);
    if (!ok && !asked)
        note_left_out(a, &vec_last(why.list));
    return ok;
}

bool compile_narrow(const Artifact *a, const Session *session, const Incremental *incremental,
                    const char *logits)
{
    return !a->shortlist ||
           derive_shortlist(session->model->module, incremental, logits,
                            session->options.precision == PRODUCTS_BF16, &a->job->diags);
}

/* Whether the model decodes; if not, and nobody asked for these functions, a note says why not. */
static bool can_decode(Artifact *a)
{
    Diagnostics why;
    bool can = session_decodes(&a->session, NULL, NULL, &why);
    if (!can)
        note_left_out(a, &why.list.data[0]);
    return can;
}

/* encode and decode_step are halves of one derivation and go together. */
static bool add_decoding(Artifact *a, bool asked)
{
    Incremental incremental;
    const char *target, *logits;
    if (a->names[TFC_DECODE_STEP])
        return true;
    if (!asked && !can_decode(a))
        return true;
    if (!session_incremental(&a->session, &incremental, &target, &logits))
        return false;
    Function *halves[] = {incremental.encode, incremental.decode_step};
    if (!decoding_is_fed(a, halves, asked))
        return !asked;
    if (a->shortlist && find_read_column(a, incremental.encode))
        return job_error(a->job, SHORTLIST_OF_LINES, a->run ? a->run : a->session.options.path);
    if (!compile_narrow(a, &a->session, &incremental, logits))
        return false;
    for (int i = 0; i < 2; i++) {
        TfcFunction f = i ? TFC_DECODE_STEP : TFC_ENCODE;
        if (!halves[i])
            continue;
        if (!session_lower(&a->session, halves[i], NULL))
            return false;
        a->functions[f] = halves[i];
        a->names[f] = function_names()[f];
    }
    return true;
}

/* Where it is there and can be fed. */
static bool add_alignment(Artifact *a)
{
    Diagnostics why;
    diag_init(&why, a->job->arena);
    Function *function = session_alignment(&a->session);
    if (!function || !ports_feed(&a->ports, function, &why) || !alignment_is_fed(a, function, &why))
        return true;
    a->functions[TFC_ALIGNMENT] = function;
    a->names[TFC_ALIGNMENT] = function_names()[TFC_ALIGNMENT];
    return session_lower(&a->session, function, NULL);
}

static bool add_predictions(Artifact *a)
{
    if (a->names[TFC_PREDICT])
        return true;
    if (!compile_find_predictions(a) || !session_lower(&a->session, a->predictor.function, NULL))
        return false;
    a->functions[TFC_PREDICT] = a->predictor.function;
    a->names[TFC_PREDICT] = function_names()[TFC_PREDICT];
    return true;
}

static bool add_named(Artifact *a, const char *name)
{
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (!strcmp(name, function_names()[f]))
            return f == TFC_ENCODE || f == TFC_DECODE_STEP ? add_decoding(a, true)
                   : f == TFC_PREDICT                      ? add_predictions(a)
                                                           : add_function(a, (TfcFunction)f) &&
                                            (f != TFC_ALIGNMENT ||
                                             alignment_is_fed(a, a->functions[f], &a->job->diags));
    return job_error(a->job, "there is no function '%s' to compile%s%s", name,
                     text_known(a->job->arena, "'", name, function_names(), TFC_N_FUNCTIONS),
                     !strncmp(name, "generat", 7) ? "; generation comes with decode_step" : "");
}

/* Of an ensemble: functions that decode. */
static bool check_ensemble(Artifact *a)
{
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f] && f != TFC_ENCODE && f != TFC_DECODE_STEP)
            return job_error(a->job, "--with: an ensemble decodes, it has no function '%s'",
                             a->names[f]);
    return true;
}

/* `alone`: those that decode, and no others but what pages show of attention. */
static bool add_functions(Artifact *a, const char *list, bool alone, bool aligns)
{
    if (!list) {
        bool decodes = ports_predict(&a->ports), says = predicts(a->session.model->module);
        if (alone && !decodes && says)
            return add_predictions(a);
        if (alone && says)
            diag_remark(&a->job->diags, (Loc){0},
                        "what the model predicts is left out: --function predict makes a file that "
                        "predicts in place of one that decodes");
        bool has_loss = a->session.model->has_loss && !alone;
        bool trains = has_loss && !precision_quant(a->session.options.precision);
        if (has_loss && !trains)
            diag_remark(&a->job->diags, (Loc){0},
                        "train_step is left out: products of integers (%s) have no gradient",
                        session_dtype(&a->session.options));
        return (alone || add_function(a, TFC_FORWARD)) &&
               (!(decodes || alone) || add_decoding(a, alone)) &&
               (!aligns || find_read_column(a, a->functions[TFC_ENCODE]) || add_alignment(a)) &&
               (!has_loss || add_function(a, TFC_LOSS)) &&
               (!trains || add_function(a, TFC_TRAIN_STEP)) &&
               (alone || !says || add_predictions(a));
    }
    char *names = arena_strdup(a->job->arena, list), *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_named(a, name))
            return false;
    if (alone && !a->names[TFC_DECODE_STEP] && !a->names[TFC_PREDICT])
        return job_error(
            a->job,
            "a program, or an ensemble, needs the function decode_step or predict: add one to --function");
    return true;
}

/* An embedding that is the output's matrix, too, is inside once, as panels, if there are only
 * functions that decode, and panels at all (compile_choose_panels). */
static void share_tables(Artifact *a, const CompileOptions *o)
{
    Function *halves[2];
    int n = 0;
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f] && f != TFC_ENCODE && f != TFC_DECODE_STEP)
            return;
        else if (a->names[f])
            halves[n++] = a->functions[f];
    if ((o->run || o->weights) && !artifact_is_c(a) && a->n_cpus == 1 && a->gemm == GEMM_NATIVE)
        prepack_lookups(halves, n, a->job->arena);
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
        const char *prefix = arena_printf(a->job->arena, "tfc_%s_v%d_", a->name, a->cpus[c].level);
        Cache *cache = cache_open(a->job->arena, NULL, CACHE_BYTES);
        bool ok = artifact_is_c(a)
                      ? c_programs(list, n, &target, "code_", a->job->arena, &a->cpus[c].objects,
                                   &a->code, &a->job->diags)
                      : object_compile(list, n, &target, prefix, cache, NULL, a->job->arena,
                                       &a->cpus[c].objects, &a->job->diags);
        cache_close(cache);
        if (!ok)
            return false;
    }
    for (int f = 0, p = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->names[f])
            a->programs[f] = a->cpus[0].objects.programs[p++];
    return true;
}

static bool load_weights(Artifact *a, const CompileOptions *o)
{
    const char *path = o->run ? run_checkpoint(a->job, o->run, o->weights) : o->weights;
    if (!path)
        return !o->run;
    a->weights = store_new_or_end();
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->programs[f] && !store_add_program(a->weights, a->programs[f]))
            return job_no_memory(a->job);
    return weights_load(a->job, a->session.model, a->weights, path, NULL) &&
           (!a->names[TFC_PREDICT] || thresholds_mean(a->job, &a->predictor, &path, 1));
}

/* Params rounded to bf16. They stay f32 for the kernels; half of their bytes are zeros, which
 * compression takes away. False after an error: one is beyond bf16. */
static bool round_params(Job *job, Store *store)
{
    for (int64_t i = 0; i < store_count(store); i++) {
        const StoreTensor *tensor = store_at(store, i);
        float *values = tensor->data;
        for (int64_t k = 0; tensor->type == TFC_F32 && values && k < tensor->count; k++) {
            if (fabsf(values[k]) >= BF16_LIMIT)
                return job_error(job,
                                 "the param '%s' has the element %g, which bf16 cannot hold: leave "
                                 "--store bf16 out",
                                 tensor->name, (double)values[k]);
            values[k] = bf16_to_float(bf16_from_float(values[k]));
        }
    }
    return true;
}

static bool is_rounded(const CompileOptions *o) { return o->store && !strcmp(o->store, "bf16"); }

static bool round_all(Artifact *a)
{
    bool ok = round_params(a->job, a->weights);
    for (int i = 0; ok && i < a->n_members; i++)
        ok = round_params(a->job, a->members[i].store);
    return ok;
}

/* NULL: there is none, or after an error. */
static Vocabulary *find_vocabulary(Artifact *a, const CompileOptions *o)
{
    RunRecord record = {.kind = ports_kind(&a->ports, false)};
    if (o->run && (!run_record_read(a->job, o->run, &record) ||
                   !generation_defaults_read(a->job, o->run, &record, &a->defaults)))
        return NULL;
    a->kind = record.kind;
    if (o->vocab.spec)
        return vocabulary_load(a->job, &o->vocab);
    return o->run ? vocabulary_of_run(a->job, o->run, &record) : NULL;
}

static bool read_vocabulary(Artifact *a, const CompileOptions *o)
{
    if (!o->vocab.spec && vocabulary_is_chosen(&o->vocab))
        return job_error(a->job, "%s is for --vocab: add that, or leave %s out",
                         o->vocab.source ? "--source-vocab" : "--token",
                         o->vocab.source ? "--source-vocab" : "--token");
    a->rules = (TokenRules){-1, -1, -1, -1, -1,
                            -1, 0,  -1, -1, .text = {-1, -1, -1, 0, .forbidden = {-1, -1, -1, -1}}};
    a->vocab = find_vocabulary(a, o);
    if (!a->vocab)
        return !o->vocab.spec && !o->run;
    vocab_set_stream(a->vocab, a->kind == CORPUS_STREAM);
    a->rules = *vocab_rules(a->vocab);
    return inference_check_sizes(a->job, a->session.model->module, a->vocab);
}

/* What a program, page or package does with a text. */
static bool check_alone(Artifact *a)
{
    if (a->json_needs && (artifact_is_script(a) || !a->names[TFC_DECODE_STEP]))
        return job_error(a->job,
                         "--emit %s: the tokenizer.json has %s, which are put inside what "
                         "is for this system alone",
                         a->emit, a->json_needs);
    return a->names[TFC_DECODE_STEP] || a->has_text ||
           job_error(a->job,
                     "--emit %s: the predictions of %s do not read one text whose vocabulary is "
                     "inside%s",
                     a->emit, a->session.options.path,
                     !a->vocab            ? ": --vocab gives it"
                     : a->predictor.n > 1 ? "; --only chooses one of them"
                                          : "");
}

static bool read_shortlist(Artifact *a, const CompileOptions *o)
{
    if (!o->shortlist.path)
        return true;
    if (!a->vocab)
        return job_error(
            a->job,
            "--shortlist is for a vocabulary, which has the words of its lines: add --vocab, or leave --shortlist out");
    if (a->kind != CORPUS_PAIRS)
        return job_error(a->job, SHORTLIST_OF_LINES, o->run ? o->run : a->session.options.path);
    a->shortlist = shortlist_read(a->job, &o->shortlist, a->vocab);
    return a->shortlist != NULL;
}

/* Whether text is taken and given, too. */
static void choose_text(Artifact *a)
{
    TfcColumn input;
    if (!a->vocab || !(a->names[TFC_DECODE_STEP] || compile_text_input(a, &input)))
        return;
    const Vocabulary *sides[] = {a->vocab, vocab_source(a->vocab)};
    a->is_portable = artifact_is_foreign(a) || artifact_is_c(a);
    for (int i = 0; i < 2; i++) {
        if (vocab_kind(sides[i]) != VOCAB_JSON)
            continue;
        a->has_json = true;
        if (a->is_portable && !a->json_needs)
            a->json_needs = tokenizer_json_needs(vocab_tokenizer(sides[i]));
    }
    a->has_text = !a->json_needs;
    if (!a->has_text && !artifact_is_script(a))
        diag_remark(
            &a->job->diags, (Loc){0},
            "functions of text are left out: the tokenizer.json has %s, which are put inside "
            "what is for this system alone",
            a->json_needs);
}

static bool is_text(const Artifact *a)
{
    return a->makes == ARTIFACT_LLVM || a->makes == ARTIFACT_ASM;
}

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
        if (!codegen_dump(list[i], &target, a->makes == ARTIFACT_ASM, out, &a->job->diags))
            return false;
    return true;
}

/* `option`: of what is put inside; NULL: none was given. */
static bool holds_code_alone(Artifact *a, const char *option)
{
    return !option || job_error(a->job, "%s holds code alone: leave %s out",
                                is_text(a) ? "text" : "bitcode", option);
}

static bool write_code(Artifact *a)
{
    const char *what = is_text(a) ? "text" : "bitcode";
    if (a->n_cpus > 1)
        return job_error(a->job, "%s is for one CPU: --cpu names %d", what, a->n_cpus);
    Text code = {0};
    bool ok =
        put_code(a, &code) && file_write_all(&a->job->diags, a->output, code.data, code.length);
    text_free(&code);
    return ok;
}

/* Of a model whose texts are generated from columns, once its programs are there. */
static bool find_what_is_read(Artifact *a)
{
    return !find_read_column(a, a->functions[TFC_ENCODE]) ||
           (compile_find_columns(a) && (!artifact_is_alone(a) || compile_check_records(a)));
}

/* The name, and what the options need of each other. */
static bool check_options(Artifact *a, const CompileOptions *o)
{
    if (!compile_choose_name(a, o->name))
        return false;
    if (is_rounded(o) && !artifact_is_script(a))
        return job_error(
            a->job, "--store bf16 is for pages and packages (--emit html, js), not for --emit %s",
            a->emit);
    if (is_rounded(o) && precision_quant(a->session.options.precision))
        return job_error(a->job,
                         "--store bf16 rounds f32, and params are %s already, which is smaller: "
                         "leave it out",
                         session_dtype(&a->session.options));
    return true;
}

/* Target, vocabulary, shortlist, and the functions that are inside. */
static bool choose_contents(Artifact *a, const CompileOptions *o)
{
    const bool averages = o->with->count > 0;
    if (!compile_check_files(a) || !artifact_choose_target(a, o->target, o->cpus, o->gemm) ||
        !read_vocabulary(a, o) || !read_shortlist(a, o) ||
        !add_functions(a, o->functions, averages || artifact_is_alone(a),
                       !averages && artifact_is_script(a)) ||
        (averages && !check_ensemble(a)))
        return false;
    if (a->shortlist && !a->names[TFC_DECODE_STEP])
        return job_error(a->job, "--shortlist: no function decodes; add decode_step to --function");
    if (a->only && !a->names[TFC_PREDICT])
        return job_error(a->job, "--only chooses a prediction, and the function predict is not "
                                 "compiled; add it to --function");
    return true;
}

static bool compile_code(Artifact *a, const CompileOptions *o)
{
    return holds_code_alone(a, o->with->count > 0      ? "--with"
                               : o->weights            ? "--weights"
                               : a->shortlist          ? "--shortlist"
                               : is_text(a) && o->name ? "--name"
                                                       : NULL) &&
           write_code(a);
}

/* Programs and weights, of the members of an ensemble, too. */
static bool make_contents(Artifact *a, const CompileOptions *o)
{
    choose_text(a);
    if (artifact_is_alone(a) && !check_alone(a))
        return false;
    if (!compile_members(a, o->run ? o->run : a->session.options.path, o))
        return false;
    share_tables(a, o);
    return compile_objects(a) && find_what_is_read(a) && compile_check_names(a) &&
           load_weights(a, o) && compile_load_members(a) && compile_choose_panels(a) &&
           (!is_rounded(o) || !a->weights || round_all(a));
}

static bool write_artifact(Artifact *a)
{
    Text header = {0};
    compile_header(a, &header);
    const char *replaced = compile_other_library(a, header.data);
    bool ok = artifact_is_script(a) ? compile_script(a, header.data)
              : artifact_is_c(a)    ? compile_c(a, header.data)
                                    : compile_link(a, header.data);
    text_free(&header);
    if (ok)
        compile_tell_replaced(a, replaced);
    if (ok && !a->weights && a->makes == ARTIFACT_EXE)
        diag_remark(&a->job->diags, (Loc){0},
                    "no weights are inside %s, which asks for --weights FILE: name the folder of a "
                    "run in place of a model's file, or give --weights here",
                    a->output);
    return ok;
}

static bool compile(Artifact *a, const CompileOptions *o)
{
    a->ports = ports_of(a->session.model->module);
    if (!check_options(a, o) || !choose_contents(a, o))
        return false;
    if (is_text(a) || a->makes == ARTIFACT_BC)
        return compile_code(a, o);
    return make_contents(a, o) && write_artifact(a);
}

bool compile_model(Job *job, const SessionOptions *model, const CompileOptions *options)
{
    Artifact artifact = {.job = job,
                         .output = options->output,
                         .emit = options->emit,
                         .makes = artifact_kind_of(options->emit),
                         .run = options->run,
                         .only = options->only};
    bool ok = session_open(&artifact.session, job, model) && compile(&artifact, options);
    compile_close_members(&artifact);
    text_free(&artifact.code);
    store_free(artifact.weights);
    session_close(&artifact.session);
    return ok;
}
