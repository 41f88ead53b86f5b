/* Memory that belongs to a thread: made when the thread first asks for it, freed with free()
 * when the thread ends. Not a _Thread_local variable: if a program loads the library while it runs,
 * the system allocates such variables at their first use, and ends the process if memory runs
 * out. */
#ifndef RUNTIME_EXEC_PER_THREAD_H
#define RUNTIME_EXEC_PER_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One kind of memory; static, begins as {.mutex = PTHREAD_MUTEX_INITIALIZER}. */
typedef struct PerThread {
    pthread_mutex_t mutex; /* held while the key is made */
    _Atomic bool has_key;
    pthread_key_t key;
} PerThread;

/* The calling thread's memory of this kind, which `make` allocates if there is none yet; NULL:
 * memory ran out, or the process has no key left for another kind. */
void *per_thread(PerThread *kind, void *make(void));

/* Workspace: TFC_GEMM_WORKSPACE bytes of the calling thread's own, page-aligned, in which it packs
 * the operands of its products. NULL: memory ran out. Once a thread has it, it keeps it. */
void *workspace_here(void);
bool workspace_ready(void); /* whether workspace_here is not NULL; for team_open */

#endif
