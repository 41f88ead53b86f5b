/* Evaluating expressions and running statements. */
#include "frontend/elab.h"

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

static void stop(Elab *e, const Node *node, const char *message)
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
        stop(e, node, "the model is too large: more than 200000 operations");
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
    static const char *const fixed[] = {"inf", "pi", "training"};
    const char *name = node->name;
    if (map_has(&e->blocks, name))
        return elab_error(e, node, "`%s` is a block: call it, as in `%s(…)`", name, name);
    if (find_builtin(name))
        return elab_error(e, node, "`%s` is a function: call it, as in `%s(…)`", name, name);
    const Node *later = defined_later(e, name);
    if (later) {
        Val error = elab_error(e, node, "`%.60s` has no value yet", name);
        elab_note(e, later->loc, "it is given one here, which runs afterwards");
        return error;
    }
    const Map *maps[] = {&e->frame->vars, &e->top->vars, &e->decls};
    return elab_error(e, node, "nothing is called `%.60s`%s", name,
                      did_you_mean(e, name, maps, 3, fixed, 3));
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

static Val eval_list(Elab *e, const Node *node)
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
        return elab_error(e, node->b, "%s is no place in a list of %d", val_text(e, index), list->n);
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
        return elab_error(e, node->a,
                          "a table has a constant number of rows and holds floats, not %s",
                          val_text(e, &table));
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

