/* How many threads the parallel loops use. */
#include "runtime/exec/exec.h"

#include "base/limits.h"
#include "base/team.h"

#include <stdatomic.h>

static _Atomic int threads; /* 0: not set yet */

void exec_set_threads(int n)
{
    n = n < 1 ? 1 : n > LIMIT_threads ? LIMIT_threads : n;
    atomic_store_explicit(&threads, n, memory_order_relaxed);
}

int exec_threads(void)
{
    int n = atomic_load_explicit(&threads, memory_order_relaxed);
    if (n)
        return n;
    exec_set_threads(team_default());
    return atomic_load_explicit(&threads, memory_order_relaxed);
}
