/* The first token of each word, by tokenizers that cut words into pieces. */
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/words/token_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The first tokens of the words, and where a word has none: "0 2 / 7". */
static void check_firsts(const Tokenizer *t, const char *text, const char *wanted)
{
    TokenIds ids = {0}, firsts = {0};
    size_t odd;
    char list[200] = "";
    assert_true(tokenizer_encode(t, text, strlen(text), &ids));
    assert_true(token_firsts(t, text, strlen(text), ids.data, ids.count, &firsts, &odd));
    for (size_t i = 0; i < firsts.count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%d ", (int)firsts.data[i]);
    snprintf(list + strlen(list), sizeof list - strlen(list), "/ %d", (int)odd);
    assert_string_equal(list, wanted);
    token_ids_free(&ids);
    token_ids_free(&firsts);
}

/* BERT's: cut at punctuation, words in pieces, control characters without a token. */
static void test_firsts_of_pieces(void **state)
{
    (void)state;
    static const char json[] =
        "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
        "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
        "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"decoder\":{\"type\":\"WordPiece\","
        "\"prefix\":\"##\",\"cleanup\":true},\"model\":{\"type\":\"WordPiece\","
        "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
        "\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"a\":1,\"##b\":2,\".\":3,"
        "\"u\":4,\"s\":5,\"'\":6}}}";
    const char *problem;
    Arena *arena = arena_new();
    Tokenizer *t = tokenizer_json(arena, json, strlen(json), &problem);
    assert_non_null(t);
    check_firsts(t, "ab U.S. a's", "0 2 6 / 11"); /* a ##b | u . s . | a ' s */
    check_firsts(t, "  abb  xyz a ", "0 3 4 / 13");
    check_firsts(t, "a \342\200\213 a", "0 / 2");
    check_firsts(t, "", "/ 0");
    check_firsts(t, "  ", "/ 2");
    tokenizer_free(t);
    arena_free(arena);
}

/* Byte-level BPE, whose tokens have the blank before a word. */
static void test_firsts_of_bytes(void **state)
{
    (void)state;
    static const char json[] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
        "\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\","
        "\"vocab\":{\"a\":0,\"b\":1,\"\304\240\":2,\"\304\240a\":3},"
        "\"merges\":[\"\304\240 a\"]}}";
    const char *problem;
    Arena *arena = arena_new();
    Tokenizer *t = tokenizer_json(arena, json, strlen(json), &problem);
    assert_non_null(t);
    check_firsts(t, "ab ab b", "0 2 4 / 7"); /* a b | Ga b | G b */
    check_firsts(t, "a  a ", "0 1 / 5");     /* a | G Ga | G */
    tokenizer_free(t);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_firsts_of_pieces),
                                       cmocka_unit_test(test_firsts_of_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
