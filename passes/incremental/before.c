/* Target dimensions, and what stands before the text along them.
 *
 *   M = S + T:   before S,   all so far M' = S + P
 *
 * What a cache along M begins with is the forward's value of an empty text: M becomes S, sums over
 * tokens are 0, and nothing is found among tokens. That it depends on no token was proved
 * (passes/dependence). */
#include "passes/incremental/incremental.h"

#include "passes/clone.h"

#include <math.h>

/* ---- dimensions ---- */

Dim dim_of_formula(Module *module, const char *name, const DimFormula *formula)
{
    const char *problem;
    if (!formula->n)
        return dim_const(formula->plus);
    if (formula->n == 1 && formula->terms[0].times == 1 && !formula->plus && !formula->most)
        return dim_symbol(formula->terms[0].symbol);
    for (int i = 0; i < (int)module->symbols.count; i++)
        if (dim_formula_equal(&module->symbols.data[i].formula, formula))
            return dim_symbol(i);
    while (module_symbol(module, name) != NO_SYMBOL)
        name = arena_printf(module->arena, "%s'", name);
    return dim_symbol(module_add_made_symbol(module, name, formula, &problem));
}

static bool is_used(const Function *function, int symbol)
{
    FOR_OPS (op, &function->body)
        for (int r = 0; r < op->n_results; r++)
            if (type_find_dim(&op->results[r].type, symbol) >= 0)
                return true;
    return false;
}

void find_target_dims(Step *s, int past)
{
    Module *module = s->module;
    const int n = (int)module->symbols.count;
    for (int symbol = 0; symbol < n; symbol++) {
        LengthSum before;
        DimFormula formula;
        if (!is_used(s->forward, symbol) || !find_before(module, symbol, s->time, &before) ||
            !length_sum_formula(&before, 1, &formula))
            continue;
        const char *name = module->symbols.data[symbol].name;
        TargetDim dim = {.symbol = symbol, .before = dim_of_formula(module, name, &formula)};
        formula.terms[formula.n++] = (DimTerm){past, 1};
        dim.past[ROWS_ALL] = dim.past[ROWS_FEW] = dim_of_formula(module, name, &formula).symbol;
        vec_push(module->arena, s->dims, dim);
    }
}

/* ---- values ---- */

typedef struct BeforeText {
    Step *s;
    Builder b;
    const SideTable *copies;
} BeforeText;

static Dim dim_before_text(const BeforeText *t, Dim dim)
{
    const TargetDim *target = target_dim(t->s, dim);
    return target ? target->before : dim;
}

static Type type_before_text(const BeforeText *t, Type type)
{
    for (int i = 0; i < type.rank; i++)
        type.dims[i] = dim_before_text(t, type.dims[i]);
    return type;
}

static bool is_of_text(const BeforeText *t, const Value *v)
{
    return type_find_dim(&v->type, t->s->time) >= 0;
}

/* What an op makes of no elements; NAN: it is none that combines any. */
static double of_nothing(OpKind kind)
{
    switch (kind) {
    case OP_lookup:
    case OP_dot:
    case OP_reduce_sum: return 0;
    case OP_reduce_max:
    case OP_logsumexp: return -INFINITY;
    default: return NAN;
    }
}

/* Whether each position is looked up at its own place: a part that is all there is before. */
static bool is_whole(const Op *lookup, Value *x, const Value *index)
{
    int axis = (int)op_int(lookup, ATTR_axis), own = axis - (x->type.rank - index->type.rank);
    return index->op->kind == OP_iota && own >= 0 && type_long_dim(&index->type) == own &&
           dim_equal(index->type.dims[own], x->type.dims[axis]);
}

static Value *build_before(BeforeText *t, Value *v);

static Value *build_op_before(BeforeText *t, Op *op)
{
    Value **args = ARENA_ARRAY(t->s->module->arena, Value *, op->n_args + 1);
    Attr attrs[ATTR_COUNT];
    bool of_text = false;
    for (int i = 0; i < op->n_args; i++)
        of_text |= is_of_text(t, op->args[i]);
    if (of_text && !isnan(of_nothing(op->kind)))
        return build_const_of(&t->b, type_before_text(t, op_result(op)->type),
                              of_nothing(op->kind));
    if (of_text || op->kind == OP_input || op->n_results != 1 || op->body)
        return refuse(t->s, op, "it is needed before the text");
    for (int i = 0; i < op->n_args; i++) {
        args[i] = build_before(t, op->args[i]);
        if (!args[i])
            return NULL;
    }
    for (int i = 0; i < op->n_attrs; i++) {
        attrs[i] = op->attrs[i];
        for (int k = 0; attr_info[attrs[i].name].kind == DIMS && k < attrs[i].rank; k++)
            attrs[i].dims[k] = dim_before_text(t, attrs[i].dims[k]);
    }
    t->b.loc = op->loc;
    t->b.scope = op->scope;
    if (op->kind == OP_lookup && is_whole(op, args[0], args[1]))
        return args[0];
    if (op_family(op) != FAMILY_leaf)
        return build(&t->b, op->kind, op->n_args, args, op->n_attrs, attrs);
    Op *copy = clone_op(t->s->encode, op, NULL);
    copy->results[0].type = type_before_text(t, copy->results[0].type);
    block_append(&t->s->encode->body, copy);
    return op_result(copy);
}

/* The value in encode, its target dimensions those before the text; NULL after a message. */
static Value *build_before(BeforeText *t, Value *v)
{
    Origin *o = origin(t->s, v);
    if (!o->before)
        o->before = o->length ? build_op_before(t, v->op) : side_of_value(t->copies, v);
    return o->before;
}

bool build_beginnings(Step *s, const SideTable *copies)
{
    BeforeText t = {.s = s, .b = builder_at_end(s->encode), .copies = copies};
    for (size_t i = 0; i < s->beginnings.count; i++) {
        const Beginning *beginning = &s->beginnings.data[i];
        Value *rows = build_before(&t, beginning->value);
        if (!rows)
            return false;
        build_output(&t.b, beginning->name, build_transpose(&t.b, rows, beginning->perm));
    }
    return true;
}
