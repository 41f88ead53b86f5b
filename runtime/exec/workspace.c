/* One workspace a thread, made when the thread first multiplies and freed with it. */
#define _DEFAULT_SOURCE
#include "runtime/exec/workspace.h"

#include "runtime/exec/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees what a thread leaves behind */
static _Thread_local void *workspace;

static void make_key(void)
{
    if (pthread_key_create(&key, free))
        abort(); /* no key is left in the process */
}

void *workspace_here(void)
{
    if (workspace)
        return workspace;
    pthread_once(&once, make_key);
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, HUGE_PAGE))
        abort(); /* two megabytes: as in the arena, nothing better to do */
    madvise(memory, HUGE_PAGE, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    memset(memory, 0, TFC_GEMM_WORKSPACE);
    pthread_setspecific(key, memory);
    return workspace = memory;
}
