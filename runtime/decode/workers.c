/* Batches for workers; see workers.h. */
#include "runtime/decode/workers.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/team.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/trace.h"

#include <stdatomic.h>
#include <stdlib.h>

/* What workers do at the same time. */
typedef struct WorkerRound {
    Workers *workers;
    WorkerTask *task;
    void *context;
    _Atomic int64_t next; /* batch */
    int64_t end;
    _Atomic bool failed;
    bool is_measured;           /* each worker decodes one batch */
    double rate[LIMIT_workers]; /* of each worker: tokens a second */
} WorkerRound;

static void work(const void *context, int64_t worker)
{
    WorkerRound *round = (void *)(uintptr_t)context;
    Workers *workers = round->workers;
    Stepper *stepper = worker ? &workers->more[worker - 1] : &workers->first;
    const double start = clock_seconds();
    int64_t tokens = 0;
    for (int64_t i; !round->failed && (i = round->next++) < round->end;) {
        int64_t more = round->task(round->context, stepper, i);
        if (more < 0)
            round->failed = true;
        tokens += more;
        if (round->is_measured)
            break;
    }
    round->rate[worker] = (double)tokens / (clock_seconds() - start);
}

/* Makes steppers for n workers. Returns how many have one. */
static int reserve_workers(Workers *workers, int n)
{
    if (n - 1 > workers->room) {
        Stepper *more = realloc(workers->more, sizeof *more * (size_t)(n - 1));
        if (more) {
            workers->more = more;
            workers->room = n - 1;
        }
    }
    while (workers->n_more < n - 1 && workers->n_more < workers->room &&
           workers->make(workers->context, &workers->more[workers->n_more]))
        workers->n_more++;
    return workers->n_more < n - 1 ? 1 + workers->n_more : n;
}

/* Decodes the batches up to `end` by n workers. Returns their tokens a second. */
static double run_round(WorkerRound *round, int n, int64_t end)
{
    const int threads = exec_threads();
    double rate = 0;
    n = reserve_workers(round->workers, n);
    round->end = end;
    exec_set_threads(threads / n); /* at least one */
    team_each(n, n, work, round);
    exec_set_threads(threads);
    if (round->next > end)
        round->next = end; /* each worker looked for one more */
    for (int i = 0; i < n; i++)
        rate += round->rate[i];
    return rate;
}

/* Measures numbers of workers, as far as there are batches for. A new worker's first batch does not
 * count: it writes to new pages of memory. */
static void measure_workers(WorkerRound *round, int64_t n)
{
    Workers *workers = round->workers;
    round->is_measured = true;
    while (!workers->is_measured && !round->failed) {
        const int next = workers->tried ? workers->tried / 2 : exec_threads();
        const bool is_new = workers->n_more < next - 1;
        if (round->next + next > n)
            break;
        double rate = run_round(round, next, round->next + next);
        if (is_new && workers->n_more == next - 1)
            continue;
        workers->tried = next;
        workers->is_measured = next == 1 || is_new || rate < workers->rate;
        if (rate >= workers->rate) {
            workers->rate = rate;
            workers->best = is_new ? 1 + workers->n_more : next;
        }
    }
    round->is_measured = false;
}

bool workers_run(Workers *workers, int64_t version, int64_t n, WorkerTask *task, void *context)
{
    WorkerRound round = {.workers = workers, .task = task, .context = context};
    if (n && version != workers->version)
        run_round(&round, 1, 1);
    workers->version = version;
    int64_t most = workers->given ? workers->given : trace_in_use() ? 1 : exec_threads();
    if (!workers->given && most > 1) {
        measure_workers(&round, n);
        most = workers->is_measured ? workers->best : most;
    }
    const int64_t left = n - round.next;
    if (left > 0 && !round.failed)
        run_round(&round, (int)(most < left ? most : left), n);
    return !round.failed;
}

void workers_free(Workers *workers)
{
    for (int i = 0; i < workers->n_more; i++)
        workers->more[i].free(workers->more[i].self);
    free(workers->more);
    workers->more = NULL;
    workers->n_more = workers->room = 0;
}
