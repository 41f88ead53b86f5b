/* A model as boxes within boxes: its blocks that compute floats, in the order in which they come,
 * with the shape of what each gives and the numbers of its params; layers that are alike are one
 * box. Params of no block stand above, counted once, and are named where they are used. An arrow
 * leads from an encoder to each block beside it that reads what it gives. */
#include "inspect/picture_svg.h"

#include "base/vec.h"
#include "inspect/svg.h"
#include "ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 2, WIDTH = 330, INDENT = 12, HEAD = 40, GAP = 14, MARGIN = 16, BETWEEN = 32 };
enum { MOST_SHARED = 40 };

/* Box: a block of the model, or a param of none, and those in it.
 *   copies    layers of this name: name.0, name.1, …
 *   numbers   of the params in it, of all copies
 *   uses      of the param, where there is more than one
 *   shape     of what its last op gives
 *   shared    names of params of other boxes that its ops use
 *   reads_encoder   an op of it uses what the encoder gives, and it stands beside the encoder
 *   x, y, width, height   its place */
typedef struct Box {
    const char *name, *shape;
    int64_t copies, numbers, uses;
    struct Box *parent;
    VEC(struct Box *) boxes;
    VEC(const char *) shared;
    bool reads_encoder;
    double x, y, width, height;
} Box;

typedef struct Drawing {
    Arena *arena;
    const Module *module;
    Box blocks, params; /* the model's blocks; params of none */
} Drawing;

static Box *find_box(const Box *parent, const char *name, size_t length)
{
    for (size_t i = 0; i < parent->boxes.count; i++) {
        Box *box = parent->boxes.data[i];
        if (strlen(box->name) == length && !memcmp(box->name, name, length))
            return box;
    }
    return NULL;
}

static Box *add_box(Box *parent, Arena *arena, const char *name, size_t length)
{
    Box *box = ARENA_ARRAY(arena, Box, 1);
    box->name = arena_strndup(arena, name, length);
    box->parent = parent;
    vec_push(arena, parent->boxes, box);
    return box;
}

/* Goes along a dotted name of `length` and adds to each box on its way, down to what layers are
 * made of; the last box. */
static Box *walk(Box *root, Arena *arena, const char *path, size_t length, int64_t numbers,
                 const char *shape)
{
    const char *end = path + length;
    Box *box = root;
    int depth = 0, most = MOST_DEPTH;
    root->numbers += numbers;
    for (const char *at = path; at < end;) {
        size_t part = strcspn(at, ".");
        if (at + part > end)
            part = (size_t)(end - at);
        int64_t number;
        if (part && strspn(at, "0123456789") >= part) {
            number = strtoll(at, NULL, 10) + 1;
            box->copies = number > box->copies ? number : box->copies;
            most = depth + 1;
        } else if (depth++ < most) {
            Box *inner = find_box(box, at, part);
            box = inner ? inner : add_box(box, arena, at, part);
            box->numbers += numbers;
            box->shape = shape ? shape : box->shape;
        } else
            return box;
        at += part + 1;
    }
    return box;
}

static bool computes_floats(const Op *op)
{
    return op->n_results && op->kind != OP_param && dtype_is_float(op->results[0].type.dtype);
}

static void add_ops(Drawing *d)
{
    FOR_OPS (op, &module_function(d->module, "model")->body)
        if (op->scope && *op->scope && computes_floats(op))
            walk(&d->blocks, d->arena, op->scope, strlen(op->scope), 0,
                 ir_type_text(d->module, &op->results[0].type, d->arena));
}

/* The box of the op's block; the root where it has none. */
static Box *box_of(Drawing *d, const Op *op)
{
    const char *scope = op->scope ? op->scope : "";
    return walk(&d->blocks, d->arena, scope, strlen(scope), 0, NULL);
}

/* ---- params ---- */

static bool is_within(const Box *inner, const Box *outer)
{
    while (inner && inner != outer)
        inner = inner->parent;
    return inner != NULL;
}

static void add_shared(Drawing *d, Box *box, const char *name)
{
    for (size_t i = 0; i < box->shared.count; i++)
        if (!strcmp(box->shared.data[i], name))
            return;
    vec_push(d->arena, box->shared, name);
}

/* A param stands in the block of its name. One of no block stands in the block that uses it, or,
 * where there are several, above all of them. */
