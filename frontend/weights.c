/* The weights block: names of a foreign checkpoint for our params.
 *
 *   layer.*.self.query.weight = transpose(slice("h.*.attn.c_attn.weight", 0, 0, d_model))
 *
 * The k-th * of their name stands for what the k-th * of ours met. */
#include "frontend/elab.h"

typedef struct From {
    const char *pattern;
    bool transpose, sliced;
    int64_t axis, start, size;
} From;

static bool read_number(Elab *e, const Node *call, size_t i, int64_t *out)
{
    static const char *const names[] = {"x", "axis", "start", "size"};
    for (size_t k = 1; k < call->kids.count; k++) {
        const Node *arg = call->kids.data[k];
        if (arg->name ? strcmp(arg->name, names[i]) : k != i)
            continue;
        Val val = eval_at_top(e, arg->a);
        if (val.kind == VAL_ERROR)
            return false;
        if (whole_number(&val, out) && *out >= 0)
            return true;
        elab_error(e, arg, "`%s` is a whole number, not %s", names[i], val_text(e, &val));
        return false;
    }
    elab_error(e, call, "`slice` needs `%s`; it is slice(\"name\", axis, start, size)", names[i]);
    return false;
}

static bool read_slice(Elab *e, const Node *node, From *from)
{
    from->sliced = true;
    if (!read_number(e, node, 1, &from->axis) || !read_number(e, node, 2, &from->start) ||
        !read_number(e, node, 3, &from->size))
        return false;
    const char *wrong = NULL;
    if (from->size < 1)
        wrong = "a slice holds at least one element";
    else if (from->axis >= MAX_RANK)
        wrong = "a tensor has no such axis";
    if (wrong)
        elab_error(e, node, "%s", wrong);
    return !wrong;
}

static bool read_from(Elab *e, const Node *node, From *from)
{
    if (node->kind == NODE_STRING) {
        from->pattern = node->name;
        return true;
    }
    size_t n = node->kids.count;
    bool transpose = node->kind == NODE_CALL && n == 1 && !strcmp(node->name, "transpose");
    bool slice = node->kind == NODE_CALL && n && !strcmp(node->name, "slice");
    if (!transpose && !slice) {
        elab_error(
            e, node,
            "a param comes from \"name\", transpose(…) or slice(\"name\", axis, start, size), "
            "not `%s`",
            expression_text(e->arena, node));
        return false;
    }
    if (from->sliced || (transpose && from->transpose)) {
        elab_error(e, node, "a slice lies inside a transpose, each once");
        return false;
    }
    if (transpose)
        from->transpose = true;
    else if (!read_slice(e, node, from))
        return false;
    return read_from(e, node->kids.data[0]->a, from);
}

enum { MAX_STARS = 8 };
typedef struct Stars {
    int n;
    const char *text[MAX_STARS];
    size_t length[MAX_STARS];
} Stars;

/* Part by part; * meets any one part. */
static bool match(const char *pattern, const char *name, Stars *stars)
{
    stars->n = 0;
    while (*pattern && *name) {
        size_t p = strcspn(pattern, "."), n = strcspn(name, ".");
        bool star = p == 1 && *pattern == '*';
        if (star && stars->n < MAX_STARS) {
            stars->text[stars->n] = name;
            stars->length[stars->n++] = n;
        } else if (star || p != n || memcmp(pattern, name, n))
            return false;
        pattern += p;
        name += n;
        if (*pattern != *name)
            return false;
        pattern += *pattern == '.';
        name += *name == '.';
    }
    return !*pattern && !*name;
}

static const char *fill(Elab *e, const char *pattern, const Stars *stars)
{
    Text text = {0};
    int star = 0;
    text_put(&text, "", 0);
    for (; *pattern; pattern++) {
        if (*pattern == '*' && star < stars->n) {
            text_put(&text, stars->text[star], stars->length[star]);
            star++;
        } else
            text_put(&text, pattern, 1);
    }
    const char *filled = arena_strdup(e->arena, text.data);
    text_free(&text);
    return filled;
}

static void check_slice(Elab *e, const Node *map, const From *from, const ParamInfo *param)
{
    int rank = param->type.rank;
    int64_t axis = from->transpose ? rank - 1 - from->axis : from->axis;
    if (!from->sliced)
        return;
    if (from->axis >= rank)
        elab_error(e, map, "`%s` is %s: it has no axis %lld", param->name,
                   type_text(e, &param->type), (long long)from->axis);
    else if (param->type.dims[axis].size != from->size)
        elab_error(e, map, "`%s` is %s: %lld elements of axis %lld do not fill it", param->name,
                   type_text(e, &param->type), (long long)from->size, (long long)from->axis);
}

static void elaborate_map(Elab *e, const Node *map, Map *mapped)
{
    From from = {0};
    Stars stars;
    bool any = false;
    if (!map->a || !read_from(e, map->a, &from))
        return;
    for (size_t i = 0; i < e->module->params.count; i++) {
        const ParamInfo *param = e->module->params.data[i];
        if (!match(map->name, param->name, &stars))
            continue;
        any = true;
        if (map_has(mapped, param->name))
            continue; /* an earlier line holds */
        map_set(mapped, param->name, (void *)map);
        check_slice(e, map, &from, param);
        WeightMap weight = {.ours = param->name,
                            .theirs = fill(e, from.pattern, &stars),
                            .transpose = from.transpose,
                            .axis = (int)from.axis,
                            .start = from.start,
                            .size = from.size,
                            .loc = map->loc};
        vec_push(e->arena, e->model->weights, weight);
    }
    if (any)
        return;
    const Map *maps[] = {&e->module->param_by_name};
    elab_error(e, map, "the model has no param `%s`%s", map->name,
               did_you_mean(e, map->name, maps, 1, NULL, 0));
}

static void elaborate_maps(Elab *e, const NodeList *maps, Map *mapped)
{
    for (size_t i = 0; i < maps->count; i++) {
        const Node *map = maps->data[i];
        if (map->kind == NODE_MAP) {
            elaborate_map(e, map, mapped);
            continue;
        }
        bool truth;
        Val condition = map->a ? eval_at_top(e, map->a) : val_error();
        if (map->a && known_truth(e, map->a, &condition, &truth) && truth)
            elaborate_maps(e, &map->body, mapped);
    }
}

void elaborate_weights(Elab *e, const Node *weights)
{
    Map mapped;
    map_init(&mapped, e->arena);
    for (size_t i = 0; i < e->model->weights.count; i++)
        map_set(&mapped, e->model->weights.data[i].ours, e);
    elaborate_maps(e, &weights->kids, &mapped);
}
