/* Team: a caller and helper threads from a thread pool, which share the tasks of one step after
 * another. A step is one call of team_run.
 *
 *   Team team;
 *   team_open(&team, threads, NULL);
 *   team_run(&team, n, task, context);  // any number of steps
 *   team_close(&team);
 *
 * team_open starts the helpers that the pool lacks; team_close returns them to the pool, for the
 * next team of any caller. Helpers without work spin for about 0.1 ms, then sleep. Teams that
 * are open at the same time have different helpers, so callers do not wait for each other. A
 * caller waits only for tasks that a helper has begun, so a step costs no more than its work on a
 * machine that is busy with other things. If the system starts no more threads, a team
 * has fewer threads: nothing fails. A child process after fork() starts its own helpers. Helpers
 * end with the process; those in the pool also when the library with this code is unloaded. */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Does task number `index` of a step. */
typedef void (*TeamTask)(const void *context, int64_t index);
/* Whether the calling thread has what it needs to take tasks. */
typedef bool (*TeamReady)(void);

/* `around` runs each task, on the task's thread. */
typedef struct TeamWatch {
    void (*around)(const struct TeamWatch *watch, TeamTask task, const void *context,
                   int64_t index);
} TeamWatch;

typedef struct Team {
    struct Crew *crew;      /* the helpers; NULL: none */
    int threads;            /* the most that take tasks, the caller included */
    TeamReady ready;        /* NULL: every helper takes tasks */
    const TeamWatch *watch; /* NULL: none; set between steps */
} Team;

/* Opens a team of at most `threads` threads. A helper on whose thread `ready` returns false takes
 * no tasks of that step. The thread that opened the team closes it. */
void team_open(Team *team, int threads, TeamReady ready);
void team_close(Team *team);
/* Runs the tasks 0 … n - 1 in any order on any threads of the team; returns when all are done. A
 * task must not call team_run with the same team. */
void team_run(const Team *team, int32_t n, TeamTask task, const void *context);
/* Opens a team, runs the tasks, closes the team. */
void team_each(int threads, int32_t n, TeamTask task, const void *context);

/* Starts a thread with the stack that kernels need. False: the system starts none. */
bool team_thread(pthread_t *thread, void *(*body)(void *), void *context);
/* Returns what `body` does, which runs with such a stack: on this thread, or on another one where
 * that of the process is smaller (ulimit -s). For main(). */
int team_main(int (*body)(void *), void *context);

/* The default number of threads: the environment variable OMP_NUM_THREADS, which many libraries
 * obey (at most LIMIT_threads). If it is not set to a number above 0: the number of processors that
 * this process may use. */
int team_default(void);
/* The number of processors that this process may use, at least 1. */
int team_processors(void);

#endif
