/* Suggestions for unknown names, and the table of limits. */
#include "base/limits.h"
#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *const names[] = {
    "forward",     "loss",      "train_step",    "encode",
    "decode_step", "fuse_rows", "fuse_products", "aarch64-linux-gnu"};

static void suggestions(void **state)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"forwrad", "; did you mean 'forward'?"},
        {"train", "; did you mean 'train_step'?"},
        {"fuse", "; did you mean 'fuse_rows' or 'fuse_products'?"},
        {"fuse_row", "; did you mean 'fuse_rows'?"},
        {"aarch64", "; did you mean 'aarch64-linux-gnu'?"},
        {"decode", "; did you mean 'decode_step'?"}, /* though encode is nearer */
        {"Loss", "; did you mean 'loss'?"},
        {"lost", "; did you mean 'loss'?"},
        {"less_d", ""},
        {"lo", "; did you mean 'loss'?"},
        {"quux", ""},
        {"f", ""},
        {"", ""},
    };
    (void)state;
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            text_suggest(arena, "'", cases[i].name, names, sizeof names / sizeof *names),
            cases[i].text);
    arena_free(arena);
}

static void limits(void **state)
{
    (void)state;
    assert_true(limit_of("batch-tokens") == LIMIT_batch_tokens);
    assert_true(limit_of("batch_tokens") == LIMIT_batch_tokens);
    assert_true(limit_of("batch") == LIMIT_batch);
    assert_true(isinf(limit_of("batch-token")) && isinf(limit_of("batch-tokens-")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(suggestions), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