static void add_param(Drawing *d, Op *param)
{
    const ParamInfo *info = module_param(d->module, op_string(param, ATTR_name));
    if (info->role != PARAM_TRAINED && info->role != PARAM_FROZEN)
        return;
    int64_t numbers = 1, uses = 0;
    for (int i = 0; i < info->type.rank; i++)
        numbers *= info->type.dims[i].size;
    FOR_USES (use, op_result(param))
        uses++;
    const char *dot = strrchr(info->name, '.');
    size_t length = dot ? (size_t)(dot - info->name) : strlen(info->name);
    Box *home =
        dot && find_box(&d->blocks, info->name, strcspn(info->name, ".")) ? &d->blocks : NULL;
    const Op *user = uses == 1 ? op_result(param)->first_use->user : NULL;
    if (home)
        home = walk(&d->blocks, d->arena, info->name, length, numbers, NULL);
    else if (user && user->scope && *user->scope)
        home = walk(&d->blocks, d->arena, user->scope, strlen(user->scope), numbers, NULL);
    else {
        home = walk(&d->params, d->arena, info->name, length, numbers,
                    ir_type_text(d->module, &info->type, d->arena));
        home->uses = uses;
    }
    FOR_USES (use, op_result(param)) {
        Box *box = box_of(d, use->user);
        if (!is_within(box, home) && !is_within(home, box))
            add_shared(d, box, info->name);
    }
}

static void add_params(Drawing *d)
{
    FOR_OPS (op, &module_function(d->module, "model")->body)
        if (op->kind == OP_param)
            add_param(d, op);
}

/* ---- places ---- */

static void place_box(Box *box, double x, double y, double width)
{
    box->x = x;
    box->y = y;
    box->width = width;
    box->height = HEAD;
    for (size_t i = 0; i < box->boxes.count; i++) {
        place_box(box->boxes.data[i], x + INDENT, y + box->height, width - 2 * INDENT);
        box->height += box->boxes.data[i]->height + GAP;
    }
}

static bool is_encoder(const Box *box) { return !strcmp(box->name, "encoder"); }

/* The encoder stands beside all else, where there is a decoder. */
static bool stands_beside(const Drawing *d, const Box *box)
{
    return find_box(&d->blocks, "decoder", strlen("decoder")) && !is_encoder(box);
}

/* Whether the op's outermost block is the encoder. */
static bool is_of_encoder(Drawing *d, const Op *op)
{
    const Box *box = box_of(d, op);
    while (box->parent && box->parent->parent)
        box = box->parent;
    return box->parent && is_encoder(box);
}

static void find_readers(Drawing *d)
{
    FOR_OPS (op, &module_function(d->module, "model")->body) {
        if (!computes_floats(op) || is_of_encoder(d, op))
            continue;
        Box *box = box_of(d, op);
        for (int i = 0; i < op->n_args && box->parent; i++) {
            const Op *from = op->args[i]->op;
            box->reads_encoder =
                box->reads_encoder ||
                (computes_floats(from) && op_family(from) != FAMILY_leaf && is_of_encoder(d, from));
        }
    }
}

/* Places every box; *width and *height: of the picture. */
static void place_all(Drawing *d, double *width, double *height)
{
    bool any[2] = {false, false};
    for (size_t i = 0; i < d->blocks.boxes.count; i++)
        any[stands_beside(d, d->blocks.boxes.data[i])] = true;
    bool both = any[0] && any[1];
    double wide = both ? 2 * WIDTH + BETWEEN : WIDTH, top = MARGIN + 30;
    for (size_t i = 0; i < d->params.boxes.count; i++) {
        place_box(d->params.boxes.data[i], MARGIN, top, wide);
        top += d->params.boxes.data[i]->height + GAP;
    }
    double at[2] = {top, top};
    for (size_t i = 0; i < d->blocks.boxes.count; i++) {
        Box *box = d->blocks.boxes.data[i];
        int column = both && stands_beside(d, box);
        place_box(box, MARGIN + column * (WIDTH + BETWEEN), at[column], WIDTH);
        at[column] += box->height + GAP;
    }
    if (both)
        find_readers(d);
    *width = wide + 2 * MARGIN;
    *height = fmax(at[0], at[1]) + MARGIN;
}

/* ---- drawing ---- */

/* "18,874,368 params". */
static void put_count(int64_t count, Text *out)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < n; i++)
        text_add(out, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
    text_add(out, " param%s", text_plural(count, "", "s"));
}

