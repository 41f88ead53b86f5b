/* tfc info: what a file or folder holds. */
#define _GNU_SOURCE
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/progress.h"
#include "driver/exchange/prompts.h"
#include "driver/formats/formats.h"
#include "driver/run/params_hash.h"
#include "driver/run/thresholds.h"
#include "driver/train/best.h"
#include "ir/text.h"
#include "passes/pass.h"
#include "runtime/data/prepared.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Info {
    Common common;
    bool hash, json;
} Info;

static int64_t type_elements(const Type *type)
{
    int64_t count = 1;
    for (int i = 0; i < type->rank; i++)
        count *= type->dims[i].size;
    return count;
}

/* Names of several fields with commas between. */
static const char *fields_text(Arena *arena, const char *fields)
{
    const char *behind = strchr(fields, TABLE_AND);
    return behind ? arena_printf(arena, "%.*s, %s", (int)(behind - fields), fields,
                                 fields_text(arena, behind + 1))
                  : fields;
}

/* An input or output: its name, type, and what the model says of its data. */
static void print_port(Job *job, const Module *module, const char *word, const Op *op,
                       const Type *type)
{
    static const AttrName said[] = {ATTR_column, ATTR_vocab, ATTR_predict};
    printf("  %-7s %-40s %s", word, cli_name(job->arena, op_string(op, ATTR_name)),
           ir_type_text(module, type, job->arena));
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (op_attr(op, said[i]))
            printf("  %s %s",
                   said[i] == ATTR_column && op_attr(op, ATTR_missing) ? "missing"
                                                                       : attr_info[said[i]].name,
                   cli_name(job->arena, fields_text(job->arena, op_string(op, said[i]))));
    if (op_attr(op, ATTR_hide))
        printf("  hides %g", op_float(op, ATTR_hide));
    printf("\n");
}

/* " int8 …" of a param that the file has as integers; "". */
static const char *quantised_as(Job *job, const StFile *weights, const ParamInfo *param)
{
    const StTensor *tensor = weights ? st_find(weights, param->name) : NULL;
    return tensor && tensor->scales.data
               ? arena_printf(job->arena, "  %s",
                              param->quant ? quant_info(param->quant)->word
                                           : st_meta(weights, ST_QUANTISED))
               : "";
}

/* weights: of a quantised run its file; or NULL. */
static void print_model(Job *job, const Model *model, const StFile *weights)
{
    static const char *const roles[] = {"", "  frozen", "  state", "  slot", "  gradient"};
    const Module *module = model->module;
    int64_t total = 0;
    printf("model %s\n", cli_name(job->arena, module->name));
    FOR_OPS (op, &module_function(module, "model")->body) {
        if (op->kind == OP_input)
            print_port(job, module, "input", op, &op_result(op)->type);
        else if (op->kind == OP_output)
            print_port(job, module, "output", op, &op->args[0]->type);
    }
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        printf("  param   %-40s %s%s%s\n", cli_name(job->arena, info->name),
               ir_type_text(module, &info->type, job->arena), roles[info->role],
               quantised_as(job, weights, info));
        total += type_elements(&info->type);
    }
    printf("%zu param%s, %" PRId64 " number%s\n", module->params.count,
           text_plural((int64_t)module->params.count, "", "s"), total, text_plural(total, "", "s"));
}

/* Numbers of a value from dimension `from` on, all of which are constant. */
static int64_t numbers_of(const Type *type, int from)
{
    int64_t count = 1;
    for (int i = from; i < type->rank; i++)
        count *= dim_is_const(type->dims[i]) ? type->dims[i].size : 1;
    return count;
}

/* Dimensions of caches with positions before the text. */
static void print_made_dims(Job *job, const Module *module, const Function *decode_step)
{
    for (int symbol = 0; symbol < (int)module->symbols.count; symbol++) {
        bool found = false;
        FOR_OPS (op, &decode_step->body)
            found |= op->kind == OP_append && type_find_dim(&op_result(op)->type, symbol) >= 0;
        if (found && symbol_is_made(module, symbol))
            printf("  where   %s = %s: positions before the text, then its own\n",
                   module->symbols.data[symbol].name,
                   ir_formula_text(module, &module->symbols.data[symbol].formula, job->arena));
    }
}

