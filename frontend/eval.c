/* Evaluating expressions; statements are in statements.c. */
#include "frontend/elab.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

bool whole_number(const Val *val, int64_t *out)
{
    if (val->kind != VAL_NUMBER || !(fabs(val->number) < 9e15) || val->number != floor(val->number))
        return false;
    *out = (int64_t)val->number;
    return true;
}

bool known_truth(Elab *e, const Node *node, const Val *val, bool *truth)
{
    if (val->kind == VAL_BOOL || val->kind == VAL_NUMBER) {
        *truth = val->number != 0;
        return true;
    }
    if (val->kind == VAL_TENSOR)
        elab_error(e, node,
                   "this is known only when the model runs (%s): choose between tensors with "
                   "`select(condition, a, b)`",
                   val_text(e, val));
    else if (val->kind != VAL_ERROR)
        elab_error(e, node, "expected a condition, not %s", val_text(e, val));
    return false;
}

void stop_elaboration(Elab *e, const Node *node, const char *message)
{
    if (!e->stopped)
        elab_error(e, node, "%s", message);
    e->stopped = true;
}

Val val_tensor(Elab *e, const Node *node, Value *tensor)
{
    if (!tensor) {
        const char *message =
            e->inner.list.count ? vec_last(e->inner.list).message : "does not fit";
        return elab_error(e, node, "`%s`: %s", expression_text(e->arena, node), message);
    }
    int64_t elements = 1;
    for (int i = 0; i < tensor->type.rank; i++)
        if (dim_is_const(tensor->type.dims[i]) &&
            (__builtin_mul_overflow(elements, tensor->type.dims[i].size, &elements) ||
             elements > MAX_ELEMENTS))
            return elab_error(e, node, "`%s`: %s is too large", expression_text(e->arena, node),
                              type_text(e, &tensor->type));
    if (++e->ops > MAX_OPS)
        stop_elaboration(e, node, "the model is too large: more than 200000 operations");
    return (Val){.kind = VAL_TENSOR, .tensor = tensor};
}

/* ---- names ---- */

static Val named_value(Elab *e, const char *name, const Node *node, bool *known)
{
    *known = true;
    if (!strcmp(name, "inf"))
        return val_number(INFINITY, node->loc);
    if (!strcmp(name, "pi"))
        return val_number(3.14159265358979323846, node->loc);
    if (!strcmp(name, "training")) {
        Op *op = op_new(e->b.function, OP_training, 0, NULL, 1);
        op->results[0].type = type_scalar(DT_BOOL);
        op->loc = e->b.loc;
        op->scope = e->b.scope;
        block_insert_before(e->b.block, NULL, op);
        return val_tensor(e, node, op_result(op));
    }
    *known = false;
    return val_error();
}

/* A statement of the top that gives the name a value; NULL: there is none. */
static const Node *defined_later(const Elab *e, const char *name)
{
    for (size_t i = 0; i < e->loaded.items.count; i++) {
        const Node *node = e->loaded.items.data[i];
        if (node->overridden || (node->kind != NODE_ASSIGN && node->kind != NODE_OUTPUT))
            continue;
        if (node->kind == NODE_OUTPUT && node->a && !strcmp(node->name, name))
            return node;
        for (size_t k = 0; node->kind == NODE_ASSIGN && k < node->kids.count; k++)
            if (!strcmp(node->kids.data[k]->name, name))
                return node->kids.data[k];
    }
    return NULL;
}

static Val unknown_name(Elab *e, const Node *node)
{
    static const char *const fixed[] = {"inf", "pi", "training", "true", "false"};
    const char *name = node->name;
    if (map_has(&e->blocks, name))
        return elab_error(e, node, "`%s` is a block: call it, as in `%s(…)`", name, name);
    if (find_builtin(name))
        return elab_error(e, node, "`%s` is a function: call it, as in `%s(…)`", name, name);
    const Node *later = e->diags->errors < MAX_MISTAKES ? defined_later(e, name) : NULL;
    if (later && e->constant)
        return elab_error(
            e, node, "`%.60s` is computed when the model runs: a constant is known before", name);
    if (later && later->loc.source == node->loc.source && later->loc.line == node->loc.line &&
        later->loc.column < node->loc.column)
        return elab_error(e, node, "`%.60s` has no value before this statement, which gives it one",
                          name);
    if (later) {
        Val error = elab_error(e, node, "`%.60s` has no value yet", name);
        elab_note(e, later->loc, "it is given one here, which runs afterwards");
        return error;
    }
    const Map *maps[] = {&e->frame->vars, &e->top->vars, &e->decls};
    return elab_error(e, node, "nothing is called `%.60s`%s", name,
                      did_you_mean(e, name, maps, 3, fixed, 5));
}

