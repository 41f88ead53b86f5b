/* The pool: every task of every step runs once and before the next step begins,
 * whatever the number of threads, with pauses long enough for threads to sleep. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/exec/pool.h"

#include <stdatomic.h>
#include <time.h>

enum { STEPS = 3000, MOST_TASKS = 50 };

typedef struct Step {
    int number, n;
    _Atomic int *runs; /* of each task */
    _Atomic int *current;
    _Atomic int *wrong;
} Step;

static void task(const void *context, int64_t i)
{
    const Step *step = context;
    if (atomic_load(step->current) != step->number || i >= step->n)
        atomic_fetch_add(step->wrong, 1);
    atomic_fetch_add(&step->runs[i], 1);
}

static void steps(Pool *pool, void *argument)
{
    _Atomic int runs[MOST_TASKS], current = 0, *wrong = argument;
    for (int s = 0; s < STEPS; s++) {
        Step step = {s, s * 7 % MOST_TASKS, runs, &current, wrong};
        for (int i = 0; i < MOST_TASKS; i++)
            atomic_store(&runs[i], 0);
        atomic_store(&current, s);
        pool_run(pool, step.n, task, &step);
        for (int i = 0; i < MOST_TASKS; i++)
            if (atomic_load(&runs[i]) != (i < step.n))
                atomic_fetch_add(wrong, 1);
        if (s % 1000 == 999)
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

static void test_every_task_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        _Atomic int wrong = 0;
        pool_open(threads, NULL, steps, &wrong);
        assert_int_equal(wrong, 0);
    }
}

static bool never_ready(void) { return false; }

/* Threads that cannot take part leave all tasks to the first. */
static void test_threads_that_are_not_ready(void **state)
{
    (void)state;
    _Atomic int wrong = 0;
    pool_open(4, never_ready, steps, &wrong);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_task_once),
                                       cmocka_unit_test(test_threads_that_are_not_ready)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
