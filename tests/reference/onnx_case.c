/* The smaller ops of ONNX, each as a few lines of .tfg. */
#include "tests/reference/onnx_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a case holds ---- */

static const char *name_at(const JsonValue *names, size_t i)
{
    const char *name = i < names->n ? names->items[i].text : NULL;
    return name && *name ? name : NULL;
}

const StTensor *case_input(const OnnxCase *c, size_t i)
{
    const char *name = name_at(c->inputs, i);
    return name ? st_find(c->file, arena_printf(c->arena, "in.%s", name)) : NULL;
}

const char *case_input_name(const OnnxCase *c, size_t i)
{
    const char *name = name_at(c->inputs, i);
    return name ? arena_printf(c->arena, "in_%s", name) : NULL;
}

const char *case_output_name(const OnnxCase *c, size_t i)
{
    const char *name = name_at(c->outputs, i);
    return name ? arena_printf(c->arena, "out_%s", name) : NULL;
}

double case_number(const OnnxCase *c, const char *attribute, double otherwise)
{
    const JsonValue *value = json_member(c->attributes, attribute);
    return value ? value->number : otherwise;
}

bool case_has(const OnnxCase *c, const char *attribute)
{
    return json_member(c->attributes, attribute) != NULL;
}

const char *dims_text(const OnnxCase *c, const StTensor *tensor, int from, int to)
{
    const char *text = "[";
    for (int i = from; i < to; i++)
        text = arena_printf(c->arena, "%s%s%" PRId64, text, i > from ? ", " : "", tensor->dims[i]);
    return arena_printf(c->arena, "%s]", text);
}

static int axis_of(const OnnxCase *c, int rank, int otherwise)
{
    int axis = (int)case_number(c, "axis", otherwise);
    return axis < 0 ? axis + rank : axis;
}

/* ---- elementwise, products, softmax ---- */

static void say_unary(const OnnxCase *c, Text *model, const char *function)
{
    text_add(model, "output %s = %s(%s)\n", case_output_name(c, 0), function,
             case_input_name(c, 0));
}

static void say_softmax(const OnnxCase *c, Text *model, const char *function)
{
    text_add(model, "output %s = %s(%s, %d)\n", case_output_name(c, 0), function,
             case_input_name(c, 0), axis_of(c, case_input(c, 0)->rank, -1));
}

/* A vector on the left is a row, which the result does not keep. */
static void say_matmul(const OnnxCase *c, Text *model)
{
    const StTensor *a = case_input(c, 0), *b = case_input(c, 1);
    const char *left = case_input_name(c, 0);
    if (a->rank > 1) {
        text_add(model, "output %s = %s @ %s\n", case_output_name(c, 0), left,
                 case_input_name(c, 1));
        return;
    }
    text_add(model, "y = reshape(%s, [1, %" PRId64 "]) @ %s\n", left, a->dims[0],
             case_input_name(c, 1));
    text_add(model, "output %s = reshape(y, [shape(y, 0, %d), y.-1])\n", case_output_name(c, 0),
             b->rank - 2);
}

static void say_gemm(const OnnxCase *c, Text *model)
{
    bool transpose_a = case_number(c, "transA", 0) != 0,
         transpose_b = case_number(c, "transB", 0) != 0;
    text_add(model, "output %s = %s(%s) @ %s(%s) * ", case_output_name(c, 0),
             transpose_a ? "transpose" : "", case_input_name(c, 0), transpose_b ? "transpose" : "",
             case_input_name(c, 1));
    text_number(model, case_number(c, "alpha", 1));
    if (case_input(c, 2)) {
        text_add(model, " + %s * ", case_input_name(c, 2));
        text_number(model, case_number(c, "beta", 1));
    }
    text_add(model, "\n");
}

/* ---- normalisation: over `axis` and all after it ---- */

static void say_normalisation(const OnnxCase *c, Text *model, bool centred)
{
    int rank = case_input(c, 0)->rank;
    text_add(model, "x = %s\naxes = [", case_input_name(c, 0));
    for (int first = axis_of(c, rank, -1), i = first; i < rank; i++)
        text_add(model, "%s%d", i > first ? ", " : "", i);
    text_add(model, "]\n");
    if (centred)
        text_add(model, "centre = mean(x, axes)\nx = x - centre\n");
    text_add(model, "scale = rsqrt(mean(x * x, axes) + ");
    text_number(model, case_number(c, "epsilon", 1e-5));
    text_add(model, ")\noutput %s = x * scale * %s", case_output_name(c, 0), case_input_name(c, 1));
    text_add(model, case_input(c, 2) ? " + %s\n" : "\n", case_input_name(c, 2));
    if (case_output_name(c, 1))
        text_add(model, "output %s = centre\n", case_output_name(c, 1));
    if (case_output_name(c, 2))
        text_add(model, "output %s = scale\n", case_output_name(c, 2));
}

