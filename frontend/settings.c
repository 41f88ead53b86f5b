/* Constants that --set, or the vocabulary, gives other values. */
#include "frontend/load.h"

/* The value of a setting; NULL after a message. A name alone is that of another constant. */
static Node *setting_node(Loaded *loaded, const Source *source, const Node *constant,
                          const char *const *names, size_t n_names)
{
    static const char *const known[] = {"inf", "pi"};
    Node *value = parse_tfg_expression(loaded->arena, loaded->diags, source);
    if (!value || !constant)
        return value;
    const Node *was = constant->a;
    bool is_name = value->kind == NODE_NAME;
    for (size_t i = 0; is_name && i < n_names + 2; i++)
        if (!strcmp(value->name, i < n_names ? names[i] : known[i - n_names]))
            return value;
    if (!is_name && !(was && was->kind == NODE_NUMBER &&
                      (value->kind == NODE_BOOL || value->kind == NODE_STRING)))
        return value;
    diag_error(
        loaded->diags, value->loc, "expected %s, not `%s`%s",
        !was || was->kind == NODE_NUMBER ? "a number"
        : was->kind == NODE_BOOL         ? "true or false"
        : was->kind == NODE_STRING
            ? arena_printf(loaded->arena, "a string, with its quotes: '\"%.60s\"'", value->name)
            : "a number, or an expression of constants",
        expression_text(loaded->arena, value),
        is_name ? text_suggest(loaded->arena, "`", value->name, names, n_names) : "");
    return NULL;
}

static void no_constant(Loaded *loaded, const Setting *setting, bool is_size, const Source *source,
                        const char *const *names, size_t n_names)
{
    if (is_size)
        diag_error(
            loaded->diags, (Loc){.source = loaded->main},
            "the model needs `const %s`, which is set to the size of the vocabulary, here %s: use it for "
            "the rows of the embedding",
            setting->name, setting->value);
    else
        diag_error(loaded->diags, (Loc){.source = source}, "the model has no constant `%s`%s",
                   setting->name, text_suggest(loaded->arena, "`", setting->name, names, n_names));
}

void apply_settings(Loaded *loaded)
{
    const FrontendOptions *options = loaded->options;
    Arena *arena = loaded->arena;
    VEC(const char *) names = {0};
    Map constants;
    map_init(&constants, arena);
    for (size_t k = 0; k < loaded->items.count; k++) {
        Node *node = loaded->items.data[k];
        if (node->kind != NODE_CONST || node->overridden)
            continue;
        vec_push(arena, names, node->name);
        map_set(&constants, node->name, node);
    }
    for (int i = 0; options && i < options->n_settings; i++) {
        const Setting *setting = &options->settings[i];
        bool is_size = i >= options->n_settings - options->n_sizes;
        const char *path =
            is_size ? "the size of the vocabulary" : arena_printf(arena, "--set %s", setting->name);
        const Source *source = diag_source(arena, path, setting->value, strlen(setting->value));
        Node *constant = map_get(&constants, setting->name);
        Node *value = setting_node(loaded, source, constant, names.data, names.count);
        if (!constant)
            no_constant(loaded, setting, is_size, source, names.data, names.count);
        else if (value) {
            constant->a = value;
            constant->loc = value->loc; /* where messages say the constant comes from */
        }
    }
}
