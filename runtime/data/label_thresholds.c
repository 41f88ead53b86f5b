/* Thresholds as JSON. */
#include "runtime/data/label_thresholds.h"

#include "base/json_read.h"

#include <stdio.h>
#include <string.h>

enum { THRESHOLD_DIGITS = 9, THRESHOLD_BYTES = 24 }; /* which tell each f32 from the others */

static size_t text_room(const LabelThresholds *all, int64_t n)
{
    size_t room = 3;
    for (int64_t i = 0; i < n; i++)
        if (all[i].thresholds)
            room += strlen(all[i].name) + 8 + (size_t)all[i].n * THRESHOLD_BYTES;
    return room;
}

/* Returns the end. */
static char *put_list(const LabelThresholds *one, bool is_first, char *to)
{
    to += sprintf(to, "%s\"%s\": [", is_first ? "" : ", ", one->name);
    for (int64_t i = 0; i < one->n; i++)
        to += sprintf(to, "%s%.*g", i ? ", " : "", THRESHOLD_DIGITS,
                      one->thresholds[i] > 1 ? SETS_THRESHOLD : (double)one->thresholds[i]);
    return to + sprintf(to, "]");
}

const char *label_thresholds_text(Arena *arena, const LabelThresholds *all, int64_t n)
{
    char *text = arena_alloc(arena, text_room(all, n)), *to = text;
    if (!text)
        return NULL;
    *to++ = '{';
    for (int64_t i = 0; i < n; i++)
        if (all[i].thresholds)
            to = put_list(&all[i], to == text + 1, to);
    memcpy(to, "}", 2);
    return to > text + 1 ? text : NULL;
}

static bool is_threshold(const JsonValue *value)
{
    return (value->kind == JV_INTEGER || value->kind == JV_NUMBER) && value->number >= 0 &&
           value->number <= 1;
}

static bool are_thresholds(const JsonValue *list, int64_t n)
{
    bool ok = list->kind == JV_LIST && (int64_t)list->n == n;
    for (size_t i = 0; ok && i < list->n; i++)
        ok = is_threshold(&list->items[i]);
    return ok;
}

bool label_thresholds_take(Diagnostics *diags, const char *checkpoint, const char *text,
                           const char *name, float *thresholds, int64_t n)
{
    const char *problem;
    if (!text)
        return true;
    const JsonValue *value = json_read(diags->arena, text, strlen(text), &problem);
    if (!value || value->kind != JV_OBJECT) {
        diag_error(diags, (Loc){0}, "%s: its thresholds are damaged", checkpoint);
        return false;
    }
    const JsonValue *list = json_member(value, name);
    if (list && !are_thresholds(list, n)) {
        diag_error(diags, (Loc){0},
                   "%s: its thresholds are no list of %lld numbers from 0 to 1 for `%s`",
                   checkpoint, (long long)n, name);
        return false;
    }
    for (int64_t i = 0; list && i < n; i++)
        if (!(thresholds[i] > 1))
            thresholds[i] = (float)list->items[i].number;
    return true;
}
