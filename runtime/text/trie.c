/* Walks over tries, and how one is laid out: units are placed parents first, where the first
 * free place of the last blocks fits all children of one. */
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
    size_t node = trie_root(trie);
    int32_t found;
    for (size_t i = 0; i < length && trie_step(trie, &node, (unsigned char)text[i], &found); i++)
        if (found != TRIE_NOWHERE) {
            longest = i + 1;
            *value = found;
        }
    return longest;
}

/* ---- building ---- */

enum { BLOCK = 256, OPEN_BLOCKS = 16, LABELS = 256 };
static const uint32_t FAR = UINT32_C(1) << 21; /* offsets from here on are whole blocks */

typedef struct Slot {
    uint32_t before, after; /* in the ring of free slots */
    bool taken, base;       /* a unit; the offset of one */
} Slot;

/* Keys [first, end) that share `depth` bytes, below unit `at`. */
typedef struct Branch {
    size_t first, end;
    uint32_t depth, at;
} Branch;

typedef struct TrieLayout {
    Arena *arena;
    VEC(uint32_t) units;
    VEC(Slot) slots;
    VEC(Branch) todo;
    uint32_t free, n_free; /* the first of the ring */
} TrieLayout;

static void take(TrieLayout *l, uint32_t at)
{
    Slot *slot = &l->slots.data[at];
    slot->taken = true;
    l->slots.data[slot->before].after = slot->after;
    l->slots.data[slot->after].before = slot->before;
    if (l->free == at)
        l->free = slot->after;
    l->n_free--;
}

static void put_free(TrieLayout *l, uint32_t at)
{
    Slot *slot = &l->slots.data[at];
    if (!l->n_free++) {
        *slot = (Slot){.before = at, .after = at};
        l->free = at;
        return;
    }
    Slot *first = &l->slots.data[l->free];
    *slot = (Slot){.before = first->before, .after = l->free};
    l->slots.data[first->before].after = at;
    first->before = at;
}

/* A block more; what is free in one that is too old stays so. */
static bool trie_add_block(TrieLayout *l)
{
    size_t n = l->units.count;
    if (n >= UINT32_C(1) << 29)
        return false;
    for (int i = 0; i < BLOCK; i++) {
        vec_push(l->arena, l->units, 0);
        vec_push(l->arena, l->slots, (Slot){0});
    }
    if (arena_failed(l->arena))
        return false;
    for (uint32_t i = 0; i < BLOCK; i++)
        put_free(l, (uint32_t)n + i);
    for (uint32_t i = 0; n >= OPEN_BLOCKS * BLOCK && i < BLOCK; i++)
        if (!l->slots.data[n - OPEN_BLOCKS * BLOCK + i].taken)
            take(l, (uint32_t)n - OPEN_BLOCKS * BLOCK + i);
    return true;
}

static bool fits(const TrieLayout *l, uint32_t at, uint32_t base, const unsigned char *labels,
                 int n)
{
    uint32_t offset = at ^ base;
    if (l->slots.data[base].base || (offset >= FAR && offset & 0xFF))
        return false;
    for (int i = 0; i < n; i++)
        if (l->slots.data[base ^ labels[i]].taken)
            return false;
    return true;
}

/* Where the children of unit `at` go. */
static uint32_t find_base(const TrieLayout *l, uint32_t at, const unsigned char *labels, int n)
{
    uint32_t slot = l->free;
    for (uint32_t i = 0; i < l->n_free; i++, slot = l->slots.data[slot].after)
        if (fits(l, at, slot ^ labels[0], labels, n))
            return slot ^ labels[0];
    return (uint32_t)l->units.count | (at & 0xFF);
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
    if (base >= l->units.count && !trie_add_block(l))
        return false;
    uint32_t offset = branch.at ^ base;
    l->units.data[branch.at] |= offset < FAR ? offset << 10 : offset << 2 | 1u << 9;
    l->slots.data[base].base = true;
    for (int i = 0; i < n; i++) {
        uint32_t child = base ^ labels[i];
        take(l, child);
        l->units.data[child] = labels[i];
        if (!labels[i]) {
            l->units.data[branch.at] |= 1u << 8;
            l->units.data[child] = (uint32_t)keys[firsts[i]].value | 1u << 31;
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
    TrieLayout l = {.arena = arena_try_new()};
    bool ok = l.arena && trie_add_block(&l);
    if (ok) {
        take(&l, 0);
        Branch all = {0, n, 0, 0};
        vec_push(l.arena, l.todo, all);
        ok = !arena_failed(l.arena);
    }
    while (ok && l.todo.count)
        ok = trie_place(&l, keys, l.todo.data[--l.todo.count]);
    unsigned char *units = ok ? arena_array(arena, l.units.count, 4) : NULL;
    for (size_t i = 0; units && i < l.units.count * 4; i++)
        units[i] = (unsigned char)(l.units.data[i / 4] >> i % 4 * 8);
    if (units)
        *trie = (Trie){units, l.units.count};
    arena_free(l.arena);
    return units;
}
