/* Params and states: names, shapes, how they begin. */
#include "frontend/elab.h"

#include "base/file.h"

static const struct InitWord {
    const char *name;
    InitKind kind;
    int min_args, max_args;
} init_words[] = {
#define INIT(NAME, word, numbers, call, least, most) {#call, INIT_##NAME, least, most},
#include "base/params.def"
};
enum { N_INIT_WORDS = INIT_COUNT };

static const struct InitWord *find_init(const char *name)
{
    for (int i = 0; i < N_INIT_WORDS; i++)
        if (!strcmp(init_words[i].name, name))
            return &init_words[i];
    return NULL;
}

static void load_from(Elab *e, const Node *node, const Val *args, int n, ParamInfo *info)
{
    for (int i = 0; i < n; i++)
        if (args[i].kind != VAL_STRING) {
            if (args[i].kind != VAL_ERROR)
                elab_error(e, node,
                           "`load` takes a file and the name of a tensor in it, as in "
                           "`load(\"vectors.safetensors\", \"weight\")`");
            return;
        }
    const char *file = args[0].text;
    info->file = file[0] == '/' ? file : file_beside(e->arena, node->loc.source->path, file);
    info->tensor = n > 1 ? args[1].text : info->name;
}

static void init_by_word(Elab *e, const Node *node, const struct InitWord *word, ParamInfo *info)
{
    int n = node->kind == NODE_CALL ? (int)node->kids.count : 0;
    Val args[2] = {{0}};
    if (n < word->min_args || n > word->max_args) {
        elab_error(e, node, "`%s` takes %d%s%s argument%s, given %d", word->name, word->min_args,
                   word->max_args > word->min_args ? " or " : "",
                   word->max_args > word->min_args ? arena_printf(e->arena, "%d", word->max_args)
                                                   : "",
                   text_plural(word->max_args, "", "s"), n);
        return;
    }
    for (int i = 0; i < n; i++) {
        args[i] = eval_node(e, node->kids.data[i]->a);
        if (word->kind != INIT_FILE && args[i].kind != VAL_NUMBER && args[i].kind != VAL_ERROR) {
            elab_error(e, node->kids.data[i], "`%s` takes numbers, not %s", word->name,
                       val_text(e, &args[i]));
            return;
        }
    }
    info->init = word->kind;
    bool gain = word->kind >= INIT_XAVIER_UNIFORM && word->kind <= INIT_ORTHOGONAL;
    info->a = gain && n == 0 ? 1 : args[0].number;
    info->b = args[1].number;
    if (word->kind == INIT_FILE)
        load_from(e, node, args, n, info);
}

static void read_init(Elab *e, const Node *node, ParamInfo *info)
{
    if (!node) {
        bool matrix = info->role != PARAM_STATE && info->type.rank >= 2;
        info->init = matrix ? INIT_XAVIER_UNIFORM : INIT_ZEROS;
        info->a = 1;
        return;
    }
    bool worded = node->kind == NODE_NAME || node->kind == NODE_CALL;
    const struct InitWord *word = worded ? find_init(node->name) : NULL;
    if (word) {
        init_by_word(e, node, word, info);
        return;
    }
    bool known =
        worded && (map_has(&e->decls, node->name) || map_has(&e->frame->vars, node->name) ||
                   find_builtin(node->name) || map_has(&e->blocks, node->name));
    if (worded && !known) {
        const char *names[N_INIT_WORDS];
        for (int i = 0; i < N_INIT_WORDS; i++)
            names[i] = init_words[i].name;
        const char *hint = did_you_mean(e, node->name, NULL, 0, names, N_INIT_WORDS);
        elab_error(e, node, "a param cannot begin as `%.60s`%s", node->name,
                   *hint ? hint : "; as in `normal(0, 0.02)`, `zeros` or `xavier_uniform`");
        return;
    }
    Val val = eval_node(e, node);
    if (val.kind == VAL_NUMBER) {
        info->init = INIT_CONSTANT;
        info->a = val.number;
    } else if (val.kind != VAL_ERROR)
        elab_error(e, node,
                   "a param begins as a number or as `zeros`, `normal(mean, deviation)`, "
                   "`xavier_uniform`, …, not %s",
                   val_text(e, &val));
}

/* Declared before under this name: by the same declaration run once more, it is
 * the same param. */
static Val share_param(Elab *e, const Node *node, const char *name, const Type *type,
                       const Val *dims)
{
    const Node *first = map_get(&e->param_sites, name);
    ParamInfo *info = module_param(e->module, name);
    if (first != node) {
        Val error = elab_error(e, node, "there is a param `%s` already", name);
        elab_note(e, first->loc, "declared here");
        return error;
    }
    if (!type_equal(&info->type, type))
        return elab_error(e, node, "`%s` is shared, but is %s here and %s before", name,
                          type_text(e, type), type_text(e, &info->type));
    Val val = val_tensor(e, node, build_param(&e->b, info));
    name_dims(e, val.tensor, dims);
    return val;
}

/* Whether the block around is called with whole numbers whose last dimension this is. */
static bool takes_tokens(const Elab *e, Dim dim)
{
    const Map *vars = &e->frame->vars;
    for (size_t i = 0; i < vars->count; i++) {
        const Val *val = vars->entries[i].value;
        const Type *type = val->kind == VAL_TENSOR ? &val->tensor->type : NULL;
        if (type && type->dtype == DT_I32 && type->rank &&
            dim_equal(type->dims[type->rank - 1], dim))
            return true;
    }
    return false;
}

Val declare_param(Elab *e, const Node *node, Scope *scope)
{
    Val list = eval_node(e, node->a), flat[MAX_RANK];
    Type type = {.dtype = e->float_type};
    if (!dims_of(e, node->a, &list, &type.rank, type.dims, flat))
        return val_error();
    int64_t elements = 1;
    for (int i = 0; i < type.rank; i++) {
        if (!dim_is_const(type.dims[i]))
            return elab_error(
                e, node->a,
                "the shape of a param must be constant: `%s` is known only when a batch arrives%s",
                e->module->symbols.data[type.dims[i].symbol].name,
                takes_tokens(e, type.dims[i]) ? "; tokens become rows of numbers by a table, "
                                                "`embedding[tokens]`"
                                              : "");
        if (__builtin_mul_overflow(elements, type.dims[i].size, &elements) ||
            elements > MAX_ELEMENTS)
            return elab_error(e, node->a, "`%s` is too large: %s", node->name, type_text(e, &type));
    }
    CallLabel *taken = map_get(&scope->labels, node->name);
    if (taken)
        return elab_error_taken(e, node, node->name, taken, ": choose another name");
    const char *name = scope_join(e, scope, node->name);
    if (strlen(name) > MAX_NAME_LENGTH)
        return elab_error(e, node, "the name of this param is longer than %d characters",
                          MAX_NAME_LENGTH);
    CallLabel *label = ARENA_NEW(e->arena, CallLabel);
    *label = (CallLabel){NULL, node};
    map_set(&scope->labels, node->name, label);
    if (module_param(e->module, name))
        return share_param(e, node, name, &type, flat);
    ParamInfo info = {.name = name,
                      .type = type,
                      .role = node->role,
                      .loc = node->loc,
                      .decay = node->role == PARAM_TRAINED && type.rank >= 2};
    read_init(e, node->b, &info);
    map_set(&e->param_sites, name, (void *)node);
    Val val = val_tensor(e, node, build_new_param(&e->b, module_add_param(e->module, info)));
    name_dims(e, val.tensor, flat);
    return val;
}
