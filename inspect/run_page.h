/* The report of training runs: one page with plots, tables, samples and models of several runs, and
 * the plots as files of their own. All of it is in the page as HTML and SVG: scripts only show
 * values at the pointer, switch the axis and the theme, and reload. */
#ifndef INSPECT_RUN_PAGE_H
#define INSPECT_RUN_PAGE_H

#include "base/text.h"
#include "base/vec.h"

typedef enum RunPlot {
#define PLOT(name, title, from_zero, is_bytes) RUN_PLOT_##name,
#include "inspect/run_plots.def"
#undef PLOT
    RUN_PLOTS
} RunPlot;

/* RunSeries: one line of a plot, as n values of a figure over steps and minutes of training.
 *   name     after the run's name in the legend, such as "validation"; NULL: nothing
 *   marked   few values: they are shown as dots */
typedef struct RunSeries {
    RunPlot plot;
    const char *name;
    bool marked;
    const double *steps, *minutes, *values;
    size_t n;
} RunSeries;

/* RunDetail: a name and a value, for a table in which runs are compared.
 *   is_told   true: a setting, whose row is marked if runs differ in it; false: a result, whose row
 *             is never marked */
typedef struct RunDetail {
    const char *name, *value;
    bool is_told;
} RunDetail;

/* RunTable: a table about one run. Cells that begin with a digit, a sign or a dash are aligned to
 * the right.
 *   cells   row by row, heads.count in each row
 *   note    below the table; NULL: none */
typedef struct RunTable {
    const char *title, *note;
    VEC(const char *) heads, cells;
} RunTable;

/* RunMatrix: what was predicted in place of what is right, as a table whose cells are coloured by
 * their share of their row.
 *   names    of n classes, a row and a column each
 *   counts   n × n, those of right class r and predicted class p at r × n + p */
typedef struct RunMatrix {
    const char *title, *note;
    const char *const *names;
    const int64_t *counts;
    int64_t n;
} RunMatrix;

/* RunSample: a fixed line of the validation text and what the model made of it at some steps.
 *   prompt           the line's beginning, which a language model continued; NULL: the line was
 *                    translated
 *   source, target   NULL: the text is gone, or has no such side
 *   steps, texts     n of each: after which step, and what the model made */
typedef struct RunSample {
    int64_t line; /* from 1 */
    const char *prompt, *source, *target;
    const int64_t *steps;
    const char *const *texts;
    size_t n;
} RunSample;

/* RunView: what a page shows of one run; all strings are the caller's.
 *   model      the text of model.tfg
 *   drawing    of its blocks, an <svg>; NULL: the model was not opened
 *   matrices   of classes that it predicts
 *   tables     about its quality, vocabulary and params
 *   notes      what could not be shown, and why
 *   commands   the one that began the run, then those to run next */
typedef struct RunView {
    const char *name, *model, *drawing;
    VEC(RunSeries) series;
    VEC(RunDetail) details;
    VEC(RunMatrix) matrices;
    VEC(RunTable) tables;
    VEC(RunSample) samples;
    VEC(const char *) notes, commands;
} RunView;

/* The plot of that name; RUN_PLOTS: there is none. */
RunPlot run_plot_find(const char *name);
/* Whether any of the runs has a value for the plot. */
bool run_plot_has(const RunView *runs, size_t n, RunPlot plot);
/* The plot as an SVG file of its own, over steps or minutes. */
void run_plot_put(const RunView *runs, size_t n, RunPlot plot, bool by_minutes, Text *out);
/* A section of the page: all plots that have values. (run_plots.c) */
void run_plots_put(const RunView *runs, size_t n, Text *out);
/* A page in one HTML file, which needs no other. `renew`: seconds after which the page reloads
 * itself; 0: never. */
void run_page_put(const RunView *runs, size_t n, int renew, Text *out);

/* The lines in which two texts differ, with two lines around them, as HTML; of longer texts the
 * first 4000 lines are compared. False: they are the same. (text_diff.c) */
bool text_diff_put(const char *a, const char *b, Text *out);

#endif
