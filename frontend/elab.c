/* From a loaded tree to a model: declarations, then statements in order, then
 * what the model gives. */
#include "frontend/elab.h"

#include "ir/infer.h"
#include "base/file.h"

/* ---- declarations ---- */

static void collect(Elab *e)
{
    const NodeList *items = &e->loaded.items;
    for (size_t i = 0; i < items->count; i++) {
        Node *node = items->data[i];
        if (node->overridden)
            continue;
        if (node->kind == NODE_BLOCK)
            map_set(&e->blocks, node->name, node);
        if (node->kind == NODE_CONST || node->kind == NODE_DIM || node->kind == NODE_INPUT ||
            node->kind == NODE_PARAM) {
            Decl *decl = ARENA_NEW(e->arena, Decl);
            decl->node = node;
            map_set(&e->decls, node->name, decl);
        }
        if (node->kind == NODE_MODEL && node->loc.source == e->loaded.main)
            e->module->name = node->name;
    }
}

static bool element_type(Elab *e, const Node *input, DType *dtype)
{
    static const char *const words[] = {"token", "int", "i32", "float", "f32", "bool"};
    const char *word = input->text;
    if (!strcmp(word, "token") || !strcmp(word, "i32") || !strcmp(word, "int"))
        *dtype = DT_I32;
    else if (!strcmp(word, "float") || !strcmp(word, "f32"))
        *dtype = e->float_type;
    else if (!strcmp(word, "bool"))
        *dtype = DT_BOOL;
    else {
        elab_error(e, input->b, "no element type is called `%.60s`%s", word,
                   did_you_mean(e, word, NULL, 0, words, 6));
        return false;
    }
    return true;
}

/* False after a message about a name that nobody declared. */
static bool dims_are_known(Elab *e, const Node *input)
{
    const Map *maps[] = {&e->decls};
    for (size_t i = 0; i < input->a->kids.count; i++) {
        const Node *dim = input->a->kids.data[i];
        if (dim->kind == NODE_RAGGED)
            dim = dim->a;
        if (dim->kind != NODE_NAME || map_has(&e->decls, dim->name))
            continue;
        const char *hint = did_you_mean(e, dim->name, maps, 1, NULL, 0);
        elab_error(e, dim, "no dimension is called `%.60s`%s", dim->name,
                   *hint ? hint
                         : arena_printf(e->arena,
                                        "; `dim %.60s` declares one that is known only when a "
                                        "batch arrives, `const %.60s = …` a constant one",
                                        dim->name, dim->name));
        return false;
    }
    return true;
}

static Val declare_input(Elab *e, const Node *node)
{
    Type type = {0};
    Val flat[MAX_RANK];
    if (!node->a || !element_type(e, node, &type.dtype))
        return val_error();
    if (!dims_are_known(e, node))
        return val_error();
    Val list = eval_at_top(e, node->a);
    if (!dims_of(e, node->a, &list, &type.rank, type.dims, flat))
        return val_error();
    for (int i = 0; i < type.rank && (size_t)i < node->a->kids.count; i++)
        if (symbol_is_ragged(e->module, type.dims[i].symbol) &&
            node->a->kids.data[i]->kind != NODE_RAGGED)
            return elab_error(e, node->a->kids.data[i], "`%s` is ragged elsewhere: write `%s~`",
                              expression_text(e->arena, node->a->kids.data[i]),
                              expression_text(e->arena, node->a->kids.data[i]));
    e->b.loc = node->loc;
    Value *input = build_input(&e->b, node->name, type);
    bool fits = infer_type(e->module, input->op, &input->type, &e->inner);
    Val val = val_tensor(e, node->a, fits ? input : NULL);
    if (val.kind == VAL_TENSOR) {
        name_dims(e, val.tensor, flat);
        declare_column(e, node, input->op);
    }
    return val;
}

/* Whether a constant that replaces a used file's is of its kind; false after a message. Numbers are
 * truth values, too. */
static bool fits_replaced(Elab *e, const Node *node, const Val *val)
{
    const Node *old = map_get(&e->loaded.replaced, arena_printf(e->arena, "v %s", node->name));
    NodeKind was = old && old->a ? old->a->kind : NODE_NAME;
    bool number = was == NODE_NUMBER && (val->kind == VAL_BOOL || val->kind == VAL_STRING);
    bool truth = was == NODE_BOOL && val->kind == VAL_STRING;
    bool string = was == NODE_STRING && (val->kind == VAL_BOOL || val->kind == VAL_NUMBER);
    if (!number && !truth && !string)
        return true;
    elab_error(e, node, "`%s` is %s in the library, and cannot be %s", node->name,
               number  ? "a number"
               : truth ? "a truth value"
                       : "a string",
               val_text(e, val));
    elab_note(e, old->loc, "in the library, here");
    return false;
}

