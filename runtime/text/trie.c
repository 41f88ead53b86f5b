/* Walks over tries, and how one is laid out: units are placed parents first, where the first
 * free place of the last blocks fits all children of one. */
#include "runtime/text/kind.h"
#include "runtime/text/trie.h"

#include "base/vec.h"

#include <stdlib.h>

int32_t trie_find(const Trie *trie, const char *text, size_t length)
{
    int32_t value = TRIE_NOWHERE;
    if (!trie->n)
        return value;
    size_t node = trie_root(trie);
    for (size_t i = 0; i < length; i++)
        if (!trie_step(trie, &node, (unsigned char)text[i], &value))
            return TRIE_NOWHERE;
    return value;
}

size_t trie_longest(const Trie *trie, const char *text, size_t length, int32_t *value)
{
    size_t longest = 0;
    if (!trie->n)
        return 0;
    size_t node = trie_root(trie), i = 0;
    int32_t found;
    length = tokenizer_reach(length);
    for (; i < length && trie_step(trie, &node, (unsigned char)text[i], &found); i++)
        if (found != TRIE_NOWHERE) {
            longest = i + 1;
            *value = found;
        }
    tokenizer_walked(i);
    return longest;
}

/* ---- building ---- */

/* Only units of the last OPEN_BLOCKS blocks are given to children. */
enum { BLOCK = 256, OPEN_BLOCKS = 16, SLOTS = OPEN_BLOCKS * BLOCK, LABELS = 256 };
static const uint32_t FAR = UINT32_C(1) << 21; /* offsets from here on are whole blocks */

/* Slot: a unit of an open block. */
typedef struct Slot {
    uint32_t before, after; /* in the ring of free units */
    bool taken, base;       /* a unit; the offset of one */
} Slot;

/* Keys [first, end) that share `depth` bytes, below unit `at`. */
typedef struct Branch {
    size_t first, end;
    uint32_t depth, at;
} Branch;

typedef struct TrieLayout {
    Arena *arena;
    VEC(uint32_t *) blocks; /* of units */
    Slot *slots;            /* SLOTS of them: unit_slot */
    VEC(Branch) todo;
    uint32_t free, n_free; /* the first of the ring */
} TrieLayout;

static uint32_t count_units(const TrieLayout *l) { return (uint32_t)l->blocks.count * BLOCK; }

static uint32_t *unit_at(const TrieLayout *l, uint32_t at)
{
    return &l->blocks.data[at / BLOCK][at % BLOCK];
}

static Slot *unit_slot(const TrieLayout *l, uint32_t at) { return &l->slots[at % SLOTS]; }

static void take_unit(TrieLayout *l, uint32_t at)
{
    Slot *slot = unit_slot(l, at);
    slot->taken = true;
    unit_slot(l, slot->before)->after = slot->after;
    unit_slot(l, slot->after)->before = slot->before;
    if (l->free == at)
        l->free = slot->after;
    l->n_free--;
}

static void put_free(TrieLayout *l, uint32_t at)
{
    Slot *slot = unit_slot(l, at);
    if (!l->n_free++) {
        *slot = (Slot){.before = at, .after = at};
        l->free = at;
        return;
    }
    Slot *first = unit_slot(l, l->free);
    *slot = (Slot){.before = first->before, .after = l->free};
    unit_slot(l, first->before)->after = at;
    first->before = at;
}

/* A block more, whose slots are those of the oldest one; what is free there stays so. */
static bool trie_add_block(TrieLayout *l)
{
    const uint32_t n = count_units(l);
    if (n >= UINT32_C(1) << 29)
        return false;
    uint32_t *units = ARENA_ARRAY(l->arena, uint32_t, BLOCK);
    vec_push(l->arena, l->blocks, units);
    if (arena_failed(l->arena))
        return false;
    for (uint32_t at = n - SLOTS; n >= SLOTS && at < n - SLOTS + BLOCK; at++)
        if (!unit_slot(l, at)->taken)
            take_unit(l, at);
    for (uint32_t i = 0; i < BLOCK; i++)
        put_free(l, n + i);
    return true;
}

