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

static inline int64_t loop_rows(const TfcLoop *loop, const TfcDim *dims)
{
    const TfcDim *dim = &dims[loop->dim];
    return loop->quantity == TFC_EXTENT ? dim->extent : dim->total;
}

/* Rows of each chunk but the last: as even as they can be. */
static inline int64_t loop_chunk(const TfcLoop *loop, int64_t rows)
{
    int64_t n = (rows + loop->chunk - 1) / loop->chunk;
    return n ? (rows + n - 1) / n : 0;
}

static inline bool buffer_in_slab(const TfcBuffer *buffer)
{
    return buffer->kind == TFC_BUFFER_SLAB || buffer->kind == TFC_BUFFER_OUTPUT ||
           buffer->kind == TFC_BUFFER_KEPT;
}

/* Bytes of a buffer in memory: of one that holds a chunk, those of the largest chunk
 * that so many rows or fewer are cut into. */
static inline int64_t buffer_bytes(const TfcProgram *program, int32_t b, const TfcDim *dims)
{
    const TfcBuffer *buffer = &program->buffers[b];
    int64_t bytes = program_size(program, buffer->size, dims) * type_bytes(buffer->type);
    if (!buffer->loop)
        return bytes;
    const TfcLoop *loop = &program->loops[buffer->loop - 1];
    int64_t rows = loop_rows(loop, dims);
    return rows > loop->chunk ? bytes / rows * loop->chunk : bytes;
}

#endif
