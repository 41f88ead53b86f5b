/* Members of JSON objects, set in place; see json_edit.h. */
#include "driver/exchange/json_edit.h"

#include "base/json_write.h"

#include <string.h>

static JsonValue *find_member(JsonValue *object, const char *key)
{
    for (uint32_t i = 0; object->kind == JV_OBJECT && i < object->n; i++)
        if (!strcmp(object->keys[i], key))
            return &object->items[i];
    return NULL;
}

void json_edit_member(Arena *arena, JsonValue *object, const char *key, JsonValue value)
{
    JsonValue *old = find_member(object, key);
    if (old) {
        *old = value;
        return;
    }
    const uint32_t n = object->n;
    const char **keys = ARENA_ARRAY(arena, const char *, n + 1);
    JsonValue *items = ARENA_ARRAY(arena, JsonValue, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = object->keys[i];
        items[i] = object->items[i];
    }
    keys[n] = key;
    items[n] = value;
    *object = (JsonValue){.kind = JV_OBJECT, .n = n + 1, .keys = keys, .items = items};
}

JsonValue *json_edit_object(Arena *arena, JsonValue *object, const char *key)
{
    JsonValue *member = find_member(object, key);
    if (!member || member->kind != JV_OBJECT)
        json_edit_member(arena, object, key, (JsonValue){.kind = JV_OBJECT});
    return find_member(object, key);
}

void json_edit_set(Arena *arena, JsonValue *object, const char *path, JsonValue value)
{
    for (const char *point; (point = strchr(path, '.')); path = point + 1)
        object =
            json_edit_object(arena, object, arena_strndup(arena, path, (size_t)(point - path)));
    json_edit_member(arena, object, path, value);
}

void json_edit_remove(JsonValue *object, const char *key)
{
    const JsonValue *member = find_member(object, key);
    if (!member)
        return;
    for (uint32_t i = (uint32_t)(member - object->items); i + 1 < object->n; i++) {
        object->keys[i] = object->keys[i + 1];
        object->items[i] = object->items[i + 1];
    }
    object->n--;
}

void json_edit_insert(Arena *arena, JsonValue *list, uint32_t at, JsonValue item)
{
    JsonValue *items = ARENA_ARRAY(arena, JsonValue, list->n + 1);
    for (uint32_t i = 0; i < list->n; i++)
        items[i + (i >= at)] = list->items[i];
    items[at] = item;
    *list = (JsonValue){.kind = JV_LIST, .n = list->n + 1, .items = items};
}

void json_edit_remove_item(JsonValue *list, uint32_t at)
{
    for (uint32_t i = at; i + 1 < list->n; i++)
        list->items[i] = list->items[i + 1];
    list->n--;
}

static void put_number(JsonWriter *json, const char *key, double number)
{
    Text text = {0};
    text_number(&text, number);
    json_put_raw(json, key, text.data);
    text_free(&text);
}

static void put_value(JsonWriter *json, const char *key, const JsonValue *value)
{
    const bool is_object = value->kind == JV_OBJECT;
    switch (value->kind) {
    case JV_NULL: json_put_raw(json, key, "null"); return;
    case JV_FALSE:
    case JV_TRUE: json_put_bool(json, key, value->kind == JV_TRUE); return;
    case JV_INTEGER: json_put_integer(json, key, value->integer); return;
    case JV_NUMBER: put_number(json, key, value->number); return;
    case JV_STRING: json_put_text(json, key, value->text); return;
    default: break;
    }
    json_open(json, key, is_object ? '{' : '[');
    for (uint32_t i = 0; i < value->n; i++)
        put_value(json, is_object ? value->keys[i] : NULL, &value->items[i]);
    json_close(json, is_object ? '}' : ']');
}

void json_edit_print(const JsonValue *value, Text *out)
{
    JsonWriter json = {.out = out, .indent = 2};
    put_value(&json, NULL, value);
    text_string(out, "\n");
}
