/* The growing list of token ids. */
#include "runtime/data/ids.h"

#include <stdio.h>
#include <stdlib.h>

void ids_push(Ids *ids, int32_t id)
{
    if (!token_ids_push(ids, id)) {
        fputs("tfc: out of memory\n", stderr);
        abort();
    }
}

void ids_free(Ids *ids) { token_ids_free(ids); }
