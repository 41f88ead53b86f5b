/* Teams: a word says which tasks of which step are left; see team.h.
 *
 * `claim` holds the step's number in its high half and the count of tasks left in its low half.
 * A thread takes a task by lowering the count; the step's number in the same word makes sure
 * that it is still the step whose description it read. While tasks are left, the description
 * does not change. */
#define _GNU_SOURCE
#include "base/team.h"

#include "base/float_state.h"
#include "base/limits.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* What all helpers of a team have in common. */
typedef struct Crew {
    _Alignas(64) _Atomic uint64_t claim;
    _Alignas(64) _Atomic int32_t done; /* tasks of this step that are finished */

    /* the step: */
    _Alignas(64) _Atomic(TeamTask) task;
    _Atomic(const void *) context;
    _Atomic int32_t n, threads;
    _Atomic(TeamReady) ready;
    uint64_t step;
    _Atomic int32_t sleeping;
    _Atomic bool ended;
    pthread_mutex_t mutex; /* of falling asleep */
    pthread_cond_t wake;
    struct Helper *helpers;
    int n_helpers;
    struct Crew *next; /* in the list of crews at rest */
} Crew;

typedef struct Helper {
    Crew *crew;
    int number;       /* from 1: 0 is the team's caller */
    TeamReady passed; /* was true on this thread */
    uint64_t failed;  /* the step for which it was not */
    pthread_t thread;
    struct Helper *next;
} Helper;

/* Looks for work before a helper sleeps (about a tenth of a millisecond), and before
 * who waits for the last task lets others run. */
enum { IDLE_SPINS = 4000, WAIT_SPINS = 1000 };
/* Kernels keep rows of scores on the stack: up to 2.6 MiB. */
enum { LEAST_STACK = 8 << 20 };

static void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- tasks ---- */

/* Whether the step that was seen may be the helper's: it looks at nothing else. */
static bool is_asked(const Crew *crew, const Helper *helper, uint64_t claim)
{
    return helper->number < atomic_load_explicit(&crew->threads, memory_order_relaxed) &&
           helper->failed != claim >> 32;
}

/* The same, and it has what it needs. The caller of the team, NULL, always takes part. */
static bool takes_part(const Crew *crew, Helper *helper, uint64_t claim)
{
    if (!helper)
        return true;
    if (!is_asked(crew, helper, claim))
        return false;
    TeamReady ready = atomic_load_explicit(&crew->ready, memory_order_relaxed);
    if (!ready || ready == helper->passed)
        return true;
    if (ready())
        helper->passed = ready;
    else
        helper->failed = claim >> 32;
    return ready == helper->passed;
}

/* Runs one task of the current step; false if none is left for this thread. */
static bool run_one(Crew *crew, Helper *helper)
{
    uint64_t claim = atomic_load(&crew->claim);
    while ((uint32_t)claim && takes_part(crew, helper, claim)) {
        TeamTask task = atomic_load_explicit(&crew->task, memory_order_relaxed);
        const void *context = atomic_load_explicit(&crew->context, memory_order_relaxed);
        int32_t n = atomic_load_explicit(&crew->n, memory_order_relaxed);
        if (!atomic_compare_exchange_weak(&crew->claim, &claim, claim - 1))
            continue;
        task(context, n - (int64_t)(uint32_t)claim);
        atomic_fetch_add(&crew->done, 1);
        return true;
    }
    return false;
}

/* ---- helpers ---- */

static bool has_work(const Crew *crew, const Helper *helper)
{
    uint64_t claim = atomic_load(&crew->claim);
    return ((uint32_t)claim && is_asked(crew, helper, claim)) || atomic_load(&crew->ended);
}

static void sleep_until_work(Crew *crew, Helper *helper)
{
    pthread_mutex_lock(&crew->mutex);
    atomic_fetch_add(&crew->sleeping, 1);
    while (!has_work(crew, helper))
        pthread_cond_wait(&crew->wake, &crew->mutex);
    atomic_fetch_sub(&crew->sleeping, 1);
    pthread_mutex_unlock(&crew->mutex);
}

/* Whoever counted itself as sleeping before it saw the new claim is woken here;
 * whoever counts after sees the claim and does not sleep. */
static void wake_sleepers(Crew *crew)
{
    if (!atomic_load(&crew->sleeping))
        return;
    pthread_mutex_lock(&crew->mutex);
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->mutex);
}

static void *help(void *argument)
{
    Helper *helper = argument;
    Crew *crew = helper->crew;
    int idle = 0;
    float_state_set();
    while (!atomic_load(&crew->ended)) {
        if (run_one(crew, helper))
            idle = 0;
        else if (++idle < IDLE_SPINS)
            spin_pause();
        else {
            sleep_until_work(crew, helper);
            idle = 0;
        }
    }
    return NULL;
}

