/* Editing the post_processor of a tokenizer.json (documentation of Hugging Face's tokenizers,
 * "Post-processors"). */
#include "driver/exchange/revise_template.h"

#include <string.h>

static const char tokenizer_file[] = "tokenizer.json", type_key[] = "type",
                  template_type[] = "TemplateProcessing", token_key[] = "SpecialToken",
                  single_key[] = "single", pair_key[] = "pair";

typedef struct Template {
    Arena *arena;
    bool is_end;
    const char *text; /* of the token; NULL: none */
    int32_t id;
} Template;

static JsonValue *member_of(JsonValue *object, const char *key)
{
    return object->kind == JV_OBJECT ? (JsonValue *)json_member(object, key) : NULL;
}

static bool is_of_type(const JsonValue *step, const char *type)
{
    const char *is = step->kind == JV_OBJECT ? json_member_text(step, type_key) : NULL;
    return is && !strcmp(is, type);
}

/* {"SpecialToken": {"id": TEXT, "type_id": 0}}, or {"Sequence": {"id": "A", …}} */
static JsonValue make_item(Arena *arena, const char *kind, const char *text)
{
    JsonValue item = {.kind = JV_OBJECT};
    JsonValue *inner = json_edit_object(arena, &item, kind);
    json_edit_member(arena, inner, "id", json_of_text(text));
    json_edit_member(arena, inner, "type_id", json_of_integer(0));
    return item;
}

static bool is_token(const JsonValue *item) { return json_member(item, token_key) != NULL; }

/* The one token on that side of the list, or none, becomes the new one, or none. */
static void edit_list(const Template *t, JsonValue *list)
{
    const uint32_t edge = t->is_end && list->n ? list->n - 1 : 0;
    if (list->n && is_token(&list->items[edge]))
        json_edit_remove_item(list, edge);
    if (t->text)
        json_edit_insert(t->arena, list, t->is_end ? list->n : 0,
                         make_item(t->arena, token_key, t->text));
}

static void edit_template(const Template *t, JsonValue *step)
{
    JsonValue *single = member_of(step, single_key), *pair = member_of(step, pair_key);
    if (single && single->kind == JV_LIST)
        edit_list(t, single);
    if (pair && pair->kind == JV_LIST)
        edit_list(t, pair);
    if (!t->text)
        return;
    JsonValue *tokens = json_edit_object(t->arena, step, "special_tokens");
    JsonValue token = {.kind = JV_OBJECT}, ids = {.kind = JV_LIST}, texts = {.kind = JV_LIST};
    json_edit_insert(t->arena, &ids, 0, json_of_integer(t->id));
    json_edit_insert(t->arena, &texts, 0, json_of_text(t->text));
    json_edit_member(t->arena, &token, "id", json_of_text(t->text));
    json_edit_member(t->arena, &token, "ids", ids);
    json_edit_member(t->arena, &token, "tokens", texts);
    json_edit_member(t->arena, tokens, t->text, token);
}

/* BERT's and RoBERTa's: ["TEXT", id] on each side, always. */
static void edit_sides(const Template *t, JsonValue *step)
{
    JsonValue pair = {.kind = JV_LIST};
    if (!t->text)
        return;
    json_edit_insert(t->arena, &pair, 0, json_of_text(t->text));
    json_edit_insert(t->arena, &pair, 1, json_of_integer(t->id));
    json_edit_member(t->arena, step, t->is_end ? "sep" : "cls", pair);
}

static JsonValue make_template(const Template *t)
{
    JsonValue step = {.kind = JV_OBJECT}, single = {.kind = JV_LIST}, pair = {.kind = JV_LIST};
    json_edit_insert(t->arena, &single, 0, make_item(t->arena, "Sequence", "A"));
    json_edit_insert(t->arena, &pair, 0, make_item(t->arena, "Sequence", "A"));
    json_edit_insert(t->arena, &pair, 1, make_item(t->arena, "Sequence", "B"));
    json_edit_member(t->arena, &step, type_key, json_of_text(template_type));
    json_edit_member(t->arena, &step, single_key, single);
    json_edit_member(t->arena, &step, pair_key, pair);
    json_edit_object(t->arena, &step, "special_tokens");
    edit_template(t, &step);
    return step;
}

/* Whether the step, or one within it, says tokens; then it is edited. */
static bool edit_step(const Template *t, JsonValue *step)
{
    JsonValue *steps = is_of_type(step, "Sequence") ? member_of(step, "processors") : NULL;
    for (uint32_t i = 0; steps && steps->kind == JV_LIST && i < steps->n; i++)
        if (edit_step(t, &steps->items[i]))
            return true;
    const bool is_template = is_of_type(step, template_type);
    const bool has_sides =
        is_of_type(step, "BertProcessing") || is_of_type(step, "RobertaProcessing");
    if (is_template)
        edit_template(t, step);
    else if (has_sides)
        edit_sides(t, step);
    return is_template || has_sides;
}

void revise_template(Revise *r, bool is_end, int32_t id)
{
    Arena *arena = r->job->arena;
    JsonValue *json = revise_read(r, tokenizer_file, false);
    const Template t = {arena, is_end, id < 0 ? NULL : vocab_token(vocab_source(r->vocab), id), id};
    if (!json || json->kind != JV_OBJECT)
        return;
    JsonValue *step = json_edit_object(arena, json, "post_processor");
    if (!step->n)
        *step = make_template(&t);
    else if (!edit_step(&t, step)) {
        JsonValue steps = {.kind = JV_LIST}, all = {.kind = JV_OBJECT};
        json_edit_insert(arena, &steps, 0, *step);
        json_edit_insert(arena, &steps, 1, make_template(&t));
        json_edit_member(arena, &all, type_key, json_of_text("Sequence"));
        json_edit_member(arena, &all, "processors", steps);
        *step = all;
    }
    revise_changed(r, tokenizer_file);
}
