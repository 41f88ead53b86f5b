/* One pass over the keys with a running maximum (Milakov and Gimelshein 2018; Dao et al. 2022).
 *
 * A block with more keys than a strip holds would compute its scores again for each level of
 * reductions. For a softmax one pass is enough. With the maximum m of the keys so far,
 *
 *   e = exp(x − m)   sum += Σ e   rows += e · values,   both times exp(m before − m now) first
 *
 * Divisions by the sum, and products with any other value of the row (one value a query), are
 * factors of the result: they are applied after the last strip. No pattern of ops is looked for;
 * instead each value has a form,
 *
 *   value = base · exp(−top) · factors
 *
 * where the base is known from a strip alone, the top is a maximum over the keys (or the greater of
 * it and another value), and the factors are values of the row. Products that sum over keys take
 * any such value, sums take one without factors, all else takes bases. Regions with other values
 * go level by level (attention.c). */
#include "codegen/emit/attention/products.h"

#include <float.h>
#include <string.h>

enum { MAX_FACTORS = 4, NONE = -1 };

typedef struct Factor {
    int number; /* of a value of the row */
    bool divides;
} Factor;

typedef struct Form {
    bool known;
    int top; /* number, or NONE */
    int n_factors;
    Factor factors[MAX_FACTORS];
} Form;

struct Online {
    const SweepPlan *levels; /* the region's own */
    Form *forms;             /* by value number */
    bool *late;              /* by value number: a factor of some product, 1 until the end */
    int *maximum;            /* by value number of a top: its maximum; or NONE */
    LoValue *before;         /* by value number of a top: maxima of the strips before */
    LoValue *scale;          /* … exp(top before − top now); of a product: its factors */
};

static const Form base = {.known = true, .top = NONE}, unknown = {0};

/* ---- forms ---- */

static bool is_base(const Form *f) { return f->known && f->top == NONE && f->n_factors == 0; }

static Form form_of(const Attention *a, const Online *o, const Value *value)
{
    int n = body_number(&a->e->body, value);
    if (o->levels->level[n] == 0)
        return base;
    if (o->levels->columnar[n])
        return o->forms[n];
    return (Form){.known = true, .top = NONE, .n_factors = 1, .factors = {{n, false}}};
}

static Form multiplied(Form x, Form y, bool divides)
{
    if (!x.known || !y.known || (x.top != NONE && y.top != NONE) || (divides && y.top != NONE) ||
        x.n_factors + y.n_factors > MAX_FACTORS)
        return unknown;
    for (int i = 0; i < y.n_factors; i++)
        x.factors[x.n_factors++] = (Factor){y.factors[i].number, y.factors[i].divides != divides};
    x.top = x.top != NONE ? x.top : y.top;
    return x;
}

/* Of a sum, or of one of both. */
static Form added(const Attention *a, const Online *o, const Value *x, const Value *y)
{
    Form f = form_of(a, o, x), g = form_of(a, o, y);
    if (value_is_const(x, 0) || value_is_const(y, 0))
        return value_is_const(x, 0) ? g : f;
    bool same = f.known && g.known && f.top == g.top && f.n_factors == g.n_factors;
    for (int i = 0; same && i < f.n_factors; i++)
        same = f.factors[i].number == g.factors[i].number &&
               f.factors[i].divides == g.factors[i].divides;
    return same ? f : unknown;
}

static const Op *running_maximum(const Attention *a, const Online *o, const Value *value)
{
    int n = body_number(&a->e->body, value);
    const Op *op = sweep_op(a->e, n);
    return op && op->kind == OP_reduce_max && sweep_reduces(a->e, o->levels, 0, op) ? op : NULL;
}

/* The maximum over the keys that the value of the row is, or the greater of it and another. */
static const Op *maximum_of(const Attention *a, const Online *o, const Value *top)
{
    const Op *op = sweep_op(a->e, body_number(&a->e->body, top));
    if (!op || op->kind != OP_max)
        return running_maximum(a, o, top);
    for (int i = 0; i < 2; i++)
        if (o->levels->level[body_number(&a->e->body, op->args[1 - i])] == 0 &&
            running_maximum(a, o, op->args[i]))
            return running_maximum(a, o, op->args[i]);
    return NULL;
}

/* exp(x − top) */
static Form exponential(const Attention *a, Online *o, const Value *difference)
{
    const Op *sub = sweep_op(a->e, body_number(&a->e->body, difference));
    if (!sub || sub->kind != OP_sub)
        return unknown;
    Form x = form_of(a, o, sub->args[0]);
    const Op *maximum = maximum_of(a, o, sub->args[1]);
    int top = body_number(&a->e->body, sub->args[1]);
    if (!is_base(&x) || !maximum || o->levels->columnar[top])
        return unknown;
    o->maximum[top] = body_number(&a->e->body, &maximum->results[0]);
    return (Form){.known = true, .top = top};
}

