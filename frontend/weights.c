/* The weights block: names of a foreign checkpoint for our params.
 *
 *   layer.*.self.query.weight = transpose(slice("h.*.attn.c_attn.weight", 0, 0, d_model))
 *
 * The k-th * of their name stands for what the k-th * of ours met. */
#include "frontend/weights.h"

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

const char *stars_fill(Elab *e, const char *pattern, const Stars *stars)
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
    return text_keep(e->arena, &text);
}

static void elaborate_map(Elab *e, const Node *map, Map *mapped)
{
    Stars stars;
    bool any = !map->a; /* the parser told */
    for (size_t i = 0; map->a && i < e->module->params.count; i++) {
        const ParamInfo *param = e->module->params.data[i];
        if (!match(map->name, param->name, &stars))
            continue;
        any = true;
        if (map_has(mapped, param->name))
            continue; /* an earlier line holds */
        map_set(mapped, param->name, (void *)map);
        WeightMap weight = {.ours = param->name, .loc = map->loc};
        if (!weight_parts(e, map->a, param, &stars, &weight))
            return;
        vec_push(e->arena, e->model->weights, weight);
    }
    /* of a library's lines, those of blocks that the using file replaces meet nothing */
    if (any || map->loc.source != e->loaded.main)
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
