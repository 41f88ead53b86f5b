/* Predictions as lines and as JSON. */
#include "runtime/model/predicted_text.h"

#include "runtime/decode/pick.h"

#include <stdlib.h>

enum { PREDICTED_DIGITS = 9 }; /* which tell each float from the others */

/* ---- classes by their probabilities ---- */

typedef struct ClassRank {
    int64_t number;
    float probability;
} ClassRank;

/* The classes that are given, the most probable first, of equal ones the lowest: `top` of them, or
 * all that are in the set; *n: how many. Freed by the caller. */
static ClassRank *rank_classes(const TfcPrediction *p, const TfcLabelSet *set, const float *values,
                               int64_t top, int64_t *n)
{
    const bool in_set = top == PREDICTED_SET;
    const int64_t most = in_set || top > p->classes ? p->classes : top;
    ClassRank *ranked = memory_resized(NULL, (size_t)(most + 1) * sizeof *ranked);
    int64_t count = 0;
    for (int64_t i = 0; i < p->classes; i++) {
        if (in_set && !(values[i] >= set->thresholds[i]))
            continue;
        if (count == most && !(values[i] > ranked[most - 1].probability))
            continue;
        int64_t at = count < most ? count++ : most - 1;
        for (; at > 0 && values[i] > ranked[at - 1].probability; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = (ClassRank){i, values[i]};
    }
    *n = count;
    return ranked;
}

static const char *class_label(const TfcPrediction *p, int64_t number)
{
    return p->labels ? p->labels[number] : NULL;
}

/* Whether there is a list of classes or numbers: of positions, or of further dimensions. */
static bool has_list(const TfcPrediction *p)
{
    return p->positions || (p->classes && p->width > p->classes);
}

/* Values of an entry of the list. */
static int64_t entry_width(const TfcPrediction *p) { return p->classes ? p->classes : p->width; }

static void put_class(const TfcPrediction *p, int64_t number, Text *out)
{
    const char *label = class_label(p, number);
    if (label)
        text_string(out, label);
    else
        text_integer(out, number);
}

static void put_labels(const TfcPrediction *p, const TfcLabels *labels, Text *out)
{
    for (int64_t i = 0; i < labels->n; i++) {
        text_string(out, i ? " " : "");
        put_class(p, labels->classes[i], out);
    }
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

static void put_json_ranked(const TfcPrediction *p, const TfcLabelSet *set, const char *key,
                            const float *values, int64_t top, JsonWriter *json)
{
    int64_t n;
    ClassRank *ranked = rank_classes(p, set, values, top, &n);
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        json_open(json, NULL, '[');
        put_json_class(p, ranked[i].number, json);
        json_put_number(json, NULL, (double)ranked[i].probability, PREDICTED_DIGITS);
        json_close(json, ']');
    }
    json_close(json, ']');
    free(ranked);
}

static void put_json_row(const TfcPrediction *p, const TfcLabelSet *set, const char *key,
                         const float *values, int64_t top, JsonWriter *json)
{
    if (p->classes)
        put_json_ranked(p, set, key, values, top, json);
    else if (p->width == 1)
        json_put_number(json, key, (double)*values, PREDICTED_DIGITS);
    else {
        json_open(json, key, '[');
        for (int64_t i = 0; i < p->width; i++)
            json_put_number(json, NULL, (double)values[i], PREDICTED_DIGITS);
        json_close(json, ']');
    }
}

/* [["e e b", -0.12], …]: CTC's results. */
static void put_json_results(const TfcPrediction *p, const TfcPredicted *found, JsonWriter *json)
{
    json_open(json, p->name, '[');
    for (int64_t i = 0; i < found->n_results; i++) {
        Text labels = {0};
        put_labels(p, &found->results[i], &labels);
        json_open(json, NULL, '[');
        json_put_text(json, NULL, labels.data ? labels.data : "");
        json_put_number(json, NULL, found->results[i].log_probability, PREDICTED_DIGITS);
        json_close(json, ']');
        text_free(&labels);
    }
    json_close(json, ']');
}

void predicted_put_json(const TfcPrediction *p, const TfcLabelSet *set, const TfcPredicted *found,
                        int64_t top, JsonWriter *json)
{
    const int64_t n = found->positions * p->width, step = entry_width(p);
    if (p->ctc) {
        put_json_results(p, found, json);
        return;
    }
    if (has_list(p))
        json_open(json, p->name, '[');
    for (int64_t i = 0; i < n; i += step)
        put_json_row(p, set, has_list(p) ? NULL : p->name, found->values + i, top, json);
    if (has_list(p))
        json_close(json, ']');
}

/* ---- lines ---- */

bool predicted_has_line(const TfcPrediction *p)
{
    return p->classes || !p->positions || p->width == 1;
}

static void put_ranked(const TfcPrediction *p, const TfcLabelSet *set, const float *values,
                       int64_t top, Text *out)
{
    int64_t n;
    ClassRank *ranked = rank_classes(p, set, values, top, &n);
    for (int64_t i = 0; i < n; i++) {
        text_string(out, !i ? "" : top == PREDICTED_SET ? set->separator : "\t");
        put_class(p, ranked[i].number, out);
        if (top != PREDICTED_SET)
            text_add(out, "\t%.6g", (double)ranked[i].probability);
    }
    free(ranked);
}

/* The most probable class of each entry. */
static void put_tags(const TfcPrediction *p, const TfcPredicted *found, Text *out)
{
    for (int64_t i = 0; i < found->positions * p->width; i += p->classes) {
        text_string(out, i ? " " : "");
        put_class(p, pick_greatest(found->values + i, p->classes), out);
    }
}

/* With several wanted each with its log-probability. */
static void put_label_results(const TfcPrediction *p, const TfcPredicted *found, int64_t top,
                              Text *out)
{
    for (int64_t i = 0; i < found->n_results; i++) {
        text_string(out, i ? "\t" : "");
        put_labels(p, &found->results[i], out);
        if (top > 1)
            text_add(out, "\t%.6f", found->results[i].log_probability);
    }
}

static void put_numbers(const float *values, int64_t n, Text *out)
{
    for (int64_t i = 0; i < n; i++)
        text_add(out, "%s%.9g", i ? " " : "", (double)values[i]);
}

void predicted_put_line(const TfcPrediction *p, const TfcLabelSet *set, const TfcPredicted *found,
                        int64_t top, Text *out)
{
    if (p->ctc)
        put_label_results(p, found, top, out);
    else if (p->classes && has_list(p))
        put_tags(p, found, out);
    else if (p->classes)
        put_ranked(p, set, found->values, top, out);
    else
        put_numbers(found->values, found->positions * p->width, out);
}

/* ---- notes ---- */

void predicted_count_notes(PredictedNotes *notes, const TfcPredicted *list, int64_t n, int64_t line)
{
    const char *note = NULL;
    for (int64_t i = 0; i < n && !note; i++)
        note = list[i].note;
    if (!note)
        return;
    notes->note = note;
    if (!notes->lines++)
        notes->first = line;
}

void predicted_put_notes(const PredictedNotes *notes, Text *out)
{
    if (!notes->lines)
        return;
    text_add(out, "line %lld of the answers", (long long)notes->first + 1);
    if (notes->lines > 1)
        text_add(out, " and %lld other%s", (long long)notes->lines - 1,
                 text_plural(notes->lines - 1, "", "s"));
    text_add(out, ": %s", notes->note);
}
