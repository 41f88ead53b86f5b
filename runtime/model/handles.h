/* Handles: what callers hold in place of models and sessions. Each is a number that is
 * given once, so a handle that was closed is known as such whatever has been opened since,
 * and nothing that was freed is ever looked at. There is one table in the process (or one a
 * library), behind one lock; to look a handle up takes some tens of nanoseconds. */
#ifndef RUNTIME_MODEL_HANDLES_H
#define RUNTIME_MODEL_HANDLES_H

typedef enum HandleKind { HANDLE_MODEL, HANDLE_SESSION } HandleKind;

/* What follows is called between these two. */
void handles_lock(void);
void handles_unlock(void);

/* A handle for the object; NULL: out of memory. */
void *handle_add(HandleKind kind, void *object);
/* The object; NULL: the handle is not open, or of the other kind, or none. */
void *handle_find(HandleKind kind, const void *handle);
/* The same, and the handle is closed. */
void *handle_close(HandleKind kind, const void *handle);

#endif
