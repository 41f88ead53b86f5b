/* Labels from id2label, in the order of their ids. */
#include "driver/exchange/import_labels.h"

#include "base/map.h"
#include "driver/exchange/import_json.h"

#include <string.h>

static const char key[] = "id2label";

static bool refuse_id2label(Job *job, const Source *config, const char *text)
{
    diag_error(&job->diags, (Loc){.source = config}, "\"%s\": %s", key, text);
    return false;
}

bool import_labels_are(const ImportModel *model)
{
    for (const ImportRow *row = model->rows; row->key; row++)
        if (row->kind == IMPORT_LABELS)
            return true;
    return false;
}

/* A label is a line of a file. */
static bool can_stand(const char *label)
{
    for (const char *c = label; *c; c++)
        if ((unsigned char)*c < ' ')
            return false;
    return *label != 0;
}

static bool are_different(Job *job, const Source *config, const char *const *labels, size_t n)
{
    Map seen;
    map_init(&seen, job->arena);
    for (size_t i = 0; i < n; i++) {
        const uintptr_t before = (uintptr_t)map_get(&seen, labels[i]);
        if (before)
            return refuse_id2label(job, config,
                                   arena_printf(job->arena, "%zu and %zu have the same label, '%s'",
                                                before - 1, i, labels[i]));
        map_set(&seen, labels[i], (void *)(uintptr_t)(i + 1));
    }
    return true;
}

/* Members "0", "1", … in any order. */
static bool read_named(Job *job, const Source *config, const JsonValue *json, TextList *labels)
{
    const char **at = ARENA_ARRAY(job->arena, const char *, json->n + 1);
    for (size_t i = 0; i < json->n; i++) {
        size_t id = 0;
        const char *c = json->keys[i];
        while (*c >= '0' && *c <= '9' && id < json->n)
            id = id * 10 + (size_t)(*c++ - '0');
        if (*c || c == json->keys[i] || id >= json->n || at[id])
            return refuse_id2label(
                job, config,
                arena_printf(job->arena, "expected the ids 0 to %u, each once", json->n - 1));
        if (json->items[i].kind != JV_STRING || !can_stand(json->items[i].text))
            return refuse_id2label(
                job, config,
                arena_printf(job->arena,
                             "the label of %zu is no text, is empty, or has a line break "
                             "or a tab in it",
                             id));
        at[id] = json->items[i].text;
    }
    for (size_t i = 0; i < json->n; i++)
        vec_push(job->arena, *labels, at[i]);
    return are_different(job, config, at, json->n);
}

bool import_labels_one(const JsonValue *all)
{
    const JsonValue *labels = json_member(all, key), *count = json_member(all, "num_labels");
    if (labels && labels->kind == JV_OBJECT && labels->n)
        return labels->n == 1;
    return count && count->kind == JV_INTEGER && count->integer == 1;
}

/* A warning of what other keys say of the labels otherwise: transformers takes id2label, too. */
static void tell_others(Job *job, const Source *config, const JsonValue *all,
                        const TextList *labels)
{
    const JsonValue *count = json_member(all, "num_labels"), *ids = json_member(all, "label2id");
    bool agree =
        !ids || ids->kind == JV_NULL || (ids->kind == JV_OBJECT && ids->n == labels->count);
    for (size_t i = 0; agree && ids && ids->kind == JV_OBJECT && i < ids->n; i++) {
        const JsonValue *id = &ids->items[i];
        agree = id->kind == JV_INTEGER && id->integer >= 0 &&
                id->integer < (int64_t)labels->count &&
                !strcmp(labels->data[id->integer], ids->keys[i]);
    }
    if (!agree)
        diag_warning(&job->diags, (Loc){.source = config},
                     "\"label2id\" names other labels than \"%s\", which is taken", key);
    if (count && count->kind != JV_NULL && count->number != (double)labels->count)
        diag_warning(&job->diags, (Loc){.source = config},
                     "\"num_labels\" is %s, and \"%s\" has %lld, which are taken",
                     import_json_text(job, count), key, (long long)labels->count);
}

bool import_labels_read(Job *job, const Source *config, const JsonValue *all, TextList *labels)
{
    enum { UNSAID = 2, MOST = 1 << 20 };
    const JsonValue *json = json_member(all, key);
    if (json && json->kind == JV_OBJECT && json->n == 1)
        return refuse_id2label(
            job, config,
            "it has one label, so that all words would have the same: labels of words "
            "are two or more");
    if (json && json->kind == JV_OBJECT && json->n) {
        if (!read_named(job, config, json, labels))
            return false;
        tell_others(job, config, all, labels);
        return true;
    }
    if (json && json->kind != JV_NULL)
        return refuse_id2label(job, config, "expected an object with a label for each id");
    const JsonValue *count = json_member(all, "num_labels");
    const int64_t n = count && count->kind == JV_INTEGER ? count->integer : UNSAID;
    if (n < 2 || n > MOST)
        return refuse_id2label(job, config,
                               "it is absent, and \"num_labels\" is no number of labels from 2");
    for (int64_t i = 0; i < n; i++)
        vec_push(job->arena, *labels, arena_printf(job->arena, "LABEL_%lld", (long long)i));
    return true;
}

bool import_labels_print(Job *job, const Source *config, const JsonValue *all, bool in_words,
                         Text *out)
{
    TextList labels = {0};
    if (!import_labels_read(job, config, all, &labels))
        return false;
    for (size_t i = 0; i < labels.count; i++) {
        if (in_words && strchr(labels.data[i], ' '))
            return refuse_id2label(
                job, config,
                arena_printf(job->arena,
                             "the label of %zu, '%s', has a blank in it, which stands "
                             "between labels of a text: write another there",
                             i, labels.data[i]));
        text_add(out, "%s\n", labels.data[i]);
    }
    return true;
}
