/* Plots: lines over an axis, as SVG. In a page they take its colours (classes plot, grid, line0 …);
 * as a file of their own they bring a style with them. */
#ifndef INSPECT_PLOT_H
#define INSPECT_PLOT_H

#include "base/text.h"

typedef struct PlotPoint {
    double x, y;
} PlotPoint;

/* PlotLine: points in the order of x; where y is not finite there is no point.
 *   name     in the legend; NULL: not there
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
    bool from_zero; /* the axis of y begins at 0 */
    bool is_bytes;  /* y counts bytes */
} Plot;

enum { PLOT_COLOURS = 6 };

/* An <svg> element. `alone`: for a file of its own. A line of more than 500 points is drawn as the
 * means of neighbouring points. */
void plot_put_svg(const Plot *plot, bool alone, Text *out);

#endif
