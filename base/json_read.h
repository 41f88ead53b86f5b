/* Reading JSON, strictly (RFC 8259): UTF-8, nothing but blanks after the value. There are further
 * rules: an object has no duplicate keys, strings hold no NUL, and values nest at most 16 levels
 * deep. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum JsonKind {
    JV_NULL,
    JV_FALSE,
    JV_TRUE,
    JV_INTEGER,
    JV_NUMBER, /* with a point or an exponent, or whole and beyond int64_t */
    JV_STRING,
    JV_LIST,
    JV_OBJECT
} JsonKind;

typedef struct JsonValue {
    JsonKind kind;
    const char *text; /* of a string; it holds no NUL */
    int64_t integer;
    double number;     /* of JV_INTEGER and JV_NUMBER */
    size_t n;          /* of a list or an object */
    const char **keys; /* of an object, in the order of the file */
    struct JsonValue *items;
} JsonValue;

/* The value that the bytes hold. NULL: the bytes break a rule above, and *problem says which and
 * where; or memory ran out, and *problem is NULL. */
JsonValue *json_read(Arena *arena, const char *bytes, size_t length, const char **problem);
/* The member of that key; NULL: there is none, or `object` is no object. */
const JsonValue *json_member(const JsonValue *object, const char *key);
/* The text of the member of that key; NULL: there is none, or it is no string. */
const char *json_member_text(const JsonValue *object, const char *key);

#endif
