/* Teams: every task of every step runs once and before the next step begins, whatever the number
 * of threads, with pauses long enough for helpers to sleep; from several callers at once, after
 * fork, and where threads cannot be made. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/team.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 3000, MOST_TASKS = 50 };

/* How many threads were made, and how many may still be. */
static _Atomic int made, allowed = INT32_MAX;

typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* In the place of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument)
{
    if (atomic_fetch_sub(&allowed, 1) <= 0)
        return EAGAIN;
    atomic_fetch_add(&made, 1);
    return ((Create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, body, argument);
}

static void pause_for(long nanoseconds) { nanosleep(&(struct timespec){0, nanoseconds}, NULL); }

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

/* How many mistakes were made. */
static int run_steps(const Team *team, int n)
{
    _Atomic int runs[MOST_TASKS], current = 0, wrong = 0;
    for (int s = 0; s < n; s++) {
        Step step = {s, s * 7 % MOST_TASKS, runs, &current, &wrong};
        for (int i = 0; i < MOST_TASKS; i++)
            atomic_store(&runs[i], 0);
        atomic_store(&current, s);
        team_run(team, step.n, task, &step);
        for (int i = 0; i < MOST_TASKS; i++)
            wrong += atomic_load(&runs[i]) != (i < step.n);
        if (s % 1000 == 999)
            pause_for(5000000);
    }
    return wrong;
}

static int run_team(int threads, int steps, TeamReady ready)
{
    Team team;
    team_open(&team, threads, ready);
    int wrong = run_steps(&team, steps);
    team_close(&team);
    return wrong;
}

static void test_every_task_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++)
        assert_int_equal(run_team(threads, STEPS, NULL), 0);
    assert_int_equal(made, 4);
}

/* Teams that follow each other have the same helpers; smaller ones leave some out. */
static void test_helpers_stay(void **state)
{
    (void)state;
    int before = made;
    for (int i = 0; i < 300; i++)
        assert_int_equal(run_team(1 + i % 5, 10, NULL), 0);
    assert_int_equal(made, before);
}

/* Which threads ran tasks. */
typedef struct Seen {
    pthread_t caller;
    _Atomic int others;
} Seen;

static void slow_task(const void *context, int64_t i)
{
    (void)i;
    Seen *seen = *(Seen *const *)context;
    if (!pthread_equal(pthread_self(), seen->caller))
        atomic_fetch_add(&seen->others, 1);
    pause_for(1000000);
}

/* How many of these tasks others than the caller ran. */
static int shared_tasks(int threads, int n, TeamReady ready)
{
    Seen seen = {.caller = pthread_self()}, *pointer = &seen;
    Team team;
    team_open(&team, threads, ready);
    team_run(&team, n, slow_task, &pointer);
    team_close(&team);
    return seen.others;
}

static bool never_ready(void) { return false; }

static void test_who_takes_part(void **state)
{
    (void)state;
    assert_true(shared_tasks(3, 30, NULL) > 0);
    assert_int_equal(shared_tasks(1, 3, NULL), 0);
    /* Helpers that cannot take part leave all tasks to the caller. */
    assert_int_equal(shared_tasks(4, 30, never_ready), 0);
    assert_int_equal(run_team(4, STEPS, never_ready), 0);
    assert_true(shared_tasks(4, 30, NULL) > 0);
}

/* Waiting for work takes no processor's time. */
static void test_helpers_sleep(void **state)
{
    (void)state;
    struct timespec begin, end;
    run_team(4, 10, NULL);
    pause_for(20000000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    pause_for(100000000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_true((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec < 10000000);
}

typedef struct Counter {
    TeamWatch watch;
    _Atomic int *count;
} Counter;

static void around(const TeamWatch *watch, TeamTask run, const void *context, int64_t index)
{
    atomic_fetch_add(((const Counter *)watch)->count, 1);
    run(context, index);
}

static void test_watch(void **state)
{
    (void)state;
    _Atomic int count = 0;
    Counter counter = {{around}, &count};
    Team team;
    team_open(&team, 3, NULL);
    team.watch = &counter.watch;
    assert_int_equal(run_steps(&team, MOST_TASKS), 0);
    team.watch = NULL;
    assert_int_equal(run_steps(&team, MOST_TASKS), 0);
    team_close(&team);
    assert_int_equal(count, MOST_TASKS * (MOST_TASKS - 1) / 2);
}

/* Tasks may open teams of their own. */
static void nested_task(const void *context, int64_t i)
{
    (void)i;
    atomic_fetch_add(*(_Atomic int *const *)context, run_team(2, 20, NULL));
}

static void test_nested(void **state)
{
    (void)state;
    _Atomic int wrong = 0, *pointer = &wrong;
    team_each(3, 20, nested_task, &pointer);
    assert_int_equal(wrong, 0);
}

static void *call_often(void *argument)
{
    (void)argument;
    intptr_t wrong = 0;
    for (int i = 0; i < 100; i++)
        wrong += run_team(2 + i % 2, 20, NULL);
    return (void *)wrong;
}

static void test_callers_at_once(void **state)
{
    (void)state;
    pthread_t callers[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(callers[i], &wrong);
        assert_ptr_equal(wrong, NULL);
    }
}

/* A child has none of its parent's threads, and makes its own. */
static void test_fork(void **state)
{
    (void)state;
    run_team(3, 10, NULL);
    pid_t child = fork();
    if (!child) {
        int before = made;
        int wrong = run_team(3, STEPS, NULL);
        _exit(wrong || made != before + 2 || !shared_tasks(3, 30, NULL));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(run_team(3, STEPS, NULL), 0);
}

/* A team has those that can be made, and the others later. */
static void test_threads_that_cannot_be_made(void **state)
{
    (void)state;
    for (int possible = 0; possible < 3; possible++) {
        pid_t child = fork();
        if (!child) {
            int before = made;
            allowed = possible;
            int wrong = run_team(6, 100, NULL) + run_team(6, 100, NULL);
            bool shared = shared_tasks(6, 30, NULL) > 0;
            allowed = INT32_MAX;
            wrong += run_team(6, 100, NULL);
            _exit(wrong || shared != (possible > 0) || made != before + 5);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_default(void **state)
{
    (void)state;
    setenv("OMP_NUM_THREADS", "3,2", 1);
    assert_int_equal(team_default(), 3);
    setenv("OMP_NUM_THREADS", "100000000000000000000", 1);
    assert_true(team_default() >= 1);
    setenv("OMP_NUM_THREADS", "-2", 1);
    assert_in_range(team_default(), 1, sysconf(_SC_NPROCESSORS_CONF));
    unsetenv("OMP_NUM_THREADS");
    assert_in_range(team_default(), 1, sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_task_once),
                                       cmocka_unit_test(test_helpers_stay),
                                       cmocka_unit_test(test_who_takes_part),
                                       cmocka_unit_test(test_helpers_sleep),
                                       cmocka_unit_test(test_watch),
                                       cmocka_unit_test(test_nested),
                                       cmocka_unit_test(test_callers_at_once),
                                       cmocka_unit_test(test_fork),
                                       cmocka_unit_test(test_threads_that_cannot_be_made),
                                       cmocka_unit_test(test_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
