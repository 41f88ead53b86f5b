/* Pieces of a stack, arrays made of its top, and keys that occur twice. */
#include "base/json_stack.h"

#include "base/map.h"

#include <string.h>

/* PIECE: values of a piece. FEW_KEYS: of an object whose keys are compared with each other. */
enum { FEW = JSON_STACK_FEW, PIECE = 1024, FEW_KEYS = 8 };

void json_stack_begin(JsonStack *stack, Arena *arena, JsonValue *few)
{
    *stack = (JsonStack){.arena = arena, .few = few};
}

void json_stack_end(JsonStack *stack) { arena_free(stack->scratch); }

static Arena *stack_scratch(JsonStack *stack)
{
    if (!stack->scratch)
        stack->scratch = arena_scratch(stack->arena);
    return stack->scratch;
}

/* The place of value i, which has room; *run: values beside each other from there on. */
static JsonValue *stack_at(const JsonStack *stack, size_t i, size_t *run)
{
    if (i < FEW) {
        *run = FEW - i;
        return &stack->few[i];
    }
    i -= FEW;
    *run = PIECE - i % PIECE;
    return &stack->pieces.data[i / PIECE][i % PIECE];
}

static bool add_piece(JsonStack *stack)
{
    Arena *scratch = stack_scratch(stack);
    JsonValue *piece = scratch ? ARENA_ARRAY(scratch, JsonValue, PIECE) : NULL;
    if (piece)
        vec_push(scratch, stack->pieces, piece);
    return piece && !arena_failed(scratch);
}

bool json_stack_push(JsonStack *stack, const JsonValue *value)
{
    size_t run;
    if (stack->count == FEW + stack->pieces.count * PIECE && !add_piece(stack))
        return false;
    *stack_at(stack, stack->count++, &run) = *value;
    return true;
}

bool json_stack_list(JsonStack *stack, Arena *arena, size_t first, JsonValue *value)
{
    const size_t n = stack->count - first;
    JsonValue *items = n < UINT32_MAX ? ARENA_ARRAY(arena, JsonValue, n) : NULL;
    for (size_t i = 0, run; items && i < n; i += run) {
        const JsonValue *from = stack_at(stack, first + i, &run);
        run = run < n - i ? run : n - i;
        memcpy(items + i, from, run * sizeof *items);
    }
    stack->count = first;
    value->items = items;
    value->n = items ? (uint32_t)n : 0;
    return items;
}

static const JsonValue *key_at(const JsonStack *stack, size_t first, size_t i)
{
    size_t run;
    return stack_at(stack, first + 2 * i, &run);
}

bool json_stack_object(JsonStack *stack, Arena *arena, size_t first, JsonValue *value)
{
    const size_t n = (stack->count - first) / 2;
    JsonValue *items = n < UINT32_MAX ? ARENA_ARRAY(arena, JsonValue, n) : NULL;
    const char **keys = items ? ARENA_ARRAY(arena, const char *, n) : NULL;
    for (size_t i = 0, run; keys && i < n; i++) {
        keys[i] = key_at(stack, first, i)->text;
        items[i] = *stack_at(stack, first + 2 * i + 1, &run);
    }
    stack->count = first;
    value->keys = keys;
    value->items = items;
    value->n = keys ? (uint32_t)n : 0;
    return keys;
}

/* ---- keys ---- */

static const JsonValue *find_among_few(const JsonStack *stack, size_t first, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(key_at(stack, first, i)->text, key_at(stack, first, k)->text))
                return key_at(stack, first, i);
    return NULL;
}

/* An empty table of `size` slots; NULL: no memory. */
static uint32_t *clear_slots(JsonStack *stack, size_t size)
{
    if (size <= stack->n_slots)
        return memset(stack->slots, 0, size * sizeof *stack->slots);
    Arena *scratch = stack_scratch(stack);
    stack->slots = scratch ? ARENA_ARRAY(scratch, uint32_t, size) : NULL;
    stack->n_slots = stack->slots ? size : 0;
    return stack->slots;
}

const JsonValue *json_stack_twice(JsonStack *stack, size_t first)
{
    const size_t n = (stack->count - first) / 2;
    if (n <= FEW_KEYS)
        return find_among_few(stack, first, n);
    size_t size = 4 * FEW_KEYS;
    while (size < 2 * n)
        size *= 2;
    uint32_t *slots = n < UINT32_MAX ? clear_slots(stack, size) : NULL;
    for (size_t i = 0; slots && i < n; i++) {
        const JsonValue *key = key_at(stack, first, i);
        size_t at = hash_slot(key->text, strlen(key->text)) & (size - 1);
        for (; slots[at]; at = (at + 1) & (size - 1))
            if (!strcmp(key_at(stack, first, slots[at] - 1)->text, key->text))
                return key;
        slots[at] = (uint32_t)i + 1;
    }
    return NULL;
}
