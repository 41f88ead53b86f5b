/* What a line of the weights block says of one param: an expression over tensors of a foreign
 * checkpoint, as the parts that make the param.
 *
 *   concat([transpose("k.weight"), transpose("v.weight")], 1)
 *
 * The param's shape is known, so the expression is taken apart from its root down to the names:
 * which axis, and from where to where. Parts then read both ways (driver/run/weights.h). */
#include "frontend/weights.h"

#include <math.h>

/* Takes one line of the block apart for one param. */
typedef struct Cutter {
    Elab *e;
    const ParamInfo *param;
    const Stars *stars;
    VEC(WeightPart) parts;
    bool in_product; /* with a tensor */
} Cutter;

typedef enum Form {
    FORM_SLICE,
    FORM_TRANSPOSE,
    FORM_PERMUTE,
    FORM_CONCAT,
    FORM_TIED,
    FORM_OPTIONAL,
    FORMS
} Form;

static const struct {
    const char *name, *arguments[4], *usage;
    int most;
} forms[FORMS] = {
    [FORM_SLICE] = {"slice", {"x", "axis", "start", "size"}, "slice(x, axis, start, size)", 4},
    [FORM_TRANSPOSE] = {"transpose", {"x"}, "transpose(x)", 1},
    [FORM_PERMUTE] = {"permute", {"x", "order"}, "permute(x, [1, 0])", 2},
    [FORM_CONCAT] = {"concat", {"list", "axis", "sizes"}, "concat([x, y], axis, sizes)", 3},
    [FORM_OPTIONAL] = {"optional", {"x"}, "optional(x)", 1},
    [FORM_TIED] = {"tied", {"list"}, "tied([\"name\", \"other\"])", 1},
};

static Form form_of(const Node *node)
{
    int form = 0;
    while (form < FORMS && (node->kind != NODE_CALL || strcmp(node->name, forms[form].name)))
        form++;
    return form;
}

/* Whether a checkpoint's tensor occurs in it. */
static bool has_tensor(const Node *node)
{
    if (!node)
        return false;
    bool has = node->kind == NODE_STRING || has_tensor(node->a) || has_tensor(node->b);
    for (size_t i = 0; !has && i < node->kids.count; i++)
        has = has_tensor(node->kids.data[i]);
    return has;
}

/* Argument i of a call, by place or by name; NULL: it is not given. */
static const Node *argument(const Node *call, Form form, int i)
{
    for (size_t k = 0; k < call->kids.count; k++) {
        const Node *arg = call->kids.data[k];
        if (arg->name ? !strcmp(arg->name, forms[form].arguments[i]) : (int)k == i)
            return arg->a;
    }
    return NULL;
}

static bool misused(Cutter *c, const Node *call, Form form)
{
    elab_error(c->e, call, "it is `%s`, not `%s`", forms[form].usage,
               expression_text(c->e->arena, call));
    return false;
}

static bool whole_argument(Cutter *c, const Node *call, Form form, int i, int64_t *out)
{
    const Node *node = argument(call, form, i);
    if (!node)
        return misused(c, call, form);
    Val val = eval_at_top(c->e, node);
    if (val.kind == VAL_ERROR)
        return false;
    if (whole_number(&val, out) && *out >= 0)
        return true;
    elab_error(c->e, node, "`%s` is a whole number, not %s", forms[form].arguments[i],
               val_text(c->e, &val));
    return false;
}

static bool axis_argument(Cutter *c, const Node *call, Form form, int rank, int *axis)
{
    const Node *node = argument(call, form, 1);
    if (!node && form == FORM_CONCAT) {
        *axis = 0;
        return true;
    }
    Val val = node ? eval_at_top(c->e, node) : val_error();
    int64_t number;
    if (!node)
        return misused(c, call, form);
    if (whole_number(&val, &number) && number >= rank) {
        elab_error(c->e, call, "`%s` is %s: it has no axis %lld", c->param->name,
                   type_text(c->e, &c->param->type), (long long)number);
        return false;
    }
    return axis_of(c->e, node, &val, rank, axis);
}

