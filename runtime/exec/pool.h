/* Threads for the steps of a run: one parallel region around all of them. The
 * first thread walks the steps and works too; the others take tasks from whatever
 * step it is at. Nobody waits for a thread that has not begun a task, so a step
 * costs no more than its work where the machine is busy with other things. */
#ifndef RUNTIME_EXEC_POOL_H
#define RUNTIME_EXEC_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Pool Pool;

/* A piece of a step's work. Tasks do not call the pool. */
typedef void (*PoolTask)(const void *context, int64_t index);

/* Calls body on this thread while up to `threads` - 1 others stand by. Of those, threads
 * for which `ready` is false take no tasks; NULL: all do. With one thread OpenMP is not
 * asked for anything. */
void pool_open(int threads, bool ready(void), void (*body)(Pool *pool, void *argument), void *argument);
/* From within body: runs task 0 … n - 1 in any order on any thread; returns when
 * all are done. */
void pool_run(Pool *pool, int32_t n, PoolTask task, const void *context);

/* From within body: until this is called with NULL, `around` runs each task, on the
 * task's thread. */
typedef struct PoolWatch {
    void (*around)(const struct PoolWatch *watch, PoolTask task, const void *context, int64_t index);
} PoolWatch;
void pool_watch(Pool *pool, const PoolWatch *watch);

#endif