static Val const_value(Elab *e, const Node *node)
{
    const Node *around = e->constant;
    e->constant = node;
    Val val = node->a ? eval_at_top(e, node->a) : val_error();
    e->constant = around;
    if (val.kind == VAL_TENSOR || val.kind == VAL_DIM || val.kind == VAL_NONE)
        return elab_error(e, node, "a constant is a number, a truth value or a string, not %s",
                          val_text(e, &val));
    return fits_replaced(e, node, &val) ? val : val_error();
}

/* A declaration's value, at its first use. */
Val decl_value(Elab *e, Decl *decl, const Node *use)
{
    const Node *node = decl->node;
    decl->used = true;
    if (decl->state == DECL_DONE)
        return decl->value;
    if (decl->state == DECL_BUSY)
        return elab_error(e, use, "`%s` is defined by itself", node->name);
    decl->state = DECL_BUSY;
    if (node->kind == NODE_CONST)
        decl->value = const_value(e, node);
    else if (node->kind == NODE_INPUT)
        decl->value = declare_input(e, node);
    else {
        Frame *kept = e->frame;
        Scope *top_scope = e->top->scope;
        Scope outermost = {.path = ""};
        map_init(&outermost.labels, e->arena);
        map_init(&outermost.counts, e->arena);
        Loc reader = e->b.loc;
        e->frame = e->top;
        e->top->scope = &outermost;
        e->b.loc = primary_place(e, node);
        decl->value = declare_param(e, node, &outermost);
        e->b.loc = reader;
        e->top->scope = top_scope;
        e->frame = kept;
    }
    decl->state = DECL_DONE;
    return decl->value;
}

/* Constants and inputs in order; params wait for their first use. */
static void declare_all(Elab *e)
{
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < e->loaded.items.count; i++) {
            const Node *node = e->loaded.items.data[i];
            if (holds(node, kind ? NODE_INPUT : NODE_CONST))
                decl_value(e, map_get(&e->decls, node->name), node);
        }
}

static void list_const(Elab *e, const char *name, const Val *val)
{
    Text text = {0};
    if (val->kind == VAL_NUMBER)
        text_number(&text, val->number);
    else if (val->kind == VAL_BOOL)
        text_string(&text, val->number != 0 ? "true" : "false");
    else
        text_quote(&text, val->kind == VAL_STRING ? val->text : "");
    vec_push(e->arena, e->model->consts, ((ModelConst){name, text_keep(e->arena, &text)}));
}

static void list_consts(Elab *e)
{
    for (size_t i = 0; i < e->loaded.items.count; i++) {
        const Node *node = e->loaded.items.data[i];
        const Decl *decl = holds(node, NODE_CONST) ? map_get(&e->decls, node->name) : NULL;
        if (decl && decl->state == DECL_DONE && decl->value.kind != VAL_ERROR)
            list_const(e, node->name, &decl->value);
    }
}

/* Params that nothing used: their shapes are checked all the same. */
static void check_unused_params(Elab *e)
{
    int unused = 0;
    for (size_t i = 0; i < e->decls.count && !e->stopped; i++) {
        Decl *decl = e->decls.entries[i].value;
        bool library = is_library_file(&e->loaded, decl->node->loc.source);
        if (decl->node->kind != NODE_PARAM || decl->used || library)
            continue;
        Val list = eval_at_top(e, decl->node->a), flat[MAX_RANK];
        Dim dims[MAX_RANK];
        int rank;
        if (dims_of(e, decl->node->a, &list, &rank, dims, flat) && unused++ < MAX_MISTAKES)
            diag_warning(e->diags, decl->node->loc, "the %s `%.60s` is never used",
                         decl->node->role == PARAM_STATE ? "state" : "param", decl->node->name);
    }
    if (unused > MAX_MISTAKES)
        diag_remark(e->diags, (Loc){.source = e->loaded.main},
                    "%d more params and states are never used", unused - MAX_MISTAKES);
}

/* ---- what the model gives ---- */

static bool path_matches(const char *pattern, const char *path)
{
    while (*pattern && *path) {
        size_t p = strcspn(pattern, "."), n = strcspn(path, ".");
        if (!(p == 1 && *pattern == '*') && (p != n || memcmp(pattern, path, n)))
            return false;
        pattern += p;
        path += n;
        if (*pattern != *path)
            return false;
        pattern += *pattern == '.';
        path += *path == '.';
    }
    return !*pattern && !*path;
}

/* `output encoder.layer.0.self.p`: anything a block computed, under its dotted name. */
static void expose(Elab *e, const char *pattern, const Node *node)
{
    bool any = false;
    for (size_t i = 0; i < e->exposed.count; i++) {
        const MapEntry *entry = &e->exposed.entries[i];
        if (!path_matches(pattern, entry->key))
            continue;
        any = true;
        if (map_has(&e->outputs, entry->key) || !strcmp(entry->key, "loss"))
            continue;
        map_set(&e->outputs, entry->key, (void *)node);
        if (gives_merges(e))
            continue;
        e->b.loc = node->loc;
        build_output(&e->b, entry->key, entry->value);
    }
    if (any)
        return;
    const Map *maps[] = {&e->exposed, &e->decls};
    elab_error(e, node, "the model computes nothing called `%s`%s", pattern,
               did_you_mean(e, pattern, maps, 2, NULL, 0));
}

