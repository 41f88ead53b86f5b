/* The JSON files of a published folder, and values in them. */
#ifndef DRIVER_EXCHANGE_IMPORT_JSON_H
#define DRIVER_EXCHANGE_IMPORT_JSON_H

#include "base/json_read.h"
#include "driver/job.h"

/* The value of a file, in which whole numbers with a point, such as 16.0, are whole numbers. NULL:
 * it is no JSON, and *problem says why; or memory ran out, and *problem is NULL. */
const JsonValue *import_json_value(Arena *arena, const Source *file, const char **problem);
/* Reads FOLDER/NAME in this way, whose value must be of `kind`, an object or a list. *json NULL:
 * there is no such file. False after an error. */
bool import_json_read(Job *job, const char *folder, const char *name, JsonKind kind,
                      const JsonValue **json);
/* JsonWant: of what kind the value of a key is. */
typedef enum JsonWant { IS_TEXT, IS_FLAG, IS_NUMBER } JsonWant;
/* The member of an object of the file `path`. *value NULL: it is missing, or null. False after an
 * error: it is of another kind. */
bool import_json_member(Job *job, const char *path, const JsonValue *object, const char *key,
                        JsonWant want, const JsonValue **value);
/* A value written in C, such as "[1, 2]"; NULL: it is not JSON. */
const JsonValue *import_json_parse(Job *job, const char *text);
/* As JSON has it; a list of some without its brackets, and "…" of an object. */
const char *import_json_text(Job *job, const JsonValue *value);
bool import_json_is_number(const JsonValue *value);
/* Numbers are compared by value, whole or not. */
bool import_json_is_same(Job *job, const JsonValue *a, const JsonValue *b);
/* Whether it is an element of the list or, of another value, the same. */
bool import_json_is_one_of(Job *job, const JsonValue *value, const JsonValue *allowed);

#endif
