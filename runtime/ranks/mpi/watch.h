/* Watch: a thread that tells the other ranks every second that this one lives, and hears them. */
#ifndef RUNTIME_RANKS_MPI_WATCH_H
#define RUNTIME_RANKS_MPI_WATCH_H

#include <stdbool.h>

/* Ends all ranks, this one too, after a pause: with them the launcher drops what they have told and
 * it has not read yet. */
void end_all_ranks(int status);
/* After MPI_Init_thread with MPI_THREAD_MULTIPLE, on all ranks. A rank of which nothing was heard
 * for so many seconds is told, and all are ended. False: there can be no thread. */
bool watch_start(int seconds);
/* Before MPI_Finalize; waits until all ranks have come here. Does nothing without a start. */
void watch_stop(void);

#endif
