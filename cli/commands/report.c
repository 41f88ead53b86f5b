/* tfc report: a page about training runs, or one of its plots. */
#include "cli/commands/commands.h"

#include "base/file.h"
#include "cli/options/decoding.h"
#include "cli/options/endings.h"
#include "inspect/study/report.h"
#include "driver/corpus/table_files.h"
#include "driver/run/lock.h"
#include "driver/run/prediction.h"
#include "inspect/picture_svg.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RENEW_SECONDS = 5, LOOK_SECONDS = 1 };

typedef struct ReportCommand {
    Common common;
    const char *output, *svg, *axis;
    bool follow, log_only;
    StudyOptions study;
    Decoding decoding;
} ReportCommand;

static bool add_text_study(Job *job, const ReportCommand *o, const RunReport *report,
                           RunFolder *run, RunView *view)
{
    if (!report->text.text.source)
        return true;
    if (ports_predict(&run->inference.ports))
        return study(job, run, &report->text, &o->study, view);
    vec_push(job->arena, view->notes,
             "The model gives no probabilities of next tokens: nothing is said of single lines.");
    return true;
}

/* Of a run that reads tables. */
static bool add_table_study(Job *job, const ReportCommand *o, const RunReport *report,
                            RunFolder *run, RunView *view)
{
    const Module *module = run->session.model->module;
    const TextList given = fields_given(job, run, &(TextList){0});
    const size_t notes = view->notes.count;
    bool there;
    const TextFiles files = report_valid_files(job, report, view, &there);
    TableFields fields;
    CorpusText text;
    const bool answers = ports_predict(&run->inference.ports) && !predicts(module);
    if (!(predicts(module) || answers) || !there) {
        if (view->notes.count == notes)
            vec_push(job->arena, view->notes,
                     there ? "The model predicts nothing: nothing is said of single records."
                           : "There is no validation text, so nothing is said about single "
                             "records.");
        return true;
    }
    if (!table_fields_of(job, module, &run->inference.ports, &given, NULL, &fields) ||
        !table_files_read(job, &files.data, &fields, o->common.line_limit, &text))
        return false;
    if (!answers)
        return study_predictions(job, run, &text, &o->study, view);
    const StudyText studied = {.text = text};
    return study(job, run, &studied, &o->study, view);
}

/* Tables need the model; a run of another program's weights, or of a text that is gone, has
 * none. */
static bool add_study(Job *job, const ReportCommand *o, const RunReport *report, RunView *view)
{
    RunFolder run;
    bool ok = run_folder_open(job, &(RunSource){.path = report->path}, &run);
    if (ok) {
        ok = (report->is_table ? add_table_study : add_text_study)(job, o, report, &run, view);
        if (ok) {
            vec_push(job->arena, view->tables, ((RunTable){0}));
            Text drawing = {0};
            picture_put_model(run.session.model->module, job->arena, &drawing);
            view->drawing = text_keep(job->arena, &drawing);
            study_params(job, run.session.model->module,
                         &view->tables.data[view->tables.count - 1]);
        }
    }
    run_folder_close(&run);
    return ok;
}

/* `report` is filled; the first of several runs stands in `first`. */
static bool make_view(Job *job, const ReportCommand *o, const char *path, bool studies,
                      const RunReport *first, RunReport *report, RunView *view)
{
    *view = (RunView){0};
    if (!report_read(job, path, report) ||
        !report_read_texts(job, report, o->common.line_limit, view))
        return false;
    const char *units = report_units(job, first, report);
    if (units)
        vec_push(job->arena, view->notes, units);
    report_view(job, report, view);
    return !studies || (add_study(job, o, report, view) && report_survey(job, report, view));
}

/* `renew`: training goes on, so the page reads itself again. */
static bool make_page(Job *job, const ReportCommand *o, const Arguments *arguments, bool studies,
                      bool renew)
{
    RunView *views = ARENA_ARRAY(job->arena, RunView, arguments->count);
    RunReport *reports = ARENA_ARRAY(job->arena, RunReport, arguments->count);
    for (int i = 0; i < arguments->count; i++)
        if (!make_view(job, o, arguments->words[i], studies, &reports[0], &reports[i], &views[i]))
            return false;
    Text page = {0};
    run_page_put(views, (size_t)arguments->count, renew ? RENEW_SECONDS : 0, &page);
    bool ok = cli_write(job, o->output, &page);
    text_free(&page);
    return ok;
}

