/* What uses what: the lists of uses, and the changes of operands that keep them. */
#include "ir/uses.h"

#include <assert.h>

static void list(Op *op, int arg)
{
    Value *value = op->args[arg];
    Use *use = &op->uses[arg];
    use->next = NULL;
    use->previous = value->last_use;
    *(value->last_use ? &value->last_use->next : &value->first_use) = use;
    value->last_use = use;
}

static void unlist(Op *op, int arg)
{
    Value *value = op->args[arg];
    Use *use = &op->uses[arg];
    *(use->previous ? &use->previous->next : &value->first_use) = use->next;
    *(use->next ? &use->next->previous : &value->last_use) = use->previous;
    use->previous = use->next = NULL;
}

void op_list_uses(Op *op)
{
    for (int i = 0; i < op->n_args && !op->listed; i++)
        list(op, i);
    op->listed = true;
}

void op_unlist_uses(Op *op)
{
    for (int i = 0; i < op->n_args && op->listed; i++)
        unlist(op, i);
    op->listed = false;
}

void op_set_arg(Op *op, int arg, Value *value)
{
    assert(!op->body);
    if (op->listed)
        unlist(op, arg);
    op->args[arg] = value;
    if (op->listed)
        list(op, arg);
}

static int find_arg(const Op *op, const Value *value)
{
    int i = 0;
    while (i < op->n_args && op->args[i] != value)
        i++;
    return i;
}

/* A region lists each value that it reads once, and its body reads these directly. */
static void replace_in_region(Op *region, Value *from, Value *to)
{
    bool listed = region->listed;
    int at = find_arg(region, from);
    if (at == region->n_args)
        return;
    op_unlist_uses(region);
    if (find_arg(region, to) == region->n_args) {
        region->args[at] = to;
    } else {
        region->n_args--;
        for (int i = at; i < region->n_args; i++)
            region->args[i] = region->args[i + 1];
    }
    if (listed)
        op_list_uses(region);
    FOR_OPS(op, region->body)
        op_replace_arg(op, from, to);
}

void op_replace_arg(Op *op, Value *from, Value *to)
{
    if (op->body) {
        replace_in_region(op, from, to);
        return;
    }
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i] == from)
            op_set_arg(op, i, to);
}

void value_replace(Value *from, Value *to)
{
    while (from != to && from->first_use)
        op_replace_arg(from->first_use->user, from, to);
}

int value_use_count(const Value *value)
{
    int n = 0;
    for (const Use *use = value->first_use; use; use = use->next)
        n++;
    return n;
}

void function_order_uses(Function *function)
{
    FOR_OPS(op, &function->body) {
        op_unlist_uses(op);
        op_list_uses(op);
    }
}
