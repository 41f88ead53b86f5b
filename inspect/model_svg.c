/* A model as boxes within boxes: its blocks that compute floats, in the order in which they come, with the shape of what each
 * gives and the numbers of its params; layers that are alike are one box. */
#include "inspect/picture_svg.h"

#include "base/vec.h"
#include "ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 2, WIDTH = 330, INDENT = 12, HEAD = 40, GAP = 14, MARGIN = 16 };

/* Box: a block of the model, and those in it.
 *   copies    layers of this name: name.0, name.1, …
 *   numbers   of the params in it, of all copies
 *   shape     of what its last op gives */
typedef struct Box {
    const char *name, *shape;
    int64_t copies, numbers;
    VEC(struct Box *) boxes;
} Box;

static Box *find_box(Box *parent, Arena *arena, const char *name, size_t length)
{
    for (size_t i = 0; i < parent->boxes.count; i++) {
        Box *box = parent->boxes.data[i];
        if (strlen(box->name) == length && !memcmp(box->name, name, length))
            return box;
    }
    Box *box = ARENA_ARRAY(arena, Box, 1);
    box->name = arena_strndup(arena, name, length);
    vec_push(arena, parent->boxes, box);
    return box;
}

/* Goes along a dotted name and adds to each box on its way, down to what layers are made of. */
static void walk(Box *root, Arena *arena, const char *path, const char *end, int64_t numbers, const char *shape)
{
    Box *box = root;
    int depth = 0, most = MOST_DEPTH;
    root->numbers += numbers;
    for (const char *at = path; at < end;) {
        size_t length = strcspn(at, ".");
        if (at + length > end)
            length = (size_t)(end - at);
        int64_t number;
        if (length && strspn(at, "0123456789") >= length) {
            number = strtoll(at, NULL, 10) + 1;
            box->copies = number > box->copies ? number : box->copies;
            most = depth + 1;
        } else if (depth++ < most) {
            box = find_box(box, arena, at, length);
            box->numbers += numbers;
            box->shape = shape ? shape : box->shape;
        } else
            return;
        at += length + 1;
    }
}

static void add_ops(Box *root, const Module *module, Arena *arena)
{
    FOR_OPS(op, &module_function(module, "model")->body) {
        bool computes = op->n_results && op->kind != OP_param && dtype_is_float(op->results[0].type.dtype);
        if (!op->scope || !*op->scope || !computes)
            continue;
        const char *shape = ir_type_text(module, &op->results[0].type, arena);
        walk(root, arena, op->scope, op->scope + strlen(op->scope), 0, shape);
    }
}

static void add_params(Box *root, const Module *module, Arena *arena)
{
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        const char *dot = strrchr(info->name, '.');
        int64_t numbers = 1;
        for (int d = 0; d < info->type.rank; d++)
            numbers *= info->type.dims[d].size;
        if (info->role == PARAM_TRAINED || info->role == PARAM_FROZEN)
            walk(root, arena, info->name, dot ? dot : info->name, numbers, NULL);
    }
}

/* ---- drawing ---- */

static double height_of(const Box *box)
{
    double height = HEAD;
    for (size_t i = 0; i < box->boxes.count; i++)
        height += height_of(box->boxes.data[i]) + GAP;
    return height;
}

static void put_words(double x, double y, const char *attributes, const char *text, Text *out)
{
    text_add(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    text_markup(out, text);
    text_string(out, "</text>\n");
}

/* "18,874,368 params". */
static const char *count_text(Arena *arena, int64_t count)
{
    char digits[32];
    Text text = {0};
    int n = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < n; i++)
        text_add(&text, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
    const char *copy = arena_printf(arena, "%s param%s", text.data, count == 1 ? "" : "s");
    text_free(&text);
    return copy;
}

static void put_arrow(double x, double y, Text *out)
{
    text_add(out, "<path d=\"M%.1f %.1fv%d\" stroke=\"#666\" marker-end=\"url(#arrow)\"/>\n", x, y, GAP - 5);
}

static void put_box(const Box *box, double x, double y, double width, int depth, Arena *arena, Text *out)
{
    static const char *const fills[] = {"#f3f6fa", "#e3ebf5", "#ffffff"};
    text_add(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" fill=\"%s\" stroke=\"#8aa0bb\"/>\n", x, y,
             width, height_of(box), fills[depth < 2 ? depth : 2]);
    const char *name = box->copies > 1 ? arena_printf(arena, "%s × %" PRId64, box->name, box->copies) : box->name;
    put_words(x + 10, y + 17, "font-weight=\"bold\"", name, out);
    if (box->numbers)
        put_words(x + 10, y + 32, "font-size=\"11\" fill=\"#555\"", count_text(arena, box->numbers), out);
    if (box->shape)
        put_words(x + width - 10, y + 17, "font-size=\"11\" fill=\"#555\" text-anchor=\"end\"", box->shape, out);
    double at = y + HEAD;
    for (size_t i = 0; i < box->boxes.count; i++) {
        const Box *inner = box->boxes.data[i];
        put_box(inner, x + INDENT, at, width - 2 * INDENT, depth + 1, arena, out);
        at += height_of(inner);
        if (i + 1 < box->boxes.count)
            put_arrow(x + width / 2, at, out);
        at += GAP;
    }
}

static bool is_encoder(const Box *box) { return !strcmp(box->name, "encoder"); }

/* The encoder stands beside all else, where there is a decoder. */
static int column_of(const Box *root, const Box *box)
{
    bool both = false;
    for (size_t i = 0; i < root->boxes.count; i++)
        both = both || !strcmp(root->boxes.data[i]->name, "decoder");
    return both && !is_encoder(box);
}

void picture_put_model(const Module *module, Arena *arena, Text *out)
{
    Box root = {.name = module->name};
    add_ops(&root, module, arena);
    add_params(&root, module, arena);
    double heights[2] = {0, 0};
    for (size_t i = 0; i < root.boxes.count; i++)
        heights[column_of(&root, root.boxes.data[i])] += height_of(root.boxes.data[i]) + GAP;
    int columns = heights[0] > 0 && heights[1] > 0 ? 2 : 1;
    double width = columns * (WIDTH + MARGIN) + MARGIN, top = MARGIN + 30, high = top + fmax(heights[0], heights[1]) + MARGIN;
    text_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
             "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n<defs><marker id=\"arrow\" "
             "viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path "
             "d=\"M0 0L6 3L0 6z\" fill=\"#666\"/></marker></defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
             width, high, width, high);
    put_words(MARGIN, MARGIN + 14, "font-weight=\"bold\" font-size=\"15\"",
              arena_printf(arena, "%s: %s", module->name, count_text(arena, root.numbers)), out);
    double at[2] = {top, top};
    for (size_t i = 0; i < root.boxes.count; i++) {
        const Box *box = root.boxes.data[i];
        int column = columns > 1 ? column_of(&root, box) : 0;
        double x = MARGIN + column * (WIDTH + MARGIN);
        if (at[column] > top)
            put_arrow(x + WIDTH / 2.0, at[column] - GAP, out);
        put_box(box, x, at[column], WIDTH, 0, arena, out);
        at[column] += height_of(box) + GAP;
    }
    text_string(out, "</svg>\n");
}