static bool make_plot(Job *job, const ReportCommand *o, const Arguments *arguments)
{
    RunPlot plot = run_plot_find(o->svg);
    RunView *views = ARENA_ARRAY(job->arena, RunView, arguments->count);
    RunReport *reports = ARENA_ARRAY(job->arena, RunReport, arguments->count);
    for (int i = 0; i < arguments->count; i++) {
        if (!report_read(job, arguments->words[i], &reports[i]))
            return false;
        const char *units = report_units(job, &reports[0], &reports[i]);
        if (units)
            diag_remark(&job->diags, (Loc){0}, "%s: %s", arguments->words[i], units);
        report_view(job, &reports[i], &views[i]);
    }
    if (!run_plot_has(views, (size_t)arguments->count, plot))
        return job_error(job, "the log of %s has no figures for the plot %s", arguments->words[0],
                         o->svg);
    Text svg = {0};
    run_plot_put(views, (size_t)arguments->count, plot, !strcmp(o->axis, "minutes"), &svg);
    bool ok = cli_write(job, o->output, &svg);
    text_free(&svg);
    return ok;
}

/* ---- following ---- */

static int64_t log_size(const char *folder)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    return file_stat(path, &status) ? (int64_t)status.st_size : 0;
}

static bool is_training(const Arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++)
        if (run_lock_is_taken(arguments->words[i]))
            return true;
    return false;
}

/* The log alone as it grows, and the whole page when the last training has ended. */
static bool follow(Job *job, const ReportCommand *o, const Arguments *arguments)
{
    int64_t shown = -1;
    while (is_training(arguments)) {
        int64_t size = 0;
        for (int i = 0; i < arguments->count; i++)
            size += log_size(arguments->words[i]);
        if (size != shown) {
            Job renewed = job_quiet(job, arena_new());
            renewed.show = job->show;
            bool ok = make_page(&renewed, o, arguments, false, true);
            cli_flush(&renewed);
            arena_free(renewed.arena);
            if (!ok)
                return false;
            shown = size;
        }
        sleep(LOOK_SECONDS);
    }
    return make_page(job, o, arguments, !o->log_only, false);
}

#define PLOTS \
    "loss|bleu|errors|predictions|rate|gradient|speed|memory" /* as run_plots.def has them */

static int run_report(Job *job, void *record, const Arguments *arguments)
{
    ReportCommand *o = record;
    o->study.beam = o->decoding.beam;
    if (!o->svg && !o->output)
        return cli_usage_error("-o PAGE.html is needed, or one plot: --svg loss -o F.svg (" PLOTS
                               ")");
    const char *kind = o->output ? ending_kind(job, "report", o->output, NULL, o->svg) : o->svg;
    if (!kind)
        return EXIT_USAGE;
    if (!o->svg && !strcmp(kind, "svg"))
        return cli_usage_error("-o %s: --svg PLOT says which plot", o->output);
    if (o->svg && o->follow)
        return cli_usage_error("--follow renews a page, not a plot");
    bool ok = o->svg      ? make_plot(job, o, arguments)
              : o->follow ? follow(job, o, arguments)
                          : make_page(job, o, arguments, !o->log_only, false);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"output", "PAGE.html", OUTPUT(ReportCommand, output), 0, NULL,
     "where to write the page, or the plot of --svg (the plot: standard output)"},
    {"svg", PLOTS, FIELD(ReportCommand, svg), 0, NULL, "write one plot instead, as SVG"},
    {"axis", "steps|minutes", FIELD(ReportCommand, axis), 0, "steps", "horizontal axis of --svg"},
    {"follow", NULL, FIELD(ReportCommand, follow), 0, NULL,
     "write the page again while a run trains; an open page reloads itself"},
    {"log-only", NULL, FIELD(ReportCommand, log_only), 0, NULL,
     "write only what the log has, without running the model"},
    {"sentences", "N", FIELD(ReportCommand, study.sentences), 1, "500",
     "most sentences of the validation text to run the model on; of a stream or table all are taken"},
#define RECORD ReportCommand
#define BEAM DECODING_OPTION
#include "runtime/decode/settings.def"
    {"checkpoint", "FILE", FIELD(ReportCommand, study.checkpoint), 0, NULL,
     "params from this file, of RUN or elsewhere (those that tfc info RUN names)"},
    OPTION_LINE_LIMIT(ReportCommand),
    OPTION_THREADS(ReportCommand),
    OPTION_GEMM(ReportCommand),
    OPTION_CPU(ReportCommand),
    OPTION_ALLOW_OUTSIDE(ReportCommand),
};

const Command command_report = {
    .name = "report",
    .summary = "make a page about training runs: curves, samples, quality, comparison",
    .arguments = "RUN…",
    .min_arguments = 1,
    .max_arguments = 16,
    .text =
        "Writes one HTML file about training runs: loss, rate, speed and memory, translations or "
        "continuations of the same lines during training, quality by length, rare words, tokens "
        "taken for others, the worst lines, and what differs between several runs. Of a run that "
        "predicts: confusions of classes and tags, and the records that are predicted worst.",
    COMMAND_OPTIONS(ReportCommand, options),
    .run = run_report,
};
