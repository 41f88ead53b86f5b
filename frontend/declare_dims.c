/* Dimensions: those that inputs have, and those made of others, `dim C = 1 + S`, whose lengths
 * follow by a formula (base/dim_formula.h). */
#include "frontend/elab.h"
#include "ir/position_form.h"

/* What the types of the inputs say of dimensions, by name. */
typedef struct Inputs {
    Map batches; /* a ragged one → Decl of the dimension that it is ragged over */
    Map dims;    /* all that inputs have → Node */
    Map rows;    /* their first ones → Node */
} Inputs;

/* What an input's type says of `S~`: the dimension before it is its batch. */
static void read_input(Elab *e, const Node *input, Inputs *inputs)
{
    if (!input->a)
        return;
    const NodeList *dims = &input->a->kids;
    for (size_t i = 0; i < dims->count; i++) {
        const Node *dim = dims->data[i], *before = i ? dims->data[i - 1] : NULL;
        const Node *named = dim->kind == NODE_RAGGED ? dim->a : dim;
        if (named->kind == NODE_NAME)
            map_set(&inputs->dims, named->name, (void *)named);
        if (named->kind == NODE_NAME && i == 0)
            map_set(&inputs->rows, named->name, (void *)named);
        if (dim->kind != NODE_RAGGED)
            continue;
        const Decl *decl = dim->a->kind == NODE_NAME ? map_get(&e->decls, dim->a->name) : NULL;
        const Decl *batch =
            before && before->kind == NODE_NAME ? map_get(&e->decls, before->name) : NULL;
        if (!decl || decl->node->kind != NODE_DIM)
            elab_error(e, dim, "only a `dim` can be ragged (~), not `%s`",
                       expression_text(e->arena, dim->a));
        else if (before && before->kind == NODE_RAGGED)
            elab_error(e, dim,
                       "an input has one ragged dimension, and `%s` stands before `%s~`: give the "
                       "elements row by row along one, as in `[B, %s~]`",
                       expression_text(e->arena, before), dim->a->name, dim->a->name);
        else if (!batch || batch->node->kind != NODE_DIM)
            elab_error(e, dim,
                       "`%s~` is ragged over the dimension before it, which must be a `dim`, as in "
                       "`[B, %s~]`",
                       dim->a->name, dim->a->name);
        else {
            const Decl *known = map_get(&inputs->batches, dim->a->name);
            if (known && known != batch)
                elab_error(e, dim, "`%s~` is ragged over `%s` already", dim->a->name,
                           known->node->name);
            map_set(&inputs->batches, dim->a->name, (void *)batch);
        }
    }
}

/* Symbols: uniform dimensions first, so that each ragged one finds its batch. */
static void declare_given(Elab *e, Inputs *inputs)
{
    const NodeList *items = &e->loaded.items;
    for (int ragged = 0; ragged < 2; ragged++)
        for (size_t i = 0; i < items->count; i++) {
            const Node *node = items->data[i];
            const Decl *batch =
                node->kind == NODE_DIM ? map_get(&inputs->batches, node->name) : NULL;
            if (!holds(node, NODE_DIM) || node->a || (batch != NULL) != ragged)
                continue;
            if (batch && map_has(&inputs->batches, batch->node->name)) {
                elab_error(e, node, "`%s` is ragged over `%s`, which is ragged itself", node->name,
                           batch->node->name);
                batch = NULL;
            }
            int over = batch ? module_symbol(e->module, batch->node->name) : NO_SYMBOL;
            Decl *decl = map_get(&e->decls, node->name);
            decl->value =
                (Val){.kind = VAL_DIM, .symbol = module_add_symbol(e->module, node->name, over)};
            decl->state = DECL_DONE;
            decl->used = true;
        }
}

/* ---- dimensions made of others ---- */

static const Decl *dim_decl(Elab *e, const Node *node)
{
    const Decl *decl = node->kind == NODE_NAME ? map_get(&e->decls, node->name) : NULL;
    return decl && decl->node->kind == NODE_DIM ? decl : NULL;
}

static bool mentions_dim(Elab *e, const Node *node)
{
    const bool is_binary = node->kind == NODE_BINARY, is_unary = node->kind == NODE_UNARY;
    bool any = dim_decl(e, node) || ((is_binary || is_unary) && mentions_dim(e, node->a)) ||
               (is_binary && mentions_dim(e, node->b));
    for (size_t i = 0; !any && node->kind == NODE_CALL && i < node->kids.count; i++)
        any = mentions_dim(e, node->kids.data[i]->a);
    return any;
}

static bool refuse_form(Elab *e, const Node *node, const char *why)
{
    elab_error(e, node,
               "`%s`: %s; a dimension is made of others as in `1 + S`, `2 * S`, `S + T` or "
               "`(S + 1) / 2`, which rounds down",
               expression_text(e->arena, node), why);
    return false;
}