/* What decoding keeps: of each position of the text (caches), and what `encode` hands over. */
static bool print_kept(const void *context, const Incremental *incremental)
{
    Job *job = ((const Session *)context)->job;
    const Module *module = ((const Session *)context)->model->module;
    int64_t numbers = 0, bytes = 0;
    FOR_OPS (op, &incremental->decode_step->body) {
        if (op->kind == OP_append) {
            const Type *type = &op_result(op)->type;
            const int64_t n = numbers_of(type, 2);
            printf("  cached  %-40s %s, %" PRId64 " number%s a position\n",
                   op->scope ? op->scope : "", ir_type_text(module, type, job->arena), n,
                   text_plural(n, "", "s"));
            numbers += n;
            bytes += n * (int64_t)dtype_bytes(type->dtype);
        } else if (op->kind == OP_assign && is_cache(op->args[0])) {
            const Type *type = &op->args[0]->type;
            printf("  cached  %-40s %s, the last %" PRId64 " row%s\n", op->scope ? op->scope : "",
                   ir_type_text(module, type, job->arena), type->dims[1].size,
                   text_plural(type->dims[1].size, "", "s"));
        } else if (op->kind == OP_input && !strncmp(op_string(op, ATTR_name), "memory.", 7)) {
            printf("  kept    %-40s %s, once a text\n", op_string(op, ATTR_name),
                   ir_type_text(module, &op_result(op)->type, job->arena));
        }
    }
    print_made_dims(job, module, incremental->decode_step);
    printf("decoding caches %" PRId64 " number%s, %" PRId64 " bytes, a position\n", numbers,
           text_plural(numbers, "", "s"), bytes);
    if (incremental->many)
        printf("a text that is fed %" PRId64
               " positions or more at once makes keys and values of what is cached\n",
               incremental->many);
    return true;
}

static void print_decoding(Session *session)
{
    const ModelPorts ports = ports_of(session->model->module);
    Diagnostics why;
    if (ports_predict(&ports) && !session_decodes(session, print_kept, session, &why))
        printf("cannot go on with a text token by token: tfc check tells why\n");
}

static bool info_model(Job *job, const char *path, const Common *common)
{
    ModelArgument model;
    Session session;
    if (!common_model(job, common, path, &model) || !session_open(&session, job, &model.options))
        return false;
    print_model(job, session.model, NULL);
    print_decoding(&session);
    session_close(&session);
    return true;
}

/* LookedAt: the checkpoint that was read last, and its step: "last" and "best" are often links to
 * one file, whose header tells of thousands of tensors. */
typedef struct LookedAt {
    dev_t device;
    ino_t inode;
    const char *step;
} LookedAt;

/* The step of a checkpoint; "" if it tells of none. NULL after an error. */
static const char *step_of(Job *job, const char *file, LookedAt *seen)
{
    struct stat info;
    if (!file_stat(file, &info))
        info = (struct stat){0};
    if (seen->step && info.st_ino == seen->inode && info.st_dev == seen->device)
        return seen->step;
    StFile *checkpoint = st_open(&job->diags, job->arena, file);
    if (!checkpoint)
        return NULL;
    const char *step = st_meta(checkpoint, "step");
    *seen = (LookedAt){info.st_dev, info.st_ino, arena_strdup(job->arena, step ? step : "")};
    st_close(checkpoint);
    return seen->step;
}

/* `more` stands behind the step. False after an error: the file is there and cannot be read. */
static bool print_checkpoint(Job *job, const char *folder, const char *name, const char *more,
                             LookedAt *seen)
{
    const char *file = arena_printf(job->arena, "%s/%s.safetensors", folder, name);
    const char *step = file_exists(file) ? step_of(job, file, seen) : "";
    if (step && *step)
        printf("  %-8sstep %s%s\n", name, cli_name(job->arena, step), more);
    return step != NULL;
}

/* ", of the lowest loss (--best loss)"; "" where nothing is recorded. */
static const char *best_text(Job *job, const char *path)
{
    RunRecord record;
    const char *by;
    const TrainMeasure *measure =
        run_record_read(job, path, &record) ? training_recorded_best(&record, &by) : NULL;
    return measure ? arena_printf(job->arena, ", of %s (--best %s)",
                                  train_measure_best(measure, job->arena),
                                  text_visible_name(job->arena, by))
                   : "";
}

/* What computed a training: the version of tfc, whether its bits are common, processors. */
static void print_computed(Job *job, const char *path)
{
    RunRecord record;
    const char *bits =
        run_record_read(job, path, &record) ? run_record_fact(&record, "bits") : NULL;
    if (!bits)
        return;
    printf("trained by tfc %s%s%s; bits: %s\n",
           record.version ? cli_name(job->arena, record.version) : "of another version",
           record.commit ? ", commit " : "",
           record.commit ? cli_name(job->arena, record.commit) : "", cli_name(job->arena, bits));
    for (size_t i = 0; i < record.processors.count; i++)
        printf("  on      %s\n", cli_name(job->arena, record.processors.data[i]));
}

