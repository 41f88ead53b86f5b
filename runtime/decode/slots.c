/* What slots keep, found by the programs' inputs; its memory; and giving it to a run. */
#include "runtime/decode/slots.h"

#include "runtime/exec/size.h"

#include <stdlib.h>
#include <string.h>

static bool slots_grow_list(void *list, size_t count, size_t size)
{
    void *grown = realloc(*(void **)list, count ? count * size : 1);
    if (!grown)
        return false;
    *(void **)list = grown;
    return true;
}

/* NULL: memory ran out, or n times `bytes` is more than there is. */
static char *slots_block(int64_t n, size_t bytes)
{
    size_t all;
    const bool fits = !__builtin_mul_overflow((size_t)n, bytes, &all) && all <= PTRDIFF_MAX - 64;
    return fits ? aligned_alloc(64, all / 64 * 64 + 64) : NULL;
}

/* ---- what is before the text ---- */

/* The row of encode's batch that a sentence is. */
static int32_t encoded_row(const Slots *s, int32_t sentence)
{
    return s->one_beginning ? 0 : sentence;
}

static const TfcDim *dim_before(const Slots *s, const SlotPast *past)
{
    return past->encode >= 0 ? &exec_dims(s->encode)[past->encode] : NULL;
}

static int32_t count_before(const Slots *s, const SlotPast *past, int32_t sentence)
{
    if (!past->begins || sentence < 0)
        return 0;
    const TfcDim *dim = dim_before(s, past);
    return dim && dim->length ? dim->length[encoded_row(s, sentence)] : past->n_before;
}

int32_t slots_before(const Slots *s, const SlotInput *input, int32_t sentence)
{
    return input->past < 0 ? 0 : count_before(s, &s->pasts[input->past], sentence);
}

/* Positions that a slot has room for. */
static int64_t slot_room(const Slots *s, const SlotInput *input, int32_t capacity)
{
    return (int64_t)capacity + (input->past < 0 ? 0 : s->pasts[input->past].room);
}

char *slots_data(const Slots *s, const SlotInput *input, int32_t slot)
{
    return input->kept + (size_t)slot * (size_t)slot_room(s, input, s->capacity) * input->bytes;
}

char *slots_point(const SlotInput *input, int32_t slot, int32_t point)
{
    return input->kept + ((size_t)slot * SLOT_POINTS + (size_t)point) * input->bytes;
}

/* A slot that is empty begins as the sentence does. */
static void begin_slot(Slots *s, int32_t slot, int32_t sentence)
{
    for (int i = 0; i < s->n_inputs; i++) {
        const SlotInput *input = &s->inputs[i];
        const size_t n = input->kind == SLOT_GROWS ? (size_t)slots_before(s, input, sentence) : 0;
        if (!n)
            continue;
        const char *rows = exec_output(s->encode, input->name);
        const TfcDim *dim = dim_before(s, &s->pasts[input->past]);
        const size_t row = (size_t)encoded_row(s, sentence),
                     first = dim && dim->length ? (size_t)dim->offset[row] : row * n;
        memcpy(slots_data(s, input, slot), rows + first * input->bytes, n * input->bytes);
    }
    s->list[slot].sentence = sentence;
}

/* Takes what encode gave; whether a slot needs more room for what is before its text. */
static bool take_encoded_slots(Slots *s)
{
    bool grew = false;
    for (int i = 0; i < s->n_inputs; i++)
        if (s->inputs[i].kind == SLOT_SENTENCE || s->inputs[i].kind == SLOT_SOURCE)
            s->inputs[i].encoded = exec_output(s->encode, s->inputs[i].name);
    for (int i = 0; i < s->n_sources; i++)
        s->sources[i].sentences = &exec_dims(s->encode)[s->sources[i].encode];
    for (int i = 0; i < s->n_pasts; i++) {
        SlotPast *past = &s->pasts[i];
        if (past->begins && past->encode >= 0)
            past->n_before = (int32_t)dim_before(s, past)->extent;
        grew |= past->n_before > past->room;
        past->room = past->n_before > past->room ? past->n_before : past->room;
    }
    return grew;
}

