/* String map: entries in insertion order, found through a table of slots. */
#include "base/map.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
    return hash;
}

uint64_t hash_string(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t hash_u64(uint64_t hash, uint64_t value) { return hash_bytes(hash, &value, sizeof value); }

void map_init(Map *map, Arena *arena) { *map = (Map){.arena = arena}; }

static uint32_t *find_slot(const Map *map, const char *key)
{
    size_t i = hash_string(HASH_SEED, key) & (map->n_slots - 1);
    while (map->slots[i] && strcmp(map->entries[map->slots[i] - 1].key, key))
        i = (i + 1) & (map->n_slots - 1);
    return &map->slots[i];
}

/* The slot of a key that the map does not have. */
static uint32_t *free_slot(const Map *map, const char *key)
{
    size_t i = hash_string(HASH_SEED, key) & (map->n_slots - 1);
    while (map->slots[i])
        i = (i + 1) & (map->n_slots - 1);
    return &map->slots[i];
}

static bool map_grow(Map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : 16;
    MapEntry *entries = ARENA_ARRAY(map->arena, MapEntry, capacity);
    uint32_t *slots = ARENA_ARRAY(map->arena, uint32_t, capacity * 2);
    if (!entries || !slots)
        return false;
    if (map->count)
        memcpy(entries, map->entries, map->count * sizeof *entries);
    map->entries = entries;
    map->capacity = capacity;
    map->n_slots = capacity * 2;
    map->slots = slots;
    for (size_t i = 0; i < map->count; i++)
        *free_slot(map, entries[i].key) = (uint32_t)i + 1;
    return true;
}

static MapEntry *map_find(const Map *map, const char *key)
{
    uint32_t slot = map->n_slots ? *find_slot(map, key) : 0;
    return slot ? &map->entries[slot - 1] : NULL;
}

void *map_get(const Map *map, const char *key)
{
    MapEntry *entry = map_find(map, key);
    return entry ? entry->value : NULL;
}

bool map_has(const Map *map, const char *key) { return map_find(map, key) != NULL; }

void map_set(Map *map, const char *key, void *value)
{
    uint32_t *slot = map->n_slots ? find_slot(map, key) : NULL;
    if (slot && *slot) {
        map->entries[*slot - 1].value = value;
        return;
    }
    const char *copy = arena_strdup(map->arena, key);
    if (!copy)
        return;
    if (map->count == map->capacity) {
        if (!map_grow(map))
            return;
        slot = free_slot(map, key);
    }
    map->entries[map->count++] = (MapEntry){copy, value};
    *slot = (uint32_t)map->count;
}