/* Which params commands take, and why; nothing where the run has no checkpoints to choose from. */
static void print_answering(Job *job, const char *folder)
{
    const char *path = run_params(job, folder);
    const char *lost = path ? NULL : run_lost_weights(job, folder);
    if (lost)
        diag_warning(&job->diags, (Loc){0}, "%s", lost);
    if (path && !run_is_weights(path))
        printf("  %-8s%s: %s\n", "answers", file_name(run_checkpoint(job, folder, path)),
               run_params_reason(job, folder));
}

/* After the checkpoint `name`, which cannot be read: the newest step's that can. */
static void name_whole(Job *job, const char *folder, const char *name)
{
    int64_t *steps;
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    for (int n = run_steps(job->arena, folder, INT64_MAX, &steps); n--;) {
        const char *path = run_step_path(job->arena, folder, steps[n]);
        StFile *file = st_open(&unseen, job->arena, path);
        if (!file)
            continue;
        st_close(file);
        diag_note(&job->diags, (Loc){0},
                  "%s is whole: cp --remove-destination %s %s/%s.safetensors", path, path, folder,
                  name);
        return;
    }
}

/* What became of the params of a quantised run. */
static void print_quantised(const Session *session, const StFile *weights)
{
    const Module *module = session->model->module;
    const char *word = st_meta(weights, ST_QUANTISED);
    const Quant most = word ? quant_of_word(word) : QUANT_NONE;
    size_t n = 0;
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *param = module->params.data[i];
        const StTensor *tensor = st_find(weights, param->name);
        n += tensor && tensor->scales.data && (!param->quant || param->quant == most);
    }
    printf("quantised: %zu of %zu params are %s, in " RUN_WEIGHTS "/model.safetensors\n", n,
           module->params.count, session_dtype(&session->options));
}

/* Patterns of the params that a run of integers computes in types of their own. */
static void print_keep(Job *job, const TextList *keep)
{
    for (size_t i = 0; i < keep->count; i++)
        printf("  keep    %s\n", cli_name(job->arena, keep->data[i]));
}

/* What a generation takes where no option says. */
static void print_defaults(Job *job, const RunFolder *run)
{
    for (size_t i = 0; i < run->defaults.count; i++) {
        const DecodeDefault *is = &run->defaults.data[i];
        printf("  --%s %.15g where it is not given\n",
               setting_help(setting_default_row(is->name))->option, is->value);
    }
}

/* The prompts of an imported encoder. */
static void print_prompts(Job *job, const char *run)
{
    Prompts prompts;
    Job quiet = job_quiet(job, job->arena);
    if (!prompts_read(&quiet, file_in(job->arena, run, "published"), &prompts))
        return;
    for (size_t i = 0; i < prompts.names.count; i++)
        printf("  prompt  %s: '%s'%s\n", cli_name(job->arena, prompts.names.data[i]),
               cli_name(job->arena, prompts.texts.data[i]),
               (int)i == prompts.chosen ? ", where --prompt names no other" : "");
}

static bool predicts_sets(const Module *module)
{
    bool any = false;
    FOR_OPS (op, &module_function(module, "model")->body)
        any = any || (op->kind == OP_output && op_attr(op, ATTR_predict) &&
                      !strcmp(op_string(op, ATTR_predict), "many"));
    return any;
}

/* Of each label of a set its threshold, by the params with which the run answers. False after an
 * error. */
static bool print_thresholds(Job *job, RunFolder *run, const char *path)
{
    enum { MOST_SHOWN = 60 };
    Predictor predictor;
    const char *checkpoint = run_params(job, path);
    if (!checkpoint || !predicts_sets(run->session.model->module))
        return true;
    if (!predictor_find(&predictor, job, &run->inference, &run->columns, run->kind, NULL) ||
        !thresholds_mean(job, &predictor, &checkpoint, 1))
        return false;
    for (int p = 0; p < predictor.n; p++) {
        const Prediction *set = &predictor.all[p];
        const int64_t n = set->thresholds ? prediction_labels(&predictor, set) : 0;
        for (int64_t i = 0; i < n && i < MOST_SHOWN; i++)
            printf("  threshold of %s  %.4f  %s\n", cli_name(job->arena, set->name),
                   (double)set->thresholds[i],
                   set->names ? cli_name(job->arena, set->names[i]) : "");
        if (n > MOST_SHOWN)
            printf("  … %" PRId64 " more: tfc eval --json has all\n", n - MOST_SHOWN);
    }
    return true;
}

