/* Parts of a tokenizer.json. */
#include "driver/exchange/tokenizer_json.h"

void tokenizer_json_token(JsonWriter *json, int64_t id, const char *text, bool special)
{
    json_open(json, NULL, '{');
    json_put_integer(json, "id", id);
    json_put_text(json, "content", text);
    json_put_bool(json, "single_word", false);
    json_put_bool(json, "lstrip", false);
    json_put_bool(json, "rstrip", false);
    json_put_bool(json, "normalized", false);
    json_put_bool(json, "special", special);
    json_close(json, '}');
}

void tokenizer_json_bytes(JsonWriter *json, const char *key, bool cuts)
{
    json_open(json, key, '{');
    json_put_text(json, "type", "ByteLevel");
    json_put_bool(json, "add_prefix_space", false);
    json_put_bool(json, "trim_offsets", true);
    json_put_bool(json, "use_regex", cuts);
    json_close(json, '}');
}

void tokenizer_json_split(JsonWriter *json, const char *pattern)
{
    json_open(json, NULL, '{');
    json_put_text(json, "type", "Split");
    json_open(json, "pattern", '{');
    json_put_text(json, "Regex", pattern);
    json_close(json, '}');
    json_put_text(json, "behavior", "Isolated");
    json_put_bool(json, "invert", false);
    json_close(json, '}');
}
