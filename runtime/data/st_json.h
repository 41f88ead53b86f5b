/* JSON as headers of safetensors files have it: objects, lists, strings and whole
 * numbers. Strict (RFC 8259): UTF-8, no duplicate keys, nothing after the value;
 * null, true, false and numbers with a point or an exponent are read and count as
 * "something else". */
#ifndef RUNTIME_DATA_ST_JSON_H
#define RUNTIME_DATA_ST_JSON_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum StJsonKind { STJ_OBJECT, STJ_LIST, STJ_STRING, STJ_INTEGER, STJ_ELSE } StJsonKind;

typedef struct StJson {
    StJsonKind kind;
    const char *text;       /* of a string; it holds no NUL */
    int64_t integer;
    size_t n;               /* of a list or an object */
    const char **keys;      /* of an object, in the order of the file */
    struct StJson *items;
} StJson;

/* The value that the bytes are; NULL: they are none, and *problem tells why and where; or,
 * with *problem NULL, there is no memory. */
StJson *st_json_parse(Arena *arena, const char *bytes, size_t length, const char **problem);
/* Of an object; NULL where absent or `object` is none. */
const StJson *st_json_get(const StJson *object, const char *key);

#endif
