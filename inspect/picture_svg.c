/* Drawing positions, masks and rates. */
#include "inspect/picture_svg.h"

#include "inspect/plot.h"
#include "inspect/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARGIN = 14, TITLE = 26, GAP = 26, MAP_WIDTH = 420, MAP_HEIGHT = 250, PLOT_WIDTH = 520 };
enum { PLOT_HEIGHT = 270, MASK_SIDE = 170, MASKS_A_ROW = 4, LABELS = 30, LINES = 5 };
enum { MOST_COLUMNS = 128, LEVELS = 16, FONT = 12 };

/* From blue below 0 over white to orange above. */
static void put_colour(double value, Text *out)
{
    static const int white[3] = {255, 255, 255}, low[3] = {33, 102, 172}, high[3] = {214, 96, 22};
    svg_colour(white, value < 0 ? low : high, sqrt(fmin(fabs(value), 1)), out);
}

static double greatest(const PictureMap *map)
{
    double most = 0;
    for (int64_t i = 0; i < map->rows * map->columns; i++)
        most = fmax(most, fabs(map->values[i]));
    return most > 0 ? most : 1;
}

/* Neighbours of about the same value are one rectangle. Of wide tables every so many-th column is
 * drawn. */
static void put_map(const PictureMap *map, double x, double y, Text *out)
{
    int64_t every = (map->columns - 1) / MOST_COLUMNS + 1,
            columns = (map->columns + every - 1) / every;
    double side_x = (double)MAP_WIDTH / (double)columns,
           side_y = (double)MAP_HEIGHT / (double)map->rows;
    double most = greatest(map);
    text_add(out, "<g transform=\"translate(%.1f %.1f)\" shape-rendering=\"crispEdges\">\n", x, y);
    for (int64_t r = 0; r < map->rows; r++)
        for (int64_t c = 0, end; c < columns; c = end) {
            const float *row = map->values + r * map->columns;
            long level = lround(row[c * every] / most * LEVELS);
            for (end = c + 1; end < columns && lround(row[end * every] / most * LEVELS) == level;)
                end++;
            text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
                     (double)c * side_x, (double)r * side_y, (double)(end - c) * side_x, side_y);
            put_colour((double)level / LEVELS, out);
            text_string(out, "\"/>\n");
        }
    text_add(out, "<rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/></g>\n",
             MAP_WIDTH, MAP_HEIGHT);
    char label[64] = "dimension";
    if (every > 1)
        snprintf(label, sizeof label, "dimension, one of %lld", (long long)every);
    svg_text(x + MAP_WIDTH / 2.0, y + MAP_HEIGHT + 18, "text-anchor=\"middle\" fill=\"#555\"",
             label, out);
    svg_text_upwards(x - 8, y + MAP_HEIGHT / 2.0, "text-anchor=\"middle\" fill=\"#555\"",
                     "position", out);
}

/* Some columns, at equal distances: of sinusoids the waves grow longer from one to the next. */
static void put_waves(const PictureMap *map, double x, double y, Text *out)
{
    PlotLine lines[LINES];
    char names[LINES][32];
    PlotPoint *points = memory_resized(NULL, (size_t)(LINES * map->rows) * sizeof *points);
    size_t n = 0;
    for (int i = 0; i < LINES; i++) {
        int64_t column = i * (map->columns - 1) / LINES;
        PlotPoint *at = points + i * map->rows;
        for (int64_t r = 0; r < map->rows; r++)
            at[r] = (PlotPoint){(double)r, map->values[r * map->columns + column]};
        snprintf(names[i], sizeof names[i], "%lld", (long long)column);
        lines[n++] =
            (PlotLine){.name = names[i], .colour = i, .points = at, .n = (size_t)map->rows};
    }
    text_add(out, "<g transform=\"translate(%.1f %.1f)\">\n", x, y);
    plot_put_svg(&(Plot){.title = "Some dimensions", .x_label = "position", .lines = lines, .n = n},
                 true, out);
    text_string(out, "</g>\n");
    free(points);
}