static bool fits_trie(const TrieLayout *l, uint32_t at, uint32_t base, const unsigned char *labels,
                      int n)
{
    uint32_t offset = at ^ base;
    if (unit_slot(l, base)->base || (offset >= FAR && offset & 0xFF))
        return false;
    for (int i = 0; i < n; i++)
        if (unit_slot(l, base ^ labels[i])->taken)
            return false;
    return true;
}

/* Where the children of unit `at` go. */
static uint32_t find_base(const TrieLayout *l, uint32_t at, const unsigned char *labels, int n)
{
    uint32_t slot = l->free;
    for (uint32_t i = 0; i < l->n_free; i++, slot = unit_slot(l, slot)->after)
        if (fits_trie(l, at, slot ^ labels[0], labels, n))
            return slot ^ labels[0];
    return count_units(l) | (at & 0xFF);
}

static unsigned char label_of(const TrieKey *key, uint32_t depth)
{
    return depth < key->length ? (unsigned char)key->text[depth] : 0;
}

static bool trie_place(TrieLayout *l, const TrieKey *keys, Branch branch)
{
    unsigned char labels[LABELS];
    size_t firsts[LABELS + 1];
    int n = 0;
    for (size_t i = branch.first; i < branch.end; i++)
        if (!n || labels[n - 1] != label_of(&keys[i], branch.depth)) {
            labels[n] = label_of(&keys[i], branch.depth);
            firsts[n++] = i;
        }
    firsts[n] = branch.end;
    uint32_t base = find_base(l, branch.at, labels, n);
    if (base >= count_units(l) && !trie_add_block(l))
        return false;
    uint32_t offset = branch.at ^ base;
    *unit_at(l, branch.at) |= offset < FAR ? offset << 10 : offset << 2 | 1u << 9;
    unit_slot(l, base)->base = true;
    for (int i = 0; i < n; i++) {
        uint32_t child = base ^ labels[i];
        take_unit(l, child);
        *unit_at(l, child) = labels[i];
        if (!labels[i]) {
            *unit_at(l, branch.at) |= 1u << 8;
            *unit_at(l, child) = (uint32_t)keys[firsts[i]].value | 1u << 31;
            continue;
        }
        Branch below = {firsts[i], firsts[i + 1], branch.depth + 1, child};
        vec_push(l->arena, l->todo, below);
    }
    return !arena_failed(l->arena);
}

static int compare_keys(const void *a, const void *b)
{
    const TrieKey *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

bool trie_build(Trie *trie, Arena *arena, TrieKey *keys, size_t n, const TrieKey **twice)
{
    *trie = (Trie){0};
    *twice = NULL;
    if (!n)
        return true;
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (!compare_keys(&keys[i - 1], &keys[i])) {
            *twice = &keys[i];
            return false;
        }
    TrieLayout l = {.arena = arena_scratch(arena)};
    l.slots = l.arena ? ARENA_ARRAY(l.arena, Slot, SLOTS) : NULL;
    bool ok = l.slots && trie_add_block(&l);
    if (ok) {
        take_unit(&l, 0);
        Branch all = {0, n, 0, 0};
        vec_push(l.arena, l.todo, all);
        ok = !arena_failed(l.arena);
    }
    while (ok && l.todo.count)
        ok = trie_place(&l, keys, l.todo.data[--l.todo.count]);
    unsigned char *units = ok ? arena_array(arena, count_units(&l), 4) : NULL;
    for (uint32_t i = 0; units && i < count_units(&l) * 4; i++)
        units[i] = (unsigned char)(*unit_at(&l, i / 4) >> i % 4 * 8);
    if (units)
        *trie = (Trie){units, count_units(&l)};
    arena_free(l.arena);
    return units;
}
