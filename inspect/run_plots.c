/* The plots of a report: which lines each has. */
#include "inspect/plot.h"
#include "inspect/run_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct PlotInfo {
    const char *name, *title;
    bool from_zero, is_bytes;
} PlotInfo;

static const PlotInfo infos[RUN_PLOTS] = {
#define PLOT(name, title, from_zero, is_bytes) \
    [RUN_PLOT_##name] = {#name, title, from_zero, is_bytes},
#include "inspect/run_plots.def"
#undef PLOT
};

RunPlot run_plot_find(const char *name)
{
    int plot = 0;
    while (plot < RUN_PLOTS && strcmp(infos[plot].name, name))
        plot++;
    return (RunPlot)plot;
}

static bool has_value(const RunSeries *series)
{
    for (size_t i = 0; i < series->n; i++)
        if (isfinite(series->values[i]))
            return true;
    return false;
}

static bool is_of(const RunSeries *series, RunPlot plot)
{
    return series->plot == plot && has_value(series);
}

bool run_plot_has(const RunView *runs, size_t n, RunPlot plot)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < runs[r].series.count; i++)
            if (is_of(&runs[r].series.data[i], plot))
                return true;
    return false;
}

/* Of several runs a line has the colour of its run, of one a colour of its own. */
static PlotLine make_line(const RunView *run, size_t number, size_t runs, const RunSeries *series,
                          size_t index, bool by_minutes, Text *name)
{
    PlotPoint *points = memory_resized(NULL, (series->n + 1) * sizeof *points);
    for (size_t i = 0; i < series->n; i++)
        points[i] =
            (PlotPoint){by_minutes ? series->minutes[i] : series->steps[i], series->values[i]};
    if (runs > 1)
        text_string(name, run->name);
    if (series->name)
        text_add(name, "%s%s", runs > 1 ? ", " : "", series->name);
    return (PlotLine){.name = name->data,
                      .colour = (int)(runs > 1 ? number : index),
                      .dashed = runs > 1 && index > 0,
                      .marked = series->marked,
                      .points = points,
                      .n = points ? series->n : 0};
}

static void put_plot(const RunView *runs, size_t n, RunPlot plot, bool by_minutes, bool alone,
                     Text *out)
{
    size_t most = 0, count = 0;
    for (size_t r = 0; r < n; r++)
        most += runs[r].series.count;
    PlotLine *lines = memory_zeroed(most + 1, sizeof *lines);
    Text *names = memory_zeroed(most + 1, sizeof *names);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0, index = 0; i < runs[r].series.count; i++)
            if (is_of(&runs[r].series.data[i], plot)) {
                lines[count] = make_line(&runs[r], r, n, &runs[r].series.data[i], index++,
                                         by_minutes, &names[count]);
                count++;
            }
    const PlotInfo *info = &infos[plot];
    plot_put_svg(&(Plot){.title = info->title,
                         .x_label = by_minutes ? "minutes of training" : "steps",
                         .lines = lines,
                         .n = count,
                         .from_zero = info->from_zero,
                         .is_bytes = info->is_bytes},
                 alone, out);
    for (size_t i = 0; i < count; i++) {
        free((void *)lines[i].points);
        text_free(&names[i]);
    }
    free(lines);
    free(names);
}

void run_plot_put(const RunView *runs, size_t n, RunPlot plot, bool by_minutes, Text *out)
{
    put_plot(runs, n, plot, by_minutes, true, out);
}

void run_plots_put(const RunView *runs, size_t n, Text *out)
{
    text_string(
        out,
        "<section id=\"curves\"><h2>Curves</h2>\n<p class=\"switch\" role=\"group\" aria-label=\"axis\">"
        "<button data-axis=\"steps\" aria-pressed=\"true\">steps</button>"
        "<button data-axis=\"minutes\" aria-pressed=\"false\">minutes</button>"
        "<output id=\"readout\"></output></p>\n<div class=\"plots\">\n");
    for (int plot = 0; plot < RUN_PLOTS; plot++) {
        if (!run_plot_has(runs, n, (RunPlot)plot))
            continue;
        for (int minutes = 0; minutes < 2; minutes++) {
            text_add(out, "<figure class=\"by-%s\" id=\"%s-%s\">\n", minutes ? "minutes" : "steps",
                     infos[plot].name, minutes ? "minutes" : "steps");
            put_plot(runs, n, (RunPlot)plot, minutes, false, out);
            text_string(out, "</figure>\n");
        }
    }
    text_string(out, "</div></section>\n");
}
