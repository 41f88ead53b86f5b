/* A command that several ranks run together (runtime/ranks). */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "cli/options/common.h"

/* clang-format off */
#define OPTION_RANK_TIMEOUT(record)                                                                \
    {"rank-timeout", "SECONDS", MACHINE(record, common.rank_timeout), 0, "60",                     \
     "under mpirun: end all ranks if one of them sends nothing for SECONDS; 0: never"}
/* clang-format on */

/* Connects to the other ranks and sets the record's Common.ranks; called before any data is read.
 * The first message between ranks has the name of the command, the version of tfc, and the options
 * that are the same on all ranks (option_is_shared): where a rank's differ from rank 0's, all end,
 * and the rank names what differs. Without --threads and OMP_NUM_THREADS, ranks that may use all
 * processors of their machine get an equal share of them. Ranks other than the first print only
 * errors, with their name.
 * Returns 0, or the exit status of an error, which is in the diagnostics or printed. */
int cli_ranks_open(Job *job, const Command *command, void *record, const Arguments *arguments);
/* For a command that joins_ranks and has ended with an error before cli_ranks_open: the other ranks
 * wait for this one, and end. Otherwise does nothing. */
void cli_ranks_leave(Job *job, const Command *command, int status);
/* At the end, after the diagnostics were printed: a rank with an error ends all ranks; otherwise
 * all wait for each other. Returns the status. */
int cli_ranks_close(Ranks *ranks, int status);

/* cli_ranks_send sends a text to rank 0; cli_ranks_receive, on rank 0, appends another rank's text
 * to `out`. */
void cli_ranks_send(const Ranks *ranks, const char *text, size_t bytes);
void cli_ranks_receive(const Ranks *ranks, int from, Text *out);

#endif
