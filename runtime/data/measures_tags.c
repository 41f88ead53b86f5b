/* Measures of tags: what labels say of spans, and a walk along labels and predictions at once. */
#include "runtime/data/measures.h"

#include "base/map.h"

#include <inttypes.h>
#include <math.h>

/* SpanTag: what a label says. `kind`: O, B, I, E or S; `type`: its place among the types. */
typedef struct SpanTag {
    char kind;
    int64_t type;
} SpanTag;

static const SpanTag outside = {.kind = 'O'};

/* The type within a label; NULL: the label has none. */
static const char *type_in(const char *label)
{
    return label[0] && strchr("BIES", label[0]) && label[1] == '-' && label[2] ? label + 2 : NULL;
}

static bool is_outside(const char *label)
{
    const size_t length = strlen(label);
    return !strcmp(label, "O") || (length > 2 && label[0] == '<' && label[length - 1] == '>');
}

bool tags_have_spans(const char *const *labels, int64_t n)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        const char *type = type_in(labels[i]);
        if (!type && !is_outside(labels[i]))
            return false;
        any |= type && labels[i][0] != 'E';
    }
    return any;
}

/* The place of a type, which is added if it is new. `places` counts from 1. */
static int64_t place_of_type(TagCounts *counts, Map *places, const char *type)
{
    int64_t place = (int64_t)(uintptr_t)map_get(places, type);
    if (!place) {
        counts->types[counts->n_types] = arena_strdup(places->arena, type);
        place = ++counts->n_types;
        map_set(places, type, (void *)(uintptr_t)place);
    }
    return place - 1;
}

static void read_labels(TagCounts *counts, Arena *arena, const char *const *labels)
{
    Map places;
    map_init(&places, arena);
    for (int64_t i = 0; i < counts->n_labels && !arena_failed(arena); i++) {
        const char *type = type_in(labels[i]);
        counts->tags[i] =
            type ? (SpanTag){labels[i][0], place_of_type(counts, &places, type)} : outside;
    }
}

bool tags_begin(TagCounts *counts, Arena *arena, Diagnostics *diags, const char *const *labels,
                int64_t n)
{
    *counts = (TagCounts){.n_labels = n};
    if (n < 1 || n > CLASSES_MOST) {
        diag_error(diags, (Loc){0}, "%" PRId64 " labels: the number must be from 1 to %d", n,
                   CLASSES_MOST);
        return false;
    }
    counts->has_spans = tags_have_spans(labels, n);
    if (counts->has_spans) {
        counts->tags = ARENA_ARRAY(arena, SpanTag, n);
        counts->types = ARENA_ARRAY(arena, const char *, n);
        counts->of = ARENA_ARRAY(arena, MatchCount, n);
        if (!arena_failed(arena))
            read_labels(counts, arena, labels);
    }
    diags->out_of_memory |= arena_failed(arena);
    return !arena_failed(arena);
}

/* ---- counting ---- */

/* SpanWalk: one side of a sequence. After walk_to, `ended` and `began` say whether a span ended
 * before the current label, and whether one begins with it. */
typedef struct SpanWalk {
    SpanTag tag, before;
    bool ended, began;
} SpanWalk;

static bool tag_continues(SpanTag before, SpanTag tag)
{
    return (tag.kind == 'I' || tag.kind == 'E') && (before.kind == 'B' || before.kind == 'I') &&
           tag.type == before.type;
}

static void walk_to(SpanWalk *walk, SpanTag tag)
{
    const bool continues = tag_continues(walk->tag, tag);
    walk->before = walk->tag;
    walk->tag = tag;
    walk->ended = walk->before.kind != 'O' && !continues;
    walk->began = tag.kind != 'O' && !continues;
}

/* Of all types, and of one. */
static void add_match(MatchCount *all, MatchCount *one, MatchCount more)
{
    MatchCount *const both[] = {all, one};
    for (int i = 0; i < 2; i++) {
        both[i]->labels += more.labels;
        both[i]->predictions += more.predictions;
        both[i]->right += more.right;
    }
}

/* Spans of both sides that began together with one type are right if they end together. */
static void count_spans(TagCounts *counts, const int32_t *labels, const int32_t *predicted,
                        int64_t n)
{
    SpanWalk label = {.tag = outside}, guess = {.tag = outside};
    bool together = false;
    for (int64_t i = 0; i <= n; i++) {
        walk_to(&label, i < n ? counts->tags[labels[i]] : outside);
        walk_to(&guess, i < n ? counts->tags[predicted[i]] : outside);
        if (together && label.ended && guess.ended)
            add_match(&counts->spans, &counts->of[label.before.type], (MatchCount){.right = 1});
        if (label.began)
            add_match(&counts->spans, &counts->of[label.tag.type], (MatchCount){.labels = 1});
        if (guess.began)
            add_match(&counts->spans, &counts->of[guess.tag.type], (MatchCount){.predictions = 1});
        together = label.began && guess.began ? label.tag.type == guess.tag.type
                                              : together && !label.ended && !guess.ended;
    }
}

static bool all_labels(const TagCounts *counts, const int32_t *ids, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= counts->n_labels)
            return false;
    return true;
}

bool tags_add(TagCounts *counts, const int32_t *labels, const int32_t *predicted, int64_t n)
{
    if (!all_labels(counts, labels, n) || !all_labels(counts, predicted, n))
        return false;
    counts->tokens += n;
    for (int64_t i = 0; i < n; i++)
        counts->right += labels[i] == predicted[i];
    if (counts->has_spans)
        count_spans(counts, labels, predicted, n);
    return true;
}

double tags_accuracy(const TagCounts *counts)
{
    return counts->tokens ? (double)counts->right / (double)counts->tokens : NAN;
}