/* The elements of a list argument; NULL after a message. */
static const NodeList *list_argument(Cutter *c, const Node *call, Form form)
{
    const Node *list = argument(call, form, 0);
    if (list && list->kind == NODE_LIST && list->kids.count)
        return &list->kids;
    misused(c, call, form);
    return NULL;
}

/* ---- axes ---- */

/* Axis i of the result is axis order[i] of what is permuted. */
static bool read_order(Cutter *c, const Node *call, Form form, int rank, int order[MAX_RANK])
{
    bool used[MAX_RANK] = {0};
    for (int i = 0; i < rank; i++)
        order[i] = i;
    if (form == FORM_TRANSPOSE && rank >= 2) {
        order[rank - 1] = rank - 2;
        order[rank - 2] = rank - 1;
    }
    if (form == FORM_TRANSPOSE)
        return call->kids.count == 1 || misused(c, call, form);
    const Node *node = argument(call, form, 1);
    Val list = node ? eval_at_top(c->e, node) : val_error();
    bool fits = list.kind == VAL_LIST && list.n == rank;
    for (int i = 0; fits && i < rank; i++) {
        if (!axis_of(c->e, node, &list.items[i], rank, &order[i]))
            return false;
        fits = !used[order[i]];
        used[order[i]] = true;
    }
    if (!fits)
        elab_error(c->e, call, "the order names each of the %d axes of `%s` once", rank,
                   c->param->name);
    return fits;
}

static WeightPart permuted(const WeightPart *part, const int order[MAX_RANK])
{
    WeightPart result = *part;
    for (int i = 0; i < part->rank; i++)
        result.axes[order[i]] = part->axes[i];
    return result;
}

static bool sliced(Cutter *c, const Node *call, WeightPart *part)
{
    int axis;
    int64_t start, size;
    if (!axis_argument(c, call, FORM_SLICE, part->rank, &axis) ||
        !whole_argument(c, call, FORM_SLICE, 2, &start) ||
        !whole_argument(c, call, FORM_SLICE, 3, &size))
        return false;
    WeightAxis *at = &part->axes[axis];
    if (at->is_slice) {
        elab_error(c->e, call, "a slice of a slice along the same axis: write one slice");
        return false;
    }
    if (at->size != size) {
        elab_error(c->e, call, "`%s` is %s: %lld elements of axis %d do not fill it",
                   c->param->name, type_text(c->e, &c->param->type), (long long)size, axis);
        return false;
    }
    at->is_slice = true;
    at->stretches = false;
    at->their_begin = start;
    return true;
}

/* ---- concat ---- */

/* Elements of an expression along an axis of its own; -1: the file tells. */
static int64_t size_along(Cutter *c, const Node *node, int rank, int axis)
{
    Form form = form_of(node);
    if (node->kind == NODE_BINARY)
        return size_along(c, has_tensor(node->a) ? node->a : node->b, rank, axis);
    int order[MAX_RANK], along;
    int64_t size;
    if (form == FORM_OPTIONAL && argument(node, form, 0))
        return size_along(c, argument(node, form, 0), rank, axis);
    if ((form == FORM_TRANSPOSE || form == FORM_PERMUTE) && argument(node, form, 0) &&
        read_order(c, node, form, rank, order))
        return size_along(c, argument(node, form, 0), rank, order[axis]);
    if (form != FORM_SLICE || !argument(node, form, 0) ||
        !axis_argument(c, node, form, rank, &along))
        return -1;
    if (along != axis)
        return size_along(c, argument(node, form, 0), rank, axis);
    return whole_argument(c, node, form, 3, &size) ? size : -1;
}

static bool cut_weight_part(Cutter *c, const Node *node, const WeightPart *part);

/* The sizes of n parts along the axis, as `sizes` or the parts themselves say; -1: neither does.
 * NULL after a message. */
