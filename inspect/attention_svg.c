/* Heads as a figure for a paper: drawn on white, its fonts the reader's own. */
#include "inspect/attention.h"

#include "inspect/svg.h"

#include <math.h>

enum { CELL = 18, SMALL = 84, GAP = 10, MARGIN = 12, FONT = 12, LABEL = 96, LEGEND = 34 };
enum { MOST_LETTERS = 40 };

#define BACK "#f2f2f2"
#define STROKE "#d5d5d5"
#define FRAME "#999999"
static const char masked[] =
    "<pattern id=\"masked\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"4\" height=\"4\" fill=\"" BACK "\"/><path d=\"M0 4L4 0\" stroke=\"" STROKE
    "\" stroke-width=\".7\"/></pattern>";
static const int ramp[][3] = {
    {255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
enum { STOPS = sizeof ramp / sizeof ramp[0] };
static const double marks[] = {0, 0.1, 0.25, 0.5, 1};
enum { MARKS = sizeof marks / sizeof marks[0] };

void attention_put_palette(Text *out)
{
    text_string(out, "{\"ramp\":[");
    for (int i = 0; i < STOPS; i++)
        text_add(out, "%s[%d,%d,%d]", i ? "," : "", ramp[i][0], ramp[i][1], ramp[i][2]);
    text_string(out,
                "],\"masked\":[\"" BACK "\",\"" STROKE "\"],\"frame\":\"" FRAME "\",\"marks\":[");
    for (int i = 0; i < MARKS; i++)
        text_add(out, "%s%g", i ? "," : "", marks[i]);
    text_string(out, "]}");
}

/* The square root shows small weights, too. */
static void put_colour(double weight, Text *out)
{
    double at = sqrt(fmin(fmax(weight, 0), 1)) * (STOPS - 1);
    int low = (int)fmin(at, STOPS - 2);
    svg_colour(ramp[low], ramp[low + 1], at - low, out);
}

static bool is_masked(const AttentionLayer *layer, int64_t query, int64_t key)
{
    for (int64_t h = 0; h < layer->heads; h++)
        if (attention_weight(layer, h, query, key) != 0)
            return false;
    return true;
}

/* A head's weights, each a square of that side; nothing where one would be white. */
static void put_matrix(const AttentionLayer *layer, int64_t head, double x, double y, double side_x,
                       double side_y, Text *out)
{
    text_add(out, "<g transform=\"translate(%.1f %.1f)\" shape-rendering=\"crispEdges\">\n", x, y);
    for (int64_t q = 0; q < layer->queries; q++)
        for (int64_t k = 0; k < layer->keys; k++) {
            double weight = attention_weight(layer, head, q, k);
            if (weight < 1e-4 && !is_masked(layer, q, k))
                continue;
            text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
                     (double)k * side_x, (double)q * side_y, side_x, side_y);
            if (weight == 0)
                text_string(out, "url(#masked)");
            else
                put_colour(weight, out);
            text_string(out, "\"/>\n");
        }
    text_add(out,
             "<rect width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"" FRAME
             "\" stroke-width=\"1\"/></g>\n",
             (double)layer->keys * side_x, (double)layer->queries * side_y);
}

static void put_legend(double x, double y, Text *out)
{
    enum { WIDTH = 160, STEPS = 40 };
    for (int i = 0; i < STEPS; i++) {
        double at = (i + 0.5) / STEPS;
        text_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" fill=\"",
                 x + i * (double)WIDTH / STEPS, y, (double)WIDTH / STEPS + 0.2);
        put_colour(at * at, out);
        text_string(out, "\"/>\n");
    }
    for (int i = 0; i < MARKS; i++) {
        Text mark = {0};
        text_add(&mark, "%g", marks[i]);
        svg_text(x + sqrt(marks[i]) * WIDTH, y + 19,
                 "font-size=\"9\" text-anchor=\"middle\" fill=\"#555\"", mark.data, out);
        text_free(&mark);
    }
}

