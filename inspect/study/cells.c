/* Cells of a report's tables. */
#include "inspect/study/cells.h"

#include <inttypes.h>
#include <math.h>

void report_heads(Job *job, RunTable *table, const char *title, const char *note,
                  const char *const *heads)
{
    *table = (RunTable){.title = title, .note = note};
    for (; *heads; heads++)
        vec_push(job->arena, table->heads, *heads);
}

void report_cell(Job *job, RunTable *table, const char *cell)
{
    vec_push(job->arena, table->cells, cell);
}

void report_count(Job *job, RunTable *table, int64_t count)
{
    report_cell(job, table, arena_printf(job->arena, "%" PRId64, count));
}

void report_number(Job *job, RunTable *table, double value, int decimals)
{
    report_cell(job, table,
                isfinite(value) ? arena_printf(job->arena, "%.*f", decimals, value) : "–");
}

void report_percent(Job *job, RunTable *table, int64_t part, int64_t whole)
{
    report_cell(job, table,
                whole ? arena_printf(job->arena, "%.1f %%", 100 * (double)part / (double)whole)
                      : "–");
}
