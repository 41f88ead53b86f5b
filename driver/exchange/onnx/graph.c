/* Writing the messages of a graph: NodeProto, TensorProto, ValueInfoProto. */
#include "driver/exchange/onnx/graph.h"

#include <float.h>
#include <string.h>

OnnxType onnx_type(DType dtype)
{
    static const OnnxType types[DT_COUNT] = {[DT_F32] = ONNX_FLOAT,
                                             [DT_F64] = ONNX_DOUBLE,
                                             [DT_BF16] = ONNX_BFLOAT16,
                                             [DT_I32] = ONNX_INT32,
                                             [DT_BOOL] = ONNX_BOOL};
    return types[dtype];
}

/* ---- nodes ---- */

static const char *node_key(OnnxGraph *g, const char *type, int n_args, const char *const *args,
                            int n_attrs, const OnnxAttr *attrs)
{
    Text key = {0};
    text_string(&key, type);
    for (int i = 0; i < n_args; i++)
        text_add(&key, " %s", args[i]);
    for (int i = 0; i < n_attrs; i++) {
        text_add(&key, " %s=%s", attrs[i].name, attrs[i].s ? attrs[i].s : "");
        for (int k = 0; k < attrs[i].n; k++)
            text_add(&key, "%d,", attrs[i].ints[k]);
    }
    return text_keep(g->job->arena, &key);
}

static void write_attribute(Text *node, const OnnxAttr *attr)
{
    static const int types[] = {[ONNX_INT] = ATTRIBUTE_TYPE_INT,
                                [ONNX_INTS] = ATTRIBUTE_TYPE_INTS,
                                [ONNX_STRING] = ATTRIBUTE_TYPE_STRING};
    Text message = {0};
    proto_put_string(&message, ATTRIBUTE_name, attr->name);
    proto_put_int(&message, ATTRIBUTE_type, types[attr->kind]);
    if (attr->kind == ONNX_STRING)
        proto_put_string(&message, ATTRIBUTE_s, attr->s);
    for (int i = 0; i < attr->n; i++)
        proto_put_int(&message, attr->kind == ONNX_INT ? ATTRIBUTE_i : ATTRIBUTE_ints,
                      attr->ints[i]);
    proto_put_message(node, NODE_attribute, &message);
}

/* The output is the last of two if the name of the first, which nothing reads, is given. */
static void write_node(OnnxGraph *g, const char *first, const char *output, const char *type,
                       int n_args, const char *const *args, int n_attrs, const OnnxAttr *attrs)
{
    Text node = {0};
    for (int i = 0; i < n_args; i++)
        proto_put_string(&node, NODE_input, args[i]);
    if (first)
        proto_put_string(&node, NODE_output, first);
    proto_put_string(&node, NODE_output, output);
    proto_put_string(&node, NODE_name,
                     arena_printf(g->job->arena, "%s/%s_%d", g->scope, type, g->n_nodes++));
    proto_put_string(&node, NODE_op_type, type);
    for (int i = 0; i < n_attrs; i++)
        write_attribute(&node, &attrs[i]);
    proto_put_message(&g->bytes, GRAPH_node, &node);
}

static const char *node_output(OnnxGraph *g, bool second, const char *type, int n_args,
                               const char *const *args, int n_attrs, const OnnxAttr *attrs)
{
    for (int i = 0; i < n_args; i++)
        if (!args[i])
            return NULL;
    const char *key = node_key(g, type, n_args, args, n_attrs, attrs);
    const char *output = map_get(&g->nodes, key);
    if (!output) {
        output = arena_printf(g->job->arena, "%%%d", g->n_nodes);
        const char *first = second ? arena_printf(g->job->arena, "%s.first", output) : NULL;
        write_node(g, first, output, type, n_args, args, n_attrs, attrs);
        map_set(&g->nodes, key, (void *)output);
    }
    return output;
}

const char *onnx_node(OnnxGraph *g, const char *type, int n_args, const char *const *args,
                      int n_attrs, const OnnxAttr *attrs)
{
    return node_output(g, false, type, n_args, args, n_attrs, attrs);
}

const char *onnx_second(OnnxGraph *g, const char *type, int n_args, const char *const *args,
                        int n_attrs, const OnnxAttr *attrs)
{
    return node_output(g, true, type, n_args, args, n_attrs, attrs);
}

const char *onnx_where(OnnxGraph *g, const char *condition, const char *a, const char *b)
{
    return onnx_node(g, "Where", 3, (const char *[]){condition, a, b}, 0, NULL);
}

const char *onnx_cast(OnnxGraph *g, const char *x, OnnxType type)
{
    return onnx_node(g, "Cast", 1, &x, 1, (OnnxAttr[]){ATTR_INT("to", (int)type)});
}

const char *onnx_transpose(OnnxGraph *g, const char *x, int rank, const int *perm)
{
    bool moves = false;
    for (int i = 0; i < rank; i++)
        moves |= perm[i] != i;
    const OnnxAttr attr = ATTR_INTS("perm", rank, perm);
    return moves ? onnx_node(g, "Transpose", 1, &x, 1, &attr) : x;
}

