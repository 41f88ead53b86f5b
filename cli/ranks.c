/* What each rank tells, how many threads it has, and how all end. */
#define _GNU_SOURCE
#include "cli/ranks.h"

#include "runtime/exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ranks that may use all processors of their machine have a part each. */
static void divide_threads(const Ranks *ranks)
{
    int all = exec_threads(), here = ranks_here(ranks);
    if (here > 1 && !getenv("OMP_NUM_THREADS") && all == (int)sysconf(_SC_NPROCESSORS_ONLN))
        exec_set_threads(all > here ? all / here : 1);
}

/* What only several processes heed. */
static void tell_alone(Job *job, const Arguments *arguments)
{
    for (size_t i = 0; i < arguments->given.count; i++) {
        const char *name = arguments->given.data[i].option->name;
        if (!strcmp(name, "gradients") || !strcmp(name, "rank-timeout"))
            diag_warning(&job->diags, (Loc){0},
                         "--%s is for several processes (mpirun -np N tfc %s …): here is one", name,
                         arguments->argv[0]);
    }
}

/* The first facts, without which options do not compare. */
enum { BASIS = 2 };
static RankFacts basis_of(Arena *arena, const char *command)
{
    RankFacts facts = {0};
    vec_push(arena, facts, ((RankFact){"the command", command}));
    vec_push(arena, facts, ((RankFact){"the version of tfc", TFC_VERSION}));
    return facts;
}

/* Whether the other ranks run the same command, with the same options. */
static bool same_command(Job *job, const Ranks *ranks, const Command *command, const void *record)
{
    RankFacts facts = basis_of(job->arena, command->name);
    for (int i = 0; i < command->n_options; i++) {
        const Option *option = &command->options[i];
        if (option_is_shared(option))
            vec_push(job->arena, facts,
                     ((RankFact){option_typed(job->arena, option),
                                 option_value_text(job->arena, option, record)}));
    }
    return ranks_agree(ranks, &job->diags, &facts, BASIS);
}

static bool was_opened;

int cli_ranks_open(Job *job, const Command *command, void *record, const Arguments *arguments)
{
    Common *common = (void *)((char *)record + command->common);
    was_opened = true;
    if (!ranks_open(&job->diags, job->arena, (int)common->rank_timeout, &common->ranks))
        return EXIT_INPUT;
    if (!common->ranks)
        tell_alone(job, arguments);
    if (ranks_mine(common->ranks))
        cli_speak_as(ranks_name(common->ranks, job->arena));
    if (!same_command(job, common->ranks, command, record)) {
        cli_flush(job);
        ranks_close(common->ranks);
        common->ranks = NULL;
        return EXIT_USAGE;
    }
    if (!common->threads)
        divide_threads(common->ranks);
    return EXIT_DONE;
}

/* As in cli_ranks_open, with a command that no rank has whose options are right. */
void cli_ranks_leave(Job *job, const Command *command, int status)
{
    enum { SILENCE = 60 }; /* as --rank-timeout, which may be what is wrong */
    Diagnostics unseen;
    Ranks *ranks;
    if (!command->joins_ranks || was_opened || status == EXIT_DONE)
        return;
    diag_init(&unseen, job->arena);
    const RankFacts facts =
        basis_of(job->arena, arena_printf(job->arena, "%s, with an error", command->name));
    if (ranks_open(&unseen, job->arena, SILENCE, &ranks) && ranks)
        ranks_agree(ranks, &unseen, &facts, BASIS);
    ranks_close(ranks);
}

int cli_ranks_close(Ranks *ranks, int status)
{
    if (cli_errors_told())
        ranks_end(ranks, status);
    ranks_close(ranks);
    return status;
}

void cli_ranks_send(const Ranks *ranks, const char *text, size_t bytes)
{
    int64_t n = (int64_t)bytes;
    ranks_send(ranks, &n, sizeof n, 0);
    if (n)
        ranks_send(ranks, text, n, 0);
}

void cli_ranks_receive(const Ranks *ranks, int from, Text *out)
{
    int64_t n;
    ranks_receive(ranks, &n, sizeof n, from);
    char *bytes = memory_resized(NULL, (size_t)n);
    if (n)
        ranks_receive(ranks, bytes, n, from);
    text_put(out, bytes, (size_t)n);
    free(bytes);
}