/* ---- room ---- */

bool slots_fit(int32_t n_slots, int32_t capacity)
{
    return (int64_t)n_slots * capacity <= INT32_MAX;
}

static bool make_grown(Slots *s, int32_t n_slots, int32_t capacity)
{
    bool ok = true;
    for (int i = 0; ok && i < s->n_inputs; i++) {
        SlotInput *input = &s->inputs[i];
        if (input->kind != SLOT_GROWS)
            continue;
        const int64_t positions = n_slots * slot_room(s, input, capacity);
        /* offsets into caches have 32 bits */
        input->grown = positions <= INT32_MAX ? slots_block(positions, input->bytes) : NULL;
        ok = input->grown != NULL;
    }
    for (int i = 0; !ok && i < s->n_inputs; i++) {
        free(s->inputs[i].grown);
        s->inputs[i].grown = NULL;
    }
    return ok;
}

static void move_slots(const Slots *s, const SlotInput *input, int32_t capacity)
{
    const size_t room = (size_t)slot_room(s, input, capacity) * input->bytes;
    for (int32_t k = 0; k < s->n_slots; k++) {
        const SlotRecord *slot = &s->list[k];
        const size_t n = (size_t)slot->length + (size_t)slots_before(s, input, slot->sentence);
        if (n)
            memcpy(input->grown + (size_t)k * room, slots_data(s, input, k), n * input->bytes);
    }
}

static void empty_slots(Slots *s, int32_t from)
{
    for (int32_t k = from; k < s->n_slots; k++) {
        s->list[k] = (SlotRecord){.sentence = -1};
        for (int i = 0; i < SLOT_POINTS; i++)
            s->list[k].points[i] = -1;
    }
}

/* Room for n_slots of `capacity` tokens; what is in SLOT_GROWS is kept. */
static bool slots_resize(Slots *s, int32_t n_slots, int32_t capacity)
{
    if (n_slots <= s->n_slots && capacity <= s->capacity)
        return true;
    n_slots = n_slots > s->n_slots ? n_slots : s->n_slots;
    capacity = capacity > s->capacity ? capacity : s->capacity;
    if (!slots_fit(n_slots, capacity) ||
        !slots_grow_list(&s->list, (size_t)n_slots, sizeof *s->list) ||
        !make_grown(s, n_slots, capacity))
        return false;
    for (int i = 0; i < s->n_inputs; i++) {
        SlotInput *input = &s->inputs[i];
        if (input->kind != SLOT_GROWS)
            continue;
        move_slots(s, input, capacity);
        free(input->kept);
        input->kept = input->grown;
        input->grown = NULL;
        if (input->name)
            exec_cache(s->step, input->name, input->kept);
    }
    const int32_t had = s->n_slots;
    s->n_slots = n_slots;
    s->capacity = capacity;
    empty_slots(s, had);
    return true;
}

bool slots_grow(Slots *s, int32_t capacity) { return slots_resize(s, s->n_slots, capacity); }

/* Room for a run's rows, and for states of SLOT_WHOLE, which are lost. */
static bool reserve_slot_rows(Slots *s, int32_t n)
{
    bool ok = true;
    if (n <= s->n_rows)
        return true;
    s->n_rows = 0;
    for (int i = 0; ok && i < s->n_pasts; i++)
        ok = slots_grow_list(&s->pasts[i].rows_length, (size_t)n, sizeof(int32_t)) &&
             slots_grow_list(&s->pasts[i].rows_offset, (size_t)n, sizeof(int32_t));
    for (int i = 0; ok && i < s->n_sources; i++)
        ok = slots_grow_list(&s->sources[i].rows_length, (size_t)n, sizeof(int32_t)) &&
             slots_grow_list(&s->sources[i].rows_offset, (size_t)n, sizeof(int32_t));
    for (int i = 0; ok && i < s->n_inputs; i++) {
        SlotInput *input = &s->inputs[i];
        if (input->kind != SLOT_WHOLE && input->kind != SLOT_SENTENCE)
            continue;
        free(input->rows);
        ok = (input->rows = slots_block(n, input->bytes));
        if (!ok || input->kind != SLOT_WHOLE)
            continue;
        free(input->kept);
        ok = (input->kept = slots_block((int64_t)n * SLOT_POINTS, input->bytes));
        exec_cache(s->step, input->name, input->rows);
    }
    s->n_rows = ok ? n : 0;
    return ok;
}

