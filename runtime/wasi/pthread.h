/* What the runtime uses of POSIX threads, on a system without them: none can be made, nobody else
 * holds a mutex, nobody waits, and what a thread would free at its end lives as long as the
 * program. */
#ifndef RUNTIME_WASI_PTHREAD_H
#define RUNTIME_WASI_PTHREAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct pthread_mutex_t {
    char none;
} pthread_mutex_t;
typedef struct pthread_cond_t {
    char none;
} pthread_cond_t;
typedef int pthread_t, pthread_attr_t, pthread_key_t;
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}

static inline int pthread_mutex_init(pthread_mutex_t *m, const void *attributes)
{
    (void)m, (void)attributes;
    return 0;
}
static inline int pthread_mutex_destroy(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
static inline int pthread_cond_init(pthread_cond_t *c, const void *attributes)
{
    (void)c, (void)attributes;
    return 0;
}
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    (void)c, (void)m;
    return 0;
}
static inline int pthread_cond_broadcast(pthread_cond_t *c)
{
    (void)c;
    return 0;
}
static inline int pthread_cond_destroy(pthread_cond_t *c)
{
    (void)c;
    return 0;
}

static inline int pthread_attr_init(pthread_attr_t *a)
{
    (void)a;
    return 0;
}
static inline int pthread_attr_destroy(pthread_attr_t *a)
{
    (void)a;
    return 0;
}
static inline int pthread_attr_getstacksize(const pthread_attr_t *a, size_t *bytes)
{
    (void)a;
    *bytes = SIZE_MAX;
    return 0;
}
static inline int pthread_attr_setstacksize(pthread_attr_t *a, size_t bytes)
{
    (void)a, (void)bytes;
    return 0;
}
static inline int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*body)(void *),
                                 void *argument)
{
    (void)t, (void)a, (void)body, (void)argument;
    return 1;
}
static inline pthread_t pthread_self(void) { return 0; }
static inline int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
static inline int pthread_join(pthread_t t, void **result)
{
    (void)t, (void)result;
    return 0;
}
static inline int pthread_atfork(void (*before)(void), void (*after)(void), void (*child)(void))
{
    (void)before, (void)after, (void)child;
    return 0;
}

enum { TFC_THREAD_KEYS = 8 };
/* of the one thread; in the one file that uses keys */
static void *tfc_thread_values[TFC_THREAD_KEYS];

static inline int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    static pthread_key_t keys;
    (void)end;
    if (keys == TFC_THREAD_KEYS)
        return 1;
    *key = keys++;
    return 0;
}

static inline void *pthread_getspecific(pthread_key_t key) { return tfc_thread_values[key]; }
static inline int pthread_setspecific(pthread_key_t key, const void *value)
{
    tfc_thread_values[key] = (void *)(uintptr_t)value;
    return 0;
}

#endif
