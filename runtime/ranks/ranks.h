/* Ranks: processes of one command, started together by mpirun, perhaps on many machines.
 *
 *   Ranks *ranks;
 *   if (!ranks_open(diags, arena, silence, &ranks)) …  // an error is in diags
 *   ranks_share(ranks, &state, sizeof state);    // rank 0's, on every rank
 *   ranks_close(ranks);
 *
 * All ranks call ranks_open, ranks_agree, ranks_share, ranks_sum and ranks_close in the same order.
 * For a process on its own `ranks` is NULL, and calls do nothing; ranks_send, ranks_receive and
 * ranks_name_of must not be called then. */
#ifndef RUNTIME_RANKS_RANKS_H
#define RUNTIME_RANKS_RANKS_H

#include "base/diag.h"
#include "base/vec.h"
#include "runtime/ranks/transport.h"

typedef struct Ranks Ranks;

/* RankFact: what must be the same on all ranks: a name, such as "seed", and a value. */
typedef struct RankFact {
    const char *name, *value;
} RankFact;

typedef VEC(RankFact) RankFacts;

/* *ranks: in the arena; NULL: no mpirun started the process. False after an error: mpirun started
 * it, but the module for its MPI is not there or cannot be used. `silence`: seconds after which
 * all ranks are ended because nothing was heard of one; 0: never; rank 0's holds for all. Without
 * ranks_have_lanes silence is not noticed, and a warning says so. */
bool ranks_open(Diagnostics *diags, Arena *arena, int silence, Ranks **ranks);
/* Names of the MPI libraries with an installed module, separated by ", "; or "none". In the
 * arena. */
const char *ranks_modules(Arena *arena);
void ranks_close(Ranks *ranks);           /* waits for all ranks */
void ranks_end(Ranks *ranks, int status); /* ends all ranks now, this one too */

int ranks_mine(const Ranks *ranks);  /* this rank; 0 for a process on its own */
int ranks_count(const Ranks *ranks); /* 1 for a process on its own */
/* How many ranks run on this machine; 1 where mpirun does not say. */
int ranks_here(const Ranks *ranks);
/* The name of this rank, "rank 2 on HOST"; in the arena. */
const char *ranks_name(const Ranks *ranks, Arena *arena);
/* The same of any rank; only on rank 0. */
const char *ranks_name_of(const Ranks *ranks, int rank, Arena *arena);

void ranks_send(const Ranks *ranks, const void *data, int64_t bytes, int to);
void ranks_receive(const Ranks *ranks, void *data, int64_t bytes, int from);
/* Sends and receives messages at once; returns when all are done. Each rank gives its own; those
 * between two ranks are in the same order on both. */
void ranks_move(const Ranks *ranks, const RankMessage *messages, int64_t n);
/* ranks_move for another thread than the one that calls the other functions: its messages do not
 * mix with theirs, and the thread sleeps while it waits. `lane`: the thread's number, from 1, the
 * same on all ranks. Only if ranks_have_lanes. */
void ranks_move_behind(const Ranks *ranks, const RankMessage *messages, int64_t n, int lane);
bool ranks_have_lanes(const Ranks *ranks);
/* Copies rank 0's bytes to every rank. */
void ranks_share(const Ranks *ranks, void *data, int64_t bytes);
/* Compares the facts with rank 0's, by name; several of one name are compared in order. The first
 * `basis` facts say what the others mean: where one of them differs, the others are not compared.
 * False on every rank if any differs: each rank whose facts differ has an error for each. */
bool ranks_agree(const Ranks *ranks, Diagnostics *diags, const RankFacts *facts, size_t basis);
/* Replaces each of the numbers, on every rank, by its sum over all ranks. The order of summation is
 * not defined: for sums that are exact, such as of numbers that are 0 on all ranks but one. */
void ranks_sum(const Ranks *ranks, double *numbers, int64_t n);

#endif
