/* Writing JSON. Members are put one after the other; the writer knows where a comma goes.
 *
 *   JsonWriter json = {.out = &text};
 *   json_open(&json, NULL, '{');
 *   json_put_integer(&json, "step", 7);
 *   json_close(&json, '}');                 {"step": 7}
 *
 * `key`: the member's name in an object; NULL in an array and for the outermost value. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/text.h"

typedef struct JsonWriter {
    Text *out;
    bool follows; /* the next member follows another one */

    /* > 0: each member on its own line, indented by this many blanks a level; 0: no line breaks
     * but those of json_line */
    int indent;
    int level; /* brackets that are open */

    bool in_page; /* the JSON stands in an HTML page, as json_quote has it */
} JsonWriter;

void json_open(JsonWriter *json, const char *key, char bracket); /* '{' or '[' */
void json_close(JsonWriter *json, char bracket);
/* Begins a new line with `indent` for the next member. */
void json_line(JsonWriter *json, const char *indent);

/* Puts bytes as a JSON string; each byte that is not valid UTF-8 as U+FFFD. in_page: also `<` as an
 * escape, since "</script>" and "<!--" would end or change the element of the page around it. */
void json_quote(Text *out, const char *bytes, size_t length, bool in_page);
/* Puts a text by json_quote. */
void json_put_text(JsonWriter *json, const char *key, const char *text);
/* Writes a value that is JSON already. */
void json_put_raw(JsonWriter *json, const char *key, const char *value);
void json_put_integer(JsonWriter *json, const char *key, int64_t value);
void json_put_bool(JsonWriter *json, const char *key, bool value);
/* Writes at most `digits` significant digits; null for a value that is not finite. */
void json_put_number(JsonWriter *json, const char *key, double value, int digits);
/* Writes `decimals` digits after the point; null for a value that is not finite. */
void json_put_fixed(JsonWriter *json, const char *key, double value, int decimals);

/* Writes a list of n rows, each a list of m numbers with `decimals` digits after the point. */
void json_put_rows(JsonWriter *json, const char *key, const float *rows, int64_t n, int64_t m,
                   int decimals);
enum { ALIGNMENT_DECIMALS = 4 }; /* of the weights of alignments, in JSON and in texts */

/* Writes a byte of a JSON string: itself, \", \\, \n, \t or \u00NN, without a NUL; returns how many
 * bytes. */
enum { JSON_ESCAPE = 6 };
size_t json_escape(unsigned char byte, char out[JSON_ESCAPE]);

#endif
