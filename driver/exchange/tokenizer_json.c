/* Parts of a tokenizer.json. */
#include "driver/exchange/tokenizer_json.h"

void tokenizer_json_token(JsonWriter *json, const AddedToken *token)
{
    json_open(json, NULL, '{');
    json_put_integer(json, "id", token->id);
    json_put_text(json, "content", token->text);
    json_put_bool(json, "single_word", token->single_word);
    json_put_bool(json, "lstrip", token->lstrip);
    json_put_bool(json, "rstrip", token->rstrip);
    json_put_bool(json, "normalized", token->normalized);
    json_put_bool(json, "special", token->is_special);
    json_close(json, '}');
}

void tokenizer_json_bytes(JsonWriter *json, const char *key, bool cuts, bool has_prefix)
{
    json_open(json, key, '{');
    json_put_text(json, "type", "ByteLevel");
    json_put_bool(json, "add_prefix_space", has_prefix);
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

void tokenizer_json_nfc(JsonWriter *json)
{
    json_open(json, "normalizer", '{');
    json_put_text(json, "type", "NFC");
    json_close(json, '}');
}

static void put_special(JsonWriter *json, const char *token)
{
    json_open(json, NULL, '{');
    json_open(json, "SpecialToken", '{');
    json_put_text(json, "id", token);
    json_put_integer(json, "type_id", 0);
    json_close(json, '}');
    json_close(json, '}');
}

void tokenizer_json_template(JsonWriter *json, const char *const tokens[2], const int64_t ids[2])
{
    json_open(json, "post_processor", '{');
    json_put_text(json, "type", "TemplateProcessing");
    json_open(json, "single", '[');
    put_special(json, tokens[0]);
    json_open(json, NULL, '{');
    json_open(json, "Sequence", '{');
    json_put_text(json, "id", "A");
    json_put_integer(json, "type_id", 0);
    json_close(json, '}');
    json_close(json, '}');
    put_special(json, tokens[1]);
    json_close(json, ']');
    json_open(json, "pair", '[');
    json_close(json, ']');
    json_open(json, "special_tokens", '{');
    for (int i = 0; i < 2; i++) {
        json_open(json, tokens[i], '{');
        json_put_text(json, "id", tokens[i]);
        json_open(json, "ids", '[');
        json_put_integer(json, NULL, ids[i]);
        json_close(json, ']');
        json_open(json, "tokens", '[');
        json_put_text(json, NULL, tokens[i]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, '}');
    json_close(json, '}');
}

void tokenizer_json_bert(JsonWriter *json, const BertCut *cut, const char *const tokens[2],
                         const int64_t ids[2])
{
    json_open(json, "normalizer", '{');
    json_put_text(json, "type", "BertNormalizer");
    json_put_bool(json, "clean_text", true);
    json_put_bool(json, "handle_chinese_chars", cut->ideographs);
    json_put_bool(json, "strip_accents", cut->strip_accents);
    json_put_bool(json, "lowercase", cut->lowercase);
    json_close(json, '}');
    json_open(json, "pre_tokenizer", '{');
    json_put_text(json, "type", "BertPreTokenizer");
    json_close(json, '}');
    tokenizer_json_template(json, tokens, ids);
    json_open(json, "decoder", '{');
    json_put_text(json, "type", "WordPiece");
    json_put_text(json, "prefix", "##");
    json_put_bool(json, "cleanup", true);
    json_close(json, '}');
}

void tokenizer_json_pieces(JsonWriter *json, const char *unknown)
{
    json_put_text(json, "type", "WordPiece");
    json_put_text(json, "unk_token", unknown);
    json_put_text(json, "continuing_subword_prefix", "##");
    json_put_integer(json, "max_input_chars_per_word", 100);
}
