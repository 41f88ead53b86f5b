/* Rows of the batch in which few positions are new, and rows in which many are. What is kept is a
 * latent (absorb.c), from which
 *
 *   rows with few    multiply in the other order, whose cost grows with pairs of positions
 *   rows with many   make keys and values of all positions so far, and then multiply as the forward
 *
 * Which one a row is, its lengths say, so that one program has both:
 *
 *   Few = Q [0, n - 1]    Many = Q [n, …]    Held = P [n, …], by Q
 *
 *   mixed [B, Q~, …]  =  lookup (mixed of Few and P), Q  +  lookup (mixed of Many and Held), Q
 *
 * What is in the other order shows when a step of all rows has been built; then it is built again.
 * Between the split, at queries and at what is cached, and this sum each is built by its own
 * dimensions. A row has no positions of the other, so that a step costs nothing of what no row
 * needs. */
#include "passes/incremental/incremental.h"

static int symbol_in_range(const Step *s, const char *name, int of, int32_t least, int32_t most)
{
    const int q = s->q[ROWS_ALL];
    DimFormula formula = {.n = 1, .terms = {{of, 1}}, .divisor = 1, .least = least, .most = most};
    if (of != q)
        formula.terms[formula.n++] = (DimTerm){q, 0};
    return dim_of_formula(s->module, name, &formula).symbol;
}

void find_row_sets(Step *s, int64_t many)
{
    s->q[ROWS_FEW] = symbol_in_range(s, "Few", s->q[ROWS_ALL], 0, many - 1);
    s->q[ROWS_MANY] = symbol_in_range(s, "Many", s->q[ROWS_ALL], many, MOST_DIM_LENGTH);
    for (size_t i = 0; i < s->dims.count; i++) {
        TargetDim *dim = &s->dims.data[i];
        dim->past[ROWS_MANY] =
            symbol_in_range(s, "Held", dim->past[ROWS_ALL], many, MOST_DIM_LENGTH);
    }
}

int64_t many_new(const Step *s)
{
    const int symbol = s->q[ROWS_MANY];
    return symbol == NO_SYMBOL ? 0 : s->module->symbols.data[symbol].formula.least;
}

bool is_of_row_sets(const Step *s, const Op *dot, Roles roles)
{
    const Value *result = &dot->results[0];
    return s->rows == ROWS_ALL && s->q[ROWS_MANY] != NO_SYMBOL && origin(s, result)->absorbed &&
           count_times(s, result) == 1 && roles.of[target_axis(s, result)] == ROLE_Q;
}

/* The positions of the value, v in decode_step, along another dimension; a row of which that one
 * has none, none; and zeros in a row of which only that one has some. */
static Value *build_along(Step *s, const Value *v, Value *built, int symbol)
{
    int axis = target_axis(s, v) + is_lifted(v, built), rank = built->type.rank;
    return build_lookup(&s->b, built, build_iota_along(&s->b, dim_symbol(symbol), axis, rank),
                        axis);
}

Value *build_from_all(Step *s, Value *v, Roles roles)
{
    const RowSet rows = s->rows;
    const int axis = target_axis(s, v);
    s->rows = ROWS_ALL;
    Value *all = build_step(s, v, roles);
    s->rows = rows;
    if (!all || axis < 0)
        return all;
    Dim had = all->type.dims[axis + is_lifted(v, all)],
        has = as_step_dim(s, v->type.dims[axis], roles.of[axis]);
    return dim_equal(had, has) ? all : build_along(s, v, all, has.symbol);
}

Value *build_row_sets(Step *s, Op *dot, Roles roles)
{
    Value *sum = NULL, *result = op_result(dot);
    for (RowSet rows = ROWS_FEW; rows < N_ROW_SETS; rows++) {
        s->rows = rows;
        Value *part = build_ordered(s, dot, roles);
        s->rows = ROWS_ALL;
        if (!part)
            return NULL;
        s->b.loc = dot->loc;
        s->b.scope = dot->scope;
        part = build_along(s, result, part, s->q[ROWS_ALL]);
        sum = sum ? build_binary(&s->b, OP_add, sum, part) : part;
    }
    return sum;
}
