/* For threads.sh: sessions that begin to decode, each in a thread of its own, while the params that
 * are inside as panels are asked for and saved. All give the same.
 *
 * Usage: panels_threads SAVED */
#include "multi30k_small.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 5 };

static multi30k_small *model;

/* NULL: a call failed. */
static void *generate(void *out)
{
    static const int32_t ids[] = {5, 6, 7, 8, 9}, n = 5;
    multi30k_small_session *session;
    multi30k_small_generation settings;
    multi30k_small_result best;
    if (multi30k_small_session_new(model, &session) ||
        multi30k_small_generation_defaults(model, &settings))
        return NULL;
    settings.bos = 1;
    settings.eos = 2;
    settings.length_limit = 8;
    const int status = multi30k_small_generate(session, &settings, 1, &n, ids, &best);
    *(double *)out = best.log_probability;
    multi30k_small_session_free(session);
    return status ? NULL : out;
}

/* Whether all threads gave `want`; *want 0: not known yet. */
static int round_of(const char *path, double *want)
{
    pthread_t threads[THREADS];
    double found[THREADS];
    int ok = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, generate, &found[i]);
    ok &= !multi30k_small_save(model, path);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        *want = *want ? *want : found[i];
        ok &= result && found[i] == *want;
    }
    return ok;
}

int main(int argc, char **argv)
{
    double want = 0;
    if (argc != 2)
        return 2;
    for (int round = 0; round < ROUNDS; round++) {
        if (multi30k_small_open(NULL, &model) || !round_of(argv[1], &want)) {
            fprintf(stderr, "round %d: %s\n", round, multi30k_small_error_detail());
            return 1;
        }
        multi30k_small_close(model);
    }
    return 0;
}