static bool check_limits(Elab *e, const Node *node)
{
    if (e->eval_depth >= MAX_EVAL_DEPTH)
        stop(e, node, "expressions and calls are nested too deeply");
    else if (++e->steps > MAX_STEPS)
        stop(e, node, "the model takes too long to build");
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
    default: val = elab_error(e, node, "this is no expression"); break;
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

/* ---- statements ---- */

static void run_assign(Elab *e, const Node *node)
{
    Val val = eval_node(e, node->a);
    int n = (int)node->kids.count;
    for (int i = 0; e->frame == e->top && i < n; i++)
        if (map_has(&e->decls, node->kids.data[i]->name)) {
            const Decl *decl = map_get(&e->decls, node->kids.data[i]->name);
            elab_error(e, node, "`%s` is declared already and cannot be assigned to",
                       decl->node->name);
            elab_note(e, decl->node->loc, "declared here");
            return;
        }
    if (val.kind == VAL_NONE)
        val = no_value(e, node->a);
    if (n > 1 && val.kind != VAL_ERROR && (val.kind != VAL_LIST || val.n != n))
        val = elab_error(e, node, "%d names take %d values, given %s", n, n, val_text(e, &val));
    for (int i = 0; i < n; i++)
        define_var(e, node->kids.data[i]->name,
                   n == 1 || val.kind == VAL_ERROR ? val : val.items[i]);
}

static void run_output(Elab *e, const Node *node)
{
    Val val;
    if (node->a) {
        val = eval_node(e, node->a);
        define_var(e, node->name, val);
    } else if (e->frame == e->top && !map_has(&e->top->vars, node->name) &&
               !map_has(&e->decls, node->name)) {
        vec_push(e->arena, e->exposures, node); /* of a block that belongs to no other */
        return;
    } else {
        Node name = *node;
        name.kind = NODE_NAME;
        val = eval_node(e, &name);
    }
    if (val.kind == VAL_NONE)
        val = no_value(e, node->a);
    if (val.kind == VAL_ERROR)
        return;
    if (val.kind == VAL_NUMBER || val.kind == VAL_BOOL)
        val = val_tensor(e, node, as_tensor(e, node, val));
    if (val.kind != VAL_TENSOR) {
        elab_error(e, node, "an output is a tensor, not %s", val_text(e, &val));
        return;
    }
    const char *name = scope_join(e, e->frame->scope, node->name);
    const Node *first = map_get(&e->outputs, name);
    if (first || !strcmp(name, "loss")) {
        elab_error(e, node,
                   first ? "there is an output `%s` already"
                         : "`%s` is the name of the loss: write `loss = …`",
                   name);
        if (first)
            elab_note(e, first->loc, "here");
        return;
    }
    map_set(&e->outputs, name, (void *)node);
    if (!gives_merges(e))
        build_output(&e->b, name, val.tensor);
}

static void run_update(Elab *e, const Node *node)
{
    Node name = *node;
    name.kind = NODE_NAME;
    Val state = eval_node(e, &name), val = eval_node(e, node->a);
    if (state.kind == VAL_ERROR || val.kind == VAL_ERROR)
        return;
    const Op *op = state.kind == VAL_TENSOR ? state.tensor->op : NULL;
    if (!op || op->kind != OP_param ||
        module_param(e->module, op_string(op, ATTR_name))->role != PARAM_STATE) {
        elab_error(e, node, "`%s` is not a `state`: only states are updated", node->name);
        return;
    }
    Value *x = as_float(e, node->a, val);
    if (!x)
        return;
    if (!type_equal(&x->type, &state.tensor->type)) {
        elab_error(e, node, "`%s` is %s, its new value %s", node->name, val_text(e, &state),
                   type_text(e, &x->type));
        return;
    }
    build_assign(&e->b, state.tensor, x);
}

/* What `tfc export --merge` writes for a param: kept only where that is asked for. */
static void run_merge(Elab *e, const Node *node)
{
    Node name = *node;
    name.kind = NODE_NAME;
    Val param = eval_node(e, &name), val = eval_node(e, node->a);
    if (param.kind == VAL_ERROR || val.kind == VAL_ERROR)
        return;
    const Op *op = param.kind == VAL_TENSOR ? param.tensor->op : NULL;
    Value *x = as_float(e, node->a, val);
    if (!x)
        return;
    if (!op || op->kind != OP_param) {
        elab_error(e, node, "`%s` is not a param: only params are merged", node->name);
        return;
    }
    if (!type_equal(&x->type, &param.tensor->type)) {
        elab_error(e, node, "`%s` is %s, what it is merged into %s", node->name, val_text(e, &param),
                   type_text(e, &x->type));
        return;
    }
    const char *path = op_string(op, ATTR_name);
    if (map_has(&e->merges, path)) {
        elab_error(e, node, "`%s` is merged twice", path);
        return;
    }
    map_set(&e->merges, path, x);
    if (gives_merges(e))
        build_output(&e->b, path, x);
}

static void run_repeat(Elab *e, const Node *node)
{
    Val count = eval_node(e, node->a);
    int64_t n;
    if (count.kind == VAL_ERROR)
        return;
    if (!whole_number(&count, &n) || n < 0 || n > MAX_REPEAT) {
        elab_error_of(e, node->a, &count,
                      "how often to repeat is a whole number from 0 to %d, not %s", MAX_REPEAT,
                      val_text(e, &count));
        return;
    }
    Scope *outer = e->frame->scope;
    if (node->label) {
        Label *taken = map_get(&outer->labels, node->label);
        if (taken) {
            elab_error(e, node, "`%s` names something here already", node->label);
            elab_note(e, taken->site->loc, "here");
            return;
        }
        Label *label = ARENA_NEW(e->arena, Label);
        *label = (Label){NULL, node};
        map_set(&outer->labels, node->label, label);
    }
    for (int64_t i = 0; i < n && !e->stopped && !e->frame->returned; i++) {
        if (node->label) {
            e->frame->scope = scope_new(
                e,
                scope_join(e, outer, arena_printf(e->arena, "%s.%lld", node->label, (long long)i)));
            e->frame->scope->repeat = node->label;
            Val *index = ARENA_NEW(e->arena, Val);
            *index = val_number((double)i, node->loc);
            map_set(&e->frame->vars, node->label, index);
        } else
            e->frame->scope = scope_new(e, outer->path);
        run_body(e, &node->body);
    }
    e->frame->scope = outer;
}

static void run_return(Elab *e, const Node *node)
{
    if (e->frame == e->top) {
        elab_error(e, node, "`return` belongs in a block");
        return;
    }
    int n = (int)node->kids.count;
    Val val = n == 1 ? eval_node(e, node->kids.data[0]) : eval_list(e, node);
    e->frame->returned = true;
    e->frame->result = val;
}

static void run_statement(Elab *e, const Node *node)
{
    bool truth;
    e->b.loc = primary_place(e, node);
    e->b.scope = e->frame->scope->path;
    switch (node->kind) {
    case NODE_ASSIGN: run_assign(e, node); break;
    case NODE_OUTPUT: run_output(e, node); break;
    case NODE_EXPOSE: vec_push(e->arena, e->exposures, node); break;
    case NODE_UPDATE: run_update(e, node); break;
    case NODE_MERGE: run_merge(e, node); break;
    case NODE_REPEAT: run_repeat(e, node); break;
    case NODE_RETURN: run_return(e, node); break;
    case NODE_EXPR: eval_node(e, node->a); break;
    case NODE_IF: {
        Val condition = eval_node(e, node->a);
        if (known_truth(e, node->a, &condition, &truth))
            run_body(e, truth ? &node->body : &node->otherwise);
        break;
    }
    case NODE_PARAM: {
        const Decl *decl = e->frame == e->top ? map_get(&e->decls, node->name) : NULL;
        if (!decl || decl->node != node) /* those of the top begin at their first use */
            define_var(e, node->name, declare_param(e, node, e->frame->scope));
        break;
    }
    default: break; /* declarations of the top: done before */
    }
}

void run_body(Elab *e, const NodeList *body)
{
    e->eval_depth++;
    for (size_t i = 0; i < body->count && !e->frame->returned && !e->stopped; i++) {
        if (body->data[i]->overridden)
            continue;
        if (check_limits(e, body->data[i]))
            run_statement(e, body->data[i]);
    }
    e->eval_depth--;
}
