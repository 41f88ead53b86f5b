/* A key of POSIX threads a kind; and one workspace a thread, made when the thread first
 * multiplies. */
#define _DEFAULT_SOURCE
#include "runtime/exec/per_thread.h"

#include "runtime/exec/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool make_key(PerThread *kind)
{
    pthread_mutex_lock(&kind->mutex);
    bool ok = atomic_load(&kind->has_key) || !pthread_key_create(&kind->key, free);
    atomic_store(&kind->has_key, ok);
    pthread_mutex_unlock(&kind->mutex);
    return ok;
}

void *per_thread(PerThread *kind, void *make(void))
{
    if (!atomic_load_explicit(&kind->has_key, memory_order_acquire) && !make_key(kind))
        return NULL;
    void *memory = pthread_getspecific(kind->key);
    if (memory || !(memory = make()))
        return memory;
    if (!pthread_setspecific(kind->key, memory))
        return memory;
    free(memory);
    return NULL;
}

/* ---- workspaces ---- */

enum { HUGE_PAGE = 2 << 20 };

static void *make_workspace(void)
{
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, HUGE_PAGE))
        return NULL;
    madvise(memory, HUGE_PAGE, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    return memset(memory, 0, TFC_GEMM_WORKSPACE);
}

void *workspace_here(void)
{
    static PerThread workspaces = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    return per_thread(&workspaces, make_workspace);
}

bool workspace_ready(void) { return workspace_here() != NULL; }