static Form form_of_op(const Attention *a, Online *o, const Op *op)
{
    Value *const *x = op->args;
    Form condition;
    switch (op->kind) {
    case OP_exp: return exponential(a, o, x[0]);
    case OP_neg:
    case OP_cast:
    case OP_dropout:
    case OP_broadcast:
        return dtype_is_float(x[0]->type.dtype) && dtype_is_float(op->results[0].type.dtype)
                   ? form_of(a, o, x[0])
                   : unknown;
    case OP_mul:
    case OP_div: return multiplied(form_of(a, o, x[0]), form_of(a, o, x[1]), op->kind == OP_div);
    case OP_add:
    case OP_sub: return added(a, o, x[0], x[1]);
    case OP_select:
        condition = form_of(a, o, x[0]);
        return is_base(&condition) ? added(a, o, x[1], x[2]) : unknown;
    default: return unknown;
    }
}

/* ---- whether a region can be done so ---- */

static bool takes_reductions(const Attention *a, const Online *o)
{
    const Body *body = &a->e->body;
    for (int i = 0; i < body->n_ops; i++) {
        const Op *op = body->ops[i].op;
        if (op_family(op) != FAMILY_reduce)
            continue;
        Form f = form_of(a, o, op->args[0]);
        bool fits = op->kind == OP_reduce_sum ? f.known && f.n_factors == 0 : is_base(&f);
        if (!fits || !o->levels->columnar[body_number(body, op->args[0])])
            return false;
    }
    return true;
}

static bool takes_products(const Attention *a, const Online *o)
{
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        Form f = p->use == TILE_SCORES ? base : form_of(a, o, p->op->args[0]);
        if (!f.known || (p->use == TILE_COLUMNS && !is_base(&f)))
            return false;
        for (int k = 0; k < f.n_factors; k++)
            o->late[f.factors[k].number] = true;
    }
    for (int n = 0; n < a->e->n_values; n++)
        if (o->late[n] && o->maximum[n] != NONE)
            return false;
    return true;
}

const Online *online_of(const Attention *a)
{
    Emit *e = a->e;
    size_t n = (size_t)e->n_values;
    SweepPlan *levels = ARENA_NEW(e->arena, SweepPlan);
    Online *o = ARENA_NEW(e->arena, Online);
    *levels = plan_sweeps(e, false, NULL);
    *o = (Online){.levels = levels,
                  .forms = ARENA_ARRAY(e->arena, Form, n),
                  .late = ARENA_ARRAY(e->arena, bool, n),
                  .maximum = ARENA_ARRAY(e->arena, int, n),
                  .before = ARENA_ARRAY(e->arena, LoValue, n),
                  .scale = ARENA_ARRAY(e->arena, LoValue, n)};
    memset(o->maximum, NONE, sizeof *o->maximum * n);
    for (int i = 0; i < e->body.n_ops; i++) {
        int number = e->body.n_inputs + i;
        if (levels->columnar[number] && levels->level[number] > 0)
            o->forms[number] = form_of_op(a, o, e->body.ops[i].op);
    }
    return levels->n_sweeps > 1 && takes_reductions(a, o) && takes_products(a, o) ? o : NULL;
}

const bool *online_ready(const Online *o) { return o->late; }

/* ---- values of rows between strips ---- */

static LoType lanes_type(Attention *a) { return lo_vector(element_type(a), a->e->vector); }

static unsigned lanes_align(Attention *a) { return (unsigned)dtype_bytes(a->tiles.scores.dtype); }

static LoValue vectors_of_block(Attention *a, const char *name)
{
    return lo_scratch(&a->e->lo, lanes_type(a), block_vectors(a), 0, name);
}

/* What a query of the block has in such memory. */
static LoValue of_query(Attention *a, LoValue memory)
{
    return lo_at(&a->e->lo, element_type(a), memory, a->lane);
}

/* Before any key the maximum is -inf: what is finite instead has differences. */
static LoValue finite(Attention *a, LoValue x)
{
    Lo *lo = &a->e->lo;
    LoType type = lo_type(x);
    LoValue least = lo_real(lo, type, lo_element(type) == lo_f64 ? -DBL_MAX : -FLT_MAX);
    LoValue none = lo_lt(lo, x, least);
    return lo_select(lo, none, least, x);
}

/* In strips factors are 1, and maxima those of the keys so far. */
void online_stand(Attention *a)
{
    Emit *e = a->e;
    for (int n = 0; n < e->n_values; n++) {
        int maximum = a->online->maximum[n];
        if (a->online->late[n])
            e->reduced[n] = lo_real(&e->lo, element_type(a), 1);
        if (maximum == NONE || !e->reduced[maximum])
            continue;
        emit_from(e, maximum);
        e->reduced[maximum] = finite(a, e->reduced[maximum]);
    }
    emit_from_whole(e);
}

