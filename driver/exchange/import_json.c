/* Reading the JSON files of a published folder, and comparing values. */
#include "driver/exchange/import_json.h"

#include "base/file.h"

#include <string.h>

enum { LARGEST_FILE = 1 << 24 };

/* Turns whole numbers into integers, in lists and objects, too: Python writes a quotient as
 * 16.0. */
static void make_whole(JsonValue *value)
{
    static const double most = 0x1p53;
    const double number = value->kind == JV_NUMBER ? value->number : 0.5;
    if (number > -most && number < most && number == (double)(int64_t)number) {
        value->kind = JV_INTEGER;
        value->integer = (int64_t)number;
    }
    for (size_t i = 0; (value->kind == JV_LIST || value->kind == JV_OBJECT) && i < value->n; i++)
        make_whole(&value->items[i]);
}

const JsonValue *import_json_value(Arena *arena, const Source *file, const char **problem)
{
    JsonValue *value = json_read(arena, file->text, file->length, problem);
    if (value)
        make_whole(value);
    return value;
}

bool import_json_read(Job *job, const char *folder, const char *name, JsonKind kind,
                      const JsonValue **json)
{
    const char *path = file_in(job->arena, folder, name), *problem = NULL;
    *json = NULL;
    if (!file_is_named(path))
        return true;
    const Source *source = job_read(job, folder, path, LARGEST_FILE);
    *json = source ? import_json_value(job->arena, source, &problem) : NULL;
    if (*json && (*json)->kind != kind)
        return job_error(job, "%s: expected %s", path,
                         kind == JV_OBJECT ? "{\"key\": value, …}" : "[value, …]");
    return *json || (source && job_error(job, "%s: %s", path, problem ? problem : "out of memory"));
}

const JsonValue *import_json_parse(Job *job, const char *text)
{
    const char *problem;
    return json_read(job->arena, text, strlen(text), &problem);
}

static void put_value(const JsonValue *value, Text *text)
{
    switch (value->kind) {
    case JV_NULL: text_string(text, "null"); break;
    case JV_FALSE: text_string(text, "false"); break;
    case JV_TRUE: text_string(text, "true"); break;
    case JV_INTEGER: text_integer(text, value->integer); break;
    case JV_NUMBER: text_number(text, value->number); break;
    case JV_STRING: text_quote(text, value->text); break;
    case JV_LIST:
        text_string(text, value->n ? "" : "[]");
        for (size_t i = 0; i < value->n; i++) {
            text_string(text, i ? ", " : "");
            put_value(&value->items[i], text);
        }
        break;
    default: text_string(text, "…"); break;
    }
}

const char *import_json_text(Job *job, const JsonValue *value)
{
    Text text = {0};
    put_value(value, &text);
    return text_keep(job->arena, &text);
}

bool import_json_member(Job *job, const char *path, const JsonValue *object, const char *key,
                        JsonWant want, const JsonValue **value)
{
    static const char *const names[] = {"a text", "true or false", "a number"};
    const JsonValue *member = object ? json_member(object, key) : NULL;
    *value = member && member->kind != JV_NULL ? member : NULL;
    if (!*value || (want == IS_TEXT     ? member->kind == JV_STRING
                    : want == IS_NUMBER ? import_json_is_number(member)
                                        : member->kind == JV_TRUE || member->kind == JV_FALSE))
        return true;
    return job_error(job, "%s: \"%s\" is %s; expected %s", path, key, import_json_text(job, member),
                     names[want]);
}

bool import_json_is_number(const JsonValue *value)
{
    return value->kind == JV_INTEGER || value->kind == JV_NUMBER;
}

bool import_json_is_same(Job *job, const JsonValue *a, const JsonValue *b)
{
    if (import_json_is_number(a) && import_json_is_number(b))
        return a->number == b->number;
    return a->kind == b->kind && !strcmp(import_json_text(job, a), import_json_text(job, b));
}

bool import_json_is_one_of(Job *job, const JsonValue *value, const JsonValue *allowed)
{
    if (allowed->kind != JV_LIST)
        return import_json_is_same(job, value, allowed);
    for (size_t i = 0; i < allowed->n; i++)
        if (import_json_is_same(job, value, &allowed->items[i]))
            return true;
    return false;
}
