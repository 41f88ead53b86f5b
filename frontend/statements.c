/* Running statements: assignments, outputs, updates of states, repetitions, conditions. */
#include "frontend/elab.h"

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
        val = elab_error(
            e, node, "%d names take %d values, given %s%s", n, n, val_text(e, &val),
            node->a->kind == NODE_CALL && !strcmp(node->a->name, "top_k")
                ? "; `top_k` gives positions alone, `pick(x, positions)` what stands there"
                : "");
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
    const char *kind = node->same ? prediction_kind(e, node, &val) : NULL;
    if (node->same && !kind)
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
    Op *output = gives_merges(e) ? NULL : build_output(&e->b, name, val.tensor);
    if (output && kind)
        op_set_attr(e->b.function, output, attr_string(ATTR_predict, kind));
}

/* `update NAME = value` or `merge NAME = value`: the param, and the value as its type; false after
 * a message. */
static bool eval_given(Elab *e, const Node *node, Value **param, Value **value)
{
    bool merges = node->kind == NODE_MERGE;
    Node name = *node;
    name.kind = NODE_NAME;
    Val to = eval_node(e, &name), val = eval_node(e, node->a);
    if (to.kind == VAL_ERROR || val.kind == VAL_ERROR)
        return false;
    const Op *op = to.kind == VAL_TENSOR ? to.tensor->op : NULL;
    const ParamInfo *info =
        op && op->kind == OP_param ? module_param(e->module, op_string(op, ATTR_name)) : NULL;
    if (!info || (!merges && info->role != PARAM_STATE)) {
        elab_error(e, node,
                   merges ? "`%s` is not a param: only params are merged"
                          : "`%s` is not a `state`: only states are updated",
                   node->name);
        return false;
    }
    *param = to.tensor;
    *value = as_float(e, node->a, val);
    if (!*value)
        return false;
    if (!type_equal(&(*value)->type, &to.tensor->type)) {
        elab_error(e, node,
                   merges ? "`%s` is %s, what it is merged into %s"
                          : "`%s` is %s, its new value %s",
                   node->name, val_text(e, &to), type_text(e, &(*value)->type));
        return false;
    }
    return true;
}

static void run_update(Elab *e, const Node *node)
{
    Value *state, *value;
    if (!eval_given(e, node, &state, &value))
        return;
    const char *path = op_string(state->op, ATTR_name);
    const Node *first = map_get(&e->updates, path);
    bool is_run =
        e->loaded.options && e->loaded.options->is_trained; /* it opens as it was trained */
    if (first && !is_run) {
        elab_error(e, node, "`%s` is updated twice: a state gets one value in a step", path);
        elab_note(e, first->loc, "here");
        return;
    }
    map_set(&e->updates, path, (void *)node);
    build_assign(&e->b, state, value);
}

/* Whether two values that one expression gave are computed alike of the same params. Pairs that are
 * alike are kept: values that are used several times are compared once. */
static bool is_same_formula(Elab *e, const Value *a, const Value *b)
{
    const Op *p = a->op, *q = b->op;
    if (a == b || side_of_value(&e->twins, a) == b)
        return true;
    if (p->kind != q->kind || p->n_args != q->n_args || !type_equal(&a->type, &b->type) ||
        (p->kind != OP_const && !p->n_args) ||
        (p->kind == OP_const && op_float(p, ATTR_value) != op_float(q, ATTR_value)))
        return false;
    for (int i = 0; i < p->n_args; i++)
        if (!is_same_formula(e, p->args[i], q->args[i]))
            return false;
    side_set_value(&e->twins, a, (void *)(uintptr_t)b);
    return true;
}

/* What `tfc export --merge` writes for a param: kept only where that is asked for. Calls that share
 * their params may say the same again. */
static void run_merge(Elab *e, const Node *node)
{
    Value *param, *value;
    if (!eval_given(e, node, &param, &value))
        return;
    const char *path = op_string(param->op, ATTR_name);
    const Value *first = map_get(&e->merges, path);
    if (first && is_same_formula(e, first, value))
        return;
    if (first) {
        elab_error(e, node, "`%s` is merged twice", path);
        return;
    }
    map_set(&e->merges, path, value);
    if (gives_merges(e))
        build_output(&e->b, path, value);
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
        CallLabel *taken = map_get(&outer->labels, node->label);
        if (taken) {
            elab_error_taken(e, node, node->label, taken, ": choose another name");
            return;
        }
        CallLabel *label = ARENA_NEW(e->arena, CallLabel);
        *label = (CallLabel){NULL, node};
        map_set(&outer->labels, node->label, label);
    }
    for (int64_t i = 0; i < n && !e->frame->returned && check_limits(e, node); i++) {
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
