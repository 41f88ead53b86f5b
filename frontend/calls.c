/* Calling blocks: arguments, frames, and the dotted names of what is inside. */
#include "frontend/elab.h"

#include "frontend/foreign.h"

Scope *scope_new(Elab *e, const char *path)
{
    Scope *scope = ARENA_NEW(e->arena, Scope);
    scope->path = path;
    map_init(&scope->labels, e->arena);
    map_init(&scope->counts, e->arena);
    return scope;
}

const char *scope_join(Elab *e, const Scope *scope, const char *name)
{
    return scope->path[0] ? arena_printf(e->arena, "%s.%s", scope->path, name) : name;
}

void define_var(Elab *e, const char *name, Val val)
{
    Val *kept = arena_copy(e->arena, &val, sizeof val);
    map_set(&e->frame->vars, name, kept);
    if (val.kind == VAL_TENSOR)
        map_set(&e->exposed, scope_join(e, e->frame->scope, name), val.tensor);
}

/* ---- names of calls ---- */

static bool ends_with_word(const char *name, const char *word)
{
    size_t n = strlen(name), m = strlen(word);
    return n >= m && !strcmp(name + n - m, word) && (n == m || name[n - m - 1] == '_');
}

static void add_label(Elab *e, Scope *scope, const char *name, const Node *block, const Node *site)
{
    CallLabel *label = ARENA_NEW(e->arena, CallLabel);
    *label = (CallLabel){block, site};
    map_set(&scope->labels, name, label);
}

/* `f as name(…)`, `f as same name(…)`. */
static Scope *labelled_scope(Elab *e, const Node *call, const Node *block, Scope *outer)
{
    CallLabel *taken = map_get(&outer->labels, call->label);
    if (taken && !call->same) {
        elab_error_taken(e, call, call->label, taken, "");
        if (taken->block == block)
            elab_note(e, (Loc){0},
                      "to compute with the same params once more, write `%s as same %s(…)`",
                      call->name, call->label);
    } else if (!taken && call->same) {
        const Map *maps[] = {&outer->labels};
        elab_error(e, call, "`same %s`: no call has that name here%s", call->label,
                   did_you_mean(e, call->label, maps, 1, NULL, 0));
    } else if (taken && taken->block != block)
        elab_error(
            e, call,
            "the call `%s` is of another block: `same` shares the params of a call of one block",
            call->label);
    if (!taken)
        add_label(e, outer, call->label, block, call);
    return scope_new(e, scope_join(e, outer, call->label));
}

/* `f(…)`: named after the block; numbered from the second such call on; a block
 * whose name ends in the label of the repeat around it adds nothing. */
static Scope *plain_scope(Elab *e, const Node *call, const Node *block, Scope *outer)
{
    if (outer->repeat && ends_with_word(block->name, outer->repeat)) {
        outer->repeat = NULL;
        return outer;
    }
    size_t count = (size_t)map_get(&outer->counts, block->name) + 1;
    map_set(&outer->counts, block->name, (void *)count);
    const char *label =
        count == 1 ? block->name : arena_printf(e->arena, "%s_%zu", block->name, count);
    CallLabel *taken = map_get(&outer->labels, label);
    if (taken && taken->site != call) {
        elab_error_taken(e, call, label, taken, ": name this call with `as`");
    }
    add_label(e, outer, label, block, call);
    return scope_new(e, scope_join(e, outer, label));
}

static Scope *call_scope(Elab *e, const Node *call, const Node *block)
{
    Scope *outer = e->frame->scope;
    if (call->label && !strcmp(call->label, "_"))
        return outer;
    return call->label ? labelled_scope(e, call, block, outer) : plain_scope(e, call, block, outer);
}

/* ---- arguments ---- */

static const char *signature_text(Elab *e, const Node *block)
{
    Text text = {0};
    text_add(&text, "%s(", block->name);
    for (size_t i = 0; i < block->kids.count; i++) {
        text_add(&text, "%s", i ? ", " : "");
        print_expression(block->kids.data[i], &text);
    }
    text_add(&text, ")");
    return text_keep(e->arena, &text);
}