/* Quotient: a formula while it is read: a sum, divided and rounded down. */
typedef struct Quotient {
    LengthSum sum;
    int64_t divisor;
} Quotient;

static bool declare_made(Elab *e, Decl *decl, Inputs *inputs);

/* A dimension that another, `made`, is made of. */
static bool term_of(Elab *e, const Node *node, const Node *made, Inputs *inputs, Quotient *out)
{
    Decl *decl = map_get(&e->decls, node->name);
    bool counts_rows = map_has(&inputs->rows, node->name);
    for (size_t i = 0; i < inputs->batches.count; i++)
        counts_rows |= inputs->batches.entries[i].value == decl;
    if (counts_rows) {
        elab_error(e, node, "`%s` counts the rows of a batch: `%s` cannot be made of it",
                   node->name, made->name);
        return false;
    }
    if (!decl->node->a && !map_has(&inputs->dims, node->name)) {
        elab_error(e, node, "no input has the dimension `%s`, of which `%s` is made", node->name,
                   made->name);
        return false;
    }
    if (decl->node->a && !declare_made(e, decl, inputs))
        return false;
    *out = (Quotient){{.n = 1, .terms = {{decl->value.symbol, 1}}}, 1};
    return true;
}

static bool number_of(Elab *e, const Node *node, Quotient *out)
{
    Val val = eval_at_top(e, node);
    *out = (Quotient){.divisor = 1};
    if (val.kind == VAL_ERROR)
        return false;
    int64_t *number = &out->sum.plus;
    if (!whole_number(&val, number) || *number > MOST_DIM_PLUS || *number < -MOST_DIM_PLUS)
        return refuse_form(
            e, node, arena_printf(e->arena, "%s is no whole number below 2^24", val_text(e, &val)));
    return true;
}

/* *x += y × `sign`; *problem: why not. */
static void add_form(Quotient *x, const Quotient *y, int sign, const char **problem)
{
    const Quotient a = *x, b = *y;
    if (a.divisor > 1 && b.divisor > 1)
        *problem = "this is a sum of two quotients";
    else if (sign < 0 && b.sum.n)
        *problem = "only a number is subtracted";
    /* floor(a / k) + b = floor((a + k b) / k) for a whole b */
    x->divisor = a.divisor * b.divisor;
    x->sum.plus = a.sum.plus * b.divisor + sign * b.sum.plus * a.divisor;
    for (int i = 0; i < a.sum.n; i++)
        x->sum.terms[i].times *= b.divisor;
    for (int i = 0; i < b.sum.n && !*problem; i++) {
        const LengthTerm *term = &b.sum.terms[i];
        if (!length_sum_add_term(&x->sum, term->symbol, term->times * a.divisor))
            *problem = "a number is too large";
        else if (x->sum.n > MAX_DIM_TERMS)
            *problem = "these are too many dimensions";
    }
}

static void scale_form(Quotient *x, int64_t by, const char **problem)
{
    if (by < 1 || by > MOST_DIM_TIMES)
        *problem = "dimensions are multiplied by whole numbers from 1 to 65536";
    else if (x->divisor > 1 && by > 1)
        *problem = "a quotient is not multiplied";
    for (int i = 0; i < x->sum.n; i++)
        x->sum.terms[i].times *= by;
    x->sum.plus *= by;
}

/* floor(floor(a / k) / c) = floor(a / (k c)) */
static void divide_form(Quotient *x, const Quotient *y, const char **problem)
{
    if (y->sum.n || y->sum.plus < 1 || y->sum.plus > MOST_DIM_TIMES)
        *problem = "dimensions are divided by whole numbers from 1 to 65536";
    else
        x->divisor *= y->sum.plus;
}

static bool form_of(Elab *e, const Node *node, const Node *made, Inputs *inputs, Quotient *out);

static bool form_of_parts(Elab *e, const Node *node, const Node *made, Inputs *inputs,
                          Quotient *out)
{
    Quotient y;
    DimFormula formula;
    const char *problem = NULL;
    if (dim_decl(e, node))
        return term_of(e, node, made, inputs, out);
    if (!mentions_dim(e, node))
        return number_of(e, node, out);
    if (node->kind == NODE_UNARY)
        return refuse_form(e, node, "dimensions are not negated");
    if (node->kind == NODE_CALL)
        return refuse_form(e, node, "no function is computed of dimensions");
    if (!form_of(e, node->a, made, inputs, out) || !form_of(e, node->b, made, inputs, &y))
        return false;
    switch (node->op) {
    case TOKEN_PLUS: add_form(out, &y, 1, &problem); break;
    case TOKEN_MINUS: add_form(out, &y, -1, &problem); break;
    case TOKEN_SLASH: divide_form(out, &y, &problem); break;
    case TOKEN_STAR:
        if (out->sum.n && y.sum.n)
            problem = "this is a product of two dimensions";
        else if (out->sum.n)
            scale_form(out, y.sum.plus, &problem);
        else {
            scale_form(&y, out->sum.plus, &problem);
            *out = y;
        }
        break;
    default: problem = "dimensions are added, multiplied and divided"; break;
    }
    if (!problem && !length_sum_formula(&out->sum, out->divisor, &formula))
        problem = "a number is too large";
    return !problem || refuse_form(e, node, problem);
}

