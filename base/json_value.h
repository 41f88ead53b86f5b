/* JsonValue: a value of a JSON text, as json_read.h reads it. */
#ifndef BASE_JSON_VALUE_H
#define BASE_JSON_VALUE_H

#include <stddef.h>
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

/* JsonValue: a value of 32 bytes. Whatever its kind, `text` is NULL or a string, and n is 0 or the
 * number of items. */
typedef struct JsonValue {
    JsonKind kind;
    uint32_t n;       /* of a list or an object */
    const char *text; /* of a string; it holds no NUL */
    union {
        int64_t integer;   /* of JV_INTEGER; 0 of JV_NUMBER */
        const char **keys; /* of an object, in the order of the file */
    };
    union {
        double number; /* of JV_INTEGER and JV_NUMBER */
        struct JsonValue *items;
    };
} JsonValue;

#endif
