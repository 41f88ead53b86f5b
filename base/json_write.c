/* Writing JSON; see json_write.h. */
#include "base/json_write.h"

#include <math.h>
#include <string.h>

size_t json_escape(unsigned char byte, char out[JSON_ESCAPE])
{
    static const char special[] = "\n\t\"\\", letters[] = "nt\"\\", digits[] = "0123456789abcdef";
    const char *found = byte ? strchr(special, byte) : NULL;
    if (!found && byte >= 32) {
        out[0] = (char)byte;
        return 1;
    }
    out[0] = '\\';
    if (found) {
        out[1] = letters[found - special];
        return 2;
    }
    memcpy(out + 1, "u00", 3);
    out[4] = digits[byte >> 4];
    out[5] = digits[byte & 15];
    return 6;
}

void json_quote(Text *out, const char *bytes, size_t length, bool in_page)
{
    char escape[JSON_ESCAPE];
    text_put(out, "\"", 1);
    for (size_t at = 0, size; at < length; at += size) {
        const size_t valid = utf8_length(bytes + at, length - at);
        size = valid ? valid : 1;
        if (!valid)
            text_string(out, "\xef\xbf\xbd");
        else if (valid > 1)
            text_put(out, bytes + at, valid);
        else if (in_page && bytes[at] == '<')
            text_string(out, "\\u003c");
        else
            text_put(out, escape, json_escape((unsigned char)bytes[at], escape));
    }
    text_put(out, "\"", 1);
}

static void put_string(const JsonWriter *json, const char *text)
{
    json_quote(json->out, text, strlen(text), json->in_page);
}

static void new_line(JsonWriter *json)
{
    text_add(json->out, "\n%*s", json->indent * json->level, "");
}

/* What stands before a member's value. */
static void begin_member(JsonWriter *json, const char *key)
{
    if (json->follows)
        text_string(json->out, json->indent ? "," : ", ");
    if (json->indent && json->level)
        new_line(json);
    if (key) {
        put_string(json, key);
        text_string(json->out, ": ");
    }
    json->follows = true;
}

void json_open(JsonWriter *json, const char *key, char bracket)
{
    begin_member(json, key);
    text_put(json->out, &bracket, 1);
    json->level++;
    json->follows = false;
}

void json_close(JsonWriter *json, char bracket)
{
    json->level--;
    if (json->indent && json->follows)
        new_line(json);
    text_put(json->out, &bracket, 1);
    json->follows = true;
}

void json_line(JsonWriter *json, const char *indent)
{
    text_add(json->out, "%s\n%s", json->follows ? "," : "", indent);
    json->follows = false;
}

void json_put_text(JsonWriter *json, const char *key, const char *text)
{
    begin_member(json, key);
    put_string(json, text);
}

void json_put_raw(JsonWriter *json, const char *key, const char *value)
{
    begin_member(json, key);
    text_string(json->out, value);
}

void json_put_integer(JsonWriter *json, const char *key, int64_t value)
{
    begin_member(json, key);
    text_integer(json->out, value);
}

void json_put_bool(JsonWriter *json, const char *key, bool value)
{
    begin_member(json, key);
    text_string(json->out, value ? "true" : "false");
}

void json_put_number(JsonWriter *json, const char *key, double value, int digits)
{
    begin_member(json, key);
    if (isfinite(value))
        text_add(json->out, "%.*g", digits, value);
    else
        text_string(json->out, "null");
}

void json_put_fixed(JsonWriter *json, const char *key, double value, int decimals)
{
    begin_member(json, key);
    if (isfinite(value))
        text_add(json->out, "%.*f", decimals, value);
    else
        text_string(json->out, "null");
}

void json_put_rows(JsonWriter *json, const char *key, const float *rows, int64_t n, int64_t m,
                   int decimals)
{
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        json_open(json, NULL, '[');
        for (int64_t j = 0; j < m; j++)
            json_put_fixed(json, NULL, rows[i * m + j], decimals);
        json_close(json, ']');
    }
    json_close(json, ']');
}