bool slots_begin(Slots *s, bool encoded, int32_t n_slots, int32_t capacity)
{
    empty_slots(s, 0);
    if (encoded && take_encoded_slots(s)) { /* all memory anew, in which nothing is */
        n_slots = n_slots > s->n_slots ? n_slots : s->n_slots;
        capacity = capacity > s->capacity ? capacity : s->capacity;
        s->n_slots = s->capacity = 0;
    }
    return slots_resize(s, n_slots, capacity) && reserve_slot_rows(s, s->n_slots);
}

static void shape_ragged(const Slots *s, ExecDim *room, int dim, int64_t longest)
{
    if (dim < 0)
        return;
    room[dim] = (ExecDim){longest, s->n_slots * longest};
    room[exec_program(s->step)->dims[dim].batch] = (ExecDim){s->n_slots, s->n_slots};
}

void slots_shape(const Slots *s, ExecDim *room)
{
    shape_ragged(s, room, s->dim_tokens, s->capacity);
    for (int i = 0; i < s->n_sources; i++)
        shape_ragged(s, room, s->sources[i].step,
                     s->sources[i].sentences ? s->sources[i].sentences->extent : 0);
}

/* ---- runs ---- */

static void load_pasts(Slots *s, int32_t n, const int32_t *sentence, const int32_t *slot,
                       const int32_t *counts)
{
    for (int i = 0; i < s->n_pasts; i++) {
        const SlotPast *past = &s->pasts[i];
        for (int32_t r = 0; r < n; r++) {
            past->rows_length[r] =
                s->list[slot[r]].length + counts[r] + count_before(s, past, sentence[r]);
            past->rows_offset[r] = slot[r] * (s->capacity + past->room);
        }
        exec_set_ragged(s->step, past->step, n, past->rows_length, past->rows_offset);
    }
}

/* Rows of one sentence lie at the same place. */
static void load_slot_sources(Slots *s, int32_t n, const int32_t *sentence)
{
    for (int i = 0; i < s->n_sources; i++) {
        const SlotSource *source = &s->sources[i];
        for (int32_t r = 0; r < n; r++) {
            const int32_t row = encoded_row(s, sentence[r]);
            source->rows_length[r] = source->sentences->length[row];
            source->rows_offset[r] = source->sentences->offset[row];
        }
        exec_set_ragged(s->step, source->step, n, source->rows_length, source->rows_offset);
    }
}

/* What row r of the run reads of SLOT_WHOLE and SLOT_SENTENCE; NULL: zeros. */
static const char *slot_row_of(const Slots *s, const SlotInput *input, int32_t slot,
                               int32_t sentence)
{
    const SlotRecord *own = &s->list[slot];
    if (input->kind == SLOT_SENTENCE)
        return input->encoded + (size_t)encoded_row(s, sentence) * input->bytes;
    return own->length ? slots_point(input, slot, own->newest) : NULL;
}

static void load_slot_rows(Slots *s, const SlotInput *input, int32_t n, const int32_t *sentence,
                           const int32_t *slot)
{
    for (int32_t r = 0; r < n; r++) {
        const char *from = slot_row_of(s, input, slot[r], sentence[r]);
        char *to = input->rows + (size_t)r * input->bytes;
        if (from)
            memcpy(to, from, input->bytes);
        else
            memset(to, 0, input->bytes);
    }
}

