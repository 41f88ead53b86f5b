/* Tables beside the graph: they grow as ids do. */
#include "ir/side.h"

#include <string.h>

void side_set(SideTable *side, int id, void *entry)
{
    if (id >= side->n) {
        int n = side->n ? side->n : 64;
        while (n <= id)
            n *= 2;
        void **entries = ARENA_ARRAY(side->arena, void *, n);
        if (side->n)
            memcpy(entries, side->entries, sizeof *entries * (size_t)side->n);
        side->entries = entries;
        side->n = n;
    }
    side->entries[id] = entry;
}
