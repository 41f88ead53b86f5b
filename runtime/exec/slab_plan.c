/* The slab planner. Items are placed one after the other, the largest first; each asks which
 * bytes are taken during its life.
 *
 * The steps are cut into ranges, the leaves of a binary tree. An item is noted at the nodes all
 * of whose steps it lives through: there its bytes are taken for good. In the two leaves where it
 * begins and ends it is listed by itself. Each node also has the bytes that are taken at any of
 * its steps. So an item asks few nodes, whose taken bytes are one piece mostly, and two short
 * lists: the time that it takes to plan a program of equal layers grows with their number, not
 * with its square. A small program is one leaf. */
#include "base/arena.h"
#include "base/vec.h"
#include "runtime/exec/slab.h"

#include <stdlib.h>

/* Bytes from `from` up to `to`. */
typedef struct Extent {
    int64_t from, to;
} Extent;

/* Extents in order, no two of which touch. Those before `next` are below what the current item
 * looks at. */
typedef struct Extents {
    VEC(Extent) list;
    size_t next;
} Extents;

/* Items in the order of their offsets; `next` as above. */
typedef struct ItemList {
    VEC(const SlabItem *) list;
    size_t next;
} ItemList;

/* Node 1 is the root, and below node i are 2 i and 2 i + 1. */
typedef struct SlabNode {
    Extents filled;  /* taken at all of its steps, by items that are noted here */
    Extents touched; /* taken at any of its steps, by items that are noted here or below */
    ItemList items;  /* of a leaf: those that live through some of its steps */
} SlabNode;

enum {
    LEAF_ITEMS = 256, /* about as many begin or end in a leaf */
    MOST_ASKED = 256  /* more than four for each level of a tree of 2^31 items */
};

typedef struct SlabTree {
    Arena *arena;
    SlabNode *nodes;
    int32_t n_leaves;           /* a power of two */
    int64_t first, last, width; /* the steps; how many each leaf has, the last one perhaps fewer */

    /* what the current item asks */
    Extents *asked[MOST_ASKED];
    ItemList *listed[2];
    int n_asked, n_listed;
} SlabTree;

static int64_t item_end(const SlabItem *item) { return item->offset + slab_aligned(item->bytes); }

/* ---- noting what is taken ---- */

