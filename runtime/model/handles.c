/* The table of open handles: in the order of their numbers, which only grow. */
#include "runtime/model/handles.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    uintptr_t number;
    HandleKind kind;
    void *object;
} Entry;

static struct {
    pthread_mutex_t mutex;
    Entry *entries; /* NULL while there are none */
    size_t n, room;
    uintptr_t last; /* number given; 0: none yet */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

enum { FIRST_ROOM = 16, NUMBER_STEP = 16 };

void handles_lock(void) { pthread_mutex_lock(&table.mutex); }

void handles_unlock(void) { pthread_mutex_unlock(&table.mutex); }

void handles_wait(pthread_cond_t *changed) { pthread_cond_wait(changed, &table.mutex); }

/* Two libraries in one process begin far apart, so that neither knows the other's handles. */
static uintptr_t first_number(void)
{
    uintptr_t place = (uintptr_t)&table;
    return sizeof place > 4 ? place << 16 >> 1 : 0;
}

static bool reserve_handles(void)
{
    if (table.n < table.room)
        return true;
    size_t room = table.room ? table.room * 2 : FIRST_ROOM;
    Entry *entries = realloc(table.entries, room * sizeof *entries);
    if (!entries)
        return false;
    table.entries = entries;
    table.room = room;
    return true;
}

void *handle_add(HandleKind kind, void *object)
{
    uintptr_t last = table.last ? table.last : first_number();
    if (last > UINTPTR_MAX - NUMBER_STEP || !reserve_handles())
        return NULL;
    table.last = last + NUMBER_STEP;
    table.entries[table.n++] = (Entry){table.last, kind, object};
    return (void *)table.last;
}

static Entry *find_handle(HandleKind kind, const void *handle)
{
    size_t begin = 0, end = table.n;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (table.entries[middle].number < (uintptr_t)handle)
            begin = middle + 1;
        else
            end = middle;
    }
    Entry *entry = begin < table.n ? &table.entries[begin] : NULL;
    return entry && entry->number == (uintptr_t)handle && entry->kind == kind ? entry : NULL;
}

void *handle_find(HandleKind kind, const void *handle)
{
    Entry *entry = find_handle(kind, handle);
    return entry ? entry->object : NULL;
}

void *handle_close(HandleKind kind, const void *handle)
{
    Entry *entry = find_handle(kind, handle);
    void *object = entry ? entry->object : NULL;
    if (!entry)
        return NULL;
    memmove(entry, entry + 1, (size_t)(table.entries + --table.n - entry) * sizeof *entry);
    if (!table.n) {
        free(table.entries);
        table.entries = NULL;
        table.room = 0;
    }
    return object;
}