void slots_load(Slots *s, int32_t n, const int32_t *sentence, const int32_t *slot,
                const int32_t *counts)
{
    for (int32_t r = 0; r < n; r++)
        if (s->list[slot[r]].sentence != sentence[r])
            begin_slot(s, slot[r], sentence[r]);
    load_pasts(s, n, sentence, slot, counts);
    load_slot_sources(s, n, sentence);
    for (int i = 0; i < s->n_inputs; i++) {
        const SlotInput *input = &s->inputs[i];
        if (input->rows)
            load_slot_rows(s, input, n, sentence, slot);
        if (input->kind == SLOT_SENTENCE || input->kind == SLOT_SOURCE)
            exec_input(s->step, input->name, input->rows ? input->rows : input->encoded);
    }
}

/* Notes for each new token where its piece begins. A slot cannot stand inside a piece: the tokens
 * of a run are one where decode_step has two orders, or keeps a state of the whole. */
static void store_pieces(const Slots *s, const SlotInput *input, int32_t slot, int32_t count)
{
    const int32_t length = s->list[slot].length;
    const bool is_piece = s->has_whole || count >= s->many;
    int32_t *begins = (int32_t *)slots_data(s, input, slot);
    for (int32_t k = length; k < length + count; k++)
        begins[k] = is_piece ? length : k;
}

void slots_store(Slots *s, int32_t n, const int32_t *slot, const int32_t *counts)
{
    for (int32_t r = 0; r < n; r++) {
        SlotRecord *own = &s->list[slot[r]];
        const int32_t point = (own->newest + 1) % SLOT_POINTS;
        for (int i = 0; i < s->n_inputs; i++) {
            const SlotInput *input = &s->inputs[i];
            if (!input->name)
                store_pieces(s, input, slot[r], counts[r]);
            if (input->kind == SLOT_WHOLE)
                memcpy(slots_point(input, slot[r], point), input->rows + (size_t)r * input->bytes,
                       input->bytes);
        }
        own->length += counts[r];
        own->newest = point;
        own->points[point] = own->length;
    }
}

/* ---- opening ---- */

int32_t slots_many(const TfcProgram *step)
{
    for (int32_t i = 0; i < step->n_dims; i++)
        if (step->dims[i].formula.least > 0)
            return step->dims[i].formula.least;
    return 0;
}

static const TfcPort *slots_output_of(const TfcProgram *program, const char *name)
{
    for (int32_t i = 0; program && i < program->n_outputs; i++)
        if (!strcmp(program->outputs[i].name, name))
            return &program->outputs[i];
    return NULL;
}

static size_t slot_inner_bytes(const TfcShape *shape, int from, TfcType type)
{
    size_t bytes = element_info(type)->bytes;
    for (int i = from; i < shape->rank; i++)
        bytes *= (size_t)shape->dims[i].size;
    return bytes;
}

/* The dimension of positions; encode may give what a cache along it begins with. */
static int find_slot_past(Slots *s, int dim, const TfcPort *beginning)
{
    int i = 0;
    while (i < s->n_pasts && s->pasts[i].step != dim)
        i++;
    if (i == s->n_pasts)
        s->pasts[s->n_pasts++] = (SlotPast){.step = dim, .encode = -1};
    if (beginning) {
        const TfcShapeDim *before = &beginning->shape.dims[1];
        s->pasts[i].begins = true;
        s->pasts[i].encode = before->dim;
        s->pasts[i].n_before = before->dim < 0 ? (int32_t)before->size : 0;
    }
    return i;
}