bool team_thread(pthread_t *thread, void *(*body)(void *), void *context)
{
    pthread_attr_t attributes;
    size_t stack;
    if (pthread_attr_init(&attributes))
        return false;
    bool ok = !pthread_attr_getstacksize(&attributes, &stack) &&
              (stack >= LEAST_STACK || !pthread_attr_setstacksize(&attributes, LEAST_STACK)) &&
              !pthread_create(thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return ok;
}

typedef struct TeamMain {
    int (*body)(void *);
    void *context;
    int status;
} TeamMain;

static void *run_main(void *context)
{
    TeamMain *main = context;
    main->status = main->body(main->context);
    return NULL;
}

int team_main(int (*body)(void *), void *context)
{
    TeamMain main = {.body = body, .context = context};
    pthread_attr_t attributes;
    pthread_t thread;
    size_t stack = LEAST_STACK; /* that of threads is the process's, but where that has no limit */
    if (!pthread_attr_init(&attributes)) {
        pthread_attr_getstacksize(&attributes, &stack);
        pthread_attr_destroy(&attributes);
    }
    if (stack >= LEAST_STACK || !team_thread(&thread, run_main, &main))
        return body(context);
    pthread_join(thread, NULL);
    return main.status;
}

static bool hire_one(Crew *crew)
{
    Helper *helper = malloc(sizeof *helper);
    if (!helper)
        return false;
    *helper = (Helper){.crew = crew, .number = crew->n_helpers + 1, .next = crew->helpers};
    if (!team_thread(&helper->thread, help, helper)) {
        free(helper);
        return false;
    }
    crew->helpers = helper;
    crew->n_helpers++;
    return true;
}

/* At rest: what their helpers are, nothing else looks at. */
static void dismiss(Crew *crew)
{
    atomic_store(&crew->ended, true);
    wake_sleepers(crew);
    while (crew->helpers) {
        Helper *helper = crew->helpers;
        crew->helpers = helper->next;
        pthread_join(helper->thread, NULL);
        free(helper);
    }
    pthread_cond_destroy(&crew->wake);
    pthread_mutex_destroy(&crew->mutex);
    free(crew);
}

/* ---- crews at rest ---- */

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static Crew *at_rest;
static bool survives_fork; /* the three functions below are known to the system */

static void before_fork(void) { pthread_mutex_lock(&list_mutex); }
static void after_fork(void) { pthread_mutex_unlock(&list_mutex); }

/* Threads are not copied: what is left of the crews is memory. */
static void after_fork_in_child(void)
{
    at_rest = NULL;
    pthread_mutex_unlock(&list_mutex);
}

static Crew *new_crew(void)
{
    void *memory = NULL;
    if (posix_memalign(&memory, _Alignof(Crew), sizeof(Crew)))
        return NULL;
    Crew *crew = memory;
    *crew = (Crew){.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};
    return crew;
}

/* The one that rested last, whose helpers may still be awake; NULL: out of memory. */
static Crew *take_crew(void)
{
    pthread_mutex_lock(&list_mutex);
    if (!survives_fork)
        survives_fork = !pthread_atfork(before_fork, after_fork, after_fork_in_child);
    Crew *crew = at_rest;
    if (crew)
        at_rest = crew->next;
    bool ok = survives_fork;
    pthread_mutex_unlock(&list_mutex);
    return crew || !ok ? crew : new_crew();
}

static void give_crew(Crew *crew)
{
    pthread_mutex_lock(&list_mutex);
    crew->next = at_rest;
    at_rest = crew;
    pthread_mutex_unlock(&list_mutex);
}

__attribute__((destructor)) static void dismiss_all(void)
{
    pthread_mutex_lock(&list_mutex);
    Crew *crew = at_rest;
    at_rest = NULL;
    pthread_mutex_unlock(&list_mutex);
    while (crew) {
        Crew *next = crew->next;
        dismiss(crew);
        crew = next;
    }
}

/* ---- teams ---- */

void team_open(Team *team, int threads, TeamReady ready)
{
    *team = (Team){.threads = threads, .ready = ready};
    if (threads > 1)
        team->crew = take_crew();
    for (bool more = team->crew; more && team->crew->n_helpers < threads - 1;)
        more = hire_one(team->crew);
}

void team_close(Team *team)
{
    if (team->crew)
        give_crew(team->crew);
    team->crew = NULL;
}

typedef struct WatchedTask {
    const TeamWatch *watch;
    TeamTask task;
    const void *context;
} WatchedTask;

static void run_watched(const void *context, int64_t index)
{
    const WatchedTask *w = context;
    w->watch->around(w->watch, w->task, w->context, index);
}

/* Gives the step to the helpers too, and waits for what they have begun. */
static void run_shared(Crew *crew, const Team *team, int32_t n, TeamTask task, const void *context)
{
    atomic_store_explicit(&crew->task, task, memory_order_relaxed);
    atomic_store_explicit(&crew->context, context, memory_order_relaxed);
    atomic_store_explicit(&crew->n, n, memory_order_relaxed);
    atomic_store_explicit(&crew->threads, team->threads, memory_order_relaxed);
    atomic_store_explicit(&crew->ready, team->ready, memory_order_relaxed);
    atomic_store_explicit(&crew->done, 0, memory_order_relaxed);
    atomic_store(&crew->claim, ++crew->step << 32 | (uint32_t)n); /* and with it the above */
    wake_sleepers(crew);
    while (run_one(crew, NULL))
        continue;
    for (int spins = 0; atomic_load(&crew->done) < n; spins++)
        if (spins < WAIT_SPINS)
            spin_pause();
        else
            sched_yield();
}

void team_run(const Team *team, int32_t n, TeamTask task, const void *context)
{
    WatchedTask watched = {team->watch, task, context};
    if (team->watch) {
        task = run_watched;
        context = &watched;
    }
    if (n > 1 && team->crew && team->crew->n_helpers)
        run_shared(team->crew, team, n, task, context);
    else
        for (int32_t i = 0; i < n; i++)
            task(context, i);
}

void team_each(int threads, int32_t n, TeamTask task, const void *context)
{
    Team team;
    team_open(&team, threads < n ? threads : n, NULL);
    team_run(&team, n, task, context);
    team_close(&team);
}

/* ---- how many ---- */

int team_processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t may;
    if (!sched_getaffinity(0, sizeof may, &may))
        return CPU_COUNT(&may);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n < LIMIT_threads ? (int)n : LIMIT_threads;
}

int team_default(void)
{
    const char *told = getenv("OMP_NUM_THREADS");
    long n = told ? strtol(told, NULL, 10) : 0;
    return n < 1 ? team_processors() : n < LIMIT_threads ? (int)n : LIMIT_threads;
}
