/* The pool of a model: sessions that threads take for a call or several, and give back. Beside each
 * other, or alone, as a training step needs it: readers and a writer. A take that cannot be served
 * waits, and those that wait are served in the order in which they came, so neither readers nor
 * writers are passed over. Each take makes a handle, which ends when the session is given back, so
 * that nobody uses what another thread has taken since. */
#include "runtime/model/handles.h"
#include "runtime/model/state.h"

#include "base/limits.h"

/* ---- all of this holds the lock ---- */

static bool pool_has_room(const Pool *pool, bool alone)
{
    return !pool->alone && pool->taken < (alone ? 1 : pool->most);
}

/* Whether the calling thread has taken a session, which a take of its own would wait for. */
static bool has_taken(const Pool *pool)
{
    for (const TfcSession *s = pool->sessions; s; s = s->next_pooled)
        if (s->taken && pthread_equal(s->taker, pthread_self()))
            return true;
    return false;
}

static int wait_turn(TfcLoaded *loaded, bool alone)
{
    Pool *pool = &loaded->pool;
    if (pool->asked == pool->served && pool_has_room(pool, alone))
        return TFC_OK;
    if (has_taken(pool))
        return tfc_model_fail(TFC_ERROR_BUSY, "the thread has a session of the pool already, for "
                                              "which this call would wait: give it back first");
    const uint64_t turn = pool->asked++;
    while (!loaded->closed && (turn != pool->served || !pool_has_room(pool, alone)))
        handles_wait(&pool->changed);
    pool->served++;
    pthread_cond_broadcast(&pool->changed); /* the next one may find room, too */
    return loaded->closed
               ? tfc_model_fail(TFC_ERROR_ARGUMENT, "the model was closed by another thread")
               : TFC_OK;
}

static TfcSession *add_session(TfcLoaded *loaded)
{
    TfcSession *session = session_make(), **last = &loaded->pool.sessions;
    if (!session)
        return NULL;
    while (*last)
        last = &(*last)->next_pooled;
    *last = session;
    session->pooled = true;
    session->loaded = loaded;
    loaded->users++;
    loaded->pool.n++;
    return session;
}

static TfcSession *free_session(TfcLoaded *loaded)
{
    for (TfcSession *s = loaded->pool.sessions; s; s = s->next_pooled)
        if (!s->taken)
            return s;
    return add_session(loaded);
}

static int lend_session(TfcLoaded *loaded, bool alone, TfcSessionHandle **out)
{
    TfcSession *session = free_session(loaded);
    *out = session ? handle_add(HANDLE_SESSION, session) : NULL;
    if (!*out)
        return tfc_model_no_memory();
    session->taken = true;
    session->taker = pthread_self();
    loaded->pool.taken++;
    loaded->pool.alone = alone;
    return TFC_OK;
}

static void take_back(TfcSession *session)
{
    Pool *pool = &session->loaded->pool;
    session->taken = false;
    pool->taken--;
    pool->alone = false;
    pthread_cond_broadcast(&pool->changed);
}

void pool_remove(TfcSession *session)
{
    if (!session->pooled)
        return;
    TfcSession **at = &session->loaded->pool.sessions;
    while (*at != session)
        at = &(*at)->next_pooled;
    *at = session->next_pooled;
    session->loaded->pool.n--;
    session->pooled = false;
    if (session->taken)
        take_back(session);
}

TfcSession *pool_detach(Pool *pool, int64_t keep)
{
    TfcSession *detached = NULL;
    for (TfcSession *s = pool->sessions, *next; s && pool->n > keep; s = next) {
        next = s->next_pooled;
        if (s->taken)
            continue;
        pool_remove(s);
        s->next_pooled = detached;
        detached = s;
    }
    return detached;
}

/* ---- without the lock ---- */

void pool_free(TfcSession *sessions)
{
    for (TfcSession *next; sessions; sessions = next) {
        next = sessions->next_pooled;
        access_end_session(sessions);
    }
}

static int take_session(TfcModelHandle *handle, bool alone, TfcSessionHandle **out)
{
    int status = tfc_model_need(out, "session");
    if (status)
        return status;
    *out = NULL;
    TfcLoaded *loaded = model_enter(handle, USE_NONE, &status); /* stays while this waits */
    if (!loaded)
        return status;
    handles_lock();
    status = wait_turn(loaded, alone);
    if (!status)
        status = lend_session(loaded, alone, out);
    handles_unlock();
    model_leave(loaded, USE_NONE);
    return status;
}

int tfc_model_session_take(TfcModelHandle *handle, TfcSessionHandle **out)
{
    return take_session(handle, false, out);
}

int tfc_model_session_take_alone(TfcModelHandle *handle, TfcSessionHandle **out)
{
    return take_session(handle, true, out);
}

/* The session of a handle that ends here; NULL with *status: it is not given back. */
static TfcSession *end_handle(const TfcSessionHandle *handle, int *status)
{
    handles_lock();
    TfcSession *session = handle_find(HANDLE_SESSION, handle);
    *status = !session ? access_explain_closed(handle, "session")
              : !session->pooled
                  ? tfc_model_fail(TFC_ERROR_ARGUMENT,
                                   "the session was not taken from the pool: session_free frees it")
              : session->busy ? tfc_model_fail(TFC_ERROR_BUSY, "another thread uses the session")
                              : TFC_OK;
    if (!*status)
        handle_close(HANDLE_SESSION, handle);
    handles_unlock();
    return *status ? NULL : session;
}

int tfc_model_session_give(TfcSessionHandle *handle)
{
    int status;
    TfcSession *session = end_handle(handle, &status);
    if (!session)
        return status;
    session_forget(session);
    handles_lock();
    TfcLoaded *loaded = session->loaded;
    take_back(session);
    TfcSession *surplus = pool_detach(&loaded->pool, loaded->closed ? 0 : loaded->pool.most);
    handles_unlock();
    pool_free(surplus);
    return TFC_OK;
}

int tfc_model_set_sessions(TfcModelHandle *handle, int n)
{
    if (n < 1 || n > LIMIT_threads)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%d sessions: from 1 to %d are allowed", n,
                              LIMIT_threads);
    int status;
    TfcLoaded *loaded = model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return status;
    handles_lock();
    loaded->pool.most = n;
    TfcSession *surplus = pool_detach(&loaded->pool, n);
    pthread_cond_broadcast(&loaded->pool.changed);
    handles_unlock();
    pool_free(surplus);
    model_leave(loaded, USE_NONE);
    return TFC_OK;
}
