/* What the options of several commands lead to. */
#include "cli/options/common.h"

#include "cli/tracing.h"
#include "driver/exchange/import.h"

#include <string.h>

/* An option that has an effect only with --shortlist. */
static bool lacks_shortlist(const Common *common, const Arguments *arguments)
{
    bool sized = false;
    for (size_t i = 0; i < arguments->given.count; i++)
        sized = sized || !strcmp(arguments->given.data[i].option->name, "shortlist-size");
    return sized && !common->shortlist.path;
}

bool common_parse(Job *job, const Command *command, int argc, char **argv, void *record,
                  Arguments *arguments, int *status)
{
    if (!options_parse(job, command, argc, argv, record, arguments, status))
        return false;
    const Common *common = (const void *)((const char *)record + command->common);
    if (lacks_shortlist(common, arguments)) {
        *status = cli_usage_error(
            "--shortlist-size is for --shortlist: add that, or leave --shortlist-size out");
        return false;
    }
    job->emulates_fma = common->fma && !strcmp(common->fma, "emulate");
    if (job->emulates_fma && common->gemm && strcmp(common->gemm, "native")) {
        *status = cli_usage_error("--fma emulate is for native products: leave --gemm %s out",
                                  common->gemm);
        return false;
    }
    job->gemm = common->gemm;
    job->cpu = common->cpu;
    job->measures = command->trains;
    job->passes = common->passes;
    job->allows_outside = common->allow_outside;
    if (common->threads)
        exec_set_threads((int)common->threads);
    return true;
}

bool common_model(Job *job, const Common *common, const char *path, ModelArgument *model)
{
    if (!model_argument(job, path, &common->settings, model))
        return false;
    if (model->run)
        import_tell_again(job, model->run);
    if (common->level)
        model->options.opt_level = strcmp(common->level, "0") ? 2 : 0;
    if (common->dtype)
        session_set_dtype(&model->options, common->dtype);
    return true;
}

TextList fields_given(Job *job, const RunFolder *run, const TextList *columns)
{
    TextList given = {0};
    for (size_t i = 0; i < run->fields.count; i++)
        vec_push(job->arena, given, run->fields.data[i]);
    for (size_t i = 0; i < columns->count; i++)
        vec_push(job->arena, given, columns->data[i]);
    return given;
}

bool common_check_texts(Job *job, const RunFolder *run, TextFiles *texts, unsigned kinds,
                        const TextList *columns)
{
    const ModelPorts *ports = &run->inference.ports;
    const TextList given = fields_given(job, run, columns);
    if (!run_reads_lines(job, run))
        return false;
    const char *misfit =
        text_files_misfit(job->arena, texts, "", kinds, run->path, run->kind == CORPUS_PAIRS, true);
    if (!misfit && columns->count && !texts->data.count)
        misfit = arena_printf(job->arena,
                              "--column %s names a field of a table: give the pairs as --data FILE",
                              columns->data[0]);
    if (misfit)
        return cli_refuse(job, "%s", misfit);
    if (texts->data.count &&
        !pair_columns_of(job, ports->source, ports->target, &given, &texts->columns))
        return false;
    text_files_look(job, texts, "", kinds);
    return true;
}

bool common_check_vocabulary(Job *job, const char *model, bool has_text, bool is_there,
                             const VocabularyChoice *choice)
{
    if (has_text && !choice->spec && !is_there)
        return cli_refuse(job, "%s", VOCAB_IS_MISSING);
    if (!has_text && vocabulary_is_chosen(choice) && !is_there)
        return cli_refuse(job,
                          "the columns of %s are labels, numbers or texts that have vocabularies "
                          "of their own, and no text needs a vocabulary: leave --vocab out",
                          model);
    return true;
}

RunSource common_source(const Common *common, const char *path)
{
    return (RunSource){.path = path,
                       .weights = common->weights,
                       .vocab = common->vocab,
                       .settings = &common->settings,
                       .with = &common->with,
                       .dtype = common->dtype,
                       .shortlist = common->shortlist,
                       .keeps = true};
}

int common_run(Job *job, const Common *common, const char *path, RunUse *use, const void *record)
{
    RunFolder run;
    Trace *trace;
    const RunSource source = common_source(common, path);
    bool ok = run_folder_open(job, &source, &run) &&
              tracing_open_ranks(job, common->trace, common->ranks, &trace);
    if (ok)
        import_tell_again(job, path);
    if (ok && common->special)
        vocab_read_special(run.vocab, strcmp(common->special, "text"));
    run.inference.workers.given = (int)common->workers;
    if (ok) {
        trace_use(trace);
        ok = use(job, record, &run);
        ok = tracing_close(job, common->trace, trace, ok ? common->ranks : NULL) && ok;
    }
    run_folder_close(&run);
    return cli_finish(job, ok);
}
