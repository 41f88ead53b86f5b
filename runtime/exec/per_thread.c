/* A key of POSIX threads a kind; see per_thread.h. */
#include "runtime/exec/per_thread.h"

#include <stddef.h>
#include <stdlib.h>

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
