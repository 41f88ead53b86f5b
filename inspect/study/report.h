/* Run reports: a run's folder as the view that a page shows. */
#ifndef INSPECT_STUDY_REPORT_H
#define INSPECT_STUDY_REPORT_H

#include "inspect/study/study.h"
#include "driver/corpus/text_files.h"
#include "runtime/train/runlog.h"

/* RunReport: of one folder. Everything lives in the job's arena.
 *   is_table   the run reads tables, whose validation text is none of lines
 *   is_other   of each of the record's texts: the file is not the one that was recorded, so nothing
 *              of it is shown; NULL: not looked at */
typedef struct RunReport {
    const char *path;
    RunRecord record;
    RunLog log;
    bool is_table, *is_other;
    StudyText text; /* the validation text; source NULL: not there */
} RunReport;

/* Reads run.json and the log. False after errors. */
bool report_read(Job *job, const char *path, RunReport *report);
/* Reads the run's validation text (that without a name, else the first), and, of pairs, the targets
 * of its training text. Notes in the view report a text that is missing, or a training text that is
 * too large. False after errors in texts that are there. */
bool report_read_texts(Job *job, RunReport *report, int64_t line_limit, RunView *view);
/* The files of the validation text: that without a name, else the first. *there false: there are
 * none, or one is gone, which a note in the view reports. */
TextFiles report_valid_files(Job *job, const RunReport *report, RunView *view, bool *there);
/* The value of an option in `arguments` of run.json; NULL: the option is not there. */
const char *report_argument(const RunReport *report, const char *option);
/* The files that run.json names, of the options with this prefix: "", "valid-". */
TextFiles report_files(Job *job, const RunReport *report, const char *prefix);
/* Why the curves of two runs cannot be compared: their losses and error rates are per token of
 * different vocabularies, or of different validation texts. NULL: they can. */
const char *report_units(Job *job, const RunReport *first, const RunReport *other);
/* Adds the findings of tfc data in the training text, unless a text of the run is missing, the
 * texts have more than 100 MB, or the run was trained on prepared data. False after errors.
 * (report_survey.c) */
bool report_survey(Job *job, const RunReport *report, RunView *view);
/* Adds the curves of the log, and the greatest of each measure of predictions. (report_curves.c) */
void report_curves(Job *job, const RunLog *log, RunView *view);
/* Adds a fact about the run; told: by its record. Nothing if the value is NULL or "". */
void report_detail(Job *job, RunView *view, const char *name, const char *value, bool is_told);
/* Sets the view's name and model, and adds curves, details, commands and the log's samples. */
void report_view(Job *job, const RunReport *report, RunView *view);

#endif