const char *onnx_unsqueeze(OnnxGraph *g, const char *x, int n, const int *axes)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < n; i++)
        at[i] = axes[i];
    return n ? onnx_binary(g, "Unsqueeze", x, onnx_ints(g, n, at)) : x;
}

/* ---- constants and dimensions ---- */

static Text tensor_message(const char *name, OnnxType type, int rank, const int64_t *dims,
                           const void *data, size_t bytes)
{
    Text tensor = {0};
    for (int i = 0; i < rank; i++)
        proto_put_int(&tensor, TENSOR_dims, dims[i]);
    proto_put_int(&tensor, TENSOR_data_type, type);
    proto_put_string(&tensor, TENSOR_name, name);
    proto_put_bytes(&tensor, TENSOR_raw_data, data, bytes);
    return tensor;
}

/* A node, not an initialiser as params are: readers of weights tell them apart by this. Its name
 * says what it is, so that it is one. */
static const char *constant(OnnxGraph *g, const char *name, OnnxType type, int rank,
                            const int64_t *dims, const void *data, size_t bytes)
{
    if (map_has(&g->nodes, name))
        return name;
    map_set(&g->nodes, name, (void *)name);
    Text node = {0}, attribute = {0}, tensor = tensor_message(name, type, rank, dims, data, bytes);
    proto_put_string(&attribute, ATTRIBUTE_name, "value");
    proto_put_int(&attribute, ATTRIBUTE_type, ATTRIBUTE_TYPE_TENSOR);
    proto_put_message(&attribute, ATTRIBUTE_t, &tensor);
    proto_put_string(&node, NODE_output, name);
    proto_put_string(&node, NODE_op_type, "Constant");
    proto_put_message(&node, NODE_attribute, &attribute);
    proto_put_message(&g->bytes, GRAPH_node, &node);
    return name;
}

const char *onnx_ints(OnnxGraph *g, int n, const int64_t *ints)
{
    const int64_t dims[] = {n};
    return constant(g, text_list(g->job->arena, ints, n), ONNX_INT64, 1, dims, ints,
                    sizeof *ints * (size_t)n);
}

static float nearest_float(double value)
{
    return value > FLT_MAX && value < 1.0 / 0.0     ? FLT_MAX
           : value < -FLT_MAX && value > -1.0 / 0.0 ? -FLT_MAX
                                                    : (float)value;
}

const char *onnx_scalar(OnnxGraph *g, OnnxType type, double value)
{
    Text name = {0};
    text_number(&name, value);
    const char *suffix = type == ONNX_FLOAT    ? ""
                         : type == ONNX_DOUBLE ? ":f64"
                         : type == ONNX_INT32  ? ":i32"
                         : type == ONNX_INT64  ? ":i64"
                                               : ":bool";
    const char *kept = arena_printf(g->job->arena, "%s%s", name.data, suffix);
    text_free(&name);
    switch (type) {
    case ONNX_FLOAT:
        return constant(g, kept, type, 0, NULL, &(float){nearest_float(value)}, sizeof(float));
    case ONNX_DOUBLE: return constant(g, kept, type, 0, NULL, &value, sizeof value);
    case ONNX_INT32:
        return constant(g, kept, type, 0, NULL, &(int32_t){(int32_t)value}, sizeof(int32_t));
    case ONNX_INT64:
        return constant(g, kept, type, 0, NULL, &(int64_t){(int64_t)value}, sizeof(int64_t));
    case ONNX_BOOL: return constant(g, kept, type, 0, NULL, &(uint8_t){value != 0}, 1);
    default: job_error(g->job, "ONNX: a constant of bf16; export as f32"); return NULL;
    }
}

static const char *number_of_dim(OnnxGraph *g, int64_t number) { return onnx_ints(g, 1, &number); }

/* The formula (base/dim_formula.h) as nodes of the graph, wherever it holds. */
static const char *made_everywhere(OnnxGraph *g, const DimFormula *formula, const char *const *of)
{
    const char *sum = number_of_dim(g, formula->plus);
    for (int i = 0; i < formula->n; i++) {
        const char *times = number_of_dim(g, formula->terms[i].times);
        sum = onnx_binary(g, "Add", sum, onnx_binary(g, "Mul", of[i], times));
    }
    if (formula->plus < 0)
        sum = onnx_binary(g, "Max", sum, number_of_dim(g, 0));
    return formula->divisor > 1 ? onnx_binary(g, "Div", sum, number_of_dim(g, formula->divisor))
                                : sum;
}

const char *onnx_made(OnnxGraph *g, int symbol, const char *const *of)
{
    const DimFormula *formula = &g->module->symbols.data[symbol].formula;
    const char *sum = made_everywhere(g, formula, of), *last = of[formula->n - 1];
    if (!formula->most)
        return sum;
    const char *within = onnx_binary(
        g, "And", onnx_binary(g, "GreaterOrEqual", last, number_of_dim(g, formula->least)),
        onnx_binary(g, "LessOrEqual", last, number_of_dim(g, formula->most)));
    return onnx_node(g, "Where", 3, (const char *[]){within, sum, number_of_dim(g, 0)}, 0, NULL);
}

