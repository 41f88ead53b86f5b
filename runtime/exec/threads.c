/* How many threads the parallel loops use. */
#include "runtime/exec/exec.h"

#include <omp.h>

static int threads; /* 0: not set yet */

void exec_set_threads(int n)
{
    threads = n < 1 ? 1 : n;
}

int exec_threads(void)
{
    if (!threads)
        threads = omp_get_max_threads();
    return threads;
}
