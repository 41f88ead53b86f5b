/* Run reports: a run's folder as the view that a page shows. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "cli/report/study.h"
#include "driver/corpus/text_files.h"
#include "runtime/train/runlog.h"

/* RunReport: of one folder. Everything lives in the job's arena. */
typedef struct RunReport {
    const char *path;
    RunRecord record;
    RunLog log;
    StudyText text; /* the validation text, where it is there */
} RunReport;

/* Reads run.json and the log. False after errors. */
bool report_read(Job *job, const char *path, RunReport *report);
/* The text that the run was validated on, and the words it was trained on; notes tell what is gone or is
 * another now. False after errors of texts that are there. */
bool report_read_texts(Job *job, RunReport *report, int64_t line_limit, RunView *view);
/* The value of an option of the command that began the run; NULL: it was not given. */
const char *report_argument(const RunReport *report, const char *option);
/* The files that run.json names, of the options with this prefix: "", "valid-". */
TextFiles report_files(Job *job, const RunReport *report, const char *prefix);
/* Why curves of two runs beside each other do not compare: their losses and error rates are of tokens of two
 * vocabularies, or of two validation texts. NULL: they do. */
const char *report_units(Job *job, const RunReport *first, const RunReport *other);
/* What tfc data finds in the training text, unless it is large or gone. (report_survey.c) */
bool report_survey(Job *job, const RunReport *report, RunView *view);
/* Curves, facts, commands and the samples of the log. */
void report_view(Job *job, const RunReport *report, RunView *view);

#endif
