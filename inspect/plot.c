/* Drawing plots. */
#include "inspect/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 520, HEIGHT = 270, LEFT = 62, RIGHT = 14, TOP = 34, BOTTOM = 40, DRAWN = 500 };
enum { ROW = 16 };

/* Colours that stay apart for eyes that do not tell red from green (Okabe and Ito 2008). */
static const char *const colours[PLOT_COLOURS] = {"#0072b2", "#d55e00", "#009e73",
                                                  "#cc79a7", "#e69f00", "#56b4e9"};

/* PlotAxis: values from low to high, of which these lie at multiples of step. */
typedef struct PlotAxis {
    double low, high, step;
    double scale; /* of labels: value / scale */
    const char *unit;
    double top; /* of the axis of y: where its highest value stands */
} PlotAxis;

/* Ranges and steps of larger numbers would be infinite. */
static const double MOST_VALUE = 1e100;

static bool is_drawn(PlotPoint point)
{
    return fabs(point.x) <= MOST_VALUE && fabs(point.y) <= MOST_VALUE;
}

/* 1, 2 or 5 times a power of ten, so that about `count` of them fill the range. */
static double nice_step(double range, int count)
{
    double rough = range / count, power = pow(10, floor(log10(rough)));
    double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static PlotAxis make_axis(double low, double high, int count)
{
    if (!(low <= high))
        low = 0, high = 1;
    if (high - low < 1e-12 * fmax(fabs(high), 1e-300))
        low -= fmax(fabs(low) * 0.1, 1e-9), high += fmax(fabs(high) * 0.1, 1e-9);
    PlotAxis axis = {.step = nice_step(high - low, count), .scale = 1, .unit = ""};
    axis.low = floor(low / axis.step + 1e-9) * axis.step;
    axis.high = ceil(high / axis.step - 1e-9) * axis.step;
    return axis;
}

/* A unit of bytes, or a thousand or million of others, for an axis that goes so far. */
static void set_unit(PlotAxis *axis, bool is_bytes)
{
    static const struct {
        double least, scale;
        const char *bytes, *numbers;
    } units[] = {{1e9, 1e9, " GB", NULL}, {1e6, 1e6, " MB", "M"}, {1e4, 1e3, " kB", "k"}};
    double most = fmax(fabs(axis->low), fabs(axis->high));
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const char *unit = is_bytes ? units[i].bytes : units[i].numbers;
        if (unit && most >= units[i].least) {
            axis->scale = units[i].scale;
            axis->unit = unit;
            return;
        }
    }
}

static void find_range(const Plot *plot, PlotPoint *low, PlotPoint *high)
{
    *low = (PlotPoint){INFINITY, INFINITY};
    *high = (PlotPoint){-INFINITY, -INFINITY};
    for (size_t l = 0; l < plot->n; l++)
        for (size_t i = 0; i < plot->lines[l].n; i++) {
            PlotPoint p = plot->lines[l].points[i];
            if (!is_drawn(p))
                continue;
            *low = (PlotPoint){fmin(low->x, p.x), fmin(low->y, p.y)};
            *high = (PlotPoint){fmax(high->x, p.x), fmax(high->y, p.y)};
        }
}

static double place(const PlotAxis *axis, double value, double from, double to)
{
    return from + (value - axis->low) / (axis->high - axis->low) * (to - from);
}

static void put_label(const char *class, double x, double y, const char *anchor, const char *text,
                      Text *out)
{
    text_add(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
             anchor);
    text_markup(out, text);
    text_string(out, "</text>\n");
}

/* Labels of an axis as short decimals. */
static const char *tick_text(const PlotAxis *axis, double value, char text[32])
{
    double shown = value / axis->scale;
    if (fabs(shown) < 1e-9 * axis->step / axis->scale)
        shown = 0;
    int length = snprintf(text, 24, "%.6g", shown);
    snprintf(text + length, 32 - (size_t)length, "%s", shown != 0 ? axis->unit : "");
    return text;
}

static void put_axes(const Plot *plot, const PlotAxis *x, const PlotAxis *y, Text *out)
{
    char text[32];
    double bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    for (double value = y->low; value <= y->high + y->step / 2; value += y->step) {
        double at = place(y, value, bottom, y->top);
        text_add(out, "<path class=\"grid\" d=\"M%d %.1fH%.0f\"/>\n", LEFT, at, right);
        put_label("tick", LEFT - 6, at + 4, "end", tick_text(y, value, text), out);
    }
    for (double value = ceil(x->low / x->step - 1e-9) * x->step; value <= x->high + x->step * 1e-9;
         value += x->step) {
        put_label("tick", place(x, value, LEFT, right), bottom + 16, "middle",
                  tick_text(x, value, text), out);
    }
    text_add(out, "<path class=\"axis\" d=\"M%d %.0fH%.0f\"/>\n", LEFT, bottom, right);
    put_label("label", right, HEIGHT - 6, "end", plot->x_label, out);
}

