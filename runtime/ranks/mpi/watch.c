/* Beats between rank 0 and each other rank, over a communicator of their own. */
#define _GNU_SOURCE
#include "runtime/ranks/mpi/watch.h"
#include "base/clock.h"
#include "runtime/ranks/transport.h"

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE = 50 * 1000 * 1000 }; /* nanoseconds between two looks */
enum { TELLING = 1 };              /* seconds until a launcher has read what was told */
static const double BEAT = 1;      /* seconds between two beats, at most */

/* Beat: what a rank says. */
typedef struct Beat {
    int is_last;
    char host[252];
} Beat;

typedef struct Peer {
    int rank;
    Beat heard; /* the last; no host before the first */
    double at;  /* when that was */
    Beat said;  /* being sent, or sent */
    MPI_Request request;
    double said_at;
} Peer;

static struct Watch {
    MPI_Comm comm;
    int rank, n;
    Peer *peers; /* of rank 0 all others, of these rank 0 */
    double seconds;
    pthread_t thread;
    atomic_bool stops;
} watch;

static void say(Peer *peer, double time)
{
    int done;
    MPI_Test(&peer->request, &done, MPI_STATUS_IGNORE);
    double every = watch.seconds / 4 < BEAT ? watch.seconds / 4 : BEAT;
    if (!done || peer->said.is_last || (!watch.stops && time - peer->said_at < every))
        return;
    peer->said.is_last = watch.stops;
    peer->said_at = time;
    MPI_Isend(&peer->said, sizeof peer->said, MPI_BYTE, peer->rank, 0, watch.comm, &peer->request);
}

static void hear(Peer *peer, double time)
{
    int is_there;
    for (;;) {
        MPI_Iprobe(peer->rank, 0, watch.comm, &is_there, MPI_STATUS_IGNORE);
        if (!is_there)
            return;
        MPI_Recv(&peer->heard, sizeof peer->heard, MPI_BYTE, peer->rank, 0, watch.comm,
                 MPI_STATUS_IGNORE);
        peer->at = time;
    }
}

/* For tfc launch, which ends mpirun then. */
static void note_silence(void)
{
    const char *path = getenv(RANK_NOTE);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
}

void end_all_ranks(int status)
{
    fflush(stderr);
    nanosleep(&(struct timespec){.tv_sec = TELLING}, NULL);
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void end_if_silent(const Peer *peer, double time)
{
    if (peer->heard.is_last || time - peer->at < watch.seconds)
        return;
    fprintf(stderr,
            "error: rank %d on %s: nothing was heard of it for %.0f s: it hangs, or the network to "
            "it is cut; all ranks end\n",
            peer->rank, peer->heard.host[0] ? peer->heard.host : "a machine", watch.seconds);
    note_silence();
    alarm(5); /* where MPI cannot end either */
    end_all_ranks(1);
}

/* Until the last beat is sent to all and heard of all. */
static void *run(void *unused)
{
    const struct timespec pause = {0, PAUSE};
    for (int open = watch.n; open;) {
        double time = clock_seconds();
        open = 0;
        for (int i = 0; i < watch.n; i++) {
            Peer *peer = &watch.peers[i];
            int is_sent;
            say(peer, time);
            hear(peer, time);
            end_if_silent(peer, time);
            MPI_Test(&peer->request, &is_sent, MPI_STATUS_IGNORE);
            open += !(peer->said.is_last && is_sent && peer->heard.is_last);
        }
        if (open)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- before MPI is there ---- */

static struct Connecting {
    pthread_mutex_t lock;
    pthread_cond_t ends;
    pthread_t thread;
    bool is_watched, is_done;
    int seconds;
} connecting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *end_unless_connected(void *unused)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += connecting.seconds;
    pthread_mutex_lock(&connecting.lock);
    while (!connecting.is_done && !error)
        error = pthread_cond_timedwait(&connecting.ends, &connecting.lock, &until);
    if (!connecting.is_done) {
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        fprintf(stderr,
                "error: a rank on %s: not all ranks have connected within %d s: one has ended, "
                "runs another program, or hangs; all ranks end\n",
                host, connecting.seconds);
        note_silence();
        _exit(1);
    }
    pthread_mutex_unlock(&connecting.lock);
    return NULL;
}

void watch_connecting(int seconds)
{
    pthread_condattr_t monotonic;
    connecting.seconds = seconds;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&connecting.ends, &monotonic);
    pthread_condattr_destroy(&monotonic);
    connecting.is_watched =
        seconds > 0 && !pthread_create(&connecting.thread, NULL, end_unless_connected, NULL);
}

void watch_connected(void)
{
    pthread_mutex_lock(&connecting.lock);
    connecting.is_done = true;
    pthread_cond_signal(&connecting.ends);
    pthread_mutex_unlock(&connecting.lock);
    if (connecting.is_watched)
        pthread_join(connecting.thread, NULL);
    pthread_cond_destroy(&connecting.ends);
}

/* ---- while it is ---- */

static bool list_peers(void)
{
    int size;
    MPI_Comm_dup(MPI_COMM_WORLD, &watch.comm);
    MPI_Comm_rank(watch.comm, &watch.rank);
    MPI_Comm_size(watch.comm, &size);
    watch.n = watch.rank ? 1 : size - 1;
    watch.peers = calloc((size_t)watch.n + 1, sizeof *watch.peers);
    for (int i = 0; watch.peers && i < watch.n; i++) {
        Peer *peer = &watch.peers[i];
        peer->rank = watch.rank ? 0 : i + 1;
        peer->request = MPI_REQUEST_NULL;
        peer->at = clock_seconds();
        gethostname(peer->said.host, sizeof peer->said.host - 1);
    }
    return watch.peers != NULL;
}

bool watch_start(int seconds)
{
    watch.seconds = seconds;
    bool ok = list_peers() && !pthread_create(&watch.thread, NULL, run, NULL);
    if (!ok)
        watch.seconds = 0;
    return ok;
}

void watch_stop(void)
{
    if (watch.seconds <= 0)
        return;
    watch.stops = true;
    pthread_join(watch.thread, NULL);
    MPI_Comm_free(&watch.comm);
    free(watch.peers);
}