static Val eval_name(Elab *e, const Node *node)
{
    Val *var = map_get(&e->frame->vars, node->name);
    if (!var)
        var = map_get(&e->top->vars, node->name);
    if (var)
        return *var;
    Decl *decl = map_get(&e->decls, node->name);
    if (decl) {
        Val val = decl_value(e, decl, node);
        if (decl->node->kind == NODE_CONST && val.kind == VAL_NUMBER) {
            Loc place = primary_place(e, node);
            if (!is_users(e, &place))
                place = decl->node->loc; /* more to the point: perhaps the user's own */
            if (is_users(e, &place) ||
                !is_users(e, &val.origin)) { /* else: of what it is made of */
                val.text = node->name;
                val.origin = place;
            }
        }
        return val;
    }
    bool known;
    Val val = named_value(e, node->name, node, &known);
    return known ? val : unknown_name(e, node);
}

/* ---- expressions ---- */

Val eval_list(Elab *e, const Node *node)
{
    Val list = {.kind = VAL_LIST,
                .n = (int)node->kids.count,
                .items = ARENA_ARRAY(e->arena, Val, node->kids.count + 1)};
    for (int i = 0; i < list.n; i++) {
        list.items[i] = eval_node(e, node->kids.data[i]);
        if (list.items[i].kind == VAL_ERROR)
            list.kind = VAL_ERROR;
        if (list.items[i].kind == VAL_NONE)
            return no_value(e, node->kids.data[i]);
    }
    return list;
}

static Val list_item(Elab *e, const Node *node, const Val *list, const Val *index)
{
    int64_t at;
    if (!whole_number(index, &at) || at < -list->n || at >= list->n)
        return elab_error(e, node->b, "the list has no element %s: it has %d, from 0",
                          val_text(e, index), list->n);
    return list->items[at < 0 ? at + list->n : at];
}

/* Rows of a table bear the names of the index's dimensions, then of the table's others. */
static void name_rows(Elab *e, Value *rows, Value *table, Value *index)
{
    DimName *names = dim_names(e, rows);
    const DimName *of_index = find_dim_names(e, index), *of_table = find_dim_names(e, table);
    for (int i = 0; of_index && i < index->type.rank; i++)
        names[i] = of_index[i];
    for (int i = 1; of_table && i < table->type.rank; i++)
        names[index->type.rank + i - 1] = of_table[i];
}

static bool is_table(const Type *type)
{
    return dtype_is_float(type->dtype) && dim_is_const(type->dims[0]);
}

/* A number as index that is no row: -1, too, is none. */
static bool is_no_row(const Val *index, Dim rows)
{
    int64_t at;
    return whole_number(index, &at) && (at < 0 || at >= rows.size);
}