/* ---- gather ---- */

static void say_index(const OnnxCase *c, Text *model, int64_t n)
{
    const char *name = case_input_name(c, 1);
    text_add(model, "at = select(%s < 0, %s + %" PRId64 ", %s)\n", name, name, n, name);
}

/* The axis goes to the front, where rows are looked up, and what was found back. */
static void say_gather(const OnnxCase *c, Text *model)
{
    const StTensor *data = case_input(c, 0);
    int axis = axis_of(c, data->rank, 0), found = case_input(c, 1)->rank;
    say_index(c, model, data->dims[axis]);
    text_add(model, "table = permute(%s, [%d", case_input_name(c, 0), axis);
    for (int i = 0; i < data->rank; i++)
        if (i != axis)
            text_add(model, ", %d", i);
    text_add(model, "])\noutput %s = permute(table[at], [", case_output_name(c, 0));
    int rank = data->rank - 1 + found;
    for (int i = 0; i < rank; i++) {
        int from = i < axis ? found + i : i < axis + found ? i - axis : i;
        text_add(model, "%s%d", i ? ", " : "", from);
    }
    text_add(model, "])\n");
}

/* Along the axis the index, along the others the place itself: an index into all
 * elements in a row. */
static void say_gather_elements(const OnnxCase *c, Text *model)
{
    const StTensor *data = case_input(c, 0), *indices = case_input(c, 1);
    int axis = axis_of(c, data->rank, 0);
    say_index(c, model, data->dims[axis]);
    text_add(model, "table = reshape(%s, [%" PRId64 "])\nplace = 0\n", case_input_name(c, 0),
             data->count);
    int64_t stride = 1;
    for (int i = data->rank; i-- > 0; stride *= data->dims[i]) {
        if (i == axis) {
            text_add(model, "place = place + at * %" PRId64 "\n", stride);
            continue;
        }
        text_add(model, "place = place + %" PRId64 " * reshape(position(%" PRId64 "), [", stride,
                 indices->dims[i]);
        for (int d = i; d < data->rank; d++)
            text_add(model, d == i ? "%" PRId64 : ", 1", indices->dims[i]);
        text_add(model, "])\n");
    }
    text_add(model, "output %s = table[place]\n", case_output_name(c, 0));
}

/* ---- rotary positions ---- */

/* [B, S, d/2] cosines and sines turn the first coordinates of each head. */
static void say_rotary(const OnnxCase *c, Text *model)
{
    const StTensor *x = case_input(c, 0), *ids = case_input(c, 3), *cosine = case_input(c, 1);
    int heads = (int)case_number(c, "num_heads", 0);
    const char *halved = case_number(c, "interleaved", 0) != 0 ? "false" : "true";
    text_add(model, x->rank == 3 ? "x = heads_of(%s, %d)\n" : "x = %s\n", case_input_name(c, 0),
             heads);
    for (size_t i = 1; i <= 2; i++) {
        text_add(model, "%s = %s", i == 1 ? "c" : "s", case_input_name(c, i));
        text_add(model, ids ? "[%s]\n" : "\n", case_input_name(c, 3));
    }
    text_add(model, "c = reshape(c, [c.0, 1, c.1, c.2])\ns = reshape(s, [s.0, 1, s.1, s.2])\n");
    int64_t turned = 2 * cosine->dims[cosine->rank - 1];
    int64_t width = x->rank == 3 ? x->dims[2] / heads : x->dims[3];
    if (turned < width)
        text_add(model,
                 "y = concat([rotate(slice(x, 3, 0, %" PRId64 "), c, s, %s), slice(x, 3, %" PRId64
                 ", %" PRId64 ")], 3)\n",
                 turned, halved, turned, width - turned);
    else
        text_add(model, "y = rotate(x, c, s, %s)\n", halved);
    text_add(model, "output %s = %s(y)\n", case_output_name(c, 0),
             x->rank == 3 ? "join_heads" : "");
}

