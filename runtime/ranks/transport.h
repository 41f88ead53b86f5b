/* RankTransport: the functions of a module for one MPI. The modules are the only code that knows
 * MPI; they are built with its compiler and loaded if mpirun started the process, so a process on
 * its own needs none. If MPI fails or memory runs out, a call ends all ranks, with a message. */
#ifndef RUNTIME_RANKS_TRANSPORT_H
#define RUNTIME_RANKS_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

enum { RANK_TRANSPORT_VERSION = 4 };

/* RankMessage: bytes that go to another rank, or come from it. */
typedef struct RankMessage {
    void *data;
    int64_t bytes;
    int other;
    bool is_sent;
} RankMessage;

typedef struct RankTransport {
    int64_t version;
    /* `silence`: seconds without a sign of life of a rank after which all are ended; 0: never. Rank
     * 0's holds for all. False, on all ranks: only one thread may call, and silence is not watched.
     */
    bool (*open)(int *rank, int *size, int silence);
    void (*close)(void);     /* waits for all ranks */
    void (*end)(int status); /* ends all ranks now */
    void (*send)(const void *data, int64_t bytes, int to);
    void (*receive)(void *data, int64_t bytes, int from);
    /* All messages at once; they are done when it returns. `lane`: 0, or the number of another
     * thread, whose messages do not mix with the others. */
    void (*move)(const RankMessage *messages, int64_t n, int lane);
    void (*share)(void *data, int64_t bytes, int from); /* from that rank to all */
    void (*sum)(double *numbers, int64_t n);            /* each by itself, over all ranks */
} RankTransport;

/* The environment variable with the path of a file that a rank creates before it ends all ranks
 * because one is silent: for tfc launch, as mpirun may wait for the silent rank forever. */
#define RANK_NOTE "TFC_LAUNCH_NOTE"

/* The module's one symbol. */
#define RANK_TRANSPORT_SYMBOL "tfc_rank_transport"

#endif