static int letters(const char *const *tokens, int64_t n)
{
    int most = 1;
    for (int64_t i = 0; i < n; i++) {
        int count = (int)text_letters(tokens[i]);
        most = count > most ? count : most;
    }
    return most < MOST_LETTERS ? most : MOST_LETTERS;
}

static void put_name(const AttentionLayer *layer, Text *out)
{
    text_add(out, "%s, head %lld", layer->name, (long long)layer->head);
}

static void put_large(const AttentionView *view, const AttentionSentence *s,
                      const AttentionLayer *layer, Text *out)
{
    const char *const *keys = layer->kind == ATTENTION_DECODER ? s->target : s->source;
    const char *const *queries = layer->kind == ATTENTION_ENCODER   ? s->source
                                 : layer->kind == ATTENTION_DECODER ? s->target
                                                                    : s->next;
    double left = MARGIN + 0.62 * FONT * letters(queries, layer->queries) + 8;
    double top = MARGIN + 24 + 0.62 * FONT * letters(keys, layer->keys) + 8;
    double right = left + (double)layer->keys * CELL, bottom = top + (double)layer->queries * CELL;
    svg_begin(view->title, fmax(right + MARGIN, left + 180 + MARGIN), bottom + GAP + LEGEND, FONT,
              masked, out);
    Text name = {0};
    put_name(layer, &name);
    svg_text(MARGIN, MARGIN + FONT, "font-weight=\"bold\"", name.data, out);
    text_free(&name);
    for (int64_t k = 0; k < layer->keys; k++)
        svg_text_upwards(left + ((double)k + 0.5) * CELL + 4, top - 6, "", keys[k], out);
    for (int64_t q = 0; q < layer->queries; q++)
        svg_text(left - 6, top + ((double)q + 0.5) * CELL + 4, "text-anchor=\"end\"", queries[q],
                 out);
    put_matrix(layer, 0, left, top, CELL, CELL, out);
    put_legend(left, bottom + GAP, out);
    text_string(out, "</svg>\n");
}

static void put_all(const AttentionView *view, const AttentionSentence *s, Text *out)
{
    int64_t heads = 1;
    for (size_t l = 0; l < s->n_layers; l++)
        heads = s->layers[l].heads > heads ? s->layers[l].heads : heads;
    enum { HEADING = 22, STEP = SMALL + GAP };
    svg_begin(view->title, 2 * MARGIN + LABEL + (double)heads * STEP - GAP,
              MARGIN + HEADING + (double)s->n_layers * STEP + LEGEND, FONT, masked, out);
    for (int64_t h = 0; h < heads; h++) {
        Text name = {0};
        text_add(&name, "head %lld", (long long)(s->layers[0].head + h));
        svg_text(MARGIN + LABEL + (double)h * STEP + SMALL / 2.0, MARGIN + FONT,
                 "text-anchor=\"middle\"", name.data, out);
        text_free(&name);
    }
    for (size_t l = 0; l < s->n_layers; l++) {
        const AttentionLayer *layer = &s->layers[l];
        double y = MARGIN + HEADING + (double)l * STEP;
        Text name = {0};
        text_add(&name, "%s %lld", attention_kind_name(layer->kind), (long long)layer->layer);
        svg_text(MARGIN + LABEL - 10, y + SMALL / 2.0 + 4, "text-anchor=\"end\"", name.data, out);
        text_free(&name);
        for (int64_t h = 0; h < layer->heads; h++)
            put_matrix(layer, h, MARGIN + LABEL + (double)h * STEP, y,
                       (double)SMALL / (double)layer->keys, (double)SMALL / (double)layer->queries,
                       out);
    }
    put_legend(MARGIN + LABEL, MARGIN + HEADING + (double)s->n_layers * STEP, out);
    text_string(out, "</svg>\n");
}

void attention_put_svg(const AttentionView *view, const AttentionSentence *s, Text *out)
{
    if (s->n_layers == 1 && s->layers[0].heads == 1)
        put_large(view, s, &s->layers[0], out);
    else
        put_all(view, s, out);
}
