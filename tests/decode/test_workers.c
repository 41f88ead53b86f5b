/* Workers: every batch is decoded once, by a stepper that no other worker has, whatever their
 * number; which number is chosen; what happens without memory and after errors. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/decode/workers.h"
#include "runtime/exec/exec.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 200, STEPPERS = 8, N_THREADS = 4 };

/* One thing that workers decode, and what was seen of it. */
typedef struct Job {
    _Atomic int decoded[BATCHES], busy[STEPPERS], at_once, most_at_once;
    int64_t fails;                 /* the batch with an error; -1: none */
    int64_t tokens[N_THREADS + 1]; /* of a batch, by the number of threads that it has */
    _Atomic int64_t done;
} Job;

static int made, freed, can_make; /* steppers */
static int names[STEPPERS] = {0, 1, 2, 3, 4, 5, 6, 7};

static void free_fake(void *self)
{
    (void)self;
    freed++;
}

static bool make_fake(const void *context, Stepper *out)
{
    assert_ptr_equal(context, names);
    if (made == can_make)
        return false;
    *out = (Stepper){.self = &names[++made], .free = free_fake};
    return true;
}

static int64_t decode_fake(void *context, Stepper *stepper, int64_t i)
{
    Job *job = context;
    int *name = stepper->self, now = ++job->at_once;
    assert_int_equal(job->busy[*name]++, 0);
    for (int most = job->most_at_once; now > most;)
        if (atomic_compare_exchange_weak(&job->most_at_once, &most, now))
            break;
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    job->decoded[i]++;
    job->done++;
    job->busy[*name]--;
    job->at_once--;
    return i == job->fails ? -1 : job->tokens[exec_threads()];
}

static Workers workers_of(int given, int most)
{
    made = freed = 0;
    can_make = most - 1;
    return (Workers){
        .given = given, .first = {.self = &names[0]}, .make = make_fake, .context = names};
}

static void run_all(Workers *workers, int64_t n, Job *job)
{
    memset(job->decoded, 0, sizeof job->decoded);
    assert_true(workers_run(workers, 1, n, decode_fake, job));
    for (int64_t i = 0; i < BATCHES; i++)
        assert_int_equal(job->decoded[i], i < n);
    assert_int_equal(exec_threads(), N_THREADS);
}

static void test_every_batch_once(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 3, 7, BATCHES};
    for (int given = 1; given <= STEPPERS; given++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            Workers workers = workers_of(given, STEPPERS);
            Job job = {.fails = -1};
            run_all(&workers, counts[k], &job);
            assert_true(job.most_at_once <= given);
            workers_free(&workers);
            assert_int_equal(freed, made);
        }
}

/* The first batch behind a change of the params has no other beside it. */
static void test_first_batch_alone(void **state)
{
    (void)state;
    Workers workers = workers_of(4, STEPPERS);
    for (int64_t version = 1; version < 4; version++) {
        Job job = {.fails = 0};
        assert_false(workers_run(&workers, version, BATCHES, decode_fake, &job));
        assert_int_equal(job.done, 1);
        job.fails = 7;
        assert_false(workers_run(&workers, version, BATCHES, decode_fake, &job));
    }
    workers_free(&workers);
}

/* As many as there is memory for. */
static void test_no_memory(void **state)
{
    (void)state;
    for (int most = 1; most <= 4; most++) {
        Workers workers = workers_of(4, most);
        Job job = {.fails = -1};
        run_all(&workers, 50, &job);
        assert_true(job.most_at_once <= most);
        workers_free(&workers);
        workers = workers_of(0, most);
        run_all(&workers, BATCHES, &job);
        assert_true(workers.best <= most);
        workers_free(&workers);
    }
}

/* Speed is tokens by time; a batch with more threads or fewer has so many more tokens that a busy
 * machine changes nothing. Measured over several calls, and kept then. */
static void test_the_fastest(void **state)
{
    (void)state;
    for (int best = 1; best <= N_THREADS; best *= 2) {
        Workers workers = workers_of(0, STEPPERS);
        Job job = {.fails = -1, .tokens = {0, 1, 1, 0, 1}};
        int64_t tokens = 1;
        for (int n = N_THREADS; n >= best; n /= 2)
            job.tokens[N_THREADS / n] = tokens *= 100000;
        for (int call = 0; call < 40 && !workers.is_measured; call++)
            run_all(&workers, 5, &job);
        assert_true(workers.is_measured);
        assert_int_equal(workers.best, best);
        job.most_at_once = 0;
        run_all(&workers, 20, &job);
        assert_true(job.most_at_once <= best);
        workers_free(&workers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_batch_once),
        cmocka_unit_test(test_first_batch_alone),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_the_fastest),
    };
    exec_set_threads(N_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