/* A cache that has a dimension of positions grows. */
static void add_cache(Slots *s, const TfcTensor *cache, const TfcProgram *encode)
{
    const bool grows = cache->shape.rank > 1 && cache->shape.dims[1].dim >= 0;
    s->has_whole |= !grows;
    s->inputs[s->n_inputs++] =
        (SlotInput){.name = cache->name,
                    .kind = grows ? SLOT_GROWS : SLOT_WHOLE,
                    .past = grows ? find_slot_past(s, cache->shape.dims[1].dim,
                                                   slots_output_of(encode, cache->name))
                                  : -1,
                    .bytes = slot_inner_bytes(&cache->shape, grows ? 2 : 1, cache->type)};
}

static bool slots_is_ragged(const TfcProgram *program, const TfcShape *shape)
{
    bool is = false;
    for (int i = 0; i < shape->rank; i++)
        is = is || (shape->dims[i].dim >= 0 && program->dims[shape->dims[i].dim].batch >= 0);
    return is;
}

static void add_encoded(Slots *s, const TfcProgram *step, const TfcPort *port, int rows)
{
    const TfcShape *shape = &port->shape;
    const bool gathers =
        !slots_is_ragged(step, shape) && shape->rank > 0 && shape->dims[0].dim == rows;
    s->inputs[s->n_inputs++] = (SlotInput){.name = port->name,
                                           .kind = gathers ? SLOT_SENTENCE : SLOT_SOURCE,
                                           .past = -1,
                                           .bytes = slot_inner_bytes(shape, 1, port->type)};
}

/* Ragged dimensions are those of encode, that of what is fed, that of all that was fed, which no
 * cache need have, and others made of these. */
static void find_slot_dims(Slots *s, const TfcProgram *step, int newest)
{
    for (int i = 0; i < step->n_dims; i++) {
        const int encode = s->encode ? exec_dim(s->encode, step->dims[i].name) : -1;
        if (step->dims[i].batch < 0 || i == newest)
            continue;
        if (encode >= 0)
            s->sources[s->n_sources++] = (SlotSource){.step = i, .encode = encode};
        else if (!step->dims[i].formula.n)
            s->dim_tokens = i;
    }
    if (s->dim_tokens >= 0)
        find_slot_past(s, s->dim_tokens, NULL);
}

bool slots_open(Slots *s, Exec *step, Exec *encode, int rows, int newest)
{
    const TfcProgram *program = exec_program(step), *encodes = encode ? exec_program(encode) : NULL;
    *s = (Slots){.step = step, .encode = encode, .dim_tokens = -1, .many = slots_many(program)};
    s->inputs =
        calloc((size_t)program->n_tensors + (size_t)program->n_inputs + 1, sizeof *s->inputs);
    s->pasts = calloc((size_t)program->n_dims + 1, sizeof *s->pasts);
    s->sources = calloc((size_t)program->n_dims + 1, sizeof *s->sources);
    if (!s->inputs || !s->pasts || !s->sources)
        return false;
    find_slot_dims(s, program, newest);
    for (int32_t i = 0; i < program->n_tensors; i++)
        if (tensor_is_cache(&program->tensors[i]))
            add_cache(s, &program->tensors[i], encodes);
    for (int32_t i = 0; i < program->n_inputs; i++)
        if (slots_output_of(encodes, program->inputs[i].name))
            add_encoded(s, program, &program->inputs[i], rows);
    if (s->has_whole || s->many)
        s->inputs[s->n_inputs++] =
            (SlotInput){.kind = SLOT_GROWS, .past = -1, .bytes = sizeof(int32_t)};
    return true;
}

void slots_free(Slots *s)
{
    for (int i = 0; i < s->n_inputs; i++) {
        free(s->inputs[i].kept);
        free(s->inputs[i].rows);
    }
    for (int i = 0; i < s->n_pasts; i++) {
        free(s->pasts[i].rows_length);
        free(s->pasts[i].rows_offset);
    }
    for (int i = 0; i < s->n_sources; i++) {
        free(s->sources[i].rows_length);
        free(s->sources[i].rows_offset);
    }
    free(s->inputs);
    free(s->pasts);
    free(s->sources);
    free(s->list);
}
