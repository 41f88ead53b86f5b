/* A slot's record goes back, is copied, and moves to another slot as bytes. */
#include "runtime/decode/slots.h"

#include <string.h>

/* The last state of SLOT_WHOLE that is not behind `length`; its length. */
static int32_t find_slot_point(SlotRecord *slot, int32_t length)
{
    int32_t found = 0;
    for (int32_t i = 0; i < SLOT_POINTS; i++) {
        if (slot->points[i] > length)
            slot->points[i] = -1;
        if (slot->points[i] > found) {
            found = slot->points[i];
            slot->newest = i;
        }
    }
    return found;
}

int32_t slots_roll_back(Slots *s, int32_t slot, int32_t length)
{
    SlotRecord *own = &s->list[slot];
    if (length >= own->length)
        return own->length;
    length = length > 0 ? length : 0;
    for (int i = 0; i < s->n_inputs; i++)
        if (!s->inputs[i].name)
            length = ((const int32_t *)slots_data(s, &s->inputs[i], slot))[length];
    own->length = s->has_whole ? find_slot_point(own, length) : length;
    return own->length;
}

void slots_copy(Slots *s, int32_t from, int32_t to)
{
    const SlotRecord *own = &s->list[from];
    SlotRecord *copy = &s->list[to];
    const bool same = own->sentence == copy->sentence;
    for (int i = 0; i < s->n_inputs; i++) {
        const SlotInput *input = &s->inputs[i];
        if (input->kind == SLOT_WHOLE && own->length)
            memcpy(slots_point(input, to, 0), slots_point(input, from, own->newest), input->bytes);
        if (input->kind != SLOT_GROWS)
            continue;
        const size_t before = (size_t)slots_before(s, input, own->sentence) * input->bytes,
                     end = before + (size_t)own->length * input->bytes, first = same ? before : 0;
        if (end > first)
            memcpy(slots_data(s, input, to) + first, slots_data(s, input, from) + first,
                   end - first);
    }
    *copy =
        (SlotRecord){.length = own->length, .sentence = own->sentence, .points = {own->length, -1}};
}

/* ---- as bytes: the length, then what each input keeps ---- */

/* Bytes of an input of a slot with so many tokens. */
static size_t slot_input_bytes(const Slots *s, const SlotInput *input, int32_t sentence,
                               int32_t length)
{
    if (input->kind == SLOT_GROWS)
        return ((size_t)slots_before(s, input, sentence) + (size_t)length) * input->bytes;
    return input->kind == SLOT_WHOLE && length ? input->bytes : 0;
}

static size_t slot_state_bytes(const Slots *s, int32_t sentence, int32_t length)
{
    size_t bytes = sizeof length;
    for (int i = 0; i < s->n_inputs; i++)
        bytes += slot_input_bytes(s, &s->inputs[i], sentence, length);
    return bytes;
}

size_t slots_bytes(const Slots *s, int32_t slot)
{
    return slot_state_bytes(s, s->list[slot].sentence, s->list[slot].length);
}

/* Where the input's bytes are in a slot. */
static char *slot_place_of(const Slots *s, const SlotInput *input, int32_t slot)
{
    return input->kind == SLOT_GROWS ? slots_data(s, input, slot)
                                     : slots_point(input, slot, s->list[slot].newest);
}

void slots_save(const Slots *s, int32_t slot, void *to)
{
    const SlotRecord *own = &s->list[slot];
    char *at = to;
    memcpy(at, &own->length, sizeof own->length);
    at += sizeof own->length;
    for (int i = 0; i < s->n_inputs; i++) {
        const size_t n = slot_input_bytes(s, &s->inputs[i], own->sentence, own->length);
        if (n)
            memcpy(at, slot_place_of(s, &s->inputs[i], slot), n);
        at += n;
    }
}

int32_t slots_saved_length(const Slots *s, int32_t sentence, const void *from, size_t bytes)
{
    int32_t length;
    if (bytes < sizeof length)
        return -1;
    memcpy(&length, from, sizeof length);
    return length >= 0 && slot_state_bytes(s, sentence, length) == bytes ? length : -1;
}

void slots_restore(Slots *s, int32_t slot, int32_t sentence, const void *from)
{
    SlotRecord *own = &s->list[slot];
    const char *at = from;
    *own = (SlotRecord){.sentence = sentence, .points = {0, -1}};
    memcpy(&own->length, at, sizeof own->length);
    own->points[0] = own->length;
    at += sizeof own->length;
    for (int i = 0; i < s->n_inputs; i++) {
        const size_t n = slot_input_bytes(s, &s->inputs[i], sentence, own->length);
        if (n)
            memcpy(slot_place_of(s, &s->inputs[i], slot), at, n);
        at += n;
    }
}
