/* Values of sizes and element types. */
#ifndef RUNTIME_EXEC_SIZE_H
#define RUNTIME_EXEC_SIZE_H

#include "base/element.h"
#include "runtime/exec/program.h"

static inline int64_t size_factor(const TfcFactor *factor, const TfcDim *dims)
{
    const TfcDim *dim = &dims[factor->dim];
    return factor->quantity == TFC_EXTENT ? dim->extent : dim->total;
}

/* The size's value for these dimensions, which fit (sizes_fit). */
static inline int64_t size_value(const TfcSize *size, const TfcDim *dims)
{
    uint64_t value = (uint64_t)size->coefficient; /* may wrap around before a factor of zero */
    for (int32_t i = 0; i < size->n_factors; i++)
        value *= (uint64_t)size_factor(&size->factors[i], dims);
    return (int64_t)value;
}

/* Whether no size of the program exceeds 2^47 elements, more than any machine has memory for: then
 * sums of their bytes do not overflow. */
static inline bool sizes_fit(const TfcProgram *program, const TfcDim *dims)
{
    for (int32_t s = 0; s < program->n_sizes; s++) {
        const TfcSize *size = &program->sizes[s];
        double value = (double)size->coefficient;
        for (int32_t i = 0; i < size->n_factors; i++)
            value *= (double)size_factor(&size->factors[i], dims);
        if (value > 0x1p47)
            return false;
    }
    return true;
}

static inline int64_t program_size(const TfcProgram *program, TfcSizeRef size, const TfcDim *dims)
{
    return size_value(&program->sizes[size], dims);
}

static inline int64_t type_bytes(TfcType type) { return element_info(type)->bytes; }

static inline int64_t loop_rows(const TfcLoop *loop, const TfcDim *dims)
{
    const TfcDim *dim = &dims[loop->dim];
    return loop->quantity == TFC_EXTENT ? dim->extent : dim->total;
}

/* Rows of each chunk but the last, so that chunks are as even as possible. */
static inline int64_t loop_chunk(const TfcLoop *loop, int64_t rows)
{
    int64_t n = (rows + loop->chunk - 1) / loop->chunk;
    return n ? (rows + n - 1) / n : 0;
}

/* Whether a tensor is a decoder's cache, in memory of the caller (exec_cache), and no param. */
static inline bool tensor_is_cache(const TfcTensor *tensor)
{
    return tensor->shape.rank > 0 && tensor->shape.dims[0].dim >= 0;
}

/* Whether the executor plans the buffer's memory. */
static inline bool buffer_is_planned(const TfcBuffer *buffer)
{
    return buffer->kind == TFC_BUFFER_SLAB || buffer->kind == TFC_BUFFER_OUTPUT ||
           buffer->kind == TFC_BUFFER_KEPT;
}

/* Whether a buffer's values are kept for the next run. An output that is computed from params alone
 * is kept, too. */
static inline bool buffer_is_kept(const TfcProgram *program, const TfcBuffer *buffer)
{
    bool prepared = buffer->first >= 0 && buffer->first < program->n_prepared;
    return buffer->kind == TFC_BUFFER_KEPT || (buffer->kind == TFC_BUFFER_OUTPUT && prepared);
}

/* Bytes of a buffer in memory. A buffer that holds a chunk has the size of the largest chunk that
 * any number of rows up to the loop's is cut into. */
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