/* The first extent that ends at `at` or behind it. */
static size_t find_extent(const Extents *e, int64_t at)
{
    size_t low = 0, high = e->list.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e->list.data[middle].to < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the item's bytes; extents that touch them become one with them. */
static void add_extent(SlabTree *tree, Extents *e, const SlabItem *item)
{
    Extent extent = {item->offset, item_end(item)};
    size_t at = find_extent(e, extent.from), end = at, count = e->list.count;
    for (; end < count && e->list.data[end].from <= extent.to; end++) {
        const Extent *other = &e->list.data[end];
        extent.from = other->from < extent.from ? other->from : extent.from;
        extent.to = other->to > extent.to ? other->to : extent.to;
    }
    if (at == end) {
        vec_push(tree->arena, e->list, extent);
        if (e->list.count == count) /* memory ran out */
            return;
        memmove(&e->list.data[at + 1], &e->list.data[at], (count - at) * sizeof extent);
    } else {
        memmove(&e->list.data[at + 1], &e->list.data[end], (count - end) * sizeof extent);
        e->list.count -= end - at - 1;
    }
    e->list.data[at] = extent;
}

static void add_item(SlabTree *tree, ItemList *items, const SlabItem *item)
{
    size_t at = items->list.count;
    vec_push(tree->arena, items->list, item);
    if (items->list.count == at) /* memory ran out */
        return;
    for (; at > 0 && items->list.data[at - 1]->offset > item->offset; at--)
        items->list.data[at] = items->list.data[at - 1];
    items->list.data[at] = item;
}

/* ---- the nodes of an item ---- */

/* SlabPart: how much of a node's steps an item lives through. */
typedef enum SlabPart { PART_NOTHING, PART_SOME, PART_ALL } SlabPart;

/* Of the node with `n` leaves from number `leaf` on. */
static SlabPart life_at(const SlabTree *tree, const SlabItem *item, int32_t leaf, int32_t n)
{
    const int64_t first = tree->first + leaf * tree->width,
                  end = tree->first + (leaf + n) * tree->width - 1,
                  last = end < tree->last ? end : tree->last;
    if (item->last < first || item->first > last)
        return PART_NOTHING;
    return item->first <= first && item->last >= last ? PART_ALL : PART_SOME;
}

static void note_item(SlabTree *tree, const SlabItem *item, int32_t node, int32_t leaf, int32_t n)
{
    SlabNode *here = &tree->nodes[node];
    const SlabPart part = life_at(tree, item, leaf, n);
    if (part == PART_NOTHING)
        return;
    add_extent(tree, &here->touched, item);
    if (part == PART_ALL) {
        add_extent(tree, &here->filled, item);
    } else if (n == 1) {
        add_item(tree, &here->items, item);
    } else {
        note_item(tree, item, 2 * node, leaf, n / 2);
        note_item(tree, item, 2 * node + 1, leaf + n / 2, n / 2);
    }
}

static void ask_extents(SlabTree *tree, Extents *e)
{
    e->next = 0;
    if (e->list.count)
        tree->asked[tree->n_asked++] = e;
}

/* Lists what says which bytes are taken while the item lives. */
static void ask_nodes(SlabTree *tree, const SlabItem *item, int32_t node, int32_t leaf, int32_t n)
{
    SlabNode *here = &tree->nodes[node];
    const SlabPart part = life_at(tree, item, leaf, n);
    if (part == PART_NOTHING)
        return;
    ask_extents(tree, part == PART_ALL ? &here->touched : &here->filled);
    if (part == PART_ALL)
        return;
    if (n == 1) {
        here->items.next = 0;
        tree->listed[tree->n_listed++] = &here->items;
    } else {
        ask_nodes(tree, item, 2 * node, leaf, n / 2);
        ask_nodes(tree, item, 2 * node + 1, leaf + n / 2, n / 2);
    }
}

/* ---- placing ---- */

/* Moves *offset up until none of the extents takes any of `need` bytes from there on; whether it
 * moved. */
static bool pass_extents(Extents *e, int64_t need, int64_t *offset)
{
    const int64_t from = *offset;
    for (; e->next < e->list.count && e->list.data[e->next].from < *offset + need; e->next++)
        if (e->list.data[e->next].to > *offset)
            *offset = e->list.data[e->next].to;
    return *offset > from;
}

/* The same for the items of a list that live with this one. */
static bool pass_items(ItemList *items, const SlabItem *item, int64_t need, int64_t *offset)
{
    const int64_t from = *offset;
    for (; items->next < items->list.count; items->next++) {
        const SlabItem *other = items->list.data[items->next];
        if (other->offset >= *offset + need)
            break;
        if (item->first <= other->last && other->first <= item->last && item_end(other) > *offset)
            *offset = item_end(other);
    }
    return *offset > from;
}

/* The lowest place that is free during the item's whole life. */
static int64_t lowest_offset(SlabTree *tree, const SlabItem *item)
{
    int64_t offset = 0, need = slab_aligned(item->bytes);
    tree->n_asked = tree->n_listed = 0;
    ask_nodes(tree, item, 1, 0, tree->n_leaves);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < tree->n_asked; i++)
            moved |= pass_extents(tree->asked[i], need, &offset);
        for (int i = 0; i < tree->n_listed; i++)
            moved |= pass_items(tree->listed[i], item, need, &offset);
    }
    return offset;
}

static int larger_first(const void *a, const void *b)
{
    const SlabItem *x = *(SlabItem *const *)a, *y = *(SlabItem *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y; /* the items' own order: plans are reproducible */
}

static SlabTree tree_of(Arena *arena, const SlabItem *items, int32_t n)
{
    SlabTree tree = {.arena = arena, .n_leaves = 1, .first = items[0].first, .last = items[0].last};
    for (int32_t i = 1; i < n; i++) {
        tree.first = items[i].first < tree.first ? items[i].first : tree.first;
        tree.last = items[i].last > tree.last ? items[i].last : tree.last;
    }
    while (tree.n_leaves < n / LEAF_ITEMS)
        tree.n_leaves *= 2;
    tree.width = (tree.last - tree.first + tree.n_leaves) / tree.n_leaves;
    tree.nodes = ARENA_ARRAY(arena, SlabNode, 2 * (size_t)tree.n_leaves);
    return tree;
}

/* In `arena`, which may fail. */
static int64_t place_items(Arena *arena, SlabItem *items, int32_t n)
{
    SlabItem **order = ARENA_ARRAY(arena, SlabItem *, n);
    SlabTree tree = tree_of(arena, items, n);
    int64_t total = 0;
    if (!order || !tree.nodes)
        return -1;
    for (int32_t i = 0; i < n; i++)
        order[i] = &items[i];
    qsort(order, (size_t)n, sizeof *order, larger_first);
    for (int32_t i = 0; i < n; i++) {
        order[i]->offset = lowest_offset(&tree, order[i]);
        note_item(&tree, order[i], 1, 0, tree.n_leaves);
        total = item_end(order[i]) > total ? item_end(order[i]) : total;
    }
    return arena_failed(arena) ? -1 : total;
}

int64_t slab_plan(SlabItem *items, int32_t n)
{
    if (n == 0)
        return 0;
    Arena *arena = arena_try_new();
    if (!arena)
        return -1;
    const int64_t total = place_items(arena, items, n);
    arena_free(arena);
    return total;
}