static bool info_run(Job *job, const char *path)
{
    RunFolder run;
    StFile *weights = NULL;
    bool ok = run_folder_open(job, &(RunSource){.path = path}, &run);
    const char *integers = file_in(job->arena, path, RUN_WEIGHTS "/model.safetensors");
    const bool is_quantised = ok && precision_quant(run.session.options.precision);
    if (is_quantised && file_exists(integers))
        ok = (weights = st_open(&job->diags, job->arena, integers)) != NULL;
    if (ok) {
        print_model(job, run.session.model, weights);
        print_decoding(&run.session);
        if (columns_have_text(&run.inference.ports, &run.columns))
            printf("vocabulary of %d tokens, trained on %s\n", (int)vocab_size(run.vocab),
                   corpus_kind_words[run.kind]);
        else
            printf("no vocabulary, trained on %s\n", corpus_kind_words[run.kind]);
        for (size_t i = 0; i < run.session.options.settings.count; i++)
            printf("  set     %s\n", cli_name(job->arena, run.session.options.settings.data[i]));
        print_computed(job, path);
        print_defaults(job, &run);
        print_prompts(job, path);
        if (weights)
            print_quantised(&run.session, weights);
        else if (is_quantised)
            printf("computed in %s, as the weights are: %s\n", session_dtype(&run.session.options),
                   file_in(job->arena, path, RUN_WEIGHTS));
        if (is_quantised)
            print_keep(job, &run.session.options.keep);
        LookedAt seen = {0};
        bool last = print_checkpoint(job, path, "last", "", &seen),
             best = print_checkpoint(job, path, "best", best_text(job, path), &seen);
        ok = print_checkpoint(job, path, "average", "", &seen) && last && best;
        print_answering(job, path);
        ok = print_thresholds(job, &run, path) && ok;
        if (!last || !best)
            name_whole(job, path, last ? "best" : "last");
    }
    if (weights)
        st_close(weights);
    run_folder_close(&run);
    return ok;
}

static bool info_prepared(Job *job, const char *path)
{
    const Prepared *p = prepared_open(&job->diags, job->arena, job_reach(job, path));
    if (!p)
        return false;
    printf("prepared data of %s: %" PRId64 " row%s of %" PRId64 " line%s\n",
           corpus_kind_words[p->kind], p->rows, text_plural(p->rows, "", "s"), p->lines,
           text_plural(p->lines, "", "s"));
    printf("  left out    %" PRId64 " with an empty side, %" PRId64 " too long\n", p->empty,
           p->long_);
    if (p->source.tokens)
        printf("  source      %" PRId64 " tokens, at most %" PRId64 " a row\n", p->source.tokens,
               p->source.longest);
    if (p->kind != CORPUS_RECORDS)
        printf("  target      %" PRId64 " tokens, at most %" PRId64 " a row\n", p->target.tokens,
               p->target.longest);
    for (size_t c = 0; c < p->columns.count; c++) {
        const PreparedSide *column = &p->columns.data[c];
        printf("  column      %s of %s: %s; %" PRId64 " values, at most %" PRId64 " a row\n",
               cli_name(job->arena, column->input), cli_name(job->arena, column->field),
               cli_name(job->arena, column->holds), column->tokens, column->longest);
    }
    printf("  vocabulary  %s\n", cli_name(job->arena, p->vocabulary));
    printf("  shards      %zu, windows of %" PRId64 " rows\n", p->shards.count, p->window_rows);
    for (size_t i = 0; i < p->texts.count; i++)
        printf("  %-11s %s\n", p->texts.data[i].option,
               cli_name(job->arena, p->texts.data[i].file));
    return true;
}

static bool check_sums(Job *job, const StFile *file)
{
    const bool ok = st_check_all(&job->diags, file);
    if (ok && st_checksums(file))
        printf("checksums are right\n");
    return ok;
}

