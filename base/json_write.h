/* Writing JSON. Members are put one after the other; the writer knows where a comma goes.
 *
 *   JsonWriter json = {.out = &text};
 *   json_open(&json, NULL, '{');
 *   json_put_integer(&json, "step", 7);
 *   json_close(&json, '}');                 {"step": 7}
 *
 * `key`: the member's name in an object; NULL in an array, and of the whole. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/text.h"

typedef struct JsonWriter {
    Text *out;
    bool follows; /* the next member follows another one */
    int indent;   /* > 0: a member a line, indented by so many blanks a level; 0: all in a line */
    int level;    /* brackets that are open */
} JsonWriter;

void json_open(JsonWriter *json, const char *key, char bracket); /* '{' or '[' */
void json_close(JsonWriter *json, char bracket);
/* Puts the next member on a line of its own, behind `indent`. */
void json_line(JsonWriter *json, const char *indent);

/* Bytes that are no UTF-8 stand as U+FFFD each. */
void json_put_text(JsonWriter *json, const char *key, const char *text);
void json_put_integer(JsonWriter *json, const char *key, int64_t value);
void json_put_bool(JsonWriter *json, const char *key, bool value);
/* Of so many significant digits; null where it is not finite, as JSON has no NaN. */
void json_put_number(JsonWriter *json, const char *key, double value, int digits);
/* With so many digits after the point. */
void json_put_fixed(JsonWriter *json, const char *key, double value, int decimals);

/* A list of n rows, each a list of m numbers with so many digits after the point. */
void json_put_rows(JsonWriter *json, const char *key, const float *rows, int64_t n, int64_t m, int decimals);
enum { ALIGNMENT_DECIMALS = 4 }; /* of the weights of alignments, wherever they are shown */

/* A byte of a string as JSON has it: itself, \", \\, \n, \t or \u00NN, without a NUL; how many
 * bytes. */
enum { JSON_ESCAPE = 6 };
size_t json_escape(unsigned char byte, char out[JSON_ESCAPE]);

#endif
