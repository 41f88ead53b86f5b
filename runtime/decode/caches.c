/* Memory of caches, a slot after the other; what they begin with is copied when a slot is first
 * fed. */
#include "runtime/decode/caches.h"

#include "runtime/decode/rings.h"
#include "runtime/exec/size.h"

#include <stdlib.h>
#include <string.h>

static bool grow_list(void *list, size_t count)
{
    int32_t *grown = realloc(*(int32_t **)list, count ? count * sizeof *grown : 1);
    if (!grown)
        return false;
    *(int32_t **)list = grown;
    return true;
}

/* ---- what is before the text ---- */

/* The row of encode's batch that a sentence is. */
static int32_t encoded_row(const SlotCaches *c, int32_t sentence)
{
    return c->one_beginning ? 0 : sentence;
}

static const TfcDim *dim_before(const SlotCaches *c, const SlotPast *past)
{
    return past->encode >= 0 ? &exec_dims(c->encode)[past->encode] : NULL;
}

static int32_t count_before(const SlotCaches *c, const SlotPast *past, int32_t sentence)
{
    const TfcDim *dim = past->begins && sentence >= 0 ? dim_before(c, past) : NULL;
    if (!past->begins || sentence < 0)
        return 0;
    return dim && dim->length ? dim->length[encoded_row(c, sentence)] : past->n_before;
}

static int32_t slot_stride(const SlotCaches *c, const SlotPast *past)
{
    return c->capacity + past->room;
}

static char *slot_data(const SlotCaches *c, const SlotCache *cache, int32_t slot)
{
    const size_t stride = (size_t)slot_stride(c, &c->pasts[cache->past]);
    return cache->data + (size_t)slot * stride * cache->row_bytes;
}

/* A slot that is empty begins as the sentence does. */
static void begin_slot(SlotCaches *c, int32_t slot, int32_t sentence)
{
    for (int i = 0; i < c->n_caches; i++) {
        const SlotCache *cache = &c->caches[i];
        const SlotPast *past = &c->pasts[cache->past];
        const size_t n = (size_t)count_before(c, past, sentence),
                     row = (size_t)encoded_row(c, sentence);
        if (!n)
            continue;
        const char *rows = exec_output(c->encode, cache->name);
        const TfcDim *dim = dim_before(c, past);
        const size_t first = dim && dim->length ? (size_t)dim->offset[row] : row * n;
        memcpy(slot_data(c, cache, slot), rows + first * cache->row_bytes, n * cache->row_bytes);
    }
    c->sentence[slot] = sentence;
}

/* ---- room ---- */

static bool make_grown(SlotCaches *c, int32_t n_slots, int32_t capacity)
{
    bool ok = true;
    for (int i = 0; ok && i < c->n_caches; i++) {
        SlotCache *cache = &c->caches[i];
        int64_t positions = (int64_t)n_slots * ((int64_t)capacity + c->pasts[cache->past].room);
        size_t bytes;
        ok = positions <= INT32_MAX && /* offsets into caches have 32 bits */
             !__builtin_mul_overflow((size_t)positions, cache->row_bytes, &bytes) &&
             bytes <= PTRDIFF_MAX - 64;
        cache->grown = ok ? aligned_alloc(64, bytes / 64 * 64 + 64) : NULL;
        ok = cache->grown != NULL;
    }
    for (int i = 0; !ok && i < c->n_caches; i++) {
        free(c->caches[i].grown);
        c->caches[i].grown = NULL;
    }
    return ok;
}

static void move_slots(const SlotCaches *c, const SlotCache *cache, int32_t capacity)
{
    const SlotPast *past = &c->pasts[cache->past];
    const size_t slot = (size_t)(capacity + past->room) * cache->row_bytes;
    for (int32_t k = 0; k < c->n_slots; k++) {
        const size_t n = (size_t)c->length[k] + (size_t)count_before(c, past, c->sentence[k]);
        if (n)
            memcpy(cache->grown + (size_t)k * slot, slot_data(c, cache, k), n * cache->row_bytes);
    }
}

bool caches_fit(int32_t n_slots, int32_t capacity)
{
    return (int64_t)n_slots * capacity <= INT32_MAX;
}

bool caches_reserve(SlotCaches *c, int32_t n_slots, int32_t capacity)
{
    if (n_slots <= c->n_slots && capacity <= c->capacity)
        return true;
    if (n_slots < c->n_slots)
        n_slots = c->n_slots;
    if (capacity < c->capacity)
        capacity = c->capacity;
    if (!caches_fit(n_slots, capacity) || !grow_list(&c->length, (size_t)n_slots) ||
        !grow_list(&c->sentence, (size_t)n_slots) || !make_grown(c, n_slots, capacity))
        return false;
    for (int i = 0; i < c->n_caches; i++) {
        SlotCache *cache = &c->caches[i];
        move_slots(c, cache, capacity);
        free(cache->data);
        cache->data = cache->grown;
        cache->grown = NULL;
        exec_cache(c->step, cache->name, cache->data);
    }
    for (int32_t k = c->n_slots; k < n_slots; k++) {
        c->length[k] = 0;
        c->sentence[k] = -1;
    }
    c->n_slots = n_slots;
    c->capacity = capacity;
    return true;
}

