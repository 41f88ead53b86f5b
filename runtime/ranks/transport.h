/* RankTransport: what a module of one MPI gives the program. The modules are the only code that
 * knows MPI, are built with its compiler and loaded when a process was started under it, so a
 * process on its own needs none. Calls end the process, with MPI's message, where MPI fails. */
#ifndef RUNTIME_RANKS_TRANSPORT_H
#define RUNTIME_RANKS_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

enum { RANK_TRANSPORT_VERSION = 3 };

/* RankMessage: bytes that go to another rank, or come from it. */
typedef struct RankMessage {
    void *data;
    int64_t bytes;
    int other;
    bool is_sent;
} RankMessage;

typedef struct RankTransport {
    int64_t version;
    /* `silence`: seconds without a sign of life of a rank, after which all are ended; 0: any.
     * False: calls are allowed from one thread alone, and silence cannot be watched. */
    bool (*open)(int *rank, int *size, int silence);
    void (*close)(void);     /* waits for all ranks */
    void (*end)(int status); /* ends all ranks now */
    void (*send)(const void *data, int64_t bytes, int to);
    void (*receive)(void *data, int64_t bytes, int from);
    /* All at once; done when it returns. `lane`: 0, or the number of another thread, whose messages
     * are apart from all others. */
    void (*move)(const RankMessage *messages, int64_t n, int lane);
    void (*share)(void *data, int64_t bytes, int from); /* every rank has it then */
    void (*sum)(double *numbers, int64_t n);            /* each by itself, over all ranks */
} RankTransport;

/* The environment's name of a file that a rank makes before it ends all because another is silent:
 * for tfc launch, as mpirun may wait for that one for ever. */
#define RANK_NOTE "TFC_LAUNCH_NOTE"

/* The module's one symbol. */
#define RANK_TRANSPORT_SYMBOL "tfc_rank_transport"

#endif
