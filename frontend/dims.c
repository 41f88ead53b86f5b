/* Dimensions: their names for messages, lists of them, axes. */
#include "frontend/elab.h"

#include <math.h>

const DimName *find_dim_names(const Elab *e, const Value *value)
{
    return side_of_value(&e->dim_names, value);
}

DimName *dim_names(Elab *e, const Value *value)
{
    DimName *names = side_of_value(&e->dim_names, value);
    if (!names) {
        names = ARENA_ARRAY(e->arena, DimName, MAX_RANK);
        side_set_value(&e->dim_names, value, names);
    }
    return names;
}

void copy_dim_names(Elab *e, Value *to, const Value *from)
{
    const DimName *theirs = find_dim_names(e, from);
    if (!theirs || to == from)
        return;
    DimName *names = dim_names(e, to);
    for (int i = 1; i <= to->type.rank && i <= from->type.rank; i++) {
        int a = to->type.rank - i, b = from->type.rank - i;
        if (!names[a].text && dim_equal(to->type.dims[a], from->type.dims[b]))
            names[a] = theirs[b];
    }
}

void name_dims(Elab *e, Value *value, const Val *dims)
{
    DimName *names = dim_names(e, value);
    for (int i = 0; i < value->type.rank; i++)
        if (dims[i].kind == VAL_NUMBER)
            names[i] = (DimName){dims[i].text, dims[i].origin};
}

/* A constant whose definition reads like the expression and has its value is a
 * better name: `d_k` for `d_model / heads`. */
static const char *better_name(Elab *e, const char *text, double number)
{
    if (!strchr(text, ' '))
        return text;
    for (size_t i = 0; i < e->decls.count; i++) {
        const Decl *decl = e->decls.entries[i].value;
        if (decl->node->kind == NODE_CONST && decl->state == DECL_DONE &&
            decl->value.kind == VAL_NUMBER && decl->value.number == number &&
            !strcmp(expression_text(e->arena, decl->node->a), text))
            return decl->node->name;
    }
    return text;
}

const char *dim_text(Elab *e, Dim dim, const DimName *name)
{
    if (!dim_is_const(dim))
        return arena_printf(e->arena, "%s%s", e->module->symbols.data[dim.symbol].name,
                            symbol_is_ragged(e->module, dim.symbol) ? "~" : "");
    if (!name || !name->text)
        return arena_printf(e->arena, "%lld", (long long)dim.size);
    return arena_printf(e->arena, "%s = %lld", better_name(e, name->text, (double)dim.size),
                        (long long)dim.size);
}

void note_origin(Elab *e, Dim dim, const DimName *name)
{
    if (name && name->origin.source && dim_is_const(dim))
        elab_note(e, name->origin, "%s comes from here", dim_text(e, dim, name));
}

Val dim_val(Elab *e, Value *tensor, int axis)
{
    Dim dim = tensor->type.dims[axis];
    if (!dim_is_const(dim))
        return (Val){.kind = VAL_DIM, .symbol = dim.symbol};
    const DimName *names = find_dim_names(e, tensor);
    Val val = val_number((double)dim.size, names ? names[axis].origin : (Loc){0});
    val.text = names ? names[axis].text : NULL;
    return val;
}

bool axis_of(Elab *e, const Node *node, const Val *val, int rank, int *axis)
{
    int64_t given;
    if (val->kind == VAL_ERROR)
        return false;
    if (val->kind == VAL_DIM) {
        elab_error(
            e, node,
            "`%s`: an axis is given by its number, 0 to %d or, from the end, -1 to %d, not by %s",
            expression_text(e->arena, node), rank - 1, -rank, val_text(e, val));
        return false;
    }
    if (!whole_number(val, &given) || given < -rank || given >= rank) {
        elab_error(e, node, "`%s`: %s is no axis of a tensor of %d dimension%s",
                   expression_text(e->arena, node), val_text(e, val), rank,
                   text_plural(rank, "", "s"));
        return false;
    }
    *axis = (int)(given < 0 ? given + rank : given);
    return true;
}

bool dim_of(Elab *e, const Node *node, const Val *val, Dim *dim)
{
    int64_t size;
    bool number = val->kind == VAL_NUMBER, named = number && val->text;
    bool whole = number && whole_number(val, &size);
    if (val->kind == VAL_DIM)
        *dim = dim_symbol(val->symbol);
    else if (whole && size >= 1 && size <= INT32_MAX)
        *dim = dim_const(size);
    else {
        elab_error_of(
            e, node, val, "%s: %s%s%s%s",
            number && val->number > INT32_MAX
                ? arena_printf(e->arena, "a dimension is at most %d", INT32_MAX)
                : "a dimension must be a whole number of at least 1, or a `dim`",
            named ? val->text : "", named ? " is " : "",
            val_text(e, val) + (named ? strlen("the number ") : 0),
            val->kind == VAL_TENSOR ? "; `dim U = 2 * S` declares a dimension made of others" : "");
        return false;
    }
    return true;
}

static bool add_dim(Elab *e, const Node *node, const Val *val, int *rank, Dim *dims, Val *flat)
{
    if (val->kind == VAL_LIST) {
        for (int i = 0; i < val->n; i++)
            if (!add_dim(e, node, &val->items[i], rank, dims, flat))
                return false;
        return true;
    }
    if (val->kind == VAL_ERROR)
        return false;
    if (*rank == MAX_RANK) {
        elab_error(e, node, "a tensor has at most %d dimensions", MAX_RANK);
        return false;
    }
    if (!dim_of(e, node, val, &dims[*rank]))
        return false;
    flat[(*rank)++] = *val;
    return true;
}

bool dims_of(Elab *e, const Node *node, const Val *list, int *rank, Dim *dims, Val *flat)
{
    *rank = 0;
    if (list->kind == VAL_ERROR)
        return false;
    if (list->kind != VAL_LIST) {
        elab_error(e, node, "expected a list of dimensions, as in `[B, S, 64]`, not %s",
                   val_text(e, list));
        return false;
    }
    return add_dim(e, node, list, rank, dims, flat);
}
