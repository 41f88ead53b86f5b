/* What the tasks of several threads have to tell, passed on in the order of the text. */
#ifndef DRIVER_CORPUS_PREPARE_REPORT_H
#define DRIVER_CORPUS_PREPARE_REPORT_H

#include "driver/job.h"

/* PrepareReport: the messages of a task, in an arena of its own, which the task may use, too. Zeros
 * until it begins. */
typedef struct PrepareReport {
    Arena *arena;
    Diagnostics diags;
} PrepareReport;

void prepare_report_begin(PrepareReport *report);
void prepare_report_drop(PrepareReport *report); /* frees the arena; no message is passed on */
/* Passes on the messages of the first of n reports that has errors, and frees all of them.
 * `stride`: bytes from one report to the next. False: there was an error. */
bool prepare_reports_tell(Job *job, PrepareReport *first, size_t n, size_t stride);

#endif
