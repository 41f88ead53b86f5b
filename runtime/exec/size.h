/* Values of sizes and element types. */
#ifndef RUNTIME_EXEC_SIZE_H
#define RUNTIME_EXEC_SIZE_H

#include "runtime/exec/program.h"

static inline int64_t size_value(const TfcSize *size, const TfcDim *dims)
{
    int64_t value = size->coefficient;
    for (int32_t i = 0; i < size->n_factors; i++) {
        const TfcDim *dim = &dims[size->factors[i].dim];
        value *= size->factors[i].quantity == TFC_EXTENT ? dim->extent : dim->total;
    }
    return value;
}

static inline int64_t program_size(const TfcProgram *program, TfcSizeRef size, const TfcDim *dims)
{
    return size_value(&program->sizes[size], dims);
}

static inline int64_t type_bytes(TfcType type)
{
    static const int8_t bytes[] = {4, 8, 2, 4, 1};
    return bytes[type];
}

#endif
