/* The calls of a compiled library's interface whose failures faults.c looks for: what comes before
 * each, what it gives, and what undoes it. */
#ifndef TESTS_MODEL_FAULTS_CALLS_H
#define TESTS_MODEL_FAULTS_CALLS_H

#include "describing.h"
#include "failing.h"
#include "predicting.h"
#include "speaking.h"

#include <stddef.h>

#define N(name) failing_##name
#define PIPE "pipe" /* somebody reads it */

/* What a call has to do with: made undisturbed before it, freed after it. */
typedef struct World {
    const char *path; /* of the file that the call reads or writes */
    failing *model;
    N(session) * session;
    speaking *speaker;
    speaking_session *speech;
    predicting *predictor;
    predicting_session *reading;
    describing *describer;
    describing_session *telling;
    double result; /* one number for all that the call gives */
} World;

typedef struct Scenario {
    const char *name;
    void (*prepare)(World *world); /* or NULL */
    int (*call)(World *world);     /* status; fills world->result */
    void (*after)(World *world);   /* or NULL: undoes what a call has made */
    int refused;                   /* status when files fail; 0: the call touches none */
    const char *path;
    int expected; /* status undisturbed */
    int threads;  /* of the call in which something fails; 0: one */
} Scenario;

/* Every call, in the order in which they are tried, for a safetensors file that fits, a link to a
 * file and "/dev/fd/N". The list lives as long as the program. */
const Scenario *scenarios_of(const char *saved, const char *link, const char *open_path, size_t *n);

int call_open(World *world);
int call_train_step(World *world);
int call_train_long(World *world);
int call_decode_step(World *world);
int call_save(World *world);
int call_predict_text(World *world);
int call_predict_texts(World *world);
int call_describe(World *world);
int call_describe_rows(World *world);
int call_begin_describing(World *world);
/* Undoes a successful call_open. */
void close_model(World *world);

/* A model of scenarios_of's file that was trained for a step, and a session. */
void world_trained(World *world);
void world_end(World *world);
/* Σ x[i], n of them: the result of a call that gives numbers. */
double world_sum(const float *x, int64_t n);
/* Ends the program where a call that is not tried itself fails. */
void world_need(int status, const char *what);

#endif
