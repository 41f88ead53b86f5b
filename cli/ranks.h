/* A command that several ranks run together (runtime/ranks). */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "cli/options/common.h"

#define OPTION_RANK_TIMEOUT(record)                                                                \
    {"rank-timeout", "SECONDS", FIELD(record, common.rank_timeout), 0, "60",                       \
     "under mpirun: a rank of which nothing was heard for so long ends all; 0: never"}

/* Finds the other ranks, for common->ranks, and gives those of one machine their part of its processors where nobody
 * says how many threads there are. Ranks behind the first tell errors alone, with their name. An
 * exit status: 0, or that of an error, which is in the diagnostics. */
int cli_ranks_open(Job *job, Common *common);
/* At the end, with the diagnostics flushed: a rank that told an error ends all; the others wait for
 * each other. Gives the status. */
int cli_ranks_close(Ranks *ranks, int status);

/* A text to rank 0, and there from another rank, behind what `out` has. */
void cli_ranks_send(const Ranks *ranks, const char *text, size_t bytes);
void cli_ranks_receive(Ranks *ranks, int from, Text *out);

#endif
