/* Type rules of leaves, effects and regions: types are stated, not inferred. */
#include "ir/infer/rules.h"

/* How many dimensions are not 1; the last of them in *dim. */
static int count_long(const Type *type, Dim *dim)
{
    int n = 0;
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_one(type->dims[i])) {
            *dim = type->dims[i];
            n++;
        }
    return n;
}

bool infer_declared(const Infer *in, Type *type)
{
    const Op *op = in->op;
    *type = op->results[0].type;
    Dim along = dim_const(1);
    switch (op->kind) {
    case OP_input:
    case OP_param: return infer_attr(in, ATTR_name) != NULL;
    case OP_const: return infer_attr(in, ATTR_value) != NULL;
    case OP_random: return infer_attr(in, ATTR_site) != NULL;
    case OP_iota:
        return type->rank >= 1 && count_long(type, &along) <= 1 && type->dtype == DT_I32
                   ? true
                   : infer_fail(in, "counts along one dimension in i32, not %s",
                                infer_text(in, type));
    case OP_training:
        return type->rank == 0 && type->dtype == DT_BOOL
                   ? true
                   : infer_fail(in, "gives bool[], not %s", infer_text(in, type));
    default: { /* size, lengths */
        const Attr *dim = infer_attr(in, ATTR_dim);
        if (!dim || dim->i < 0 || (size_t)dim->i >= in->module->symbols.count)
            return dim ? infer_fail(in, "the module does not declare its dimension") : false;
        int batch = in->module->symbols.data[dim->i].batch;
        bool fits = op->kind == OP_size ? type->rank == 0
                                        : batch != NO_SYMBOL && count_long(type, &along) == 1 &&
                                              along.symbol == batch;
        return fits ? true
                    : infer_fail(in, "of the dimension %s it cannot have the type %s",
                                 in->module->symbols.data[dim->i].name, infer_text(in, type));
    }
    }
}

bool infer_assign(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1);
    if (in->op->args[0]->op->kind != OP_param)
        return infer_fail(in, "only a param can be assigned to");
    if (!type_equal(a, b))
        return infer_fail(in, "the param is %s, the value %s", infer_text(in, a),
                          infer_text(in, b));
    *type = *a;
    return true;
}

bool infer_keep(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1);
    const Op *made = in->op->args[0]->op;
    bool of_params = made->n_args > 0;
    for (int i = 0; i < made->n_args; i++)
        of_params &= made->args[i]->op->kind == OP_param;
    if (!of_params)
        return infer_fail(in, "only what is made of params alone can be kept");
    if (!type_equal(a, b))
        return infer_fail(in, "%s is kept, the value %s", infer_text(in, a), infer_text(in, b));
    *type = *a;
    return true;
}

/* A region's results are what its body yields, a yield's are none. */
bool infer_region(const Infer *in, Type *type)
{
    const Op *op = in->op;
    if (op->kind == OP_yield)
        return true;
    const Op *yield = op->body ? op->body->last : NULL;
    if (!yield || yield->kind != OP_yield || yield->n_args != op->n_results)
        return infer_fail(in, "the body must end with a yield of %d values", op->n_results);
    for (int i = 0; i < op->n_results; i++)
        if (!type_equal(&yield->args[i]->type, &op->results[i].type))
            return infer_fail(in, "result %d is %s, the body yields %s", i,
                              infer_text(in, &op->results[i].type),
                              infer_text(in, &yield->args[i]->type));
    if (op->n_results)
        *type = op->results[0].type;
    return true;
}
