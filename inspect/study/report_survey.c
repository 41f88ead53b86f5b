/* What tfc data finds in the texts of a run, as a table of its report. */
#include "inspect/study/cells.h"
#include "inspect/study/report.h"

#include "base/file.h"
#include "driver/corpus/survey/survey.h"

#include <inttypes.h>
#include <string.h>

/* A survey reads each text twice: of larger ones it takes longer than a report should. */
enum { MOST_BYTES = 100000000 };

static void put_findings(Job *job, const Survey *survey, RunTable *table)
{
    REPORT_HEADS(job, table,
                 arena_printf(job->arena, "Training text: %" PRId64 " lines", survey->lines),
                 "By tfc data, which shows more lines of each and tells what to do.", "what",
                 "lines", "for instance");
    for (int i = 0; i < SURVEY_KINDS; i++) {
        const SurveyFinding *finding = &survey->findings[i];
        if (!finding->lines)
            continue;
        const SurveyExample *example = finding->examples.count ? finding->examples.data : NULL;
        const char *shown = example
                                ? arena_printf(job->arena, "line %" PRId64 ": %s", example->line,
                                               example->sides[0] ? example->sides[0] : "")
                                : "";
        report_cell(job, table, finding->title);
        report_count(job, table, finding->lines);
        report_cell(job, table, shown);
    }
}

bool report_survey(Job *job, const RunReport *report, RunView *view)
{
    SurveyOptions options = {.examples = 1, .lines = report->record.kind != CORPUS_STREAM};
    SurveyText valid = {.files = report_files(job, report, "valid-")};
    options.train.files = report_files(job, report, "");
    int64_t bytes = 0;
    if (report->is_table)
        return true;
    for (size_t i = 0; i < report->record.texts.count; i++) {
        const RunText *text = &report->record.texts.data[i];
        if (!file_exists(text->file) || (report->is_other && report->is_other[i]))
            return true;
        bytes += text->bytes;
    }
    if (!text_files_given(&options.train.files) || bytes > MOST_BYTES)
        return true;
    if (text_files_given(&valid.files))
        vec_push(job->arena, options.valid, valid);
    options.lines = options.lines && options.train.files.text.count;
    options.languages = report_argument(report, "--languages");
    Survey result;
    if (!survey(job, &options, NULL, &result))
        return false;
    vec_push(job->arena, view->tables, ((RunTable){0}));
    put_findings(job, &result, &view->tables.data[view->tables.count - 1]);
    return true;
}
