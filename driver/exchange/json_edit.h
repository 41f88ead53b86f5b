/* Editing a JSON text: the value is read, members are set, and it is written again in the same
 * order. */
#ifndef DRIVER_EXCHANGE_JSON_EDIT_H
#define DRIVER_EXCHANGE_JSON_EDIT_H

#include "base/arena.h"
#include "base/json_read.h"
#include "base/text.h"

/* The member of that key, which becomes an empty object if it is absent or null. */
JsonValue *json_edit_object(Arena *arena, JsonValue *object, const char *key);
/* Sets the member of that key, behind the others where the object lacks it. */
void json_edit_member(Arena *arena, JsonValue *object, const char *key, JsonValue value);
/* The same of "key" or "object.key", and deeper; objects on the way are made. */
void json_edit_set(Arena *arena, JsonValue *object, const char *path, JsonValue value);
void json_edit_remove(JsonValue *object, const char *key); /* nothing where it is absent */
/* Puts an item into a list before number `at`, or removes that item. */
void json_edit_insert(Arena *arena, JsonValue *list, uint32_t at, JsonValue item);
void json_edit_remove_item(JsonValue *list, uint32_t at);
/* Appends the value as text, members on lines of their own. */
void json_edit_print(const JsonValue *value, Text *out);

static inline JsonValue json_of_text(const char *text)
{
    return (JsonValue){.kind = JV_STRING, .text = text};
}
static inline JsonValue json_of_integer(int64_t integer)
{
    return (JsonValue){.kind = JV_INTEGER, .integer = integer, .number = (double)integer};
}
static inline JsonValue json_of_truth(bool is)
{
    return (JsonValue){.kind = is ? JV_TRUE : JV_FALSE};
}

#endif
