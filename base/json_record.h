/* JsonRecord: a C record and the JSON object that it is in a file, as one table: a row for each
 * member, with its key, its type and its place in the record. One reader and one writer serve all
 * tables, so a member is named once.
 *
 *   static const JsonField fields[] = {
 *       JSON_FIELD(Point, "x", INTEGER, x, NEEDED, .most = 100),
 *       JSON_FIELD(Point, "name", TEXT, name, OPTIONAL),            since 0.3.0
 *   };
 *   static const JsonRecord point = JSON_RECORD_OF(Point, fields);
 *
 *   json_record_read(arena, &point, object, &p, &wrong)             {"x": 7}
 *
 * A member that an older version did not write is OPTIONAL or WRITTEN, never NEEDED. Members
 * without a row are passed over. */
#ifndef BASE_JSON_RECORD_H
#define BASE_JSON_RECORD_H

#include "base/json_value.h"
#include "base/json_write.h"
#include "base/vec.h"

#include <stddef.h>

/* JsonPair: a member of an object of strings. */
typedef struct JsonPair {
    const char *name, *value;
} JsonPair;

/* JsonFieldType: what a member is in C, and in JSON.
 *   TEXT      const char *; NULL: absent
 *   WORD      an enum: its word in `words`
 *   BOOL      bool
 *   INTEGER   int64_t or int: a whole number within the bounds
 *   UNSIGNED  uint64_t: its decimal digits, as a string
 *   HASH      uint64_t: 16 hexadecimal digits, as a string
 *   NUMBER    double: a number of JSON_RECORD_DIGITS digits; NAN: null, and infinities, too
 *   EXACT     double: its bits as C's %a, as a string
 *   TEXTS     VEC(const char *): a list of strings
 *   PAIRS     VEC(JsonPair): an object of strings
 *   RECORD    a record of `of`: an object
 *   RECORDS   VEC of such: a list of objects */
typedef enum JsonFieldType {
    JSON_TEXT,
    JSON_WORD,
    JSON_BOOL,
    JSON_INTEGER,
    JSON_UNSIGNED,
    JSON_HASH,
    JSON_NUMBER,
    JSON_EXACT,
    JSON_TEXTS,
    JSON_PAIRS,
    JSON_RECORD,
    JSON_RECORDS
} JsonFieldType;
enum { JSON_RECORD_DIGITS = 9 };

/* JsonFieldUse: whether the member is there.
 *   NEEDED    always
 *   WRITTEN   a reader gives the default where it is not; a writer always writes it, but for a TEXT
 *             that is NULL
 *   OPTIONAL  a writer writes it where it differs from the default, or the flag says so
 * The default: NULL, false, 0, `otherwise` of an INTEGER, NAN, an empty list. */
typedef enum JsonFieldUse { JSON_NEEDED, JSON_WRITTEN, JSON_OPTIONAL } JsonFieldUse;

/* JsonField: a row. Lists have `least` to `most` items, integers a value from `least` to `most`;
 * most 0: any that the type holds.
 *   flag   where in the record there is a bool, 1 more than its offset: whether the member is there
 *          though it may be empty (JSON_FLAG); 0: there is none */
typedef struct JsonField {
    const char *name;
    JsonFieldType type;
    JsonFieldUse use;
    uint32_t offset, size, flag; /* size: of the member in C, an assertion */
    int64_t least, most, otherwise;
    const char *const *words; /* of WORD, n_words of them */
    int n_words;
    const struct JsonRecord *of;
} JsonField;

/* JsonRecord: `is_line`: written within a line, whatever the writer's indent. */
typedef struct JsonRecord {
    const JsonField *fields;
    int n;
    size_t size;
    bool is_line;
} JsonRecord;

#define JSON_FIELD(record, key, kind, member, when, ...) \
    {.name = (key),                                      \
     .type = JSON_##kind,                                \
     .use = JSON_##when,                                 \
     .offset = offsetof(record, member),                 \
     .size = sizeof((record *)0)->member,                \
     __VA_ARGS__}
#define JSON_FLAG(record, member) .flag = offsetof(record, member) + 1
#define JSON_RECORD_OF(record, rows, ...) \
    {.fields = (rows), .n = sizeof(rows) / sizeof *(rows), .size = sizeof(record), __VA_ARGS__}

/* Sets every member's place in the record, also where the object lacks it; texts are the object's,
 * lists lie in the arena with no room to grow. False: a member is absent that is NEEDED, or is not
 * what its row says; *wrong is its path, such as "shards[3].rows", in the arena, else NULL. */
bool json_record_read(Arena *arena, const JsonRecord *kind, const JsonValue *object, void *record,
                      const char **wrong);
/* Writes the members into the open object. */
void json_record_put(JsonWriter *json, const JsonRecord *kind, const void *record);

/* Writes an object with the members; `key` as json_write.h says. */
void json_record_put_item(JsonWriter *json, const char *key, const JsonRecord *kind,
                          const void *record);

/* ---- a member alone (json_field.c) ---- */

/* JsonItems: a list of any type, as a VEC. */
typedef VEC(void) JsonItems;
JsonItems json_field_items(const JsonField *field, const void *record);
int64_t json_field_integer(const JsonField *field, const void *record);
/* The value of a TEXT, BOOL ("1", "0"), INTEGER, UNSIGNED, HASH or EXACT as text, for files that
 * have texts alone: the member's own, or in `out`. NULL: a TEXT that is NULL. */
enum { JSON_FIELD_TEXT = 40 };
const char *json_field_text(const JsonField *field, const void *record, char out[JSON_FIELD_TEXT]);
/* Gives the member the value that such a text is; false: it is none, or out of bounds. */
bool json_field_set(const JsonField *field, const char *text, void *record);
bool json_field_set_integer(const JsonField *field, int64_t value, void *record);
/* Gives the member its default, and its flag false. */
void json_field_clear(const JsonField *field, void *record);
/* Whether a writer writes the member. */
bool json_field_is_written(const JsonField *field, const void *record);

#endif
