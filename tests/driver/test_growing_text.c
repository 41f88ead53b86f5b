/* The text of ids that come one by one is that of all of them, after each id, for tokenizers of all
 * kinds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "driver/run/continuation.h"
#include "driver/run/growing_text.h"
#include "runtime/data/draws.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static Vocabulary *load(Arena *arena, const char *path)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    Vocabulary *vocab = vocab_load(&diags, arena, path);
    assert_non_null(vocab);
    return vocab;
}

/* Ids of the first `most` tokens, drawn: what no text has, such as single bytes, too. */
static void check_drawn(const char *path, int32_t most)
{
    enum { DRAWN = 400 };
    Arena *arena = arena_new();
    const Vocabulary *vocab = load(arena, path);
    uint64_t state = 7;
    GrowingText grown;
    growing_text_begin(vocab, &(Ids){0}, &grown);
    const int32_t size = vocab_size(vocab) < most ? vocab_size(vocab) : most;
    for (int i = 0; i < DRAWN; i++) {
        growing_text_push(vocab, &grown, (int32_t)draws_below(&state, size));
        Text whole = {0};
        continuation_put(vocab, &grown.ids, &whole);
        text_put(&whole, "", 0);
        if (strcmp(whole.data, grown.text.data) || whole.length != grown.text.length)
            fail_msg("%s: after %d ids '%s', not '%s'", path, i + 1, grown.text.data, whole.data);
        text_free(&whole);
    }
    growing_text_free(&grown);
    arena_free(arena);
}

static void same_text(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/hf/cases/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 6);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_drawn(found.gl_pathv[i], INT32_MAX);
        check_drawn(found.gl_pathv[i], 40);
    }
    globfree(&found);
}

/* The last of many ids takes no longer than the first. */
static void long_text(void **state)
{
    (void)state;
    enum { BLOCK = 4000 };
    Arena *arena = arena_new();
    const Vocabulary *vocab = load(arena, "tests/hf/cases/unigram.json");
    const Ids word = {0};
    GrowingText grown;
    growing_text_begin(vocab, &word, &grown);
    assert_true(continuation_encode(vocab, "the old dog", &grown.ids));
    const size_t n = grown.ids.count;
    double seconds[4];
    for (int k = 0; k < 4; k++) {
        const clock_t begin = clock();
        for (int i = 0; i < BLOCK; i++)
            growing_text_push(vocab, &grown, grown.ids.data[(size_t)i % n]);
        seconds[k] = (double)(clock() - begin) / CLOCKS_PER_SEC;
    }
    assert_true(seconds[3] < 4 * seconds[0] + 0.05);
    growing_text_free(&grown);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_text), cmocka_unit_test(long_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
