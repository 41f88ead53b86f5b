/* Finding out who started the process, and loading the module for it. */
#define _GNU_SOURCE
#include "runtime/ranks/ranks.h"

#include "base/float_state.h"
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOST = 256 };

struct Ranks {
    const RankTransport *mpi;
    int rank, count, here;
    char (*hosts)[HOST]; /* of all, on rank 0 */
    bool have_lanes;
};

/* Launcher: an MPI's mpirun, by what it sets in the environment. */
typedef struct Launcher {
    const char *name, *sign, *here, *module, *package;
} Launcher;

static const Launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "tfc-openmpi.so",
     "libopenmpi-dev"},
    {"MPICH", "PMI_SIZE", "MPI_LOCALNRANKS", "tfc-mpich.so", "libmpich-dev"},
};
enum { N_LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static const Launcher *find_launcher(void)
{
    for (int i = 0; i < N_LAUNCHERS; i++)
        if (getenv(launchers[i].sign))
            return &launchers[i];
    return NULL;
}

const char *ranks_modules(Arena *arena)
{
    const char *names = NULL;
    for (int i = 0; i < N_LAUNCHERS; i++)
        if (library_module(arena, launchers[i].module))
            names =
                names ? arena_printf(arena, "%s, %s", names, launchers[i].name) : launchers[i].name;
    return names ? names : "none";
}

static const RankTransport *load(Diagnostics *diags, Arena *arena, const Launcher *launcher)
{
    const char *path = library_module(arena, launcher->module);
    if (!path) {
        diag_error(diags, (Loc){0},
                   "started by %s, but %s is not there: install %s and build tfc again",
                   launcher->name, launcher->module, launcher->package);
        return NULL;
    }
    /* MPI's own plugins look for its symbols */
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const RankTransport *mpi = module ? dlsym(module, RANK_TRANSPORT_SYMBOL) : NULL;
    if (mpi && mpi->version == RANK_TRANSPORT_VERSION)
        return mpi;
    diag_error(diags, (Loc){0}, "%s cannot be used: %s", path,
               mpi ? "it is of another version of tfc" : dlerror());
    return NULL;
}

/* Every rank tells rank 0 the name of its machine. */
static void tell_host(Ranks *r, Arena *arena)
{
    char host[HOST] = "";
    gethostname(host, sizeof host - 1);
    if (r->rank) {
        r->mpi->send(host, sizeof host, 0);
        return;
    }
    r->hosts = arena_array(arena, (size_t)r->count, sizeof *r->hosts);
    memcpy(r->hosts[0], host, sizeof host);
    for (int rank = 1; rank < r->count; rank++)
        r->mpi->receive(r->hosts[rank], sizeof r->hosts[rank], rank);
}

bool ranks_open(Diagnostics *diags, Arena *arena, int silence, Ranks **ranks)
{
    *ranks = NULL;
    const Launcher *launcher = find_launcher();
    if (!launcher)
        return true;
    const RankTransport *mpi = load(diags, arena, launcher);
    if (!mpi)
        return false;
    Ranks *r = ARENA_NEW(arena, Ranks);
    const char *here = getenv(launcher->here);
    *r = (Ranks){.mpi = mpi, .here = here && atoi(here) > 0 ? atoi(here) : 1};
    r->have_lanes = mpi->open(&r->rank, &r->count, silence);
    float_state_set(); /* MPI loads plugins */
    *ranks = r;
    tell_host(r, arena);
    if (silence && !r->have_lanes && !r->rank)
        diag_warning(
            diags, (Loc){0},
            "%s was built without calls from several threads (MPI_THREAD_MULTIPLE), so a rank that hangs is not noticed, and --rank-timeout has no effect",
            launcher->name);
    return true;
}

void ranks_close(Ranks *ranks)
{
    if (ranks)
        ranks->mpi->close();
}

void ranks_end(Ranks *ranks, int status)
{
    if (ranks)
        ranks->mpi->end(status);
}

int ranks_mine(const Ranks *ranks) { return ranks ? ranks->rank : 0; }

int ranks_count(const Ranks *ranks) { return ranks ? ranks->count : 1; }

int ranks_here(const Ranks *ranks) { return ranks ? ranks->here : 1; }

const char *ranks_name(const Ranks *ranks, Arena *arena)
{
    char host[HOST] = "";
    gethostname(host, sizeof host - 1);
    return arena_printf(arena, "rank %d on %s", ranks_mine(ranks), host);
}

const char *ranks_name_of(const Ranks *ranks, int rank, Arena *arena)
{
    return arena_printf(arena, "rank %d on %s", rank, ranks->hosts[rank]);
}

void ranks_send(const Ranks *ranks, const void *data, int64_t bytes, int to)
{
    ranks->mpi->send(data, bytes, to);
}

void ranks_receive(const Ranks *ranks, void *data, int64_t bytes, int from)
{
    ranks->mpi->receive(data, bytes, from);
}

void ranks_move(const Ranks *ranks, const RankMessage *messages, int64_t n)
{
    if (ranks && n)
        ranks->mpi->move(messages, n, 0);
}

void ranks_move_behind(const Ranks *ranks, const RankMessage *messages, int64_t n, int lane)
{
    if (ranks && n)
        ranks->mpi->move(messages, n, lane);
}

bool ranks_have_lanes(const Ranks *ranks) { return ranks && ranks->have_lanes; }

void ranks_share(const Ranks *ranks, void *data, int64_t bytes)
{
    if (ranks)
        ranks->mpi->share(data, bytes, 0);
}

void ranks_sum(const Ranks *ranks, double *numbers, int64_t n)
{
    if (ranks)
        ranks->mpi->sum(numbers, n);
}
