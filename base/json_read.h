/* Reading JSON, strictly (RFC 8259): UTF-8, nothing but blanks after the value. There are further
 * rules: an object has no duplicate keys, strings hold no NUL, and values nest at most 16 levels
 * deep. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/arena.h"
#include "base/json_value.h"

#include <stdbool.h>
#include <stdint.h>

/* The value that the bytes hold, in the arena; while it is read, memory is within BUDGET_TEXT of
 * their number (budget.h). NULL: the bytes break a rule above, and *problem says which and where;
 * or memory ran out, and *problem is NULL. */
JsonValue *json_read(Arena *arena, const char *bytes, size_t length, const char **problem);
/* The same, but a NUL in a string is read: as JSON_NUL, which no other string has, since it is not
 * valid UTF-8. */
#define JSON_NUL "\xC0\x80"
JsonValue *json_read_nul(Arena *arena, const char *bytes, size_t length, const char **problem);
/* What the bytes alone are: null, true, false, an integer or a number; JV_STRING: something else.
 * Takes no memory. */
JsonKind json_scalar_kind(const char *bytes, size_t length);
/* The member of that key; NULL: there is none, or `object` is no object. */
const JsonValue *json_member(const JsonValue *object, const char *key);
/* The text of the member of that key; NULL: there is none, or it is no string. */
const char *json_member_text(const JsonValue *object, const char *key);

#endif