/* Arrays are padded to what the formula makes of the others' padding: the longest row may be out of
 * its range, and a shorter one within. */
static const char *made_dim(OnnxGraph *g, int symbol)
{
    const DimFormula *formula = &g->module->symbols.data[symbol].formula;
    const char *of[MAX_DIM_TERMS];
    for (int i = 0; i < formula->n; i++)
        if (!(of[i] = onnx_dim(g, dim_symbol(formula->terms[i].symbol))))
            return NULL;
    return made_everywhere(g, formula, of);
}

const char *onnx_dim(OnnxGraph *g, Dim dim)
{
    if (dim_is_const(dim))
        return onnx_ints(g, 1, &dim.size);
    if (symbol_is_made(g->module, dim.symbol) && !g->dims[dim.symbol].of)
        return made_dim(g, dim.symbol);
    const OnnxDim *known = &g->dims[dim.symbol];
    if (!known->of) {
        const char *name = g->module->symbols.data[dim.symbol].name;
        const Type one = type_of(DT_I32, 1, &(Dim){1, NO_SYMBOL});
        if (!known->size) {
            g->dims[dim.symbol].size = arena_printf(g->job->arena, "%s.size", name);
            if (!onnx_input(g, known->size, ONNX_INT64, &one))
                return NULL;
        }
        return known->size;
    }
    const OnnxAttr part[] = {ATTR_INT("start", known->axis), ATTR_INT("end", known->axis + 1)};
    return onnx_node(g, "Shape", 1, &known->of, 2, part);
}

const char *onnx_shape(OnnxGraph *g, const Type *type)
{
    const char *parts[MAX_RANK];
    int64_t sizes[MAX_RANK];
    bool known = true;
    for (int i = 0; i < type->rank; i++) {
        known &= dim_is_const(type->dims[i]);
        sizes[i] = type->dims[i].size;
    }
    if (known)
        return onnx_ints(g, type->rank, sizes);
    for (int i = 0; i < type->rank; i++)
        parts[i] = onnx_dim(g, type->dims[i]);
    return onnx_node(g, "Concat", type->rank, parts, 1, (OnnxAttr[]){ATTR_INT("axis", 0)});
}

const char *onnx_range(OnnxGraph *g, Dim dim)
{
    const char *end = onnx_unary(g, "Squeeze", onnx_dim(g, dim));
    const char *args[] = {onnx_scalar(g, ONNX_INT64, 0), end, onnx_scalar(g, ONNX_INT64, 1)};
    return onnx_node(g, "Range", 3, args, 0, NULL);
}

/* ---- declarations ---- */

static bool take_name(OnnxGraph *g, const char *name)
{
    if (map_has(&g->names, name))
        return job_error(g->job, "ONNX: two inputs, outputs or params would be named '%s'", name);
    map_set(&g->names, name, g);
    return true;
}

static void write_info(OnnxGraph *g, int field, const char *name, OnnxType element,
                       const Type *type)
{
    Text shape = {0}, tensor = {0}, whole = {0}, info = {0};
    for (int i = 0; i < type->rank; i++) {
        Text dim = {0};
        if (dim_is_const(type->dims[i]))
            proto_put_int(&dim, DIMENSION_dim_value, type->dims[i].size);
        else
            proto_put_string(&dim, DIMENSION_dim_param,
                             g->module->symbols.data[type->dims[i].symbol].name);
        proto_put_message(&shape, SHAPE_dim, &dim);
    }
    proto_put_int(&tensor, TYPE_TENSOR_elem_type, element);
    proto_put_message(&tensor, TYPE_TENSOR_shape, &shape);
    proto_put_message(&whole, TYPE_tensor_type, &tensor);
    proto_put_string(&info, VALUE_INFO_name, name);
    proto_put_message(&info, VALUE_INFO_type, &whole);
    proto_put_message(&g->bytes, field, &info);
}

bool onnx_input(OnnxGraph *g, const char *name, OnnxType element, const Type *type)
{
    if (!take_name(g, name))
        return false;
    write_info(g, GRAPH_input, name, element, type);
    return true;
}

bool onnx_output(OnnxGraph *g, const char *name, const char *value, const Type *type)
{
    if (!value || !take_name(g, name))
        return false;
    write_node(g, NULL, name, "Identity", 1, &value, 0, NULL);
    write_info(g, GRAPH_output, name, onnx_type(type->dtype), type);
    return true;
}

bool onnx_param(OnnxGraph *g, const char *name, DType dtype, int rank, const int64_t *dims,
                const void *data, size_t bytes)
{
    if (!take_name(g, name))
        return false;
    Text tensor = tensor_message(name, onnx_type(dtype), rank, dims, data, bytes);
    proto_put_message(&g->bytes, GRAPH_initializer, &tensor);
    return true;
}
