/* Watch: a thread that sends a sign of life every second or more often, and receives those of
 * others: between rank 0 and each other rank. */
#ifndef RUNTIME_RANKS_MPI_WATCH_H
#define RUNTIME_RANKS_MPI_WATCH_H

#include <stdbool.h>

/* To be called before and after MPI_Init_thread, which waits for all ranks. If it takes longer than
 * `seconds`, because a rank has ended without it, runs another program or hangs, an error says so
 * and this process ends, as do all others that wait. 0: it may take any time. */
void watch_connecting(int seconds);
void watch_connected(void);
/* Ends all ranks, this one too, after one second. In this second the launcher reads what ranks have
 * printed; it loses the output that it reads no sooner. */
void end_all_ranks(int status);
/* To be called after MPI_Init_thread with MPI_THREAD_MULTIPLE, on all ranks. If nothing is heard of
 * a rank for `seconds`, an error names the rank and all ranks end. False: memory ran out, or the
 * thread cannot be started. */
bool watch_start(int seconds);
/* To be called before MPI_Finalize; waits until all ranks have called it. Does nothing without a
 * watch_start that succeeded. */
void watch_stop(void);

#endif