/* "1,024,000 params, shared: 3 uses", "512 params, embedding (shared)". */
static void put_params(const Box *box, Text *out)
{
    if (box->numbers)
        put_count(box->numbers, out);
    if (box->uses > 1)
        text_add(out, ", shared: %" PRId64 " uses", box->uses);
    for (size_t i = 0; i < box->shared.count; i++) {
        text_string(out, out->length ? ", " : "");
        if (out->length + strlen(box->shared.data[i]) > MOST_SHARED) {
            text_string(out, "…");
            return;
        }
        text_add(out, "%s (shared)", box->shared.data[i]);
    }
}

static void put_arrow(const char *path, Text *out)
{
    text_add(out, "<path d=\"%s\" fill=\"none\" stroke=\"#666\" marker-end=\"url(#arrow)\"/>\n",
             path);
}

static void put_boxes(const Drawing *d, const Box *parent, int depth, Text *out);

static void put_box(const Drawing *d, const Box *box, int depth, Text *out)
{
    static const char *const fills[] = {"#f3f6fa", "#e3ebf5", "#ffffff"};
    text_add(
        out,
        "<g data-params=\"%" PRId64
        "\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" fill=\"%s\" stroke=\"#8aa0bb\"/>\n",
        box->numbers, box->x, box->y, box->width, box->height, fills[depth < 2 ? depth : 2]);
    const char *name = box->copies > 1
                           ? arena_printf(d->arena, "%s × %" PRId64, box->name, box->copies)
                           : box->name;
    svg_text(box->x + 10, box->y + 17, "font-weight=\"bold\"", name, out);
    Text params = {0};
    put_params(box, &params);
    if (params.length)
        svg_text(box->x + 10, box->y + 32, "font-size=\"11\" fill=\"#555\"", params.data, out);
    text_free(&params);
    if (box->shape)
        svg_text(box->x + box->width - 10, box->y + 17,
                 "font-size=\"11\" fill=\"#555\" text-anchor=\"end\"", box->shape, out);
    put_boxes(d, box, depth + 1, out);
    text_string(out, "</g>\n");
}

/* With an arrow from each to the one below it. */
static void put_boxes(const Drawing *d, const Box *parent, int depth, Text *out)
{
    for (size_t i = 0; i < parent->boxes.count; i++) {
        const Box *box = parent->boxes.data[i], *above = NULL;
        put_box(d, box, depth, out);
        for (size_t k = 0; k < i && parent != &d->params; k++)
            above = parent->boxes.data[k]->x == box->x ? parent->boxes.data[k] : above;
        if (above)
            put_arrow(arena_printf(d->arena, "M%.1f %.1fv%d", box->x + box->width / 2, box->y - GAP,
                                   GAP - 2),
                      out);
    }
}

/* From the encoder's end, between the columns, to the box and those in it. */
static void put_reads(const Drawing *d, const Box *encoder, const Box *box, Text *out)
{
    if (box->reads_encoder)
        put_arrow(arena_printf(d->arena, "M%.1f %.1fh%.1fV%.1fH%.1f", encoder->x + encoder->width,
                               encoder->y + encoder->height - HEAD / 2, BETWEEN / 2.0,
                               box->y + HEAD / 2, box->x - 2),
                  out);
    for (size_t i = 0; i < box->boxes.count; i++)
        put_reads(d, encoder, box->boxes.data[i], out);
}

void picture_put_model(const Module *module, Arena *arena, Text *out)
{
    Drawing d = {.arena = arena, .module = module};
    double width, height;
    add_ops(&d);
    add_params(&d);
    place_all(&d, &width, &height);
    svg_begin(
        NULL, width, height, 13,
        "<marker id=\"arrow\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" "
        "orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#666\"/></marker>",
        out);
    Text title = {0};
    text_add(&title, "%s: ", module->name);
    put_count(d.blocks.numbers + d.params.numbers, &title);
    svg_text(MARGIN, MARGIN + 14, "font-weight=\"bold\" font-size=\"15\"", title.data, out);
    text_free(&title);
    put_boxes(&d, &d.params, 0, out);
    put_boxes(&d, &d.blocks, 0, out);
    const Box *encoder = find_box(&d.blocks, "encoder", strlen("encoder"));
    if (encoder)
        put_reads(&d, encoder, &d.blocks, out);
    text_string(out, "</svg>\n");
}
