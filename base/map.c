/* String map: entries in insertion order, found through a table of slots. */
#define _GNU_SOURCE
#include "base/map.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

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

/* ---- slots of tables ---- */

/* The number of this process: the same in all threads, never 0. */
static uint64_t slot_secret(void)
{
    static _Atomic uint64_t secret;
    uint64_t known = atomic_load_explicit(&secret, memory_order_relaxed), drawn;
    if (known)
        return known;
    if (getentropy(&drawn, sizeof drawn))
        drawn = (uintptr_t)&drawn; /* at least the place of the stack, which systems draw */
    drawn |= 1;
    return atomic_compare_exchange_strong(&secret, &known, drawn) ? drawn : known;
}

static uint64_t turn_left(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[2] += v[3];
    v[1] = turn_left(v[1], 13) ^ v[0], v[3] = turn_left(v[3], 16) ^ v[2];
    v[0] = turn_left(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = turn_left(v[1], 17) ^ v[2], v[3] = turn_left(v[3], 21) ^ v[0];
    v[2] = turn_left(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), with 1 and 3 rounds and a key
 * that is made of 64 bits. */
uint64_t hash_slot(const void *key, size_t size)
{
    const uint64_t secret = slot_secret(), other = secret * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t v[4] = {secret ^ UINT64_C(0x736f6d6570736575), other ^ UINT64_C(0x646f72616e646f6d),
                     secret ^ UINT64_C(0x6c7967656e657261), other ^ UINT64_C(0x7465646279746573)};
    const unsigned char *bytes = key;
    uint64_t word;
    size_t left = size;
    for (; left >= sizeof word; left -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sip_word(v, word);
    }
    word = (uint64_t)size << 56;
    for (size_t i = 0; i < left; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    sip_word(v, word);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- the map ---- */

void map_init(Map *map, Arena *arena) { *map = (Map){.arena = arena}; }

static uint32_t *find_slot(const Map *map, const char *key)
{
    size_t i = hash_slot(key, strlen(key)) & (map->n_slots - 1);
    while (map->slots[i] && strcmp(map->entries[map->slots[i] - 1].key, key))
        i = (i + 1) & (map->n_slots - 1);
    return &map->slots[i];
}

/* The slot of a key that the map does not have. */
static uint32_t *free_slot(const Map *map, const char *key)
{
    size_t i = hash_slot(key, strlen(key)) & (map->n_slots - 1);
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
