/* A record as JSON: an object of a line, of which the wanted fields become cells. The commands of
 * tfc and compiled libraries read records by this function alone.
 *
 * The whole line is checked, strictly (RFC 8259), and the values of wanted fields alone are kept.
 * Other than by json_read, which builds a tree and a map of the keys for each line (40 MB/s of
 * typical records, where this reads 400): of duplicate keys only wanted ones are found, numbers may
 * be of any size and are kept as text, and values nest up to 64 levels. */
#ifndef RUNTIME_ROWS_RECORD_JSON_H
#define RUNTIME_ROWS_RECORD_JSON_H

#include "base/arena.h"
#include "base/line.h"
#include "base/vec.h"
#include "runtime/rows/row_fault.h"

#include <stdint.h>

typedef VEC(const char *) RecordKeys;

enum {
    FIELD_TEXTS = 1, /* a list of texts */
    FIELD_NULL = 2,  /* null */
    FIELD_NAMED = 4  /* of tables: a number is the field's name, and not its place */
};

/* RecordFields: the n wanted fields by their names, and where what is decoded of them goes.
 *   keys   gets the keys of the record, in the arena; NULL: they are not kept
 *   takes  what else each field may be, FIELD_… together; NULL: nothing */
typedef struct RecordFields {
    const Line *names;
    size_t n;
    Arena *arena;
    RecordKeys *keys;
    const uint8_t *takes;
} RecordFields;

/* Reads the record of a line, or of several, which is valid UTF-8. cells: one for each field; its
 * text is NULL if the record lacks the field. The cell of a string is the text between the quotes;
 * that of a number, a list of numbers, true or false is the value as the line spells it. That of a
 * list of texts has each with a line break behind it, in the arena; that of null is "null". Cells
 * point into the line, or, of strings with escapes, into the arena. False: the line breaks a rule
 * of JSON, or a wanted field has a value of another kind or occurs twice; *fault has the reason. */
bool record_read_json(const RecordFields *fields, const Line *line, Line *cells, RowFault *fault);

#endif