/* Points of a line as they are drawn: means of neighbours where there are more than DRAWN. */
static size_t thin(const PlotLine *line, PlotPoint *points)
{
    size_t each = line->n / DRAWN + 1, n = 0;
    for (size_t i = 0; i < line->n;) {
        PlotPoint sum = {0, 0};
        size_t end = i + each < line->n ? i + each : line->n, count = 0;
        for (; i < end; i++)
            if (is_drawn(line->points[i])) {
                sum.x += line->points[i].x, sum.y += line->points[i].y;
                count++;
            }
        if (count)
            points[n++] = (PlotPoint){sum.x / (double)count, sum.y / (double)count};
    }
    return n;
}

static void put_line(const PlotLine *line, const PlotAxis *x, const PlotAxis *y, Text *out)
{
    PlotPoint *points = memory_resized(NULL, (line->n + 1) * sizeof *points);
    size_t n = thin(line, points);
    if (!n) {
        free(points);
        return;
    }
    text_add(out, "<path class=\"line line%d%s\" d=\"", line->colour % PLOT_COLOURS,
             line->dashed ? " dashed" : "");
    for (size_t i = 0; i < n; i++) {
        points[i].x = place(x, points[i].x, LEFT, WIDTH - RIGHT);
        points[i].y = place(y, points[i].y, HEIGHT - BOTTOM, y->top);
        text_add(out, "%c%.1f %.1f", i ? 'L' : 'M', points[i].x, points[i].y);
    }
    text_string(out, "\"/>\n");
    for (size_t i = 0; i < n && (line->marked || n == 1); i++)
        text_add(out, "<circle class=\"dot%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n",
                 line->colour % PLOT_COLOURS, points[i].x, points[i].y);
    free(points);
}

static double legend_width(const PlotLine *line)
{
    return line->name ? 6.4 * (double)text_letters(line->name) + 36 : 0;
}

/* Beside the title where all names fit, else in rows below it; how many of these. */
static int legend_rows(const Plot *plot)
{
    double sum = 0, left = WIDTH - RIGHT - LEFT - 7.2 * (double)text_letters(plot->title) - 20;
    int rows = 1;
    for (size_t i = 0; i < plot->n; i++)
        sum += legend_width(&plot->lines[i]);
    if (sum <= left)
        return 0;
    sum = 0;
    for (size_t i = 0; i < plot->n; i++) {
        double width = legend_width(&plot->lines[i]);
        bool breaks = sum > 0 && sum + width > WIDTH - RIGHT - LEFT;
        rows += breaks;
        sum = breaks ? width : sum + width;
    }
    return rows;
}

static void put_legend(const Plot *plot, int rows, Text *out)
{
    double sum = 0, x, y = rows ? 34 : 18;
    for (size_t i = 0; i < plot->n; i++)
        sum += legend_width(&plot->lines[i]);
    x = rows ? LEFT : WIDTH - RIGHT - sum;
    for (size_t i = 0; i < plot->n; i++) {
        const PlotLine *line = &plot->lines[i];
        double width = legend_width(line);
        if (!line->name)
            continue;
        if (rows && x > LEFT && x + width > WIDTH - RIGHT) {
            x = LEFT;
            y += ROW;
        }
        text_add(out, "<path class=\"line line%d%s\" d=\"M%.1f %.1fh18\"/>\n",
                 line->colour % PLOT_COLOURS, line->dashed ? " dashed" : "", x, y - 4);
        put_label("label", x + 23, y, "start", line->name, out);
        x += width;
    }
}

static void put_style(Text *out)
{
    text_string(
        out,
        "<style>.plot text{font:11px Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#444}.plot .title{font-size:13px;"
        "font-weight:bold;fill:#000}.grid{stroke:#ddd;fill:none}.axis{stroke:#888;fill:none}"
        ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}.dashed{stroke-dasharray:5 3}");
    for (int i = 0; i < PLOT_COLOURS; i++)
        text_add(out, ".line%d{stroke:%s}.dot%d{fill:%s}", i, colours[i], i, colours[i]);
    text_string(out, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void plot_put_svg(const Plot *plot, bool alone, Text *out)
{
    PlotPoint low, high;
    find_range(plot, &low, &high);
    PlotAxis x = make_axis(low.x, high.x, 6),
             y = make_axis(plot->from_zero ? fmin(low.y, 0) : low.y, high.y, 5);
    /* The line ends where the data do, not at the next label. */
    if (low.x < high.x)
        x.low = low.x > x.step ? low.x : 0, x.high = high.x;
    int rows = legend_rows(plot);
    y.top = TOP + rows * ROW;
    set_unit(&x, false);
    set_unit(&y, plot->is_bytes);
    text_add(
        out,
        "<svg%s class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" data-x=\"%g %g %d %d\" data-y=\"%g %g %d %g\"",
        alone ? " xmlns=\"http://www.w3.org/2000/svg\" width=\"520\" height=\"270\"" : "", WIDTH,
        HEIGHT, x.low, x.high, LEFT, WIDTH - RIGHT, y.low, y.high, HEIGHT - BOTTOM, y.top);
    text_string(out, " aria-label=\"");
    text_markup(out, plot->title);
    text_string(out, "\">\n");
    if (alone)
        put_style(out);
    put_label("title", LEFT, 18, "start", plot->title, out);
    put_axes(plot, &x, &y, out);
    for (size_t i = 0; i < plot->n; i++)
        put_line(&plot->lines[i], &x, &y, out);
    put_legend(plot, rows, out);
    text_string(out, "</svg>\n");
}
