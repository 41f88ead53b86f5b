/* The thread and what it shares with its owner. */
#define _GNU_SOURCE
#include "runtime/train/errands.h"

#include "base/clock.h"
#include "base/team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct Errands {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t allows, finishes; /* the owner, the thread */
    Errand work;
    void *context;
    int32_t allowed, done;
    bool ends;
};

static void *run(void *argument)
{
    Errands *e = argument;
    pthread_mutex_lock(&e->lock);
    while (!e->ends || e->done < e->allowed) {
        if (e->done == e->allowed) {
            pthread_cond_wait(&e->allows, &e->lock);
            continue;
        }
        int32_t job = e->done;
        pthread_mutex_unlock(&e->lock);
        e->work(e->context, job);
        pthread_mutex_lock(&e->lock);
        e->done++;
        pthread_cond_signal(&e->finishes);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

Errands *errands_new(void)
{
    Errands *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->allows, NULL);
    pthread_cond_init(&e->finishes, NULL);
    if (team_thread(&e->thread, run, e))
        return e;
    free(e);
    return NULL;
}

void errands_free(Errands *e)
{
    pthread_mutex_lock(&e->lock);
    e->ends = true;
    pthread_cond_signal(&e->allows);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    pthread_cond_destroy(&e->allows);
    pthread_cond_destroy(&e->finishes);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void errands_begin(Errands *e, Errand work, void *context)
{
    pthread_mutex_lock(&e->lock);
    e->work = work;
    e->context = context;
    e->allowed = e->done = 0;
    pthread_mutex_unlock(&e->lock);
}

void errands_allow(Errands *e, int32_t n)
{
    pthread_mutex_lock(&e->lock);
    e->allowed = n > e->allowed ? n : e->allowed;
    pthread_cond_signal(&e->allows);
    pthread_mutex_unlock(&e->lock);
}

double errands_wait(Errands *e, int32_t n)
{
    double waited = 0;
    pthread_mutex_lock(&e->lock);
    if (e->done < n) {
        double begin = clock_seconds();
        while (e->done < n)
            pthread_cond_wait(&e->finishes, &e->lock);
        waited = clock_seconds() - begin;
    }
    pthread_mutex_unlock(&e->lock);
    return waited;
}
