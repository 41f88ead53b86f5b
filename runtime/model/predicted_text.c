/* Predictions as lines and as JSON. */
#include "runtime/model/predicted_text.h"

#include <stdlib.h>

enum { PREDICTED_DIGITS = 9 }; /* which tell each float from the others */

/* ---- classes by their probabilities ---- */

typedef struct RankedClass {
    int64_t number;
    float probability;
} RankedClass;

static int by_rank(const void *a, const void *b)
{
    const RankedClass *x = a, *y = b;
    return x->probability != y->probability ? (x->probability < y->probability ? 1 : -1)
                                            : (x->number > y->number) - (x->number < y->number);
}

/* All classes, the most probable first, of equal ones the lowest; freed by the caller. */
static RankedClass *rank_classes(const float *values, int64_t n)
{
    RankedClass *ranked = memory_resized(NULL, (size_t)n * sizeof *ranked);
    for (int64_t i = 0; i < n; i++)
        ranked[i] = (RankedClass){i, values[i]};
    qsort(ranked, (size_t)n, sizeof *ranked, by_rank);
    return ranked;
}

static int64_t first_of(int64_t top, int64_t n) { return top < n ? top : n; }

static const char *class_label(const TfcPrediction *p, int64_t number)
{
    return number < p->n_labels ? p->labels[number] : NULL;
}

/* ---- JSON ---- */

static void put_json_class(const TfcPrediction *p, int64_t number, JsonWriter *json)
{
    const char *label = class_label(p, number);
    if (label)
        json_put_text(json, NULL, label);
    else
        json_put_integer(json, NULL, number);
}

static void put_json_ranked(const TfcPrediction *p, const char *key, const float *values,
                            int64_t top, JsonWriter *json)
{
    RankedClass *ranked = rank_classes(values, p->width);
    json_open(json, key, '[');
    for (int64_t i = 0; i < first_of(top, p->width); i++) {
        json_open(json, NULL, '[');
        put_json_class(p, ranked[i].number, json);
        json_put_number(json, NULL, (double)ranked[i].probability, PREDICTED_DIGITS);
        json_close(json, ']');
    }
    json_close(json, ']');
    free(ranked);
}

static void put_json_row(const TfcPrediction *p, const char *key, const float *values, int64_t top,
                         JsonWriter *json)
{
    if (p->classes)
        put_json_ranked(p, key, values, top, json);
    else if (p->width == 1)
        json_put_number(json, key, (double)*values, PREDICTED_DIGITS);
    else {
        json_open(json, key, '[');
        for (int64_t i = 0; i < p->width; i++)
            json_put_number(json, NULL, (double)values[i], PREDICTED_DIGITS);
        json_close(json, ']');
    }
}

void predicted_put_json(const TfcPrediction *p, const TfcPredicted *found, int64_t top,
                        JsonWriter *json)
{
    if (!p->positions) {
        put_json_row(p, p->name, found->values, top, json);
        return;
    }
    json_open(json, p->name, '[');
    for (int64_t i = 0; p->ctc && i < found->n_path; i++)
        put_json_class(p, found->path[i], json);
    for (int64_t i = 0; !p->ctc && i < found->positions; i++)
        put_json_row(p, NULL, found->values + i * p->width, top, json);
    json_close(json, ']');
}

/* ---- lines ---- */

bool predicted_has_line(const TfcPrediction *p)
{
    return p->classes || !p->positions || p->width == 1;
}

static void put_class(const TfcPrediction *p, int64_t number, Text *out)
{
    const char *label = class_label(p, number);
    if (label)
        text_string(out, label);
    else
        text_integer(out, number);
}

static void put_ranked(const TfcPrediction *p, const float *values, int64_t top, Text *out)
{
    RankedClass *ranked = rank_classes(values, p->width);
    for (int64_t i = 0; i < first_of(top, p->width); i++) {
        text_string(out, i ? "\t" : "");
        put_class(p, ranked[i].number, out);
        text_add(out, "\t%.6g", (double)ranked[i].probability);
    }
    free(ranked);
}

static int64_t best_class(const float *values, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (values[i] > values[best])
            best = i;
    return best;
}

static void put_tags(const TfcPrediction *p, const TfcPredicted *found, Text *out)
{
    for (int64_t i = 0; i < found->positions; i++) {
        text_string(out, i ? " " : "");
        put_class(p, best_class(found->values + i * p->width, p->width), out);
    }
}

void predicted_put_line(const TfcPrediction *p, const TfcPredicted *found, int64_t top, Text *out)
{
    for (int64_t i = 0; p->ctc && i < found->n_path; i++) {
        text_string(out, i ? " " : "");
        put_class(p, found->path[i], out);
    }
    if (p->ctc)
        return;
    if (p->classes && p->positions)
        put_tags(p, found, out);
    else if (p->classes)
        put_ranked(p, found->values, top, out);
    else
        for (int64_t i = 0; i < found->positions * p->width; i++)
            text_add(out, "%s%.9g", i ? " " : "", (double)found->values[i]);
}
