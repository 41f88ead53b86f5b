/* The stack on which json_read.c keeps the items of lists and objects until they end. An object has
 * two values for each member: its key, as a string, then its value. Memory beyond a few values
 * comes from a scratch arena, in pieces that never move. Only for json_read.c. */
#ifndef BASE_JSON_STACK_H
#define BASE_JSON_STACK_H

#include "base/arena.h"
#include "base/json_value.h"
#include "base/vec.h"

enum { JSON_STACK_FEW = 64 };

typedef struct JsonStack {
    size_t count;
    Arena *arena, *scratch;  /* scratch: within `arena`; NULL: not needed yet */
    JsonValue *few;          /* the first JSON_STACK_FEW, the caller's */
    VEC(JsonValue *) pieces; /* of the others */
    uint32_t *slots;         /* room for a hash table of an object's keys: numbers from 1 */
    size_t n_slots;
} JsonStack;

/* Begins an empty stack with room for JSON_STACK_FEW values in `few`; json_stack_end frees what it
 * took. If memory runs out, `arena` has failed, and functions return false. */
void json_stack_begin(JsonStack *stack, Arena *arena, JsonValue *few);
void json_stack_end(JsonStack *stack);
bool json_stack_push(JsonStack *stack, const JsonValue *value);
/* Take the values from number `first` on, of which there is one at least, from the stack, and make
 * `value` hold them, in the arena. */
bool json_stack_list(JsonStack *stack, Arena *arena, size_t first, JsonValue *value);
bool json_stack_object(JsonStack *stack, Arena *arena, size_t first, JsonValue *value);
/* A key from number `first` on that is the same as one before it, the earliest; NULL: there is
 * none, or memory ran out. */
const JsonValue *json_stack_twice(JsonStack *stack, size_t first);

#endif
