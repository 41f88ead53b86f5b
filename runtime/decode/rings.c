/* The last rows of each slot; see rings.h. */
#include "runtime/decode/rings.h"

#include "runtime/exec/size.h"

#include <stdlib.h>
#include <string.h>

bool is_ring(const TfcTensor *cache)
{
    return tensor_is_cache(cache) && cache->shape.rank > 1 && cache->shape.dims[1].dim < 0;
}

bool rings_open(Rings *r, Exec *step, const TfcProgram *program)
{
    *r = (Rings){.step = step};
    r->list = calloc((size_t)program->n_tensors + 1, sizeof *r->list);
    for (int32_t t = 0; r->list && t < program->n_tensors; t++) {
        const TfcTensor *tensor = &program->tensors[t];
        if (!is_ring(tensor))
            continue;
        Ring *ring = &r->list[r->n++];
        ring->name = tensor->name;
        ring->bytes = element_info(tensor->type)->bytes;
        for (int i = 1; i < tensor->shape.rank; i++)
            ring->bytes *= (size_t)tensor->shape.dims[i].size;
    }
    return r->list != NULL;
}

/* A block for n times `bytes`, in place of the one that was there. */
static bool ring_renew(char **block, size_t bytes, int32_t n)
{
    size_t all;
    bool fits = !__builtin_mul_overflow(bytes, (size_t)n, &all) && all <= PTRDIFF_MAX - 64;
    free(*block);
    *block = fits ? aligned_alloc(64, all / 64 * 64 + 64) : NULL;
    return *block != NULL;
}

bool rings_begin(Rings *r, int32_t n_slots)
{
    bool ok = true;
    if (r->n && n_slots > r->n_slots) {
        r->n_slots = 0;
        free(r->fed);
        r->fed = calloc((size_t)n_slots, sizeof *r->fed);
        ok = r->fed != NULL;
        for (int i = 0; ok && i < r->n; i++) {
            Ring *ring = &r->list[i];
            ok = ring_renew(&ring->slots, ring->bytes, n_slots) &&
                 ring_renew(&ring->rows, ring->bytes, n_slots);
            exec_cache(r->step, ring->name, ring->rows);
        }
        r->n_slots = ok ? n_slots : 0;
    }
    for (int32_t k = 0; k < r->n_slots; k++)
        r->fed[k] = false;
    return ok;
}

void rings_load(Rings *r, int32_t n, const int32_t *slot)
{
    for (int i = 0; i < r->n; i++) {
        const Ring *ring = &r->list[i];
        for (int32_t k = 0; k < n; k++) {
            char *row = ring->rows + (size_t)k * ring->bytes;
            if (r->fed[slot[k]])
                memcpy(row, ring->slots + (size_t)slot[k] * ring->bytes, ring->bytes);
            else
                memset(row, 0, ring->bytes);
        }
    }
}

void rings_store(Rings *r, int32_t n, const int32_t *slot)
{
    for (int i = 0; i < r->n; i++) {
        const Ring *ring = &r->list[i];
        for (int32_t k = 0; k < n; k++) {
            memcpy(ring->slots + (size_t)slot[k] * ring->bytes,
                   ring->rows + (size_t)k * ring->bytes, ring->bytes);
            r->fed[slot[k]] = true;
        }
    }
}

void rings_copy(Rings *r, int32_t from, int32_t to)
{
    if (!r->n)
        return;
    for (int i = 0; i < r->n; i++) {
        const Ring *ring = &r->list[i];
        memcpy(ring->slots + (size_t)to * ring->bytes, ring->slots + (size_t)from * ring->bytes,
               ring->bytes);
    }
    r->fed[to] = r->fed[from];
}

void rings_free(Rings *r)
{
    for (int i = 0; i < r->n; i++) {
        free(r->list[i].slots);
        free(r->list[i].rows);
    }
    free(r->list);
    free(r->fed);
    *r = (Rings){0};
}
