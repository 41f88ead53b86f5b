/* Tensors as a pickle of PyTorch describes them, before their bytes are found. */
#ifndef DRIVER_FORMATS_TORCH_VALUES_H
#define DRIVER_FORMATS_TORCH_VALUES_H

#include "base/map.h"
#include "driver/formats/pickle.h"
#include "runtime/data/safetensors.h"

/* TorchStorage: bytes that tensors share.
 *   whole    a view of another one begins at that one's element `first`; NULL: it is no view
 *   data     `bytes` of the file; NULL: not found yet */
typedef struct TorchStorage TorchStorage;
struct TorchStorage {
    const char *key;
    StType type;
    int64_t count; /* elements */
    TorchStorage *whole;
    int64_t first;
    const unsigned char *data;
    uint64_t bytes;
    StSeal *seal; /* of data; NULL: there is none */
};
/* TorchTensor: elements of a storage, strides in elements. */
typedef struct TorchTensor {
    TorchStorage *storage;
    StType type;
    int rank;
    int64_t first, dims[ST_MAX_RANK], strides[ST_MAX_RANK];
} TorchTensor;
/* What PICKLED_OBJECT is of. TORCH_OTHER: what is passed over; the object is the name of the type
 * of its elements, if it is a tensor of a type that is not read, or its storage. */
typedef enum TorchObject { TORCH_STORAGE, TORCH_TENSOR, TORCH_OTHER } TorchObject;

/* TorchValues: the storages of a file, by key. */
typedef struct TorchValues {
    PickleRules rules;
    Map storages;
    VEC(TorchStorage *) list;
    uint64_t left; /* items that dicts may still be made of */
} TorchValues;
/* The rules that read pickles of PyTorch; `values` is their context. */
void torch_values_init(TorchValues *values, Arena *arena);

#endif
