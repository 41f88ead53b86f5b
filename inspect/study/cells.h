/* Filling the tables of a report, cell by cell. Titles, notes and heads are the caller's strings;
 * what is printed here is in the job's arena. */
#ifndef INSPECT_STUDY_CELLS_H
#define INSPECT_STUDY_CELLS_H

#include "driver/job.h"
#include "inspect/run_page.h"

/* Empties the table. note: NULL for none; `heads` ends with NULL. */
void report_heads(Job *job, RunTable *table, const char *title, const char *note,
                  const char *const *heads);
#define REPORT_HEADS(job, table, title, note, ...) \
    report_heads(job, table, title, note, (const char *const[]){__VA_ARGS__, NULL})

void report_cell(Job *job, RunTable *table, const char *cell);
void report_count(Job *job, RunTable *table, int64_t count);
/* "–" where it is no number. */
void report_number(Job *job, RunTable *table, double value, int decimals);
void report_percent(Job *job, RunTable *table, int64_t part, int64_t whole); /* "–" of nothing */

#endif
