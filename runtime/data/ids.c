/* The growing list of token ids. */
#include "runtime/data/ids.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

void ids_push(Ids *ids, int32_t id) { memory_need(token_ids_push(ids, id)); }

void ids_free(Ids *ids) { token_ids_free(ids); }
