/* A second thread's jobs: in order, none before it is allowed, all done when they were waited
 * for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/train/errands.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { JOBS = 1000 };

typedef struct Book {
    _Atomic int32_t allowed, done;
    bool in_order;
} Book;

static void note(void *context, int32_t job)
{
    Book *book = context;
    book->in_order &= job == book->done && job < book->allowed;
    book->done++;
}

static void in_order(void **state)
{
    Errands *errands = errands_new();
    assert_non_null(errands);
    for (int round = 0; round < 20; round++) {
        Book book = {.in_order = true};
        errands_begin(errands, note, &book);
        assert_true(errands_wait(errands, 0) == 0);
        for (int32_t i = 1; i <= JOBS; i += i % 7) {
            book.allowed = i;
            errands_allow(errands, i);
            errands_allow(errands, i / 2); /* takes nothing back */
            if (i % 5 == 0) {
                assert_true(errands_wait(errands, i) >= 0);
                assert_int_equal(book.done, i);
            }
            if (i % 7 == 0)
                i++;
        }
        errands_wait(errands, book.allowed);
        assert_int_equal(book.done, book.allowed);
        assert_true(book.in_order);
    }
    errands_free(errands);
}

/* What was allowed is done before the thread ends; the rest is not. */
static void ends_with_what_was_allowed(void **state)
{
    Errands *errands = errands_new();
    Book book = {.in_order = true, .allowed = 3};
    errands_begin(errands, note, &book);
    errands_allow(errands, 3);
    errands_free(errands);
    assert_int_equal(book.done, 3);
    assert_true(book.in_order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order),
                                       cmocka_unit_test(ends_with_what_was_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
