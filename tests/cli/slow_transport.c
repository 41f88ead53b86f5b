/* A transport that is late: in the place of an MPI's module, it waits 0.1 to 20 ms, at random,
 * before each call of the real one, whose path is in the environment. So messages of ranks and of
 * their threads meet in other orders each time. Where SENT names a file, it does not wait, and each
 * rank adds a line to the file with the bytes it sent.
 *
 * TROUBLE of a rank is "WHAT N": at its N-th message to rank 0 (the first is its machine's name,
 * two go with each checkpoint) the process kills itself (killed), or at the sum over ranks that
 * follows (late), when it has written its part; or from then on its disk is full (full). It does
 * not wait then, either. */
#define _GNU_SOURCE
#include "runtime/ranks/transport.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const RankTransport *real;
extern RankTransport tfc_rank_transport;
static _Atomic int64_t sent;

static void wait_a_little(void)
{
    static _Thread_local unsigned seed;
    if (getenv("SENT") || getenv("TROUBLE"))
        return;
    if (!seed)
        seed = (unsigned)getpid() ^ (unsigned)(uintptr_t)&seed ^ (unsigned)time(NULL);
    /* most calls by little, some by much: 0.1 · 200^x ms */
    double x = (double)rand_r(&seed) / RAND_MAX, ms = 0.1;
    for (int i = 0; i < 53; i++)
        ms *= 1 + 0.1 * x;
    if (ms > 20)
        ms = 20;
    nanosleep(&(struct timespec){0, (long)(ms * 1e6)}, NULL);
}

static int messages; /* to rank 0, so far */

static bool is_time(const char *what)
{
    const char *trouble = getenv("TROUBLE");
    size_t n = strlen(what);
    return trouble && !strncmp(trouble, what, n) && messages >= atoi(trouble + n);
}

static void send(const void *data, int64_t bytes, int to)
{
    wait_a_little();
    messages += to == 0;
    if (is_time("killed"))
        raise(SIGKILL);
    if (is_time("full"))
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    sent += bytes;
    real->send(data, bytes, to);
}

static void receive(void *data, int64_t bytes, int from)
{
    wait_a_little();
    real->receive(data, bytes, from);
}

static void move(const RankMessage *messages, int64_t n, int lane)
{
    wait_a_little();
    for (int64_t i = 0; i < n; i++)
        sent += messages[i].is_sent ? messages[i].bytes : 0;
    real->move(messages, n, lane);
}

static void share(void *data, int64_t bytes, int from)
{
    wait_a_little();
    real->share(data, bytes, from);
}

static void sum(double *numbers, int64_t n)
{
    wait_a_little();
    if (is_time("late"))
        raise(SIGKILL);
    real->sum(numbers, n);
}

RankTransport tfc_rank_transport;

__attribute__((constructor)) static void find_real(void)
{
    const char *path = getenv("REAL_TRANSPORT");
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    real = module ? dlsym(module, RANK_TRANSPORT_SYMBOL) : NULL;
    if (!real) {
        fprintf(stderr, "no transport: %s\n", path ? dlerror() : "REAL_TRANSPORT is not set");
        exit(1);
    }
    tfc_rank_transport = *real;
    tfc_rank_transport.send = send;
    tfc_rank_transport.receive = receive;
    tfc_rank_transport.move = move;
    tfc_rank_transport.share = share;
    tfc_rank_transport.sum = sum;
}

__attribute__((destructor)) static void tell_sent(void)
{
    const char *path = getenv("SENT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%" PRId64 "\n", sent);
    fclose(file);
}
