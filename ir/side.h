/* SideTable: what a pass knows about values or about ops, in a table by their ids. A table is for
 * either values or ops, since ids of values and of ops overlap. It belongs to the pass, and is
 * valid until function_number (which printing a function calls) gives other ids. */
#ifndef IR_SIDE_H
#define IR_SIDE_H

#include "ir/graph.h"

#include <stdint.h>

typedef struct SideTable {
    Arena *arena;
    void **entries;
    int n; /* entries from n on are NULL */
} SideTable;

static inline SideTable side_new(Arena *arena) { return (SideTable){.arena = arena}; }
static inline void *side_get(const SideTable *side, int id)
{
    return id < side->n ? side->entries[id] : NULL;
}
void side_set(SideTable *side, int id, void *entry);

/* The entry that was set; NULL: none. */
static inline void *side_of_value(const SideTable *side, const Value *value)
{
    return side_get(side, value->id);
}
static inline void side_set_value(SideTable *side, const Value *value, void *entry)
{
    side_set(side, value->id, entry);
}
static inline void *side_of_op(const SideTable *side, const Op *op)
{
    return side_get(side, op->id);
}
static inline void side_set_op(SideTable *side, const Op *op, void *entry)
{
    side_set(side, op->id, entry);
}

/* A number for each op; 0: none was set. */
static inline int side_number(const SideTable *side, const Op *op)
{
    return (int)(intptr_t)side_get(side, op->id);
}
static inline void side_set_number(SideTable *side, const Op *op, int number)
{
    side_set(side, op->id, (void *)(intptr_t)number);
}

#endif
