/* The pool: one word says which tasks of which step are left; see pool.h.
 *
 * `claim` holds the step's number in its high half and the count of tasks left in
 * its low half. A thread takes a task by lowering the count; the step's number in
 * the same word makes sure that it is still the step whose task it read. While
 * tasks are left, the step's description does not change. */
#include "runtime/exec/pool.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct Pool {
    _Alignas(64) _Atomic uint64_t claim;
    _Alignas(64) _Atomic int32_t done; /* tasks of this step that are finished */
    _Alignas(64) _Atomic(PoolTask) task;
    _Atomic(const void *) context;
    _Atomic int32_t n;
    uint64_t step;
    bool alone;                         /* no other thread stands by */
    const PoolWatch *watch;
    _Atomic bool closed;
    _Atomic int32_t sleeping;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

/* Spins before a thread without work sleeps (some tens of microseconds), and
 * before one that waits for the last task lets others run. */
enum { IDLE_SPINS = 4000, WAIT_SPINS = 1000 };

static void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Runs one task of the current step; false if none is left. */
static bool run_one(Pool *pool)
{
    uint64_t claim = atomic_load(&pool->claim);
    while ((uint32_t)claim) {
        PoolTask task = atomic_load(&pool->task);
        const void *context = atomic_load(&pool->context);
        int32_t n = atomic_load(&pool->n);
        if (!atomic_compare_exchange_weak(&pool->claim, &claim, claim - 1))
            continue;
        task(context, n - (int64_t)(uint32_t)claim);
        atomic_fetch_add(&pool->done, 1);
        return true;
    }
    return false;
}

static void sleep_until_work(Pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!(uint32_t)atomic_load(&pool->claim) && !atomic_load(&pool->closed))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void stand_by(Pool *pool)
{
    int idle = 0;
    while (!atomic_load(&pool->closed)) {
        if (run_one(pool))
            idle = 0;
        else if (++idle < IDLE_SPINS)
            spin_pause();
        else {
            sleep_until_work(pool);
            idle = 0;
        }
    }
}

/* Whoever counted itself as sleeping before it saw the new claim is woken here;
 * whoever counts after sees the claim and does not sleep. */
static void wake_sleepers(Pool *pool)
{
    if (!atomic_load(&pool->sleeping))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

typedef struct WatchedTask {
    const PoolWatch *watch;
    PoolTask task;
    const void *context;
} WatchedTask;

static void run_watched(const void *context, int64_t index)
{
    const WatchedTask *w = context;
    w->watch->around(w->watch, w->task, w->context, index);
}

void pool_watch(Pool *pool, const PoolWatch *watch) { pool->watch = watch; }

void pool_run(Pool *pool, int32_t n, PoolTask task, const void *context)
{
    WatchedTask watched = {pool->watch, task, context};
    if (pool->watch) {
        task = run_watched;
        context = &watched;
    }
    if (pool->alone || n <= 1) {
        for (int32_t i = 0; i < n; i++)
            task(context, i);
        return;
    }
    atomic_store(&pool->task, task);
    atomic_store(&pool->context, context);
    atomic_store(&pool->n, n);
    atomic_store(&pool->done, 0);
    atomic_store(&pool->claim, ++pool->step << 32 | (uint32_t)n);
    wake_sleepers(pool);
    while (run_one(pool))
        continue;
    for (int spins = 0; atomic_load(&pool->done) < n; spins++)
        if (spins < WAIT_SPINS)
            spin_pause();
        else
            sched_yield();
}

/* Of several threads; with one, OpenMP would only take memory for its team. */
static void run_team(Pool *pool, int threads, bool ready(void),
                     void (*body)(Pool *pool, void *argument), void *argument)
{
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0) {
            pool->alone = omp_get_num_threads() == 1;
            body(pool, argument);
            atomic_store(&pool->closed, true);
            wake_sleepers(pool);
        } else if (!ready || ready())
            stand_by(pool);
    }
}

void pool_open(int threads, bool ready(void), void (*body)(Pool *pool, void *argument), void *argument)
{
    Pool pool = {.alone = threads <= 1,
                 .mutex = PTHREAD_MUTEX_INITIALIZER,
                 .wake = PTHREAD_COND_INITIALIZER};
    if (threads <= 1)
        body(&pool, argument);
    else
        run_team(&pool, threads, ready, body, argument);
    pthread_cond_destroy(&pool.wake);
    pthread_mutex_destroy(&pool.mutex);
}
