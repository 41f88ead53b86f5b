/* Writing predicted rows. */
#include "cli/predicted.h"

#include "cli/tokens.h"

#include <stdio.h>
#include <string.h>

/* A class and its probability: by falling probabilities, then by their numbers. */
typedef struct RankedClass {
    int64_t number;
    float probability;
} RankedClass;

void predicted_form_begin(PredictedForm *form, Arena *arena, int64_t top)
{
    form->top = top;
    form->ranked = ARENA_ARRAY(arena, RankedClass, top + 1);
}

/* The form->top greatest of n probabilities, in form->ranked; returns how many. */
static int64_t rank_classes(const PredictedForm *form, const float *values, int64_t n)
{
    RankedClass *out = form->ranked;
    int64_t count = 0, k = form->top;
    for (int64_t i = 0; i < n; i++) {
        if (count == k && !(values[i] > out[k - 1].probability))
            continue;
        int64_t at = count < k ? count++ : k - 1;
        for (; at > 0 && values[i] > out[at - 1].probability; at--)
            out[at] = out[at - 1];
        out[at] = (RankedClass){i, values[i]};
    }
    return count;
}

enum { NUMBER_BYTES = 24 };

static const char *class_name(const Prediction *p, int64_t number, char digits[NUMBER_BYTES])
{
    snprintf(digits, NUMBER_BYTES, "%lld", (long long)number);
    return p->names ? p->names[number] : digits;
}

/* Whether a row has a list of classes or numbers: of positions, or of further dimensions. */
static bool has_list(const Prediction *p)
{
    return p->side >= 0 || (p->classes && p->width > p->n_classes);
}

/* CTC's results, as many as are wanted. */
static bool search(Job *job, const PredictedForm *form, const Prediction *p, const float *values,
                   int64_t n, Arena *arena, CtcResults *out)
{
    const int32_t top = (int32_t)form->top, least = form->search.width;
    LabelSearch search = form->search;
    search.n_best = top;
    search.width = least > top ? least : top;
    return ctc_search(job, p, &search, values, n, arena, out);
}

/* ---- text ---- */

static bool put_labels(Job *job, const PredictedForm *form, const Prediction *p,
                       const float *values, int64_t n, Text *out)
{
    Arena *arena = arena_new();
    CtcResults results;
    bool ok = search(job, form, p, values, n, arena, &results);
    for (int32_t i = 0; ok && i < results.n; i++) {
        if (form->top > 1)
            text_add(out, "%s%.6f\t", i ? "\t" : "", results.best[i].log_probability);
        ctc_put_labels(p, &results.best[i], out);
    }
    arena_free(arena);
    return ok;
}

static void put_classes(const PredictedForm *form, const Prediction *p, const float *values,
                        Text *out)
{
    char digits[NUMBER_BYTES];
    const int64_t n = rank_classes(form, values, p->n_classes);
    for (int64_t i = 0; i < n; i++)
        text_add(out, "%s%s\t%.6g", i ? "\t" : "", class_name(p, form->ranked[i].number, digits),
                 (double)form->ranked[i].probability);
}

/* The most probable class of each position. */
static void put_tags(const PredictedForm *form, const Prediction *p, const float *values, int64_t n,
                     Text *out)
{
    char digits[NUMBER_BYTES];
    for (int64_t i = 0; i < n; i += p->n_classes) {
        rank_classes(form, values + i, p->n_classes);
        text_add(out, "%s%s", i ? " " : "", class_name(p, form->ranked[0].number, digits));
    }
}

bool predicted_put_text(Job *job, const PredictedForm *form, const Prediction *p,
                        const float *values, int64_t n, Text *out)
{
    bool ok = true;
    if (p->is_ctc)
        ok = put_labels(job, form, p, values, n, out);
    else if (p->classes && has_list(p))
        put_tags(form, p, values, n, out);
    else if (p->classes)
        put_classes(form, p, values, out);
    for (int64_t i = 0; !p->classes && i < n; i++)
        text_add(out, "%s%.9g", i ? " " : "", (double)values[i]);
    text_string(out, "\n");
    return ok;
}

/* ---- JSON ---- */

/* ["en", 0.98]: a class. */
static void put_pair(JsonWriter *json, const Prediction *p, const RankedClass *ranked)
{
    char digits[NUMBER_BYTES];
    json_open(json, NULL, '[');
    if (p->names)
        json_put_text(json, NULL, class_name(p, ranked->number, digits));
    else
        json_put_integer(json, NULL, ranked->number);
    json_put_number(json, NULL, (double)ranked->probability, RESULT_DIGITS);
    json_close(json, ']');
}

static void put_json_classes(const PredictedForm *form, JsonWriter *json, const char *key,
                             const Prediction *p, const float *values)
{
    const int64_t n = rank_classes(form, values, p->n_classes);
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++)
        put_pair(json, p, &form->ranked[i]);
    json_close(json, ']');
}

static void put_json_values(JsonWriter *json, const char *key, const float *values, int64_t n)
{
    if (n == 1) {
        json_put_number(json, key, (double)values[0], RESULT_DIGITS);
        return;
    }
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++)
        json_put_number(json, NULL, (double)values[i], RESULT_DIGITS);
    json_close(json, ']');
}

/* [["e e b", -0.12], …]: results of CTC's search. */
static bool put_json_labels(Job *job, const PredictedForm *form, JsonWriter *json,
                            const Prediction *p, const float *values, int64_t n)
{
    Arena *arena = arena_new();
    CtcResults results;
    bool ok = search(job, form, p, values, n, arena, &results);
    json_open(json, p->name, '[');
    for (int32_t i = 0; ok && i < results.n; i++) {
        Text labels = {0};
        ctc_put_labels(p, &results.best[i], &labels);
        json_open(json, NULL, '[');
        json_put_text(json, NULL, labels.data ? labels.data : "");
        json_put_number(json, NULL, results.best[i].log_probability, RESULT_DIGITS);
        json_close(json, ']');
        text_free(&labels);
    }
    json_close(json, ']');
    arena_free(arena);
    return ok;
}

bool predicted_put_json(Job *job, const PredictedForm *form, const Prediction *p,
                        const float *values, int64_t n, JsonWriter *json)
{
    const int64_t step = p->classes ? p->n_classes : p->width;
    const char *key = has_list(p) ? NULL : p->name;
    if (p->is_ctc)
        return put_json_labels(job, form, json, p, values, n);
    if (has_list(p))
        json_open(json, p->name, '[');
    for (int64_t i = 0; i < n; i += step)
        if (p->classes)
            put_json_classes(form, json, key, p, values + i);
        else
            put_json_values(json, key, values + i, step);
    if (has_list(p))
        json_close(json, ']');
    return true;
}
