/* Questions about files that the system does not answer: what counts as one, and what it stops. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/unanswered.h"
#include "tests/messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char path[] = "unanswered.test";

static bool write_file(Diagnostics *diags) { return file_write_all(diags, path, "x", 1); }

/* The steps share the state of the process: before unanswered_keep nothing is kept. */
static void test_unanswered(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    struct stat info;
    diag_init(&diags, arena);

    assert_true(unanswered_note("read", "kept by nobody", EIO));
    assert_true(unanswered_check(&diags));

    unanswered_keep();
    static const int answers[] = {ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EISDIR};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_false(unanswered_note("read", "an answer", answers[i]));
    assert_false(file_exists("no/such/file"));
    assert_false(file_stat("no/such/file", &info));
    assert_true(unanswered_check(&diags));
    assert_true(write_file(&diags));

    diag_errno(&diags, "write", "a file", EIO); /* is no question */
    assert_true(unanswered_check(&diags));

    /* The first is kept. */
    assert_true(unanswered_note("look for", "first", EMFILE));
    assert_true(unanswered_note("look for", "second", EIO));
    diag_init(&diags, arena);
    assert_false(unanswered_check(&diags));
    expect_message(&diags, "cannot look for first: Too many open files");

    /* Nothing is put in place, and nothing is left beside it. */
    assert_int_equal(unlink(path), 0);
    diag_init(&diags, arena);
    assert_false(write_file(&diags));
    assert_int_equal(diags.errors, 1);
    assert_false(file_exists(path));

    unanswered_forget();
    assert_true(write_file(&diags));
    assert_int_equal(unlink(path), 0);

    /* A file that cannot be read, whoever hears of it. */
    Diagnostics unseen;
    diag_init(&unseen, arena);
    diag_errno(&unseen, "read", path, EACCES);
    assert_false(unanswered_check(&diags));
    expect_message(&diags, "cannot read unanswered.test: Permission denied");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unanswered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