static void expose_all(Elab *e)
{
    for (size_t i = 0; i < e->exposures.count; i++)
        expose(e, e->exposures.data[i]->name, e->exposures.data[i]);
    const FrontendOptions *options = e->loaded.options;
    for (int i = 0; options && i < options->n_outputs; i++) {
        Node *node = ARENA_NEW(e->arena, Node);
        node->loc = (Loc){.source = e->loaded.main};
        expose(e, options->outputs[i], node);
    }
}

static void finish_loss(Elab *e)
{
    const Val *loss = map_get(&e->top->vars, "loss");
    if (loss && loss->kind == VAL_ERROR)
        return;
    if (!loss && e->losses.count)
        elab_error(e, e->losses.data[0].call, "`add_loss`: the model has no `loss` to add to");
    if (!loss)
        return;
    const Node *node = NULL;
    for (size_t i = 0; i < e->loaded.items.count; i++)
        if (holds(e->loaded.items.data[i], NODE_ASSIGN) &&
            !strcmp(e->loaded.items.data[i]->name, "loss"))
            node = e->loaded.items.data[i];
    if (!node)
        return;
    if (loss->kind != VAL_TENSOR || loss->tensor->type.rank ||
        !dtype_is_float(loss->tensor->type.dtype)) {
        elab_error(e, node, "the loss is one number, not %s; `mean(x)` makes one",
                   val_text(e, loss));
        return;
    }
    e->b.loc = node->loc;
    if (gives_merges(e))
        return;
    Value *sum = loss->tensor;
    for (size_t i = 0; i < e->losses.count; i++)
        sum = build_binary(&e->b, OP_add, sum, e->losses.data[i].value);
    build_output(&e->b, "loss", sum);
    e->model->has_loss = true;
}

static void elaborate(Elab *e)
{
    const FrontendOptions *options = e->loaded.options;
    collect(e);
    declare_dims(e);
    declare_all(e);
    list_consts(e);
    declare_vocabs(e);
    run_body(e, &e->loaded.items);
    if (!e->diags->errors)
        check_unused_params(e);
    expose_all(e);
    finish_loss(e);
    for (size_t i = 0; i < e->loaded.items.count; i++)
        if (e->loaded.items.data[i]->kind == NODE_TRAIN)
            elaborate_train(e, e->loaded.items.data[i]);
    for (size_t i = e->loaded.items.count; i-- > 0;)
        if (e->loaded.items.data[i]->kind == NODE_WEIGHTS && !e->diags->errors)
            elaborate_weights(e, e->loaded.items.data[i]);
    if (!e->diags->errors && !e->outputs.count && !e->model->has_loss)
        diag_error(e->diags, (Loc){.source = e->loaded.main},
                   "the model gives nothing: it has neither an `output` nor a `loss`%s",
                   map_has(&e->top->vars, "output") ? "; an output has a name: `output y = …`"
                                                    : "");
    if (!e->diags->errors && !(options && options->is_trained))
        warn_unused(&e->loaded);
}

Model *model_parse(Arena *arena, Diagnostics *diags, const Source *source,
                   const FrontendOptions *options)
{
    Elab elab = {.arena = arena,
                 .diags = diags,
                 .dim_names = side_new(arena),
                 .twins = side_new(arena)},
         *e = &elab;
    int before = diags->errors;
    if (!load_model(&e->loaded, arena, diags, source, options))
        return NULL;
    diag_init(&e->inner, arena);
    e->float_type = options ? options->float_type : DT_F32;
    e->model = ARENA_NEW(arena, Model);
    e->model->path = source->path;
    e->model->library = e->loaded.library;
    e->model->reach = options ? options->reach : FILE_ANYWHERE;
    train_defaults(&e->model->train);
    for (size_t i = 0; i < e->loaded.files.count; i++) {
        vec_push(arena, e->model->files, e->loaded.files.data[i]);
        vec_push(arena, e->model->places, e->loaded.places.data[i]);
    }
    e->module = e->model->module = module_new(arena, &e->inner, "model");
    e->b = builder_at_end(module_add_function(e->module, "model"));
    Map *maps[] = {&e->blocks,  &e->decls,  &e->param_sites, &e->inputs_made, &e->exposed,
                   &e->outputs, &e->merges, &e->updates,     &e->reported};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_init(maps[i], arena);
    Frame top = {.scope = scope_new(e, "")};
    map_init(&top.vars, arena);
    e->top = e->frame = &top;
    elaborate(e);
    if (diags->errors != before)
        return NULL;
    function_number(e->b.function);
    e->module->diags = diags;
    return e->model;
}

Model *model_load(Arena *arena, Diagnostics *diags, const char *path,
                  const FrontendOptions *options)
{
    const Source *source = file_read_within(diags, arena, options ? options->reach : FILE_ANYWHERE,
                                            path, MODEL_MAX_BYTES);
    return source ? model_parse(arena, diags, source, options) : NULL;
}
