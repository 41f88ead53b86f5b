/* One workspace a thread, made when the thread first multiplies and freed with it. */
#define _DEFAULT_SOURCE
#include "runtime/exec/workspace.h"

#include "runtime/exec/per_thread.h"
#include "runtime/exec/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static void *make_workspace(void)
{
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, HUGE_PAGE))
        return NULL;
    madvise(memory, HUGE_PAGE, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    return memset(memory, 0, TFC_GEMM_WORKSPACE);
}

void *workspace_here(void)
{
    static PerThread workspaces = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    return per_thread(&workspaces, make_workspace);
}

bool workspace_ready(void) { return workspace_here() != NULL; }
