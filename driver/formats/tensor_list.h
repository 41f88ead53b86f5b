/* TensorList: the tensors of a file while a reader finds them, and its errors. */
#ifndef DRIVER_FORMATS_TENSOR_LIST_H
#define DRIVER_FORMATS_TENSOR_LIST_H

#include "driver/formats/advice.h"
#include "runtime/data/safetensors.h"

typedef struct TensorList {
    Diagnostics *diags;
    Arena *arena; /* one that may fail, as of budget_begin */
    const char *path;
    VEC(StTensor) tensors;
    VEC(StPassed) passed;
    Map numbers; /* private: of the tensors, from 1, by the names under which they were added */
} TensorList;

TensorList tensor_list_begin(Diagnostics *diags, Arena *arena, const char *path);
/* Adds the error "PATH: tensor 'NAME': PROBLEM", or without the tensor if that is NULL; returns
 * false. A problem NULL: there was no memory to say it. */
bool tensor_list_refuse(TensorList *list, const char *tensor, const char *problem);
/* Adds a tensor of which name, type, rank, dims and blocks are set: its data begins at `data`,
 * where the file has `available` bytes. False after an error: its dims ask for more, or a tensor of
 * the name was added before; or the arena has failed. The other two do one half each. */
bool tensor_list_add(TensorList *list, StTensor tensor, const void *data, uint64_t available);
bool tensor_list_place(TensorList *list, StTensor *tensor, const void *data, uint64_t available);
bool tensor_list_push(TensorList *list, StTensor tensor);
/* As tensor_list_add, of a format that says how many bytes the data have: an error if they are more
 * than the tensor's, too. */
bool tensor_list_add_whole(TensorList *list, StTensor tensor, const void *data, uint64_t bytes);
/* Passes over a tensor, or what else has a name, of a type that is not read. False: the arena has
 * failed. */
bool tensor_list_pass(TensorList *list, const char *name, const char *type);
/* The tensor that was added under the name; NULL: there is none. Valid until the next is added. */
StTensor *tensor_list_find(const TensorList *list, const char *name);
/* The tensors as a file, under the names that they have now. NULL after an error: there are none,
 * or two have one name; or the arena has failed. */
StFile *tensor_list_file(TensorList *list);

#endif
