/* Hashing (64-bit FNV-1a with a final mix; for tables, SipHash) and a map from strings to pointers.
 * Keys are copied into the map's arena. Iteration order is insertion order. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define HASH_SEED UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *data, size_t size);
uint64_t hash_string(uint64_t hash, const char *text);
uint64_t hash_u64(uint64_t hash, uint64_t value);

/* The hash of a key for a table in memory (SipHash-1-3). It depends on a number that each process
 * draws, so that no file can have keys that all meet in one slot. Nothing that is kept, shown or
 * compared between processes may depend on it. */
uint64_t hash_slot(const void *key, size_t size);

typedef struct MapEntry {
    const char *key;
    void *value;
} MapEntry;

typedef struct Map {
    Arena *arena;
    MapEntry *entries; /* in insertion order */
    size_t count, capacity;
    uint32_t *slots; /* entry index + 1, open addressing */
    size_t n_slots;
} Map;

void map_init(Map *map, Arena *arena);
void *map_get(const Map *map, const char *key); /* NULL if absent */
/* Adds the key, or replaces its value. A new key is not added if memory runs out. */
void map_set(Map *map, const char *key, void *value);
bool map_has(const Map *map, const char *key);

#endif
