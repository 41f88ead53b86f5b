/* TensorList: the tensors of a file while a reader finds them, and its errors. */
#ifndef DRIVER_FORMATS_TENSOR_LIST_H
#define DRIVER_FORMATS_TENSOR_LIST_H

#include "runtime/data/safetensors.h"

#define FETCH_AGAIN \
    ": download or copy it again" /* behind what is said of a file that is cut off */

typedef struct TensorList {
    Diagnostics *diags;
    Arena *arena; /* of arena_new */
    const char *path;
    VEC(StTensor) tensors;
} TensorList;

/* Adds the error "PATH: tensor 'NAME': PROBLEM", or without the tensor if that is NULL; returns
 * false. */
bool tensor_list_refuse(TensorList *list, const char *tensor, const char *problem);
/* Adds a tensor of which name, type, rank, dims and blocks are set: its data begins at `data`,
 * where the file has `available` bytes. False after an error: its dims ask for more. */
bool tensor_list_add(TensorList *list, StTensor tensor, const void *data, uint64_t available);
/* The tensors as a file. NULL after an error: there are none, or two have one name. */
StFile *tensor_list_file(TensorList *list);

#endif
