/* YAML by libyaml, which belongs to this file alone: its events written as JSON, and that read. */
#include "driver/exchange/npz_yaml.h"

#include "base/json_write.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

enum { DEEPEST = 32 };

typedef struct Yaml {
    Diagnostics *diags;
    Arena *arena;
    const Source *source;
    yaml_parser_t parser;
    JsonWriter json;
} Yaml;

static bool refuse_yaml(Yaml *y, const yaml_mark_t *mark, const char *what)
{
    Loc loc = {.source = y->source,
               .line = (int)mark->line + 1,
               .column = (int)mark->column + 1,
               .length = 1};
    diag_error(y->diags, loc, "%s", what);
    return false;
}

/* The next event, which the caller deletes; false after an error. */
static bool next(Yaml *y, yaml_event_t *event)
{
    if (yaml_parser_parse(&y->parser, event))
        return true;
    const char *problem = y->parser.problem;
    return refuse_yaml(y, &y->parser.problem_mark,
                       problem ? arena_printf(y->arena, "not YAML: %s", problem) : "not YAML");
}

/* The scalar's text, which lives as long as the event; NULL after an error. */
static const char *scalar_text(Yaml *y, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) == event->data.scalar.length)
        return text;
    refuse_yaml(y, &event->start_mark, "a string holds a NUL");
    return NULL;
}

static bool put_scalar(Yaml *y, const char *key, const yaml_event_t *event)
{
    const char *text = scalar_text(y, event);
    if (!text)
        return false;
    const bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_plain && (!*text || !strcmp(text, "~")))
        json_put_raw(&y->json, key, "null");
    else if (is_plain && json_scalar_kind(text, strlen(text)) != JV_STRING)
        json_put_raw(&y->json, key, text);
    else
        json_put_text(&y->json, key, text);
    return true;
}

static bool put_value(Yaml *y, const char *key, const yaml_event_t *event, int depth);

/* A member whose first event, its key or an item, has been read. */
static bool put_member(Yaml *y, bool is_map, const yaml_event_t *first, int depth)
{
    yaml_event_t value;
    if (!is_map)
        return put_value(y, NULL, first, depth);
    if (first->type != YAML_SCALAR_EVENT)
        return refuse_yaml(y, &first->start_mark, "a key is no plain text");
    const char *key = scalar_text(y, first);
    if (!key || !next(y, &value))
        return false;
    const bool ok = put_value(y, key, &value, depth);
    yaml_event_delete(&value);
    return ok;
}

/* What the list or the map holds, up to its end. */
static bool put_members(Yaml *y, bool is_map, int depth)
{
    for (bool ends = false, ok = true;;) {
        yaml_event_t event;
        if (!next(y, &event))
            return false;
        ends = event.type == (is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
        ok = ends || put_member(y, is_map, &event, depth);
        yaml_event_delete(&event);
        if (ends || !ok)
            return ok;
    }
}

static bool put_value(Yaml *y, const char *key, const yaml_event_t *event, int depth)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    if (event->type == YAML_SCALAR_EVENT)
        return put_scalar(y, key, event);
    if (!is_map && event->type != YAML_SEQUENCE_START_EVENT)
        return refuse_yaml(y, &event->start_mark, "an alias, which is not read here");
    if (depth == DEEPEST)
        return refuse_yaml(y, &event->start_mark, "too many lists in lists");
    json_open(&y->json, key, is_map ? '{' : '[');
    if (!put_members(y, is_map, depth + 1))
        return false;
    json_close(&y->json, is_map ? '}' : ']');
    return true;
}

static bool put_document(Yaml *y)
{
    for (;;) {
        yaml_event_t event;
        if (!next(y, &event))
            return false;
        yaml_event_type_t type = event.type;
        bool begins = type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT;
        bool ok = begins ||
                  (type == YAML_STREAM_END_EVENT ? refuse_yaml(y, &event.start_mark, "it is empty")
                                                 : put_value(y, NULL, &event, 0));
        yaml_event_delete(&event);
        if (!begins || !ok)
            return ok;
    }
}

const JsonValue *yaml_read(Diagnostics *diags, Arena *arena, const Source *source)
{
    Text text = {0};
    Yaml y = {.diags = diags, .arena = arena, .source = source, .json = {.out = &text}};
    if (!yaml_parser_initialize(&y.parser)) {
        diag_error(diags, (Loc){0}, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&y.parser, (const unsigned char *)source->text, source->length);
    const JsonValue *value = NULL;
    const char *problem = NULL;
    if (put_document(&y)) {
        value = json_read(arena, text.data, text.length, &problem);
        if (!value)
            diag_error(diags, (Loc){.source = source}, "%s", problem ? problem : "out of memory");
    }
    yaml_parser_delete(&y.parser);
    text_free(&text);
    return value;
}
