/* Constants and blocks of the model's own file that nothing uses: where one is misspelt, what it
 * was to replace holds still. What replaces a definition of a used file is used, for it has its
 * name. */
#include "frontend/elab.h"

typedef struct Names {
    Arena *arena;
    Map used, replaced; /* as key_of */
} Names;

/* "f(" of a block, "x" of a value: a name may be both. */
static const char *key_of(const Names *names, const char *name, bool is_block)
{
    return is_block ? arena_printf(names->arena, "%s(", name) : name;
}

static void collect_used(Names *names, const Node *node)
{
    if (!node)
        return;
    bool is_block = node->kind == NODE_CALL;
    bool is_read = is_block || node->kind == NODE_NAME || (node->kind == NODE_OUTPUT && !node->a);
    if (is_read && node->name) /* an element type is a place without a name */
        map_set(&names->used, key_of(names, node->name, is_block), names);
    collect_used(names, node->a);
    collect_used(names, node->b);
    const NodeList *inner[] = {&node->kids, &node->body, &node->otherwise};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < inner[k]->count; i++)
            collect_used(names, inner[k]->data[i]);
}

/* The nearest name of another definition of the kind; "": none is near. */
static const char *suggest(const Names *names, const NodeList *items, const Node *unused)
{
    VEC(const char *) others = {0};
    for (size_t i = 0; i < items->count; i++)
        if (items->data[i]->kind == unused->kind && items->data[i] != unused)
            vec_push(names->arena, others, items->data[i]->name);
    return text_suggest(names->arena, "`", unused->name, others.data, others.count);
}

void warn_unused(const Loaded *loaded)
{
    const NodeList *items = &loaded->items;
    Names names = {.arena = loaded->arena};
    map_init(&names.used, names.arena);
    map_init(&names.replaced, names.arena);
    for (size_t i = 0; i < items->count; i++) {
        const Node *node = items->data[i];
        if (!node->overridden)
            collect_used(&names, node);
        else if (node->kind == NODE_CONST || node->kind == NODE_BLOCK)
            map_set(&names.replaced, key_of(&names, node->name, node->kind == NODE_BLOCK), &names);
    }
    int unused = 0;
    for (size_t i = 0; i < items->count && !is_library_file(loaded, loaded->main); i++) {
        const Node *node = items->data[i];
        if ((node->kind != NODE_CONST && node->kind != NODE_BLOCK) ||
            node->loc.source != loaded->main)
            continue;
        const char *key = key_of(&names, node->name, node->kind == NODE_BLOCK);
        if (!map_has(&names.used, key) && !map_has(&names.replaced, key) && unused++ < MAX_MISTAKES)
            diag_warning(loaded->diags, node->loc, "nothing uses the %s `%.60s`%s",
                         node->kind == NODE_BLOCK ? "block" : "constant", node->name,
                         suggest(&names, items, node));
    }
    if (unused > MAX_MISTAKES)
        diag_remark(loaded->diags, (Loc){.source = loaded->main},
                    "nothing uses %d more constants and blocks", unused - MAX_MISTAKES);
}