/* ---- Adam, as ONNX has it: the decay is added to the gradient ---- */

static void say_number(Text *model, const char *name, double value)
{
    text_add(model, "%s = ", name);
    text_number(model, value);
    text_add(model, "\n");
}

static void say_adam(const OnnxCase *c, Text *model)
{
    size_t n = (c->inputs->n - 2) / 4;
    say_number(model, "alpha", case_number(c, "alpha", 0.9));
    say_number(model, "beta", case_number(c, "beta", 0.999));
    say_number(model, "epsilon", case_number(c, "epsilon", 0));
    say_number(model, "decay", case_number(c, "norm_coefficient", 0));
    say_number(model, "decay_after", case_number(c, "norm_coefficient_post", 0));
    const char *rate = case_input_name(c, 0), *step = case_input_name(c, 1);
    text_add(model, "t = float(%s)\n", step);
    text_add(model, "rate = select(%s > 0, %s * sqrt(1 - beta ^ t) / (1 - alpha ^ t), %s)\n", step,
             rate, rate);
    for (size_t i = 0; i < n; i++) {
        const char *x = case_input_name(c, 2 + i), *g = case_input_name(c, 2 + n + i);
        const char *v = case_input_name(c, 2 + 2 * n + i), *h = case_input_name(c, 2 + 3 * n + i);
        text_add(model, "g = decay * %s + %s\n", x, g);
        text_add(model, "v = alpha * %s + (1 - alpha) * g\n", v);
        text_add(model, "h = beta * %s + (1 - beta) * g * g\n", h);
        text_add(model, "output %s = (1 - decay_after) * (%s - rate * v / (sqrt(h) + epsilon))\n",
                 case_output_name(c, i), x);
        text_add(model, "output %s = v\noutput %s = h\n", case_output_name(c, n + i),
                 case_output_name(c, 2 * n + i));
    }
}

/* ---- any case ---- */

static const char *say_inputs(const OnnxCase *c, Text *model)
{
    for (size_t i = 0; i < c->inputs->n; i++) {
        const StTensor *tensor = case_input(c, i);
        if (!tensor)
            continue;
        if (tensor->type == ST_F16)
            return "tensors of f16; ours are f32 or f64";
        const char *kind = tensor->type == ST_BOOL                            ? "bool"
                           : tensor->type == ST_I32 || tensor->type == ST_I64 ? "int"
                                                                              : "float";
        text_add(model, "input %s : %s%s\n", case_input_name(c, i), kind,
                 dims_text(c, tensor, 0, tensor->rank));
    }
    return NULL;
}

const char *say_case(const OnnxCase *c, Text *model)
{
    text_add(model, "# %s\n", c->name);
    const char *why = say_inputs(c, model);
    if (why)
        return why;
    if (!strcmp(c->op, "Tanh"))
        say_unary(c, model, "tanh");
    else if (!strcmp(c->op, "Erf"))
        say_unary(c, model, "erf");
    else if (!strcmp(c->op, "Softmax"))
        say_softmax(c, model, "softmax");
    else if (!strcmp(c->op, "LogSoftmax"))
        say_softmax(c, model, "log_softmax");
    else if (!strcmp(c->op, "MatMul"))
        say_matmul(c, model);
    else if (!strcmp(c->op, "Gemm"))
        say_gemm(c, model);
    else if (!strcmp(c->op, "LayerNormalization"))
        say_normalisation(c, model, true);
    else if (!strcmp(c->op, "RMSNormalization"))
        say_normalisation(c, model, false);
    else if (!strcmp(c->op, "Gather"))
        say_gather(c, model);
    else if (!strcmp(c->op, "GatherElements"))
        say_gather_elements(c, model);
    else if (!strcmp(c->op, "RotaryEmbedding"))
        say_rotary(c, model);
    else if (!strcmp(c->op, "Attention"))
        say_attention(c, model);
    else if (!strcmp(c->op, "SoftmaxCrossEntropyLoss") ||
             !strcmp(c->op, "NegativeLogLikelihoodLoss"))
        say_loss(c, model);
    else if (!strcmp(c->op, "Adam"))
        say_adam(c, model);
    else
        return arena_printf(c->arena, "no model is written for the op %s", c->op);
    return NULL;
}
