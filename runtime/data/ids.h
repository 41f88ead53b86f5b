/* A growing list of token ids (malloc-backed: corpora outgrow arenas). */
#ifndef RUNTIME_DATA_IDS_H
#define RUNTIME_DATA_IDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ids {
    int32_t *data;
    size_t count, capacity;
} Ids;

void ids_push(Ids *ids, int32_t id);
void ids_free(Ids *ids);

#ifdef __cplusplus
}
#endif
#endif