void online_keep_maxima(Attention *a)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    for (int n = 0; n < e->n_values; n++) {
        int maximum = a->online->maximum[n];
        if (maximum == NONE)
            continue;
        emit_from(e, maximum);
        if (!a->online->before[n]) {
            a->online->before[n] = vectors_of_block(a, "before");
            a->online->scale[n] = vectors_of_block(a, "scale");
        }
        LoType type = lanes_type(a);
        LoLoop loop =
            lo_for_open(lo, lo_i64_of(lo, 0), lo_i64_of(lo, block_vectors(a)), 1, "maxima");
        LoValue sums = lo_at(lo, type, a->sums[maximum - e->body.n_inputs], loop.index);
        lo_store(lo, lo_load(lo, type, sums, lanes_align(a)),
                 lo_at(lo, type, a->online->before[n], loop.index), lanes_align(a));
        lo_for_close(lo, &loop);
    }
    emit_from_whole(e);
}

/* The value of the row `n` here. */
static LoValue row_value(Attention *a, int n)
{
    Emit *e = a->e;
    const Value *value = &sweep_op(e, n)->results[0];
    memo_forget(e);
    LoValue x = emit_aligned(e, value, &e->space);
    return x;
}

static void follow_top(Attention *a, int n)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    int maximum = a->online->maximum[n];
    emit_from(e, n);
    LoValue now = e->reduced[maximum];
    LoValue top = row_value(a, n);
    LoValue before =
        lo_load(lo, element_type(a), of_query(a, a->online->before[n]), lanes_align(a));
    e->reduced[maximum] = finite(a, before);
    LoValue less = lo_sub(lo, row_value(a, n), top), scale = lo_math(lo, "exp", 1, &less);
    e->reduced[maximum] = now;
    memo_forget(e);
    lo_store(lo, scale, of_query(a, a->online->scale[n]), lanes_align(a));
    for (int i = 0; i < e->body.n_ops; i++) {
        const Op *op = e->body.ops[i].op;
        if (op->kind != OP_reduce_sum || form_of(a, a->online, op->args[0]).top != n)
            continue;
        emit_from(e, e->body.n_inputs + i);
        LoValue at = of_query(a, a->sums[i]);
        LoValue sum = lo_load(lo, element_type(a), at, lanes_align(a));
        lo_store(lo, lo_mul(lo, sum, scale), at, lanes_align(a));
    }
    emit_from_whole(e);
}

static void follow_tops(Attention *a, int sweep)
{
    (void)sweep;
    for (int n = 0; n < a->e->n_values; n++)
        if (a->online->maximum[n] != NONE)
            follow_top(a, n);
}

void online_follow(Attention *a, int sweep) { tile_each_query(a, sweep, follow_tops); }

/* ---- rows ---- */

void online_scale_rows(Attention *a, const TileProduct *p, LoValue later)
{
    Form f = form_of(a, a->online, p->op->args[0]);
    if (f.top == NONE)
        return;
    LoValue zero = lo_i64_of(&a->e->lo, 0);
    LoValue some_before = lo_ne(&a->e->lo, later, zero);
    LoIf some = lo_if_open(&a->e->lo, some_before);
    tile_scale_rows(a, p, a->online->scale[f.top]);
    lo_if_close(&a->e->lo, &some);
}

/* The factors of every product, one after the other. */
static void store_factors(Attention *a, int sweep)
{
    Emit *e = a->e;
    Lo *lo = &e->lo;
    (void)sweep;
    for (int i = 0; i < a->tiles.n; i++) {
        const Op *op = a->tiles.products[i].op;
        LoValue memory = a->online->scale[body_number(&e->body, &op->results[0])];
        emit_from(e, body_number(&e->body, &op->results[0]));
        LoValue product = lo_real(lo, element_type(a), 1);
        if (!memory)
            continue;
        Form f = form_of(a, a->online, op->args[0]);
        for (int k = 0; k < f.n_factors; k++) {
            LoValue x = row_value(a, f.factors[k].number);
            product = (f.factors[k].divides ? lo_div : lo_mul)(lo, product, x);
        }
        lo_store(lo, product, of_query(a, memory), lanes_align(a));
    }
    emit_from_whole(e);
}

void online_finish(Attention *a)
{
    Emit *e = a->e;
    LoValue *scale = a->online->scale;
    bool some = false;
    for (int i = 0; i < a->tiles.n; i++) {
        const TileProduct *p = &a->tiles.products[i];
        int n = body_number(&e->body, &p->op->results[0]);
        if (p->use != TILE_ROWS || !form_of(a, a->online, p->op->args[0]).n_factors)
            continue;
        scale[n] = vectors_of_block(a, "factors");
        some = true;
    }
    if (some)
        tile_each_query(a, a->plan.n_sweeps, store_factors);
    for (int i = 0; i < a->tiles.n; i++) {
        int n = body_number(&e->body, &a->tiles.products[i].op->results[0]);
        if (scale[n])
            tile_scale_rows(a, &a->tiles.products[i], scale[n]);
    }
}