/* Dimensions that are made of others nest as calls do. */
static bool form_of(Elab *e, const Node *node, const Node *made, Inputs *inputs, Quotient *out)
{
    if (!check_limits(e, node))
        return false;
    e->eval_depth++;
    bool ok = form_of_parts(e, node, made, inputs, out);
    e->eval_depth--;
    return ok;
}

/* What inputs say of its rows agrees with what it is made of. */
static bool check_made_batch(Elab *e, const Node *node, int symbol, const Inputs *inputs)
{
    const Decl *said = map_get(&inputs->batches, node->name);
    int batch = e->module->symbols.data[symbol].batch;
    if (!said || said->value.symbol == batch)
        return true;
    if (batch == NO_SYMBOL)
        elab_error(
            e, node,
            "an input has `%s~`, but no dimension that `%s` is made of is ragged: write it without `~`",
            node->name, node->name);
    else
        elab_error(e, node, "`%s` is ragged over `%s`, not over `%s` as an input says", node->name,
                   e->module->symbols.data[batch].name, said->node->name);
    return false;
}

/* Once its terms are declared. */
static bool declare_made(Elab *e, Decl *decl, Inputs *inputs)
{
    const Node *node = decl->node;
    Quotient read;
    DimFormula formula;
    const char *problem = NULL;
    if (decl->state == DECL_DONE)
        return decl->value.kind == VAL_DIM;
    if (decl->state == DECL_BUSY) {
        elab_error(e, node, "the dimension `%s` is made of itself", node->name);
        return false;
    }
    decl->state = DECL_BUSY;
    decl->value = val_error();
    decl->used = true;
    bool ok = form_of(e, node->a, node, inputs, &read) &&
              length_sum_formula(&read.sum, read.divisor, &formula);
    if (ok && !formula.n) {
        elab_error(e, node, "`%s` is a constant: `const %s = %d`", node->name, node->name,
                   (int)formula.plus);
        ok = false;
    }
    int symbol = ok ? module_add_made_symbol(e->module, node->name, &formula, &problem) : NO_SYMBOL;
    if (problem)
        elab_error(e, node, "the dimension `%s` %s", node->name, problem);
    ok = symbol != NO_SYMBOL && check_made_batch(e, node, symbol, inputs);
    if (ok)
        decl->value = (Val){.kind = VAL_DIM, .symbol = symbol};
    decl->state = DECL_DONE;
    return ok;
}

static bool check_number(Elab *e)
{
    const NodeList *items = &e->loaded.items;
    int n = 0;
    for (size_t i = 0; i < items->count; i++)
        if (holds(items->data[i], NODE_DIM) && ++n > MOST_SYMBOLS) {
            stop_elaboration(e, items->data[i],
                             arena_printf(e->arena,
                                          "the model is too large: more than %d dimensions",
                                          MOST_SYMBOLS));
            return false;
        }
    return true;
}

void declare_dims(Elab *e)
{
    const NodeList *items = &e->loaded.items;
    Inputs inputs;
    if (!check_number(e))
        return;
    map_init(&inputs.batches, e->arena);
    map_init(&inputs.dims, e->arena);
    map_init(&inputs.rows, e->arena);
    for (size_t i = 0; i < items->count; i++)
        if (holds(items->data[i], NODE_INPUT))
            read_input(e, items->data[i], &inputs);
    declare_given(e, &inputs);
    for (size_t i = 0; i < items->count; i++)
        if (holds(items->data[i], NODE_DIM) && items->data[i]->a)
            declare_made(e, map_get(&e->decls, items->data[i]->name), &inputs);
}

bool counts_rows(const Elab *e, int symbol)
{
    const NodeList *items = &e->loaded.items;
    for (size_t i = 0; i < items->count; i++) {
        const Node *type = holds(items->data[i], NODE_INPUT) ? items->data[i]->a : NULL;
        if (type && type->kids.count && type->kids.data[0]->kind == NODE_NAME &&
            !strcmp(type->kids.data[0]->name, e->module->symbols.data[symbol].name))
            return true;
    }
    return symbol_counts_rows(e->module, symbol);
}
