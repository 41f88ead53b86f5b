/* Whether the labels of config.json are the run's. */
#include "driver/exchange/import_labels.h"
#include "driver/exchange/revise_parts.h"

#include "base/file.h"
#include "driver/run/column_words.h"

#include <string.h>

enum { LARGEST_LABELS = 1 << 26 };

/* The labels of the lines, by their ids, and the ids by their labels. */
static void set_labels(Revise *r, const Source *list)
{
    Arena *arena = r->job->arena;
    JsonValue by_id = {.kind = JV_OBJECT}, by_label = {.kind = JV_OBJECT};
    int64_t id = 0;
    for (const char *at = list->text; *at; id++) {
        const size_t length = strcspn(at, "\n");
        const char *label = arena_strndup(arena, at, length);
        json_edit_member(arena, &by_id, arena_printf(arena, "%lld", (long long)id),
                         json_of_text(label));
        json_edit_member(arena, &by_label, label, json_of_integer(id));
        at += length + (at[length] == '\n');
    }
    revise_set(r, PUBLISHED_CONFIG, "id2label", by_id);
    revise_set(r, PUBLISHED_CONFIG, "label2id", by_label);
    JsonValue *config = revise_read(r, PUBLISHED_CONFIG, false);
    if (config && json_member(config, "num_labels"))
        revise_set(r, PUBLISHED_CONFIG, "num_labels", json_of_integer(id));
}

static bool compare_column(Revise *r, const ColumnSpec *spec)
{
    const char *name = column_words_file(r->job->arena, spec);
    const Source *list =
        job_read(r->job, r->run, file_in(r->job->arena, r->run, name), LARGEST_LABELS);
    Text published = {0};
    if (!list)
        return false;
    const bool is_read = import_labels_print(&r->quiet, r->config.source, r->config.json,
                                             spec->side >= 0, &published);
    if (!is_read || published.length != list->length ||
        memcmp(published.data, list->text, list->length) != 0) {
        revise_differs(r, "its list of labels", name, "another");
        set_labels(r, list);
    }
    text_free(&published);
    return true;
}

bool revise_labels(Revise *r)
{
    const ModelPorts ports = ports_of(r->is->module);
    DataColumns columns;
    bool ok =
        !import_labels_are(r->config.model) || columns_of(r->job, r->is->module, &ports, &columns);
    for (int c = 0; ok && import_labels_are(r->config.model) && c < columns.n; c++)
        ok = !columns.words[c] || compare_column(r, &columns.specs[c]);
    return ok;
}
