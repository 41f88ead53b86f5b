/* A member of a record: its default, and its value as a text. Compiled libraries have this file. */
#include "base/json_record.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *json_field_at(const JsonField *field, void *record)
{
    return (char *)record + field->offset;
}

static const void *json_field_of(const JsonField *field, const void *record)
{
    return (const char *)record + field->offset;
}

JsonItems json_field_items(const JsonField *field, const void *record)
{
    JsonItems items;
    memcpy(&items, json_field_of(field, record), sizeof items);
    return items;
}

/* Whether the member in C is what the row says. */
__attribute__((unused)) static bool has_json_size(const JsonField *field)
{
    const size_t sizes[] = {[JSON_TEXT] = sizeof(char *),
                            [JSON_WORD] = sizeof(int),
                            [JSON_BOOL] = sizeof(bool),
                            [JSON_INTEGER] = sizeof(int64_t),
                            [JSON_UNSIGNED] = sizeof(uint64_t),
                            [JSON_HASH] = sizeof(uint64_t),
                            [JSON_NUMBER] = sizeof(double),
                            [JSON_EXACT] = sizeof(double),
                            [JSON_TEXTS] = sizeof(JsonItems),
                            [JSON_PAIRS] = sizeof(JsonItems),
                            [JSON_RECORD] = field->of ? field->of->size : 0,
                            [JSON_RECORDS] = sizeof(JsonItems)};
    return field->size == sizes[field->type] ||
           (field->type == JSON_INTEGER && field->size == sizeof(int));
}

/* ---- defaults ---- */

void json_field_clear(const JsonField *field, void *record)
{
    assert(has_json_size(field));
    void *at = json_field_at(field, record);
    memset(at, 0, field->size);
    if (field->type == JSON_NUMBER || field->type == JSON_EXACT)
        *(double *)at = NAN;
    else if (field->type == JSON_INTEGER && field->size == sizeof(int))
        *(int *)at = (int)field->otherwise;
    else if (field->type == JSON_INTEGER)
        *(int64_t *)at = field->otherwise;
    if (field->flag)
        *((char *)record + field->flag - 1) = false;
}

int64_t json_field_integer(const JsonField *field, const void *record)
{
    const void *at = json_field_of(field, record);
    return field->size == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
}

static bool is_json_default(const JsonField *field, const void *record)
{
    const void *at = json_field_of(field, record);
    switch (field->type) {
    case JSON_TEXT: return !*(const char *const *)at;
    case JSON_BOOL: return !*(const bool *)at;
    case JSON_INTEGER: return json_field_integer(field, record) == field->otherwise;
    case JSON_UNSIGNED:
    case JSON_HASH: return !*(const uint64_t *)at;
    case JSON_NUMBER:
    case JSON_EXACT: return !isfinite(*(const double *)at);
    case JSON_TEXTS:
    case JSON_PAIRS:
    case JSON_RECORDS: return !json_field_items(field, record).count;
    case JSON_WORD:
    case JSON_RECORD: break;
    }
    return false;
}

bool json_field_is_written(const JsonField *field, const void *record)
{
    const bool is_flagged = field->flag && *((const char *)record + field->flag - 1);
    const bool is_empty = is_json_default(field, record);
    return is_flagged || !is_empty || (field->use != JSON_OPTIONAL && field->type != JSON_TEXT);
}

/* ---- texts ---- */

const char *json_field_text(const JsonField *field, const void *record, char out[JSON_FIELD_TEXT])
{
    const void *at = json_field_of(field, record);
    switch (field->type) {
    case JSON_TEXT: return *(const char *const *)at;
    case JSON_BOOL: return *(const bool *)at ? "1" : "0";
    case JSON_INTEGER:
        snprintf(out, JSON_FIELD_TEXT, "%" PRId64, json_field_integer(field, record));
        break;
    case JSON_UNSIGNED: snprintf(out, JSON_FIELD_TEXT, "%" PRIu64, *(const uint64_t *)at); break;
    case JSON_HASH: snprintf(out, JSON_FIELD_TEXT, "%016" PRIx64, *(const uint64_t *)at); break;
    case JSON_EXACT: snprintf(out, JSON_FIELD_TEXT, "%a", *(const double *)at); break;
    default: return NULL;
    }
    return out;
}

bool json_field_set_integer(const JsonField *field, int64_t value, void *record)
{
    void *at = json_field_at(field, record);
    const int64_t widest = field->size == sizeof(int) ? INT32_MAX : INT64_MAX;
    if (value < field->least || value > (field->most ? field->most : widest))
        return false;
    if (field->size == sizeof(int))
        *(int *)at = (int)value;
    else
        *(int64_t *)at = value;
    return true;
}

static bool set_json_unsigned(const char *text, const char *digits, size_t length, int base,
                              uint64_t *value)
{
    errno = 0;
    *value = strtoull(text, NULL, base);
    return *text && strspn(text, digits) == strlen(text) && !errno &&
           (!length || strlen(text) == length);
}

bool json_field_set(const JsonField *field, const char *text, void *record)
{
    static const char digits[] = "0123456789abcdef";
    enum { HASH_DIGITS = 16 };
    void *at = json_field_at(field, record);
    char *end;
    int64_t value;
    switch (field->type) {
    case JSON_TEXT: *(const char **)at = text; return true;
    case JSON_BOOL: *(bool *)at = !strcmp(text, "1"); return *(bool *)at || !strcmp(text, "0");
    case JSON_INTEGER:
        return text_whole(text, &value) && json_field_set_integer(field, value, record);
    case JSON_UNSIGNED: return set_json_unsigned(text, "0123456789", 0, 10, at);
    case JSON_HASH: return set_json_unsigned(text, digits, HASH_DIGITS, HASH_DIGITS, at);
    case JSON_EXACT: *(double *)at = strtod(text, &end); return end != text && !*end;
    default: return false;
    }
}
