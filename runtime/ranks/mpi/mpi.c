/* The module of one MPI: the transport's calls, in MPI's words. */
#define _GNU_SOURCE
#include "runtime/ranks/mpi/watch.h"
#include "runtime/ranks/transport.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1 << 30 }; /* bytes of a message; MPI counts in int */
enum { TAG = 1 };        /* of messages; a lane's is TAG + lane */
/* nanoseconds between two looks of a lane */
enum { LEAST_PAUSE = 20 * 1000, MOST_PAUSE = 500 * 1000 };

/* Whether several threads may call, and the seconds of silence, are the same on all ranks: they
 * watch all or none. */
static bool start(int *rank, int *size, int silence)
{
    int provided;
    watch_connecting(silence);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    watch_connected();
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    MPI_Bcast(&silence, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &provided, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return provided == MPI_THREAD_MULTIPLE && (!silence || watch_start(silence));
}

/* All wait for the last: mpirun ends those that are left when one leaves with a status. */
static void stop(void)
{
    watch_stop();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static int size_at(int64_t at, int64_t bytes)
{
    return (int)(bytes - at < MOST ? bytes - at : MOST);
}

static void send(const void *data, int64_t bytes, int to)
{
    for (int64_t at = 0; at < bytes; at += MOST)
        MPI_Send((const char *)data + at, size_at(at, bytes), MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void receive(void *data, int64_t bytes, int from)
{
    for (int64_t at = 0; at < bytes; at += MOST)
        MPI_Recv((char *)data + at, size_at(at, bytes), MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static int64_t count_requests(const RankMessage *messages, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += (messages[i].bytes + MOST - 1) / MOST;
    return count;
}

static void start_message(const RankMessage *m, int tag, MPI_Request *requests, int *started)
{
    for (int64_t at = 0; at < m->bytes; at += MOST) {
        char *data = (char *)m->data + at;
        int size = size_at(at, m->bytes);
        MPI_Request *request = &requests[(*started)++];
        if (m->is_sent)
            MPI_Isend(data, size, MPI_BYTE, m->other, tag, MPI_COMM_WORLD, request);
        else
            MPI_Irecv(data, size, MPI_BYTE, m->other, tag, MPI_COMM_WORLD, request);
    }
}

/* MPI's own waiting takes the processor; looking all the time, too, would. */
static void wait_behind(MPI_Request *request)
{
    struct timespec pause = {0, LEAST_PAUSE};
    for (int done = 0;;
         pause.tv_nsec = pause.tv_nsec < MOST_PAUSE ? pause.tv_nsec * 3 / 2 : MOST_PAUSE) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

static void wait(MPI_Request *request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static void move(const RankMessage *messages, int64_t n, int lane)
{
    MPI_Request *requests = malloc((size_t)(count_requests(messages, n) + 1) * sizeof *requests);
    int started = 0;
    if (!requests) {
        fputs("tfc: out of memory\n", stderr);
        end_all_ranks(1);
    }
    for (int64_t i = 0; i < n; i++)
        start_message(&messages[i], TAG + lane, requests, &started);
    for (int i = 0; i < started; i++)
        (lane ? wait_behind : wait)(&requests[i]);
    free(requests);
}

static void share(void *data, int64_t bytes, int from)
{
    for (int64_t at = 0; at < bytes; at += MOST)
        MPI_Bcast((char *)data + at, size_at(at, bytes), MPI_BYTE, from, MPI_COMM_WORLD);
}

static void sum(double *numbers, int64_t n)
{
    MPI_Allreduce(MPI_IN_PLACE, numbers, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

extern const RankTransport tfc_rank_transport;
const RankTransport tfc_rank_transport = {
    RANK_TRANSPORT_VERSION, start, stop, end_all_ranks, send, receive, move, share, sum};