static bool info_tensors(Job *job, const char *path)
{
    bool is_foreign = !format_check(&job->diags, job->arena, path);
    if (is_foreign)
        diag_note(
            &job->diags, (Loc){0},
            "tfc info tells of a model.tfg, the folder of a run, data of tfc prepare or a file of "
            "weights; tfc data looks at texts");
    StFile *file = !is_foreign ? format_open(&job->diags, job->arena, path) : NULL;
    if (!file)
        return false;
    uint64_t bytes = 0;
    const char *sums = st_checksums(file);
    for (int64_t i = 0; i < file->n_meta; i++)
        if (file->meta_values[i] != sums)
            printf("  %-16s %s\n", cli_name(job->arena, file->meta_keys[i]),
                   cli_name(job->arena, file->meta_values[i]));
    for (int64_t i = 0; i < file->n; i++) {
        const StTensor *tensor = &file->tensors[i];
        printf("  %-48s %s[", cli_name(job->arena, tensor->stored), st_stored_type(tensor));
        for (int d = 0; d < tensor->rank; d++)
            printf("%s%" PRId64, d ? ", " : "", st_stored_dim(tensor, d));
        printf("]\n");
        bytes += tensor->bytes;
    }
    for (int64_t i = 0; i < file->n_passed; i++)
        printf("  %-48s %s, which is not read\n", cli_name(job->arena, file->passed[i].name),
               cli_name(job->arena, file->passed[i].type));
    printf("%" PRId64 " tensor%s, %s\n", file->n, text_plural(file->n, "", "s"),
           bytes_text((int64_t)bytes));
    bool ok = check_sums(job, file);
    st_close(file);
    return ok;
}

/* ---- the hash of params ---- */

static void print_hash_json(Job *job, const ParamsHash *hash)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "hash", hash->all);
    json_put_text(&json, "of", hash->of);
    json_open(&json, "params", '[');
    for (size_t i = 0; i < hash->list.count; i++) {
        const ParamHash *param = &hash->list.data[i];
        json_open(&json, NULL, '{');
        json_put_text(&json, "name", param->name);
        json_put_text(&json, "type", param->type);
        json_put_text(&json, "dims", param->dims);
        json_put_text(&json, "xxh64", arena_printf(job->arena, "%016" PRIx64, param->hash));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    printf("%s\n", text.data);
    text_free(&text);
}

static bool info_hash(Job *job, const Info *o, const char *path, bool is_folder)
{
    ParamsHash hash;
    if (is_prepared(path) || text_ends(path, ".tfg") || text_ends(path, ".tir"))
        return job_error(job,
                         "%s holds no params to hash: name the folder of a run, or a file of "
                         "weights",
                         path);
    if (is_folder && !is_run_folder(path))
        return run_record_refuse(job, path);
    if (!(is_folder ? params_hash_run(job, path, o->common.checkpoint, &hash)
                    : params_hash_file(job, path, &hash)))
        return false;
    if (o->json)
        print_hash_json(job, &hash);
    else
        printf("%s\n", hash.all);
    return true;
}

static bool info(Job *job, const Info *o, const char *path)
{
    const Common *common = &o->common;
    struct stat status;
    if (stat(path, &status))
        return diag_errno(&job->diags, "read", path, errno), false;
    if (o->hash || o->json)
        return info_hash(job, o, path, S_ISDIR(status.st_mode));
    if (S_ISDIR(status.st_mode) && common->settings.count)
        return job_error(job,
                         "%s: --set is for a model's file: a run has the settings that "
                         "it was trained with",
                         path);
    if (S_ISDIR(status.st_mode))
        return is_prepared(path) ? info_prepared(job, path) : info_run(job, path);
    if (text_ends(path, ".tfg") || text_ends(path, ".tir"))
        return info_model(job, path, common);
    return info_tensors(job, path);
}

static int run_info(Job *job, void *record, const Arguments *arguments)
{
    const Info *o = record;
    if (o->common.checkpoint && !o->hash && !o->json)
        return cli_usage_error("--checkpoint is for --hash and --json: leave it out");
    return cli_finish(job, info(job, o, arguments->words[0]));
}

static const Option options[] = {
    {"hash", NULL, FIELD(Info, hash), 0, NULL,
     "print one hash of the params alone: their names, types, shapes and values (SHA-256), without "
     "times, paths and the optimizer's tensors"},
    {"json", NULL, FIELD(Info, json), 0, NULL,
     "print that hash and those of each param (XXH64) as JSON"},
    OPTION_CHECKPOINT(Info),
    OPTION_SET(Info),
    OPTION_ALLOW_OUTSIDE(Info)};

const Command command_info = {
    .name = "info",
    .summary = "show what a model, run or checkpoint contains",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Shows what a model (.tfg), the folder of a run, a folder of tfc prepare, or a "
            "checkpoint or other safetensors file contains. With --hash equal params give the "
            "same line on every machine; of a run they are those that it answers with.",
    COMMAND_OPTIONS(Info, options),
    .run = run_info,
};
