/* Two libraries and three models in one process, two threads with a session of their
 * own on each of them, all at once: every result is what it is alone. Then one model
 * trains while the others go on.
 *
 * Usage: threads THREADS   (of each call; files go into the current folder) */
#define _POSIX_C_SOURCE 200809L
#include "multi30k_small.h"
#include "multi30k_tiny.h"

#include "batches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODELS = 3, THREADS_EACH = 2, NUMBERS = 4, ROUNDS = 3 };
#define DIGEST_SEED UINT64_C(0xcbf29ce484222325)

static void die(const char *what, const char *error, const char *detail)
{
    fprintf(stderr, "%s: %s (%s)\n", what, error, detail);
    exit(1);
}

/* FNV-1a. */
static uint64_t add_bytes(uint64_t digest, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* A model, and what its library does with it. */
typedef struct Subject {
    void *model;
    const char *weights;
    void *(*begin)(void *model);
    void (*end)(void *session);
    uint64_t (*digest)(void *model, void *session, int number);
    void (*come_and_go)(const char *weights);
    uint64_t alone[NUMBERS];
} Subject;

#define MODEL multi30k_small
#include "worker.h"
#undef MODEL
#define MODEL multi30k_tiny
#include "worker.h"
#undef MODEL

static void digest_alone(Subject *subject)
{
    void *session = subject->begin(subject->model);
    for (int i = 0; i < NUMBERS; i++)
        subject->alone[i] = subject->digest(subject->model, session, i);
    subject->end(session);
}

typedef struct Worker {
    pthread_t thread;
    const Subject *subject;
    int number, wrong;
} Worker;

static void *work(void *argument)
{
    Worker *worker = argument;
    const Subject *subject = worker->subject;
    void *session = subject->begin(subject->model);
    for (int i = 0; i < ROUNDS * NUMBERS; i++) { /* each begins at another place */
        int number = (i + worker->number) % NUMBERS;
        worker->wrong += subject->digest(subject->model, session, number) != subject->alone[number];
        if (i == worker->number)
            subject->come_and_go(subject->weights);
    }
    subject->end(session);
    return NULL;
}

static int start(Worker *workers, const Subject *subjects, int n)
{
    for (int i = 0; i < n * THREADS_EACH; i++) {
        workers[i] = (Worker){.subject = &subjects[i % n], .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            die("pthread_create", "failed", "");
    }
    return n * THREADS_EACH;
}

static int join(Worker *workers, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        wrong += workers[i].wrong;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    multi30k_small_set_threads(atoi(argv[1]));
    multi30k_tiny_set_threads(atoi(argv[1]));
    Subject subjects[MODELS] = {
        {.weights = "a.safetensors"}, {.weights = "b.safetensors"}, {.weights = "c.safetensors"}};
    multi30k_tiny_open_as(&subjects[0], 1);
    multi30k_small_open_as(&subjects[1], 1);
    multi30k_small_open_as(&subjects[2], 2); /* the same library, other parameters */
    for (int i = 0; i < MODELS; i++)
        digest_alone(&subjects[i]);
    if (subjects[1].alone[0] == subjects[2].alone[0])
        die("digest", "two models are one", "");

    Worker workers[MODELS * THREADS_EACH];
    int wrong = join(workers, start(workers, subjects, MODELS));

    /* The last model trains; the sessions of the others see nothing of it. */
    uint64_t before = subjects[2].alone[0];
    void *session = subjects[2].begin(subjects[2].model); /* stays, and sees the new parameters */
    wrong += subjects[2].digest(subjects[2].model, session, 0) != before;
    int n = start(workers, subjects, MODELS - 1);
    multi30k_small_train(subjects[2].model, 3);
    wrong += join(workers, n);
    digest_alone(&subjects[2]);
    wrong += subjects[2].alone[0] == before;
    wrong += subjects[2].digest(subjects[2].model, session, 0) != subjects[2].alone[0];
    subjects[2].end(session);
    wrong += join(workers, start(workers, &subjects[1], 2));

    multi30k_tiny_close(subjects[0].model);
    multi30k_small_close(subjects[1].model);
    multi30k_small_close(subjects[2].model);
    printf("%d results differ\n", wrong);
    return wrong != 0;
}