static int find_parameter(const Node *block, const char *name)
{
    for (size_t i = 0; i < block->kids.count; i++)
        if (!strcmp(block->kids.data[i]->name, name))
            return (int)i;
    return -1;
}

/* Of arguments that a block cannot take. If the block replaces another, and a file below it calls
 * it, the mistake is the block's, told once. */
static void refuse_arguments(Elab *e, const Node *block, const Node *call, const Node *at,
                             const char *message)
{
    const Node *replaced = replaced_block(e, block, call);
    if (replaced) {
        bool library = is_library_file(&e->loaded, replaced->loc.source);
        elab_error_of_block(e, block, "`%s` replaces %s `%s`, and must take the same arguments",
                            signature_text(e, block), library ? "the library's" : "another file's",
                            signature_text(e, replaced));
        elab_note(e, call->loc, "called here");
        return;
    }
    elab_error(e, at, "%s", message);
    elab_note(e, block->loc, "it is %s", signature_text(e, block));
}

static void no_such_parameter(Elab *e, const Node *block, const Node *call, const Node *arg)
{
    VEC(const char *) names = {0};
    for (size_t i = 0; i < block->kids.count; i++)
        vec_push(e->arena, names, block->kids.data[i]->name);
    refuse_arguments(
        e, block, call, arg,
        arena_printf(e->arena, "`%s` takes no `%s`%s", block->name, arg->name,
                     did_you_mean(e, arg->name, NULL, 0, names.data, (int)names.count)));
}

/* Evaluates in the caller's frame; false after a message about the list itself. */
static bool bind_args(Elab *e, const Node *call, const Node *block, Val *values, bool *given)
{
    size_t n = block->kids.count;
    bool ok = true;
    for (size_t i = 0; i < call->kids.count; i++) {
        const Node *arg = call->kids.data[i];
        Val val = eval_node(e, arg->a);
        int at = arg->name ? find_parameter(block, arg->name) : i < n ? (int)i : -1;
        if (val.kind == VAL_NONE)
            val = no_value(e, arg->a);
        if (at < 0 && arg->name) {
            no_such_parameter(e, block, call, arg);
            ok = false;
        } else if (at < 0) {
            refuse_arguments(e, block, call, arg,
                             arena_printf(e->arena, "`%s` takes %zu argument%s, given %zu",
                                          block->name, n, text_plural((int64_t)n, "", "s"),
                                          call->kids.count));
            return false;
        } else if (given[at]) {
            elab_error(e, arg, "`%s` is given twice", block->kids.data[at]->name);
            ok = false;
        } else {
            values[at] = val;
            given[at] = true;
        }
    }
    for (size_t i = 0; ok && i < n; i++)
        if (!given[i] && !block->kids.data[i]->a) {
            refuse_arguments(
                e, block, call, call,
                arena_printf(e->arena, "`%s` needs `%s`", block->name, block->kids.data[i]->name));
            ok = false;
        }
    return ok;
}

static bool calls_itself(const Elab *e, const Node *block)
{
    for (const Frame *frame = e->frame; frame; frame = frame->up)
        if (frame->block == block)
            return true;
    return false;
}

/* What a value is made of before it got another shape or type. */
static const Op *unshaped(const Value *value)
{
    const Op *op = value->op;
    while (op->kind == OP_reshape || op->kind == OP_broadcast || op->kind == OP_cast)
        op = op->args[0]->op;
    return op;
}

/* Whether the value is a position plus or minus a number, so that some are outside of a text. */
static bool is_moved_position(const Value *index)
{
    const Op *op = unshaped(index);
    if (op->kind != OP_add && op->kind != OP_sub)
        return false;
    return unshaped(op->args[0])->kind == OP_const || unshaped(op->args[1])->kind == OP_const;
}

/* Warns of labels that a lookup gives also outside of the text, where it gives 0, the first
 * class. */