static Val eval_index(Elab *e, const Node *node)
{
    Val table = eval_node(e, node->a), index = eval_node(e, node->b);
    if (table.kind == VAL_ERROR || index.kind == VAL_ERROR)
        return val_error();
    if (table.kind == VAL_LIST)
        return list_item(e, node, &table, &index);
    if (table.kind != VAL_TENSOR || table.tensor->type.rank < 1)
        return elab_error(e, node->a, "`%s` has no rows to look up: it is %s",
                          expression_text(e->arena, node->a), val_text(e, &table));
    Value *x = as_tensor(e, node->b, index);
    if (!x)
        return val_error();
    if (x->type.dtype != DT_I32)
        return elab_error(e, node->b,
                          "rows are looked up by tokens (whole numbers), not by %s; `int(x)` "
                          "makes whole numbers",
                          type_text(e, &x->type));
    if (!is_table(&table.tensor->type))
        return elab_error(
            e, node->a,
            "`[…]` looks up rows of a table, which has a constant number of them and holds "
            "floats, not of %s; %s",
            val_text(e, &table),
            index.kind == VAL_NUMBER
                ? "a part of an axis is `slice(x, axis, start, size)`"
                : "`pick(x, index)` looks up in each row, `lookup(x, S, index)` "
                  "along S");
    Dim rows = table.tensor->type.dims[0];
    if (is_no_row(&index, rows))
        return elab_error(e, node->b, "%s is no row of the table: it has the rows 0 to %" PRId64,
                          val_text(e, &index), rows.size - 1);
    Val result = val_tensor(e, node, build_gather(&e->b, table.tensor, x));
    if (result.kind == VAL_TENSOR)
        name_rows(e, result.tensor, table.tensor, x);
    return result;
}

static Val eval_axis(Elab *e, const Node *node)
{
    Val of = eval_node(e, node->a);
    int axis;
    if (of.kind == VAL_ERROR)
        return of;
    if (of.kind != VAL_TENSOR)
        return elab_error(e, node, "`%s`: only a tensor has axes, not %s",
                          expression_text(e->arena, node), val_text(e, &of));
    Val wanted = val_number(node->number, node->loc);
    if (!axis_of(e, node, &wanted, of.tensor->type.rank, &axis))
        return val_error();
    return dim_val(e, of.tensor, axis);
}

static Val eval_logic(Elab *e, const Node *node)
{
    Val a = eval_node(e, node->a);
    if (a.kind == VAL_BOOL && (node->op == TOKEN_AND ? !a.number : a.number != 0))
        return a;
    return binary_op(e, node, node->op, a, eval_node(e, node->b));
}

bool check_limits(Elab *e, const Node *node)
{
    if (e->eval_depth >= MAX_EVAL_DEPTH)
        stop_elaboration(
            e, node,
            "expressions and calls are nested too deeply: give parts of the expression names of their own");
    else if (++e->steps > MAX_STEPS)
        stop_elaboration(
            e, node,
            "building the model takes too many steps: smaller counts of `repeat`, or fewer calls within one another, are needed");
    return !e->stopped;
}

Val eval_node(Elab *e, const Node *node)
{
    if (e->stopped)
        return val_error();
    if (!check_limits(e, node))
        return val_error();
    Loc kept = e->b.loc;
    e->b.loc = primary_place(e, node);
    e->b.scope = e->frame->scope->path;
    e->eval_depth++;
    Val val = val_error();
    switch (node->kind) {
    case NODE_NUMBER: val = val_number(node->number, e->b.loc); break;
    case NODE_STRING: val = (Val){.kind = VAL_STRING, .text = node->name}; break;
    case NODE_BOOL: val = val_bool(node->number != 0); break;
    case NODE_NAME: val = eval_name(e, node); break;
    case NODE_LIST: val = eval_list(e, node); break;
    case NODE_RAGGED: val = eval_node(e, node->a); break;
    case NODE_INDEX: val = eval_index(e, node); break;
    case NODE_AXIS: val = eval_axis(e, node); break;
    case NODE_CALL: val = eval_call(e, node); break;
    case NODE_UNARY: {
        Val a = eval_node(e, node->a);
        e->b.loc = primary_place(e, node);
        val = unary_op(e, node, node->op, a);
        break;
    }
    case NODE_BINARY:
        if (node->op == TOKEN_AND || node->op == TOKEN_OR) {
            val = eval_logic(e, node);
        } else {
            Val a = eval_node(e, node->a), b = eval_node(e, node->b);
            val = binary_op(e, node, node->op, a, b);
        }
        break;
    default: assert(false); /* the parser makes no other */
    }
    e->eval_depth--;
    e->b.loc = kept;
    e->b.scope = e->frame->scope->path;
    return val;
}

Val eval_at_top(Elab *e, const Node *node)
{
    Frame *kept = e->frame;
    e->frame = e->top;
    Val val = eval_node(e, node);
    e->frame = kept;
    return val;
}
