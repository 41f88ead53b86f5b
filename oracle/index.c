/* Rows found through integers: gather, its adjoint, and caches; and where the greatest stand. */
#include "oracle/interpreter.h"

/* Elements of a row: what follows the first n dimensions. */
static int64_t row_size(const Shape *shape, int n)
{
    return n ? shape->stride[n - 1] : shape->count;
}

/* The row that an index names; -1: none. */
static int64_t row_of(Num index, int64_t rows)
{
    return index.v >= 0 && index.v < (double)rows ? (int64_t)index.v : -1;
}

/* The table with each row rounded to integers. */
static const Dense *table_of_integers(Interpreter *in, const Op *op, Quant quant)
{
    const Dense *table = operand(in, op, 0);
    const Rounding to = rounding_for(in, op);
    const int64_t size = table->shape->extent[1], run = integers_run(quant, size);
    const Integers of = integers_of(in, table, 1, run, quant);
    Dense *out = dense_new(in, &op->args[0]->type);
    for (int64_t i = 0; i < table->shape->count; i++) {
        const int64_t first = i - i % size % run;
        const Num x = num_product(of.scale[first], of.x[i]), least = of.minimum[first];
        out->x[i] = num_rounded(&to, x.v + least.v, x.e + least.e, 2);
    }
    return out;
}

void interpret_gather(Interpreter *in, const Op *op, Dense *out)
{
    const Quant quant = op_quant(op);
    const Dense *table = quant ? table_of_integers(in, op, quant) : operand(in, op, 0),
                *index = operand(in, op, 1);
    int64_t size = row_size(table->shape, 1);
    for (int64_t i = 0; i < index->shape->count; i++) {
        if (!dense_has(index, i))
            continue;
        int64_t row = row_of(index->x[i], table->shape->extent[0]);
        for (int64_t k = 0; k < size; k++) {
            Num x = row < 0 ? num_exact(0) : table->x[row * size + k];
            out->x[i * size + k] = num_is_exact(index->x[i]) ? x : num_undecided(x.v);
        }
    }
}

/* Rows are added one after the other, each sum rounded. */
void interpret_scatter_add(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0), *index = operand(in, op, 1);
    int64_t size = row_size(out->shape, 1);
    Rounding to = rounding_for(in, op);
    OracleSum *sums = ARENA_ARRAY(in->arena, OracleSum, out->shape->count + 1);
    bool undecided = false;
    for (int64_t i = 0; i < index->shape->count; i++) {
        int64_t row = row_of(index->x[i], out->shape->extent[0]);
        if (!dense_has(index, i))
            continue;
        undecided |= !num_is_exact(index->x[i]);
        for (int64_t k = 0; row >= 0 && k < size; k++)
            if (dense_has(x, i * size + k))
                sum_add(&sums[row * size + k], x->x[i * size + k]);
    }
    for (int64_t i = 0; i < out->shape->count; i++) {
        out->x[i] = sum_end(&sums[i], 0, &to, &to);
        if (undecided)
            out->x[i].e = INFINITY;
    }
}

/* cache [R, P~, …], rows [R, Q~, …]: position q of a row becomes position
 * length(P) - length(Q) + q of the cache's. */
void interpret_append(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *cache = operand(in, op, 0), *rows = operand(in, op, 1);
    const Shape *to = out->shape, *from = rows->shape;
    const int32_t *p = in->run->dims[to->dims[1].symbol].lengths;
    const int32_t *q = in->run->dims[from->dims[1].symbol].lengths;
    int64_t size = to->stride[1];
    for (int64_t i = 0; i < to->count; i++)
        out->x[i] = cache->x[i];
    for (int64_t r = 0; r < from->extent[0]; r++)
        for (int64_t t = 0; t < q[r]; t++)
            for (int64_t k = 0, at = p[r] - q[r] + t; at >= 0 && k < size; k++)
                out->x[r * to->stride[0] + at * size + k] =
                    rows->x[r * from->stride[0] + t * size + k];
}

/* ---- positions along an axis ---- */

/* Positions of a walk over what is looked up: the element of tensor 1, which the axis is left out
 * of, and of the positions, tensor 2. */
typedef struct Positions {
    OracleWalk walk;
    const Dense *index;
    int64_t extent, stride; /* of the axis of tensor 1 */
    const int32_t *lengths; /* of a ragged axis; else NULL */
    int batch;              /* axis of the walk along which the lengths are */
} Positions;