static void look_at_labels(Elab *e, const Node *call, const Val *labels)
{
    const Op *op = labels->kind == VAL_TENSOR ? unshaped(labels->tensor) : NULL;
    if (op && op->kind == OP_lookup && is_moved_position(op->args[1]))
        diag_warning(e->diags, call->loc,
                     "labels of `cross_entropy` are looked up outside of the text, too, where "
                     "`lookup` and `shift` give 0, the first class: write `next(x)`, or "
                     "`select(inside, labels, -1)`, which have no label there");
}

static Val call_block(Elab *e, const Node *call, const Node *block)
{
    size_t n = block->kids.count;
    Val *values = ARENA_ARRAY(e->arena, Val, n + 1);
    bool *given = ARENA_ARRAY(e->arena, bool, n + 1);
    if (!bind_args(e, call, block, values, given))
        return val_error();
    if (e->call_depth >= MAX_CALL_DEPTH) {
        Val error = elab_error(
            e, call, "calls are nested deeper than %d%s", MAX_CALL_DEPTH,
            calls_itself(e, block)
                ? arena_printf(e->arena, ": `%s` calls itself; `repeat` runs a body several times",
                               block->name)
                : "");
        e->stopped = true;
        return error;
    }
    if (!strcmp(block->name, "cross_entropy") && n > 1 && given[1])
        look_at_labels(e, call, &values[1]);
    Scope *scope = call_scope(e, call, block);
    if (strlen(scope->path) > MAX_NAME_LENGTH)
        return elab_error(e, call, "the name of this call is longer than %d characters",
                          MAX_NAME_LENGTH);
    Frame frame = {
        .up = e->frame, .scope = scope, .call = call, .block = block, .trail = trail_to(e, call)};
    map_init(&frame.vars, e->arena);
    e->frame = &frame;
    e->call_depth++;
    int mistakes = e->mistakes;
    for (size_t i = 0; i < n; i++) {
        Val val = given[i] ? values[i] : eval_node(e, block->kids.data[i]->a);
        map_set(&frame.vars, block->kids.data[i]->name, arena_copy(e->arena, &val, sizeof val));
    }
    run_body(e, &block->body);
    e->call_depth--;
    e->frame = frame.up;
    if (frame.result.kind == VAL_NONE && e->mistakes != mistakes)
        return val_error(); /* perhaps it was the `return` */
    if (frame.result.kind == VAL_TENSOR && scope != e->frame->scope)
        map_set(&e->exposed, scope->path, frame.result.tensor);
    return frame.result;
}

Val eval_call(Elab *e, const Node *call)
{
    const Node *block = map_get(&e->blocks, call->name);
    if (block)
        return call_block(e, call, block);
    const Builtin *builtin = find_builtin(call->name);
    if (builtin) {
        if (call->label)
            return elab_error(e, call,
                              "`%s` is a function, which has no params: `as` names calls of blocks",
                              call->name);
        return run_builtin(e, builtin, call);
    }
    const char *foreign = foreign_function(call->name);
    const bool is_value = map_has(&e->frame->vars, call->name) || map_has(&e->decls, call->name);
    if (!is_value && foreign)
        return elab_error(e, call, "there is no block or function `%s`%s", call->name, foreign);
    for (size_t i = 0; i < call->kids.count; i++)
        eval_node(e, call->kids.data[i]->a); /* further mistakes inside */
    if (!strcmp(call->name, "column"))
        return elab_error(e, call,
                          "`column` is no function: it feeds an input, as in "
                          "`input x : float[B, 8] = column(\"x\")`");
    const char *names[160] = {"return", "repeat", "if"};
    int n = 3 + builtin_names(NULL);
    builtin_names(names + 3);
    const Map *maps[] = {&e->blocks};
    if (is_value)
        return elab_error(
            e, call,
            "`%.60s` is a value, not a block: it cannot be called; rows of a table are "
            "looked up as `table[x]`",
            call->name);
    return elab_error(e, call, "there is no block or function `%.60s`%s", call->name,
                      did_you_mean(e, call->name, maps, 1, names, n));
}
