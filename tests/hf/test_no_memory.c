/* A tokenizer.json that is read while one allocation fails, each in turn: nothing, without a
 * problem; or, where the failure does no harm, the tokenizer that gives the same ids. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/text/hf/tokenizer_json.h"

#include <stdlib.h>
#include <string.h>

/* Allocations until the one that fails, and how many were made; -1: none fails. (CMakeLists.txt
 * wraps these functions for this program.) */
static long left = -1;

static bool fails(void) { return left >= 0 && left-- == 0; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

#define BPE "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}"

static const char *const files[] = {
    "{" BPE "}",
    "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"a\",-1],[\"b\",-2]]}}",
    "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"vocab\":{\"u\":0,\"a\":1,\"##b\":2}}}",
    "{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"u\",\"vocab\":{\"u\":0,\"ab\":1}}}",
    "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"Replace\","
    "\"pattern\":{\"Regex\":\"x+\"},\"content\":\"a\"},{\"type\":\"Precompiled\","
    "\"precompiled_charsmap\":\"AAAAAA==\"}]}," BPE "}",
    "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\"},"
    "{\"type\":\"Digits\"},{\"type\":\"Whitespace\"}]},\"decoder\":{\"type\":\"ByteLevel\"}," BPE
    "}",
    "{\"added_tokens\":[{\"id\":3,\"content\":\"X\",\"normalized\":true},{\"id\":4,\"content\":\"<s>\","
    "\"special\":true}],\"normalizer\":{\"type\":\"Lowercase\"},\"post_processor\":{\"type\":"
    "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":"
    "{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[4],"
    "\"tokens\":[\"<s>\"]}}}," BPE "}",
};

/* The ids of a text as a sum that their order counts in. */
static uint64_t sum_of_ids(const Tokenizer *tokenizer)
{
    TokenIds ids = {0};
    uint64_t sum = 1;
    assert_true(tokenizer_encode(tokenizer, "ab abX", 6, &ids));
    for (size_t i = 0; i < ids.count; i++)
        sum = sum * 31 + (uint64_t)ids.data[i] + 2;
    token_ids_free(&ids);
    return sum;
}

static void each_failure(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t size = strlen(files[i]);
        const char *problem = NULL;
        Arena *arena = arena_new();
        Tokenizer *whole = tokenizer_json(arena, files[i], size, &problem);
        if (!whole)
            fail_msg("%s: %s", files[i], problem);
        const uint64_t sum = sum_of_ids(whole);
        tokenizer_free(whole);
        long at = 0, refused = 0;
        for (bool over = false; !over; at++) {
            left = at;
            Tokenizer *tokenizer = tokenizer_json_inside(files[i], size, NULL);
            over = left >= 0;
            left = -1;
            refused += !tokenizer;
            assert_true(tokenizer || !over);
            if (tokenizer && sum_of_ids(tokenizer) != sum)
                fail_msg("%s: other ids after allocation %ld failed", files[i], at);
            tokenizer_free(tokenizer);
        }
        assert_true(refused > 3);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