static const int64_t *concat_sizes(Cutter *c, const Node *call, const NodeList *list, int rank,
                                   int axis)
{
    const Node *node = argument(call, FORM_CONCAT, 2);
    int64_t *sizes = ARENA_ARRAY(c->e->arena, int64_t, list->count);
    if (!node) {
        for (size_t i = 0; i < list->count; i++)
            sizes[i] = size_along(c, list->data[i], rank, axis);
        return sizes;
    }
    Val val = eval_at_top(c->e, node);
    if (val.kind == VAL_ERROR)
        return NULL;
    bool fits = val.kind == VAL_LIST && (size_t)val.n == list->count;
    for (size_t i = 0; fits && i < list->count; i++)
        fits = whole_number(&val.items[i], &sizes[i]) && sizes[i] > 0;
    if (!fits)
        elab_error(c->e, node, "`sizes` is a list of whole numbers, one for each of %zu parts",
                   list->count);
    return fits ? sizes : NULL;
}

/* Parts whose size nobody says share what the others leave, equally. */
static bool cut_concat(Cutter *c, const Node *call, const WeightPart *part)
{
    int axis;
    const NodeList *list = list_argument(c, call, FORM_CONCAT);
    if (!list || !axis_argument(c, call, FORM_CONCAT, part->rank, &axis))
        return false;
    if (part->axes[axis].is_slice) {
        elab_error(c->e, call, "a slice of a concat along its axis: slice its parts instead");
        return false;
    }
    const int64_t *sizes = concat_sizes(c, call, list, part->rank, axis);
    if (!sizes)
        return false;
    int64_t rest = part->axes[axis].size, open = 0, at = 0;
    for (size_t i = 0; i < list->count; i++) {
        rest -= sizes[i] > 0 ? sizes[i] : 0;
        open += sizes[i] < 0;
    }
    if (rest < 0 || (open ? rest % open != 0 || rest == 0 : rest != 0)) {
        elab_error(
            c->e, call,
            "`%s` is %s: %zu parts along axis %d do not fill it; `sizes` says how large each "
            "is: concat([x, y], axis, [2, 4])",
            c->param->name, type_text(c->e, &c->param->type), list->count, axis);
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        WeightPart child = *part;
        child.axes[axis].size = sizes[i] < 0 ? rest / open : sizes[i];
        child.axes[axis].begin += at;
        child.axes[axis].stretches = false;
        at += child.axes[axis].size;
        if (!cut_weight_part(c, list->data[i], &child))
            return false;
    }
    return true;
}

/* ---- the tree ---- */

/* Appends the pattern of a tensor's name: a string, or strings and constants that are strings, one
 * after the other: `prefix + "wte.weight"`. False after a message. */
static bool put_name(Cutter *c, const Node *node, Text *out)
{
    if (node->kind == NODE_BINARY && node->op == TOKEN_PLUS)
        return put_name(c, node->a, out) && put_name(c, node->b, out);
    Val val = eval_at_top(c->e, node);
    if (val.kind == VAL_STRING)
        text_string(out, val.text);
    else if (val.kind != VAL_ERROR)
        elab_error(c->e, node, "a tensor's name is a string");
    return val.kind == VAL_STRING;
}

static bool add_part(Cutter *c, const WeightPart *part, const Node *const *names, size_t n)
{
    WeightPart made = *part;
    made.n_theirs = (int)n;
    made.theirs = ARENA_ARRAY(c->e->arena, const char *, n);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        Text name = {0};
        ok = put_name(c, names[i], &name);
        made.theirs[i] = stars_fill(c->e, name.data ? name.data : "", c->stars);
        text_free(&name);
    }
    if (!ok)
        return false;
    vec_push(c->e->arena, c->parts, made);
    return true;
}

/* x * c, c * x, x / c. */
static bool cut_scaled(Cutter *c, const Node *node, const WeightPart *part)
{
    bool left = has_tensor(node->a);
    bool divides = node->op == TOKEN_SLASH;
    Val val = eval_at_top(c->e, left ? node->b : node->a);
    if (val.kind == VAL_ERROR)
        return false;
    bool fits = val.kind == VAL_NUMBER && isfinite(val.number) && val.number != 0;
    if (!fits || (divides && !left)) {
        elab_error(c->e, node, "a tensor is scaled by a number that is not 0: `x * 2` or `x / 2`");
        return false;
    }
    WeightPart child = *part;
    child.scale = divides ? part->scale / val.number : part->scale * val.number;
    return cut_weight_part(c, left ? node->a : node->b, &child);
}

