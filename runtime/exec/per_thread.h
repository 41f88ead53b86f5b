/* Memory that belongs to a thread: made when the thread first asks for it, freed with free()
 * when the thread ends. Not a _Thread_local variable: of a library that a program loads
 * while it runs, the system makes those at their first use, and ends the process where
 * there is no memory for them. */
#ifndef RUNTIME_EXEC_PER_THREAD_H
#define RUNTIME_EXEC_PER_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One kind of memory; static, begins as {.mutex = PTHREAD_MUTEX_INITIALIZER}. */
typedef struct PerThread {
    pthread_mutex_t mutex; /* of making the key */
    _Atomic bool has_key;
    pthread_key_t key;
} PerThread;

/* The calling thread's, which `make` allocates if it has none; NULL: out of memory, or the
 * process has no key left for another kind. */
void *per_thread(PerThread *kind, void *make(void));

/* Workspace: TFC_GEMM_WORKSPACE bytes of the calling thread's own, page-aligned, in which it packs
 * the operands of its products. NULL: out of memory. Once a thread has it, it keeps it. */
void *workspace_here(void);
bool workspace_ready(void); /* the same as an answer, for team_open */

#endif
