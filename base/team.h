/* Threads that stay: a caller and its helpers, who share the tasks of one step after another.
 *
 *   Team team;
 *   team_open(&team, threads, NULL);
 *   team_run(&team, n, task, context);  // any number of steps
 *   team_close(&team);
 *
 * Helpers are made when a team first needs them and are there for the next team, whoever opens
 * it; between steps and teams they look for work for a moment, then sleep. Teams that are open
 * at the same time have helpers of their own, so callers do not wait for each other. Nobody
 * waits for a helper that has not begun a task, so a step costs no more than its work where the
 * machine is busy with other things. Where the system makes no more threads, a team has
 * fewer: nothing fails. A child after fork() makes its own. Helpers end with the process, or when
 * the library with this code is unloaded. */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

/* A piece of a step's work. */
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
    TeamReady ready;        /* or NULL */
    const TeamWatch *watch; /* or NULL; set between steps */
} Team;

/* Opens a team of at most `threads` threads. A helper for which `ready` is false takes no tasks;
 * ready NULL: all do. The thread that opened the team closes it. */
void team_open(Team *team, int threads, TeamReady ready);
void team_close(Team *team);
/* Runs task 0 … n - 1 in any order on any thread of the team; returns when all are done. A task
 * must not call team_run with the same team. */
void team_run(const Team *team, int32_t n, TeamTask task, const void *context);
/* Opens a team, runs the tasks, closes the team. */
void team_each(int threads, int32_t n, TeamTask task, const void *context);

/* The default number of threads: OMP_NUM_THREADS, which many libraries obey, or without it the
 * number of processors that this process may use. */
int team_default(void);

#endif
