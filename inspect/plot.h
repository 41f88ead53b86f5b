/* Plots: lines over an axis, as SVG. A plot in a page takes the page's colours (classes plot, grid,
 * line0 …); a plot that is a file of its own contains its style. */
#ifndef INSPECT_PLOT_H
#define INSPECT_PLOT_H

#include "base/text.h"

typedef struct PlotPoint {
    double x, y;
} PlotPoint;

/* PlotLine: points in the order of x; points whose x or y is not finite are not drawn.
 *   name     in the legend; NULL: the line is not in the legend
 *   colour   its number, modulo PLOT_COLOURS
 *   dashed   for a second figure of the same thing
 *   marked   with a dot at each point, for few points */
typedef struct PlotLine {
    const char *name;
    int colour;
    bool dashed, marked;
    const PlotPoint *points;
    size_t n;
} PlotLine;

typedef struct Plot {
    const char *title, *x_label;
    const PlotLine *lines;
    size_t n;
    bool from_zero; /* the axis of y begins at 0, or below it if values do */
    bool is_bytes;  /* y counts bytes */
} Plot;

enum { PLOT_COLOURS = 6 };

/* An <svg> element. `alone`: for a file of its own. A line of 500 points or more is drawn as the
 * means of neighbouring points. */
void plot_put_svg(const Plot *plot, bool alone, Text *out);

#endif