/* x * y, both of tensors: x has the shape, y is stretched to it. The number by which both are
 * scaled goes to y, so that integers of x are multiplied as they are. */
static bool cut_product(Cutter *c, const Node *node, const WeightPart *part)
{
    WeightPart x = *part, y = *part;
    x.scale = 1;
    y.multiplies = true;
    for (int i = 0; i < y.rank; i++)
        y.axes[i].stretches = true;
    const bool outside = c->in_product;
    c->in_product = true;
    const bool ok = cut_weight_part(c, node->a, &x) && cut_weight_part(c, node->b, &y);
    c->in_product = outside;
    if (ok && part->is_optional)
        elab_error(
            c->e, node,
            "`optional` does not take a product of tensors: give params without these tensors a line of their own");
    return ok && !part->is_optional;
}

/* A random initial value would be another in each process. */
static bool make_optional(Cutter *c, const Node *call, WeightPart *part)
{
    if (c->in_product) {
        elab_error(
            c->e, call,
            "`optional` does not stand in a product of tensors: give params without this tensor a line of their own");
        return false;
    }
    const InitKind init = c->param->init;
    part->is_optional = init == INIT_ZEROS || init == INIT_ONES || init == INIT_CONSTANT;
    if (!part->is_optional)
        elab_error(
            c->e, call,
            "`optional` puts the initial value of the param in place of a missing tensor, and that of `%s` is random: begin it with zeros, ones or a number",
            c->param->name);
    return part->is_optional;
}

static bool cut_call(Cutter *c, const Node *call, Form form, const WeightPart *part)
{
    const Node *x = argument(call, form, 0);
    WeightPart child = *part;
    int order[MAX_RANK];
    if (!x || call->kids.count > (size_t)forms[form].most)
        return misused(c, call, form);
    if (form == FORM_CONCAT)
        return cut_concat(c, call, part);
    if (form == FORM_TIED) {
        const NodeList *names = list_argument(c, call, form);
        return names && add_part(c, part, (const Node *const *)names->data, names->count);
    }
    if (form == FORM_OPTIONAL)
        return make_optional(c, call, &child) && cut_weight_part(c, x, &child);
    if (form == FORM_SLICE)
        return sliced(c, call, &child) && cut_weight_part(c, x, &child);
    if (!read_order(c, call, form, part->rank, order))
        return false;
    child = permuted(part, order);
    return cut_weight_part(c, x, &child);
}

static bool cut_weight_part(Cutter *c, const Node *node, const WeightPart *part)
{
    Form form = form_of(node);
    if (node->kind == NODE_STRING || (node->kind == NODE_BINARY && node->op == TOKEN_PLUS))
        return add_part(c, part, &node, 1);
    if (form != FORMS)
        return cut_call(c, node, form, part);
    const bool times = node->kind == NODE_BINARY && node->op == TOKEN_STAR,
               over = node->kind == NODE_BINARY && node->op == TOKEN_SLASH;
    const bool left = times || over ? has_tensor(node->a) : false,
               right = times || over ? has_tensor(node->b) : false;
    if (left != right)
        return cut_scaled(c, node, part);
    if (times && left)
        return cut_product(c, node, part);
    elab_error(
        c->e, node,
        "a param comes from \"name\", transpose(x), permute(x, order), "
        "slice(x, axis, start, size), concat([x, y], axis, sizes), tied([\"name\", \"other\"]), "
        "optional(x), "
        "x * number or x * \"name\", not `%s`",
        expression_text(c->e->arena, node));
    return false;
}

bool weight_parts(Elab *e, const Node *from, const ParamInfo *param, const Stars *stars,
                  WeightMap *map)
{
    Cutter c = {.e = e, .param = param, .stars = stars};
    WeightPart whole = {.rank = param->type.rank, .scale = 1};
    for (int i = 0; i < whole.rank; i++)
        whole.axes[i] = (WeightAxis){.ours = i, .size = param->type.dims[i].size};
    bool ok = cut_weight_part(&c, from, &whole);
    map->parts = c.parts.data;
    map->n_parts = (int)c.parts.count;
    return ok;
}