static Positions positions_of(Interpreter *in, const Op *op, const Shape *over, const Shape *table)
{
    const int axis = (int)op_int(op, ATTR_axis), symbol = table->dims[axis].symbol;
    Positions p = {.walk = walk_over(over->rank, over->extent),
                   .index = operand(in, op, 1),
                   .extent = table->extent[axis],
                   .stride = table->stride[axis]};
    walk_broadcast(&p.walk, 0, over);
    walk_broadcast(&p.walk, 1, table);
    walk_broadcast(&p.walk, 2, p.index->shape);
    p.walk.step[1][axis] = 0;
    if (symbol_is_ragged(in->module, symbol)) {
        p.lengths = in->run->dims[symbol].lengths;
        while (table->dims[p.batch].symbol != in->module->symbols.data[symbol].batch)
            p.batch++;
    }
    return p;
}

/* Where tensor 1 has the position that the walk stands at; -1: nowhere. */
static int64_t place_of(const Positions *p)
{
    int64_t n = p->lengths ? p->lengths[p->walk.index[p->batch]] : p->extent;
    int64_t row = row_of(p->index->x[p->walk.at[2]], n);
    return row < 0 ? -1 : p->walk.at[1] + row * p->stride;
}

void interpret_lookup(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    Positions p = positions_of(in, op, out->shape, x->shape);
    for (OracleWalk *w = &p.walk; w->count > 0; w->count--, walk_next(w)) {
        if (!dense_has(out, w->at[0]))
            continue;
        int64_t from = place_of(&p);
        Num found = from < 0 ? num_exact(0) : x->x[from];
        out->x[w->at[0]] = num_is_exact(p.index->x[w->at[2]]) ? found : num_undecided(found.v);
    }
}

/* Elements are added one after the other, each sum rounded. */
void interpret_lookup_add(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    Rounding to = rounding_for(in, op);
    OracleSum *sums = ARENA_ARRAY(in->arena, OracleSum, out->shape->count + 1);
    Positions p = positions_of(in, op, x->shape, out->shape);
    bool undecided = false;
    for (OracleWalk *w = &p.walk; w->count > 0; w->count--, walk_next(w)) {
        if (!dense_has(x, w->at[0]))
            continue;
        undecided |= !num_is_exact(p.index->x[w->at[2]]);
        int64_t row = place_of(&p);
        if (row >= 0)
            sum_add(&sums[row], x->x[w->at[0]]);
    }
    for (int64_t i = 0; i < out->shape->count; i++) {
        out->x[i] = sum_end(&sums[i], 0, &to, &to);
        if (undecided)
            out->x[i].e = INFINITY;
    }
}

/* ---- where the greatest stand ---- */

/* How an element compares: NaN as inf. */
static double rank_of(Num x) { return isnan(x.v) ? INFINITY : x.v; }

/* Whether element i of the row stands before element j. */
static bool stands_before(const Num *row, int64_t i, int64_t j)
{
    double a = rank_of(row[i]), b = rank_of(row[j]);
    return a > b || (a == b && i < j);
}

/* Whether errors may exchange the two. */
static bool may_swap(Num a, Num b)
{
    return a.e + b.e > 0 && !(fabs(rank_of(a) - rank_of(b)) > a.e + b.e);
}

/* An element's place is how many stand before it. It is undecided if another one's error may move
 * that over it. */
void interpret_top_k(Interpreter *in, const Op *op, Dense *out)
{
    const Dense *x = operand(in, op, 0);
    const int last = x->shape->rank - 1;
    const int64_t n = x->shape->extent[last], k = out->shape->extent[last];
    for (int64_t i = 0; i < out->shape->count; i++)
        out->x[i] = num_exact(-1);
    for (int64_t i = 0; i < x->shape->count; i++) {
        const int64_t first = i - i % n;
        const Num *row = x->x + first;
        int64_t before = 0;
        bool decided = true;
        for (int64_t j = 0; j < n && dense_has(x, i); j++) {
            if (first + j == i || !dense_has(x, first + j))
                continue;
            before += stands_before(row, j, i - first);
            decided &= !may_swap(row[j], x->x[i]);
        }
        if (dense_has(x, i) && before < k)
            out->x[first / n * k + before] =
                decided ? num_exact((double)(i - first)) : num_undecided((double)(i - first));
    }
}
