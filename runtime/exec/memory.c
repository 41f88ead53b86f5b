/* Large blocks are asked for in huge pages and touched by all threads at once. */
#define _DEFAULT_SOURCE
#include "runtime/exec/memory.h"

#include "base/team.h"
#include "runtime/exec/exec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

typedef enum Pages { PAGES_ZERO, PAGES_RAW, PAGES_LATER } Pages;

static void *have_pages(int64_t bytes, Pages pages)
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
    bool clear = pages == PAGES_ZERO && !(large && give_pages_back(memory, bytes));
    if (pages != PAGES_LATER)
        team_each(large ? exec_threads() : 1, (int32_t)((bytes + HUGE_PAGE - 1) / HUGE_PAGE),
                  clear ? clear_page : touch_page, &(MemoryBlock){memory, bytes});
    return memory;
}

void *memory_new(int64_t bytes) { return have_pages(bytes, PAGES_ZERO); }

void *memory_raw(int64_t bytes) { return have_pages(bytes, PAGES_RAW); }

void *memory_reserve(int64_t bytes) { return have_pages(bytes, PAGES_LATER); }

/* ---- pages of files ---- */

/* A line of /proc/self/maps: "BEGIN-END rwxp OFFSET DEVICE INODE PATH" (proc(5)). */
static bool is_unwritten_file(const char *line, uintptr_t address, const char **begin,
                              const char **end)
{
    uintptr_t from, to;
    char writable;
    unsigned long inode;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*c%c%*2c %*s %*s %lu", &from, &to, &writable,
               &inode) != 4 ||
        address < from || address >= to || writable == 'w' || !inode)
        return false;
    *begin = (const char *)from;
    *end = (const char *)to;
    return true;
}

bool memory_find_file(const void *address, const char **begin, const char **end)
{
    char text[8192 + 1]; /* a line that is longer, of a path, is no range and ends the search */
    size_t n = 0;
    bool found = false;
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t more;
         maps >= 0 && !found && (more = read(maps, text + n, sizeof text - 1 - n)) > 0;) {
        n += (size_t)more;
        text[n] = 0;
        char *line = text;
        for (char *stop; !found && (stop = strchr(line, '\n')); line = stop + 1)
            found = is_unwritten_file(line, (uintptr_t)address, begin, end);
        n -= (size_t)(line - text);
        memmove(text, line, n);
    }
    if (maps >= 0)
        close(maps);
    return found;
}

void memory_leave_file(const void *data, int64_t bytes)
{
    uintptr_t begin = ((uintptr_t)data + PAGE - 1) / PAGE * PAGE,
              end = ((uintptr_t)data + (uintptr_t)bytes) / PAGE * PAGE;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED); /* refusing it changes nothing */
}
