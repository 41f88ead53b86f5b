/* Handles: what callers hold in place of models and sessions. A handle is a number that is never
 * given twice, so a closed handle is recognised whatever has been opened since, and freed memory
 * is never read. A program, or each library in it, has one table, behind one lock; a look-up takes
 * some tens of nanoseconds. */
#ifndef RUNTIME_MODEL_HANDLES_H
#define RUNTIME_MODEL_HANDLES_H

#include <pthread.h>

typedef enum HandleKind { HANDLE_MODEL, HANDLE_SESSION } HandleKind;

/* All functions below are called between handles_lock and handles_unlock. */
void handles_lock(void);
void handles_unlock(void);
/* Waits until `changed` is signalled, without the lock meanwhile. */
void handles_wait(pthread_cond_t *changed);

/* A handle for the object; NULL: memory or the numbers ran out. */
void *handle_add(HandleKind kind, void *object);
/* The handle's object; NULL: the handle is closed, of the other kind, or was never given. */
void *handle_find(HandleKind kind, const void *handle);
/* Closes the handle and returns its object; NULL as above. */
void *handle_close(HandleKind kind, const void *handle);

#endif