/* Takes the lengths of what encode gave; whether a slot needs more room for them. */
static bool find_beginnings(SlotCaches *c)
{
    bool grew = false;
    for (int i = 0; i < c->n_pasts; i++) {
        SlotPast *past = &c->pasts[i];
        if (past->begins && past->encode >= 0)
            past->n_before = (int32_t)dim_before(c, past)->extent;
        grew |= past->n_before > past->room;
        past->room = past->n_before > past->room ? past->n_before : past->room;
    }
    return grew;
}

bool caches_begin(SlotCaches *c, bool encoded, int32_t n_slots, int32_t capacity)
{
    for (int32_t k = 0; k < c->n_slots; k++) {
        c->length[k] = 0;
        c->sentence[k] = -1;
    }
    if (encoded && find_beginnings(c)) { /* all memory anew, in which nothing is */
        n_slots = n_slots > c->n_slots ? n_slots : c->n_slots;
        capacity = capacity > c->capacity ? capacity : c->capacity;
        c->n_slots = c->capacity = 0;
    }
    return caches_reserve(c, n_slots, capacity);
}

bool caches_reserve_rows(SlotCaches *c, int32_t n)
{
    bool ok = true;
    for (int i = 0; ok && i < c->n_pasts; i++)
        ok = grow_list(&c->pasts[i].rows_length, (size_t)n) &&
             grow_list(&c->pasts[i].rows_offset, (size_t)n);
    return ok;
}

/* ---- steps ---- */

void caches_feed(SlotCaches *c, int32_t n, const int32_t *sentence, const int32_t *slot,
                 const int32_t *counts)
{
    for (int32_t r = 0; r < n; r++) {
        if (c->sentence[slot[r]] != sentence[r])
            begin_slot(c, slot[r], sentence[r]);
        c->length[slot[r]] += counts[r];
    }
    for (int i = 0; i < c->n_pasts; i++) {
        const SlotPast *past = &c->pasts[i];
        for (int32_t r = 0; r < n; r++) {
            past->rows_length[r] = c->length[slot[r]] + count_before(c, past, sentence[r]);
            past->rows_offset[r] = slot[r] * slot_stride(c, past);
        }
        exec_set_ragged(c->step, past->step, n, past->rows_length, past->rows_offset);
    }
}

void caches_take_back(SlotCaches *c, int32_t n, const int32_t *slot, const int32_t *counts)
{
    for (int32_t r = 0; r < n; r++)
        c->length[slot[r]] -= counts[r];
}

void caches_copy(SlotCaches *c, int32_t from, int32_t to)
{
    const bool same = c->sentence[from] == c->sentence[to];
    for (int i = 0; i < c->n_caches; i++) {
        const SlotCache *cache = &c->caches[i];
        const size_t before =
            (size_t)count_before(c, &c->pasts[cache->past], c->sentence[from]) * cache->row_bytes;
        const size_t text = (size_t)c->length[from] * cache->row_bytes, first = same ? before : 0;
        if (before + text > first)
            memcpy(slot_data(c, cache, to) + first, slot_data(c, cache, from) + first,
                   before + text - first);
    }
    c->length[to] = c->length[from];
    c->sentence[to] = c->sentence[from];
}

/* ---- opening ---- */

static int find_past(SlotCaches *c, int dim)
{
    int i = 0;
    while (i < c->n_pasts && c->pasts[i].step != dim)
        i++;
    if (i == c->n_pasts)
        c->pasts[c->n_pasts++] = (SlotPast){.step = dim, .encode = -1};
    return i;
}

/* Whether encode gives what the cache begins with. */
static void find_beginning(const SlotCaches *c, const char *name, SlotPast *past)
{
    const TfcProgram *encode = c->encode ? exec_program(c->encode) : NULL;
    for (int32_t i = 0; encode && i < encode->n_outputs; i++)
        if (!strcmp(encode->outputs[i].name, name)) {
            const TfcShapeDim *dim = &encode->outputs[i].shape.dims[1];
            past->begins = true;
            past->encode = dim->dim;
            past->n_before = dim->dim < 0 ? (int32_t)dim->size : 0;
        }
}

bool caches_open(SlotCaches *c, Exec *step, Exec *encode, int past)
{
    const TfcProgram *program = exec_program(step);
    *c = (SlotCaches){.step = step, .encode = encode};
    c->caches = calloc((size_t)program->n_tensors + 1, sizeof *c->caches);
    c->pasts = calloc((size_t)program->n_dims + 1, sizeof *c->pasts);
    if (!c->caches || !c->pasts)
        return false;
    if (past >= 0)
        find_past(c, past);
    for (int32_t i = 0; i < program->n_tensors; i++) {
        const TfcTensor *tensor = &program->tensors[i];
        if (!tensor_is_cache(tensor) || is_ring(tensor))
            continue;
        SlotCache *cache = &c->caches[c->n_caches++];
        *cache = (SlotCache){.name = tensor->name,
                             .past = find_past(c, tensor->shape.dims[1].dim),
                             .row_bytes = (size_t)type_bytes(tensor->type)};
        for (int32_t k = 2; k < tensor->shape.rank; k++)
            cache->row_bytes *= (size_t)tensor->shape.dims[k].size;
        find_beginning(c, tensor->name, &c->pasts[cache->past]);
    }
    return true;
}

void caches_free(SlotCaches *c)
{
    for (int i = 0; i < c->n_caches; i++)
        free(c->caches[i].data);
    for (int i = 0; i < c->n_pasts; i++) {
        free(c->pasts[i].rows_length);
        free(c->pasts[i].rows_offset);
    }
    free(c->caches);
    free(c->pasts);
    free(c->length);
    free(c->sentence);
}
