/* Who may use models and sessions: handles are looked up, a call that may not run beside another is
 * refused or waits, and what is closed during a call is freed after it. Between enter and leave the
 * thread's arithmetic is IEEE 754's (base/float_state.h). */
#include "runtime/model/handles.h"
#include "runtime/model/state.h"

#include "base/float_state.h"

#include <stddef.h>

/* ---- all of this holds the lock ---- */

int access_explain_closed(const void *handle, const char *what)
{
    return handle
               ? tfc_model_fail(TFC_ERROR_ARGUMENT, "the %s is closed, or was never opened", what)
               : tfc_model_fail(TFC_ERROR_ARGUMENT, "the %s is NULL", what);
}

/* Whether the params may be used so now. */
static int begin_use(TfcLoaded *loaded, ModelUse use)
{
    if (use != USE_NONE && loaded->writing)
        return tfc_model_fail(TFC_ERROR_BUSY, "another call trains the model");
    if (use == USE_WRITE && loaded->reading)
        return tfc_model_fail(TFC_ERROR_BUSY,
                              "other calls use the model, which train_step would change");
    loaded->reading += use == USE_READ;
    loaded->writing |= use == USE_WRITE;
    loaded->users++;
    return TFC_OK;
}

/* Whether that was the last of its users. */
static bool drop_user(TfcLoaded *loaded) { return --loaded->users == 0; }

static bool end_use(TfcLoaded *loaded, ModelUse use)
{
    loaded->reading -= use == USE_READ;
    if (use == USE_WRITE)
        loaded->writing = false;
    return drop_user(loaded);
}

/* ---- models ---- */

TfcModelHandle *model_handle(TfcLoaded *loaded)
{
    handles_lock();
    loaded->users = 1;
    TfcModelHandle *handle = handle_add(HANDLE_MODEL, loaded);
    handles_unlock();
    return handle;
}

TfcLoaded *model_enter(const TfcModelHandle *handle, ModelUse use, int *status)
{
    handles_lock();
    TfcLoaded *loaded = handle_find(HANDLE_MODEL, handle);
    *status = loaded ? begin_use(loaded, use) : access_explain_closed(handle, "model");
    handles_unlock();
    if (!*status)
        float_state_enter();
    return *status ? NULL : loaded;
}

void model_leave(TfcLoaded *loaded, ModelUse use)
{
    float_state_leave();
    handles_lock();
    bool last = end_use(loaded, use);
    handles_unlock();
    if (last)
        model_free(loaded);
}

void tfc_model_close(TfcModelHandle *handle)
{
    handles_lock();
    TfcLoaded *loaded = handle_close(HANDLE_MODEL, handle);
    TfcSession *pooled = loaded ? pool_detach(&loaded->pool, 0) : NULL;
    if (loaded) {
        loaded->closed = true;
        pthread_cond_broadcast(&loaded->pool.changed);
    }
    bool last = loaded && drop_user(loaded);
    handles_unlock();
    pool_free(pooled);
    if (last)
        model_free(loaded);
}

/* ---- sessions ---- */

TfcSessionHandle *session_handle(TfcSession *session, TfcLoaded *loaded)
{
    handles_lock();
    TfcSessionHandle *handle = handle_add(HANDLE_SESSION, session);
    if (handle) {
        session->loaded = loaded;
        loaded->users++;
    }
    handles_unlock();
    return handle;
}

static int begin_session(TfcSession *session, ModelUse use)
{
    if (session->busy)
        return tfc_model_fail(TFC_ERROR_BUSY, "another thread uses the session");
    if (session->loaded->closed)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "the session's model is closed");
    int status = begin_use(session->loaded, use);
    session->busy = !status;
    return status;
}

TfcSession *session_enter(const TfcSessionHandle *handle, ModelUse use, int *status)
{
    handles_lock();
    TfcSession *session = handle_find(HANDLE_SESSION, handle);
    *status = session ? begin_session(session, use) : access_explain_closed(handle, "session");
    handles_unlock();
    if (!*status)
        float_state_enter();
    return *status ? NULL : session;
}

/* A session that is freed takes its share of the model with it. */
void access_end_session(TfcSession *session)
{
    TfcLoaded *loaded = session->loaded;
    handles_lock();
    pool_remove(session);
    handles_unlock();
    session_free(session);
    handles_lock();
    bool last = drop_user(loaded);
    handles_unlock();
    if (last)
        model_free(loaded);
}

int session_leave(TfcSession *session, ModelUse use, int status)
{
    float_state_leave();
    handles_lock();
    end_use(session->loaded, use); /* not the last user: the session is one */
    session->busy = false;
    bool freed = session->freed;
    handles_unlock();
    if (freed)
        access_end_session(session);
    return status;
}

void tfc_model_session_free(TfcSessionHandle *handle)
{
    handles_lock();
    TfcSession *session = handle_close(HANDLE_SESSION, handle);
    bool now = session && !session->busy;
    if (session)
        session->freed = true;
    handles_unlock();
    if (now)
        access_end_session(session);
}