void picture_put_positions(const char *title, const PictureMap *maps, size_t n, Text *out)
{
    double step = TITLE + MAP_HEIGHT + LABELS + GAP, left = MARGIN + 22;
    svg_begin(title, left + MAP_WIDTH + GAP + PLOT_WIDTH + MARGIN, MARGIN + (double)n * step, FONT,
              NULL, out);
    for (size_t i = 0; i < n; i++) {
        double y = MARGIN + (double)i * step;
        svg_text(left, y + 14, "font-size=\"13\" font-weight=\"bold\"", maps[i].title, out);
        put_map(&maps[i], left, y + TITLE, out);
        put_waves(&maps[i], left + MAP_WIDTH + GAP, y + TITLE - 10, out);
    }
    text_string(out, "</svg>\n");
}

static void put_mask(const PictureMap *map, double x, double y, Text *out)
{
    double longer = (double)(map->rows > map->columns ? map->rows : map->columns),
           side = MASK_SIDE / longer;
    text_add(out, "<g transform=\"translate(%.1f %.1f)\" class=\"mask\">\n", x, y);
    for (int64_t r = 0; r < map->rows; r++)
        for (int64_t c = 0; c < map->columns; c++)
            text_add(out,
                     "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                     map->values[r * map->columns + c] != 0 ? "seen" : "masked", (double)c * side,
                     (double)r * side, side, side);
    text_string(out, "</g>\n");
    svg_text(x + (double)map->columns * side / 2, y + (double)map->rows * side + 16,
             "text-anchor=\"middle\" fill=\"#555\"", "key", out);
    svg_text_upwards(x - 7, y + (double)map->rows * side / 2,
                     "text-anchor=\"middle\" fill=\"#555\"", "query", out);
}

void picture_put_masks(const char *title, const PictureMap *maps, size_t n, Text *out)
{
    double step_x = MASK_SIDE + 22 + GAP, step_y = TITLE + MASK_SIDE + LABELS;
    size_t columns = n < MASKS_A_ROW ? n : MASKS_A_ROW, rows = (n + MASKS_A_ROW - 1) / MASKS_A_ROW;
    svg_begin(title, MARGIN + (double)columns * step_x + MARGIN, MARGIN + (double)rows * step_y,
              FONT, NULL, out);
    text_string(
        out,
        "<style>.mask rect{stroke:#fff;stroke-width:.8}.seen{fill:#2171b5}.masked{fill:#ececec}</style>\n");
    for (size_t i = 0; i < n; i++) {
        double x = MARGIN + 22 + (double)(i % MASKS_A_ROW) * step_x,
               y = MARGIN + (double)(i / MASKS_A_ROW) * step_y;
        svg_text(x, y + 14, "font-weight=\"bold\"", maps[i].title, out);
        put_mask(&maps[i], x, y + TITLE, out);
    }
    text_string(out, "</svg>\n");
}

void picture_put_schedule(const char *title, const double *rates, size_t n, int64_t warmup,
                          Text *out)
{
    PlotPoint *points = memory_resized(NULL, (n + 1) * sizeof *points), mark[2] = {{0}};
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        points[i] = (PlotPoint){(double)(i + 1), rates[i]};
        most = fmax(most, rates[i]);
    }
    mark[0].x = mark[1].x = (double)warmup;
    mark[1].y = most;
    const PlotLine lines[] = {
        {.name = "rate", .points = points, .n = points ? n : 0},
        {.name = "end of the warm-up", .colour = 1, .dashed = true, .points = mark, .n = 2}};
    size_t count = warmup > 1 && (size_t)warmup < n ? 2 : 1;
    plot_put_svg(
        &(Plot){.title = title, .x_label = "steps", .lines = lines, .n = count, .from_zero = true},
        true, out);
    free(points);
}
