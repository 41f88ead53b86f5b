/* Large blocks are asked for in huge pages and touched by all threads at once. */
#define _DEFAULT_SOURCE
#include "runtime/exec/memory.h"

#include "base/team.h"
#include "runtime/exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((int64_t)2 << 20)
enum { CACHE_LINE = 64, PAGE = 4096 };

typedef struct MemoryBlock {
    char *memory;
    int64_t bytes;
} MemoryBlock;

static void clear_page(const void *context, int64_t page)
{
    const MemoryBlock *block = context;
    int64_t begin = page * HUGE_PAGE, end = begin + HUGE_PAGE;
    memset(block->memory + begin, 0, (size_t)((end < block->bytes ? end : block->bytes) - begin));
}

static void touch_page(const void *context, int64_t page)
{
    const MemoryBlock *block = context;
    int64_t begin = page * HUGE_PAGE, end = begin + HUGE_PAGE;
    for (int64_t at = begin; at < end && at < block->bytes; at += PAGE)
        *(volatile char *)(block->memory + at) = 0;
}

/* Zeroes a block without writing to it, if the system can: pages given back are read as zero. */
static bool give_pages_back(char *memory, int64_t bytes)
{
    int64_t whole = bytes / PAGE * PAGE;
    if (madvise(memory, (size_t)whole, MADV_DONTNEED))
        return false;
    memset(memory + whole, 0, (size_t)(bytes - whole));
    return true;
}

static void *have_pages(int64_t bytes, bool zero)
{
    if (bytes < 1)
        bytes = 1;
    if ((uint64_t)bytes > SIZE_MAX)
        return NULL;
    bool large = bytes >= HUGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, large ? (size_t)HUGE_PAGE : CACHE_LINE, (size_t)bytes))
        return NULL;
    if (large)
        madvise(memory, (size_t)bytes, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    bool clear = zero && !(large && give_pages_back(memory, bytes));
    team_each(large ? exec_threads() : 1, (int32_t)((bytes + HUGE_PAGE - 1) / HUGE_PAGE), clear ? clear_page : touch_page,
              &(MemoryBlock){memory, bytes});
    return memory;
}

void *memory_new(int64_t bytes) { return have_pages(bytes, true); }

void *memory_raw(int64_t bytes) { return have_pages(bytes, false); }
