/* A growing list of token ids (malloc-backed: corpora outgrow arenas). */
#ifndef RUNTIME_DATA_IDS_H
#define RUNTIME_DATA_IDS_H

#include "runtime/text/grow.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef TokenIds Ids;

/* Appends an id. If memory runs out, the process ends. */
void ids_push(Ids *ids, int32_t id);
void ids_free(Ids *ids);

#ifdef __cplusplus
}
#endif
#endif
