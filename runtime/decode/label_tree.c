/* Nodes and their hash table; the order of sequences. */
#include "runtime/decode/label_tree.h"

#include "base/map.h"

enum { LEAST_SLOTS = 64 };

static size_t slot_of(const LabelTree *tree, int32_t parent, int32_t label)
{
    const uint64_t key = (uint64_t)(uint32_t)parent << 32 | (uint32_t)label;
    size_t at = (size_t)hash_slot(&key, sizeof key) & (tree->n_slots - 1);
    for (; tree->slots[at]; at = (at + 1) & (tree->n_slots - 1)) {
        const LabelNode *node = &tree->nodes.data[tree->slots[at]];
        if (node->parent == parent && node->label == label)
            break;
    }
    return at;
}

static bool more_slots(LabelTree *tree, size_t n)
{
    int32_t *slots = ARENA_ARRAY(tree->arena, int32_t, n);
    if (!slots)
        return false;
    tree->slots = slots;
    tree->n_slots = n;
    for (size_t i = 1; i < tree->nodes.count; i++) {
        const LabelNode *node = &tree->nodes.data[i];
        slots[slot_of(tree, node->parent, node->label)] = (int32_t)i;
    }
    return true;
}

bool label_tree_start(LabelTree *tree, Arena *arena)
{
    *tree = (LabelTree){.arena = arena};
    const LabelNode root = {.parent = LABEL_TREE_NONE,
                            .label = LABEL_TREE_NONE,
                            .child = LABEL_TREE_NONE,
                            .sibling = LABEL_TREE_NONE,
                            .mark = -1};
    vec_push(arena, tree->nodes, root);
    return tree->nodes.count && more_slots(tree, LEAST_SLOTS);
}

int32_t label_tree_find(const LabelTree *tree, int32_t parent, int32_t label)
{
    const int32_t found = tree->slots[slot_of(tree, parent, label)];
    return found ? found : LABEL_TREE_NONE;
}

int32_t label_tree_add(LabelTree *tree, int32_t parent, int32_t label)
{
    const size_t count = tree->nodes.count;
    const int32_t found = label_tree_find(tree, parent, label);
    if (found != LABEL_TREE_NONE)
        return found;
    if (count >= INT32_MAX || (2 * count > tree->n_slots && !more_slots(tree, 2 * tree->n_slots)))
        return LABEL_TREE_NONE;
    const LabelNode node = {.parent = parent,
                            .label = label,
                            .length = tree->nodes.data[parent].length + 1,
                            .child = LABEL_TREE_NONE,
                            .sibling = tree->nodes.data[parent].child,
                            .mark = -1};
    vec_push(tree->arena, tree->nodes, node);
    if (tree->nodes.count == count)
        return LABEL_TREE_NONE;
    tree->nodes.data[parent].child = (int32_t)count;
    tree->slots[slot_of(tree, parent, label)] = (int32_t)count;
    return (int32_t)count;
}

/* ---- order ---- */

static int32_t length_of(const LabelTree *tree, LabelSequence s)
{
    return tree->nodes.data[s.node].length + (s.label >= 0);
}

static int32_t last_label(const LabelTree *tree, LabelSequence s)
{
    return s.label >= 0 ? s.label : tree->nodes.data[s.node].label;
}

/* Without its last label. */
static LabelSequence shortened(const LabelTree *tree, LabelSequence s)
{
    return (LabelSequence){s.label >= 0 ? s.node : tree->nodes.data[s.node].parent, -1};
}

int label_tree_compare(const LabelTree *tree, LabelSequence a, LabelSequence b)
{
    const int32_t length_a = length_of(tree, a), length_b = length_of(tree, b);
    for (int32_t n = length_a; n > length_b; n--)
        a = shortened(tree, a);
    for (int32_t n = length_b; n > length_a; n--)
        b = shortened(tree, b);
    int order = (length_a > length_b) - (length_a < length_b);
    while (a.node != b.node || a.label != b.label) {
        const int32_t label_a = last_label(tree, a), label_b = last_label(tree, b);
        if (label_a != label_b)
            order = label_a < label_b ? -1 : 1;
        a = shortened(tree, a);
        b = shortened(tree, b);
    }
    return order;
}
