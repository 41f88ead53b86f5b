/* Messages of elaboration: placed where the user can act, once, with the calls
 * that led there. */
#include "frontend/elab.h"

#include "ir/text.h"

enum { MAX_CALL_NOTES = 4 };

/* The innermost call in the user's own files, if the node lies in a library. */
static const Frame *users_call(const Elab *e, const Node *node)
{
    if (!is_library_file(&e->loaded, node->loc.source))
        return NULL;
    for (const Frame *frame = e->frame; frame; frame = frame->up)
        if (frame->call && !is_library_file(&e->loaded, frame->call->loc.source))
            return frame;
    return NULL;
}

const char *called_name(const Elab *e, const Node *call)
{
    const Frame *users = users_call(e, call);
    return users ? users->call->name : call->name;
}

const Trail *trail_to(const Elab *e, const Node *node)
{
    Trail *trail = ARENA_NEW(e->arena, Trail);
    *trail = (Trail){node->loc.source, node->loc.line, e->frame->trail};
    return trail;
}

Loc primary_place(const Elab *e, const Node *node)
{
    const Frame *frame = users_call(e, node);
    Loc place = frame ? frame->call->loc : node->loc;
    place.trail = trail_to(e, node);
    return place;
}

bool is_users(const Elab *e, const Loc *loc)
{
    return loc->source && !is_library_file(&e->loaded, loc->source);
}

static void note_calls(Elab *e, const Frame *frame, const Node *told)
{
    const Node *noted[MAX_CALL_NOTES + 1] = {told};
    int notes = 0;
    for (; frame && notes < MAX_CALL_NOTES; frame = frame->up) {
        bool again = !frame->call;
        for (int i = 0; i <= notes; i++)
            again |= frame->call == noted[i];
        if (again)
            continue;
        diag_note(e->diags, frame->call->loc, "in `%s`, called here", frame->block->name);
        noted[++notes] = frame->call;
    }
}

/* `place`: where the user can act, if that is not the node; once a place. */
static Val report(Elab *e, const Node *node, const Loc *place, const Frame *users,
                  const char *message)
{
    e->mistakes++;
    const char *key = users || !place ? arena_printf(e->arena, "%p %p", (const void *)node,
                                                     users ? (const void *)users->call : NULL)
                                      : arena_printf(e->arena, "%s:%d:%d", place->source->path,
                                                     place->line, place->column);
    const Loc *at = place ? place : &node->loc;
    const char *same = arena_printf(e->arena, "%s:%d:%d %s", at->source ? at->source->path : "",
                                    at->line, at->column, message);
    bool silent = map_has(&e->reported, key) || map_has(&e->reported, same) ||
                  e->diags->errors >= MAX_MISTAKES;
    map_set(&e->reported, "silent", silent ? e : NULL);
    if (silent)
        return val_error();
    map_set(&e->reported, key, e);
    map_set(&e->reported, same, e);
    diag_error(e->diags, place ? *place : node->loc, "%s", message);
    if (place)
        diag_note(e->diags, node->loc, "in the library, here");
    if (users || !place)
        note_calls(e, users ? users->up : e->frame, users ? users->call : NULL);
    return val_error();
}

Val elab_error(Elab *e, const Node *node, const char *format, ...)
{
    const Frame *users = users_call(e, node);
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(e->arena, format, args);
    va_end(args);
    return report(e, node, users ? &users->call->loc : NULL, users, message);
}

Val elab_error_taken(Elab *e, const Node *node, const char *name, const CallLabel *taken,
                     const char *advice)
{
    Val error = elab_error(e, node, "the name `%s` is taken here%s", name, advice);
    elab_note(e, taken->site->loc, "it names this");
    return error;
}

const Node *replaced_block(const Elab *e, const Node *block, const Node *call)
{
    const char *key = arena_printf(e->arena, "b %s", block->name);
    return call->loc.source != block->loc.source ? map_get(&e->loaded.replaced, key) : NULL;
}

Val elab_error_of_block(Elab *e, const Node *block, const char *format, ...)
{
    Frame *kept = e->frame;
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(e->arena, format, args);
    va_end(args);
    e->frame = e->top; /* whichever calls led here */
    Val error = elab_error(e, block, "%s", message);
    e->frame = kept;
    return error;
}

Val elab_error_of(Elab *e, const Node *node, const Val *number, const char *format, ...)
{
    const Frame *users = users_call(e, node);
    bool library = is_library_file(&e->loaded, node->loc.source);
    bool constant = library && !users && number->kind == VAL_NUMBER && is_users(e, &number->origin);
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(e->arena, format, args);
    va_end(args);
    return report(e, node,
                  users      ? &users->call->loc
                  : constant ? &number->origin
                             : NULL,
                  users, message);
}

void elab_note(Elab *e, Loc loc, const char *format, ...)
{
    if (map_get(&e->reported, "silent"))
        return;
    va_list args;
    va_start(args, format);
    diag_note(e->diags, loc, "%s", arena_vprintf(e->arena, format, args));
    va_end(args);
}

Val no_value(Elab *e, const Node *node)
{
    const Node *block = node->kind == NODE_CALL ? map_get(&e->blocks, node->name) : NULL;
    if (block && replaced_block(e, block, node)) {
        Val error = elab_error_of_block(
            e, block, "`%s` replaces the library's, and has no `return` that was reached",
            block->name);
        elab_note(e, node->loc, "its value is used here");
        return error;
    }
    Val error = elab_error(e, node, "`%s` gives no value", expression_text(e->arena, node));
    if (block)
        elab_note(e, block->loc, "the block has no `return` that was reached");
    return error;
}

const char *did_you_mean(Elab *e, const char *name, const Map *const *maps, int n_maps,
                         const char *const *more, int n_more)
{
    VEC(const char *) names = {0};
    if (e->diags->errors >= MAX_MISTAKES) /* nobody is shown it */
        return "";
    for (int i = 0; i < n_maps; i++)
        for (size_t k = 0; maps[i] && k < maps[i]->count; k++)
            vec_push(e->arena, names, maps[i]->entries[k].key);
    for (int i = 0; i < n_more; i++)
        vec_push(e->arena, names, more[i]);
    return text_suggest(e->arena, "`", name, names.data, names.count);
}

const char *type_text(Elab *e, const Type *type) { return ir_type_text(e->module, type, e->arena); }

const char *val_text(Elab *e, const Val *val)
{
    switch (val->kind) {
    case VAL_NUMBER: {
        Text text = {0};
        text_add(&text, "the number ");
        print_number(val->number, &text);
        return text_keep(e->arena, &text);
    }
    case VAL_BOOL: return val->number ? "`true`" : "`false`";
    case VAL_STRING: return arena_printf(e->arena, "the string \"%.40s\"", val->text);
    case VAL_DIM:
        return arena_printf(e->arena, "the dimension %s",
                            e->module->symbols.data[val->symbol].name);
    case VAL_TENSOR: return type_text(e, &val->tensor->type);
    case VAL_LIST: return arena_printf(e->arena, "a list of %d", val->n);
    default: return "nothing";
    }
}
