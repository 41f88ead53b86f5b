/* Ranks: processes of one command, started together by mpirun, perhaps on many machines.
 *
 *   Ranks *ranks;
 *   if (!ranks_open(diags, arena, &ranks)) …     // an error is in diags; NULL: one process alone
 *   ranks_share(ranks, &state, sizeof state);    // rank 0's, on every rank
 *   ranks_close(ranks);
 *
 * Every rank makes the same calls in the same order. Where ranks is NULL, calls do nothing. */
#ifndef RUNTIME_RANKS_RANKS_H
#define RUNTIME_RANKS_RANKS_H

#include "base/diag.h"
#include "runtime/ranks/transport.h"

typedef struct Ranks Ranks;

/* False after an error: mpirun started the process, but the module for its MPI is not there.
 * `silence`: seconds after which a rank that sends nothing ends all ranks; 0: never. */
bool ranks_open(Diagnostics *diags, Arena *arena, int silence, Ranks **ranks);
/* Names of the MPI libraries with an installed module, separated by ", "; or "none". In the
 * arena. */
const char *ranks_modules(Arena *arena);
void ranks_close(Ranks *ranks);           /* waits for all ranks */
void ranks_end(Ranks *ranks, int status); /* ends all ranks now, this one too */

int ranks_mine(const Ranks *ranks);  /* 0 of a process on its own */
int ranks_count(const Ranks *ranks); /* 1 of a process on its own */
/* Of this machine's ranks, how many there are; 1 where mpirun does not say. */
int ranks_here(const Ranks *ranks);
/* "rank 2 on HOST", of this one; in the arena. */
const char *ranks_name(const Ranks *ranks, Arena *arena);
/* The same of any rank, which rank 0 alone knows. */
const char *ranks_name_of(const Ranks *ranks, int rank, Arena *arena);

void ranks_send(const Ranks *ranks, const void *data, int64_t bytes, int to);
void ranks_receive(const Ranks *ranks, void *data, int64_t bytes, int from);
/* All of these messages, each rank's own; those between two ranks are in the same order on both. */
void ranks_move(const Ranks *ranks, const RankMessage *messages, int64_t n);
/* The same, from another thread, apart from all other calls, and so that it leaves the processor to
 * others while nothing comes. `lane`: the thread's number, from 1, on all ranks. Only where
 * ranks_have_lanes says that this may be. */
void ranks_move_behind(const Ranks *ranks, const RankMessage *messages, int64_t n, int lane);
bool ranks_have_lanes(const Ranks *ranks);
/* Rank 0's bytes, on every rank. */
void ranks_share(const Ranks *ranks, void *data, int64_t bytes);
/* Replaces each of the numbers, on every rank, by its sum over all ranks. In which order is not
 * said: for sums that are exact, such as of numbers that one rank has and the others have as 0. */
void ranks_sum(const Ranks *ranks, double *numbers, int64_t n);

#endif
