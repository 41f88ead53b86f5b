/* What each rank tells, how many threads it has, and how all end. */
#define _GNU_SOURCE
#include "cli/ranks.h"

#include "runtime/exec/exec.h"

#include <stdlib.h>
#include <unistd.h>

/* Ranks that may use all processors of their machine have a part each. */
static void divide_threads(const Ranks *ranks)
{
    int all = exec_threads(), here = ranks_here(ranks);
    if (here > 1 && !getenv("OMP_NUM_THREADS") && all == (int)sysconf(_SC_NPROCESSORS_ONLN))
        exec_set_threads(all > here ? all / here : 1);
}

int cli_ranks_open(Job *job, const Common *common, Ranks **ranks)
{
    if (!ranks_open(&job->diags, job->arena, (int)common->rank_timeout, ranks))
        return EXIT_INPUT;
    if (ranks_mine(*ranks))
        cli_speak_as(ranks_name(*ranks, job->arena));
    if (!common->threads)
        divide_threads(*ranks);
    return EXIT_DONE;
}

int cli_ranks_close(Ranks *ranks, int status)
{
    if (cli_errors_told())
        ranks_end(ranks, status);
    ranks_close(ranks);
    return status;
}
