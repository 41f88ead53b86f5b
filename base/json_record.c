/* Reading and writing JSON by tables of members. */
#include "base/json_record.h"

#include "base/json_read.h"

#include <math.h>
#include <string.h>

/* Reading: the path of the member that is not what its row says. */
typedef struct RecordReader {
    Arena *arena;
    const char *wrong;
} RecordReader;

static bool read_record(RecordReader *reader, const JsonRecord *kind, const JsonValue *object,
                        void *record);

static bool fits_items(const JsonField *field, const JsonValue *value)
{
    return (int64_t)value->n >= field->least && (!field->most || (int64_t)value->n <= field->most);
}

/* An array of the value's items, each of `size` bytes, as the member's list. */
static void *make_items(Arena *arena, const JsonValue *value, size_t size, void *at)
{
    JsonItems items = {.count = value->n, .capacity = value->n};
    items.data = value->n ? arena_array(arena, value->n, size) : NULL;
    memcpy(at, &items, sizeof items);
    return items.data;
}

static bool read_texts(RecordReader *reader, const JsonField *field, const JsonValue *value,
                       void *at)
{
    bool ok = value->kind == JV_LIST && fits_items(field, value);
    const char **texts = ok ? make_items(reader->arena, value, sizeof *texts, at) : NULL;
    for (uint32_t i = 0; ok && i < value->n; i++) {
        ok = value->items[i].kind == JV_STRING;
        texts[i] = value->items[i].text;
    }
    return ok;
}

static bool read_pairs(RecordReader *reader, const JsonValue *value, void *at)
{
    bool ok = value->kind == JV_OBJECT;
    JsonPair *pairs = ok ? make_items(reader->arena, value, sizeof *pairs, at) : NULL;
    for (uint32_t i = 0; ok && i < value->n; i++) {
        ok = value->items[i].kind == JV_STRING;
        pairs[i] = (JsonPair){value->keys[i], value->items[i].text};
    }
    return ok;
}

/* ITEM before what is wrong in it: "shards[3]" and "rows" are "shards[3].rows". */
static bool wrong_within(RecordReader *reader, const char *item)
{
    reader->wrong =
        arena_printf(reader->arena, "%s%s%s", item, *reader->wrong ? "." : "", reader->wrong);
    return false;
}

static bool read_records(RecordReader *reader, const JsonField *field, const JsonValue *value,
                         void *at)
{
    const size_t size = field->of->size;
    bool ok = value->kind == JV_LIST && fits_items(field, value);
    char *records = ok ? make_items(reader->arena, value, size, at) : NULL;
    for (uint32_t i = 0; ok && i < value->n; i++)
        if (!read_record(reader, field->of, &value->items[i], records + i * size))
            ok = wrong_within(reader, arena_printf(reader->arena, "%s[%u]", field->name, i));
    return ok;
}

static bool read_word(const JsonField *field, const char *word, int *at)
{
    for (int i = 0; i < field->n_words; i++)
        if (field->words[i] && !strcmp(word, field->words[i])) {
            *at = i;
            return true;
        }
    return false;
}

static bool read_member(RecordReader *reader, const JsonField *field, const JsonValue *value,
                        void *record)
{
    void *at = (char *)record + field->offset;
    const JsonKind kind = value->kind;
    const bool is_number = kind == JV_NUMBER || kind == JV_INTEGER;
    switch (field->type) {
    case JSON_WORD: return kind == JV_STRING && read_word(field, value->text, at);
    case JSON_BOOL: *(bool *)at = kind == JV_TRUE; return kind == JV_TRUE || kind == JV_FALSE;
    case JSON_INTEGER:
        return kind == JV_INTEGER && json_field_set_integer(field, value->integer, record);
    case JSON_NUMBER:
        *(double *)at = is_number ? value->number : (double)NAN;
        return is_number || kind == JV_NULL;
    case JSON_TEXTS: return read_texts(reader, field, value, at);
    case JSON_PAIRS: return read_pairs(reader, value, at);
    case JSON_RECORD:
        return read_record(reader, field->of, value, at) || wrong_within(reader, field->name);
    case JSON_RECORDS: return read_records(reader, field, value, at);
    default: return kind == JV_STRING && json_field_set(field, value->text, record);
    }
}

static bool read_record(RecordReader *reader, const JsonRecord *kind, const JsonValue *object,
                        void *record)
{
    reader->wrong = "";
    if (object->kind != JV_OBJECT)
        return false;
    for (int i = 0; i < kind->n; i++) {
        const JsonField *field = &kind->fields[i];
        const JsonValue *value = json_member(object, field->name);
        json_field_clear(field, record);
        if (value ? read_member(reader, field, value, record) : field->use != JSON_NEEDED) {
            if (value && field->flag)
                *((char *)record + field->flag - 1) = true;
            continue;
        }
        if (!*reader->wrong)
            reader->wrong = field->name;
        return false;
    }
    return true;
}

bool json_record_read(Arena *arena, const JsonRecord *kind, const JsonValue *object, void *record,
                      const char **wrong)
{
    RecordReader reader = {.arena = arena, .wrong = ""};
    const bool ok = read_record(&reader, kind, object, record);
    *wrong = ok ? NULL : *reader.wrong ? reader.wrong : "an object is expected";
    return ok;
}

/* ---- writing ---- */

static void put_items(JsonWriter *json, const JsonField *field, const void *record)
{
    const JsonItems items = json_field_items(field, record);
    const JsonPair *pairs = items.data;
    const char *const *texts = items.data;
    const bool is_object = field->type == JSON_PAIRS;
    json_open(json, field->name, is_object ? '{' : '[');
    for (size_t i = 0; i < items.count; i++) {
        if (field->type == JSON_TEXTS)
            json_put_text(json, NULL, texts[i]);
        else if (!is_object)
            json_record_put_item(json, NULL, field->of,
                                 (const char *)items.data + i * field->of->size);
        else if (pairs[i].value)
            json_put_text(json, pairs[i].name, pairs[i].value);
    }
    json_close(json, is_object ? '}' : ']');
}

void json_record_put_item(JsonWriter *json, const char *key, const JsonRecord *kind,
                          const void *record)
{
    const int indent = json->indent;
    json_open(json, key, '{');
    if (kind->is_line)
        json->indent = 0;
    json_record_put(json, kind, record);
    json_close(json, '}');
    json->indent = indent;
}

static void put_member(JsonWriter *json, const JsonField *field, const void *record)
{
    const void *at = (const char *)record + field->offset;
    char text[JSON_FIELD_TEXT];
    switch (field->type) {
    case JSON_WORD: json_put_text(json, field->name, field->words[*(const int *)at]); break;
    case JSON_BOOL: json_put_bool(json, field->name, *(const bool *)at); break;
    case JSON_INTEGER:
        json_put_integer(json, field->name, json_field_integer(field, record));
        break;
    case JSON_NUMBER:
        json_put_number(json, field->name, *(const double *)at, JSON_RECORD_DIGITS);
        break;
    case JSON_TEXTS:
    case JSON_PAIRS:
    case JSON_RECORDS: put_items(json, field, record); break;
    case JSON_RECORD: json_record_put_item(json, field->name, field->of, at); break;
    default: json_put_text(json, field->name, json_field_text(field, record, text)); break;
    }
}

void json_record_put(JsonWriter *json, const JsonRecord *kind, const void *record)
{
    for (int i = 0; i < kind->n; i++)
        if (json_field_is_written(&kind->fields[i], record))
            put_member(json, &kind->fields[i], record);
}
