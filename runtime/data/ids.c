/* The growing list of token ids. */
#include "runtime/data/ids.h"

#include <stdio.h>
#include <stdlib.h>

void ids_push(Ids *ids, int32_t id)
{
    if (ids->count == ids->capacity) {
        ids->capacity = ids->capacity ? ids->capacity * 2 : 64;
        ids->data = realloc(ids->data, ids->capacity * sizeof *ids->data);
        if (!ids->data) {
            fputs("tfc: out of memory\n", stderr);
            abort();
        }
    }
    ids->data[ids->count++] = id;
}

void ids_free(Ids *ids)
{
    free(ids->data);
    *ids = (Ids){0};
}
