/* The consts of models/sentences.tfg in the files of sentence-transformers. */
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_sentences.h"
#include "driver/exchange/revise_parts.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static const char pooling_const[] = "pooling", unit_const[] = "normalised",
                  longest_const[] = "longest";

bool revise_sentences_say(const char *name)
{
    return !strcmp(name, pooling_const) || !strcmp(name, unit_const) ||
           !strcmp(name, longest_const);
}

/* ---- modules ---- */

static void add_module(Revise *r, JsonValue *modules, const char *path, const char *kind)
{
    Arena *arena = r->job->arena;
    const char *number = arena_printf(arena, "%u", modules->n);
    JsonValue module = {.kind = JV_OBJECT};
    json_edit_member(arena, &module, "idx", json_of_integer(modules->n));
    json_edit_member(arena, &module, "name", json_of_text(number));
    json_edit_member(arena, &module, "path", json_of_text(path));
    json_edit_member(arena, &module, "type",
                     json_of_text(arena_printf(arena, "sentence_transformers.models.%s", kind)));
    json_edit_insert(arena, modules, modules->n, module);
    revise_changed(r, SENTENCES_MODULES);
}

/* Those of the folder; where it is no folder of sentence-transformers, the encoder, a mean, which
 * its model has, and the longest text of the run. */
static JsonValue *find_modules(Revise *r)
{
    JsonValue *modules = revise_read(r, SENTENCES_MODULES, true);
    if (!modules || modules->kind == JV_LIST)
        return modules;
    *modules = (JsonValue){.kind = JV_LIST};
    add_module(r, modules, "", "Transformer");
    add_module(r, modules, "1_Pooling", "Pooling");
    revise_set(r, "1_Pooling/config.json", "pooling_mode_mean_tokens", json_of_truth(true));
    const char *longest = revise_const(r->is, longest_const);
    if (longest)
        revise_set(r, SENTENCES_TEXTS, SENTENCES_LONGEST, json_of_integer(atoll(longest)));
    return modules;
}

/* ---- consts ---- */

static void set_pooling(Revise *r, const char *word)
{
    const JsonValue *modules = find_modules(r);
    const char *path =
        modules && modules->n > 1 ? json_member_text(&modules->items[1], "path") : NULL;
    const char *file = path ? file_in(r->job->arena, path, "config.json") : NULL;
    JsonValue *json = file ? revise_read(r, file, true) : NULL;
    const char *width = revise_const(r->is, "d_model");
    if (!json || json->kind != JV_OBJECT)
        return;
    if (!json->n && width)
        revise_set(r, file, "word_embedding_dimension", json_of_integer(atoll(width)));
    const bool by_word = json_member(json, "pooling_mode") != NULL;
    for (const SentencesPooling *way = sentences_poolings; way->key; way++) {
        const bool is_it = !strcmp(way->ours, word);
        if (is_it || json_member(json, way->key))
            revise_set(r, file, way->key, json_of_truth(is_it));
        if (is_it && by_word)
            revise_set(r, file, "pooling_mode", json_of_text(way->word));
    }
}

static void set_unit(Revise *r, bool is)
{
    JsonValue *modules = find_modules(r);
    if (!modules || modules->n < 2)
        return;
    if (is)
        add_module(r, modules, arena_printf(r->job->arena, "%u_Normalize", modules->n),
                   "Normalize");
    else
        json_edit_remove_item(modules, modules->n - 1);
    revise_changed(r, SENTENCES_MODULES);
}

void revise_sentences(Revise *r, const char *name, const char *value)
{
    const JsonValue *is = import_json_parse(&r->quiet, value);
    if (!is)
        return;
    if (!strcmp(name, pooling_const) && is->kind == JV_STRING)
        set_pooling(r, is->text);
    else if (!strcmp(name, unit_const))
        set_unit(r, is->kind == JV_TRUE);
    else if (!strcmp(name, longest_const) && find_modules(r))
        revise_set(r, SENTENCES_TEXTS, SENTENCES_LONGEST, *is);
}
