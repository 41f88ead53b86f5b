/* Finding sums over the rows of a batch: one walk over what the loss and the states' updates need.
 * Ops that the walk does not know need the whole batch. */
#include "passes/batch_sums.h"

#include "base/functions.h"
#include "ir/side.h"
#include "passes/clone.h"
#include "passes/derive.h"

#include <string.h>

/* Kind: how a value of a piece of the batch belongs to that of the whole batch.
 *   SAME    it is the same, or follows from early totals
 *   ROWS    it has an axis of the batch, and each row follows from the row's own data
 *   SUM     the whole batch's is the sum of the pieces'
 *   LATE    it follows from late totals
 *   WHOLE   it is another for each way to cut the batch */
typedef enum Kind { SAME, ROWS, SUM, LATE, WHOLE } Kind;

/* Fact: what is known of an op's result.
 *   trained   a trained param is behind it
 *   totals    a total is
 *   why       the op that made it LATE or WHOLE */
typedef struct Fact {
    Kind kind;
    bool trained, totals;
    const Op *why;
} Fact;

/* Whether a sum may be known before the pieces are computed. */
static bool is_early(const Fact *x) { return !x->trained && !x->totals; }

typedef struct Finder {
    Arena *arena;
    const Module *module;
    BatchSums sums;
    SideTable needed, facts; /* of ops */
    int batch;               /* symbol */
} Finder;

static Fact *fact_of(const Finder *f, const Op *op, int arg)
{
    return side_of_op(&f->facts, op->args[arg]->op);
}

/* Axes of the batch; -1: one of a ragged dimension without it, whose length differs among rows. */
static int batch_axes(const Finder *f, const Type *type)
{
    int n = 0;
    bool ragged = false;
    for (int i = 0; i < type->rank; i++) {
        n += type->dims[i].symbol == f->batch;
        ragged |= symbol_is_ragged(f->module, type->dims[i].symbol);
    }
    return n || !ragged ? n : -1;
}

static bool is_fixed(const Type *type)
{
    bool fixed = true;
    for (int i = 0; i < type->rank; i++)
        fixed &= dim_is_const(type->dims[i]);
    return fixed;
}

/* ---- sums ---- */

/* The op reads the operand's total; gives what that is. */
static Kind read_total(Finder *f, Op *op, int arg)
{
    const Fact *x = fact_of(f, op, arg);
    BatchSums *s = &f->sums;
    int total = 0, n = (int)s->totals.count;
    if (x->kind != SUM)
        return x->kind;
    while (total < n && s->totals.data[total].sum != op->args[arg])
        total++;
    if (total == n)
        vec_push(f->arena, s->totals, ((BatchTotal){op->args[arg], !is_early(x)}));
    vec_push(f->arena, s->reads, ((TotalRead){op, arg, total}));
    return is_early(x) ? SAME : LATE;
}

static bool adds(OpKind kind)
{
    return kind == OP_add || kind == OP_sub || kind == OP_select || kind == OP_concat;
}

/* Sums and what is the same, added: a sum. */
static bool join_terms(Finder *f, Op *op)
{
    int first = op->kind == OP_select; /* behind the condition */
    bool any = false;
    for (int i = first; i < op->n_args; i++) {
        Kind kind = fact_of(f, op, i)->kind;
        if (kind != SAME && kind != SUM)
            return false;
        any |= kind == SUM;
    }
    if (!any || (first && read_total(f, op, 0) != SAME))
        return false;
    for (int i = first; i < op->n_args; i++)
        if (fact_of(f, op, i)->kind == SAME)
            vec_push(f->arena, f->sums.terms, ((Term){op, i}));
    return true;
}

/* A sum times what is the same, or divided by it: a sum. Of two, the one that may be known early is
 * a total. */
static bool scale_sum(Finder *f, Op *op)
{
    const Fact *a = fact_of(f, op, 0), *b = fact_of(f, op, 1);
    if (a->kind == SUM && (b->kind == SAME || (b->kind == SUM && is_early(b))))
        return read_total(f, op, 1) == SAME;
    if (op->kind == OP_div || b->kind != SUM)
        return false;
    return (a->kind == SAME || (a->kind == SUM && is_early(a))) && read_total(f, op, 0) == SAME;
}

static bool keeps_sums(const Op *op)
{
    switch (op->kind) {
    case OP_neg:
    case OP_cast:
    case OP_stop_gradient:
    case OP_reduce_sum: return true;
    default: return op_family(op) == FAMILY_shape;
    }
}

/* Whether the result is linear in operands that are sums. */
static bool is_sum(Finder *f, Op *op)
{
    const Type *type = &op_result(op)->type;
    if (!op->n_args || !dtype_is_float(type->dtype) || !is_fixed(type))
        return false;
    if (adds(op->kind))
        return join_terms(f, op);
    if (op->kind == OP_mul || op->kind == OP_div || op->kind == OP_dot)
        return scale_sum(f, op);
    return keeps_sums(op) && fact_of(f, op, 0)->kind == SUM;
}

/* ---- rows ---- */

/* The axes of one row each are gone: a sum over all rows. */
static Kind sum_over_rows(const Op *op)
{
    return is_fixed(&op_result((Op *)op)->type) ? SUM : WHOLE;
}

/* Whether what goes along this axis meets several rows: the rows themselves, or positions up to the
 * longest row's. */
static bool is_mixed_axis(const Finder *f, Dim dim, Kind x)
{
    return dim.symbol == f->batch || (x != ROWS && symbol_is_ragged(f->module, dim.symbol));
}

static Kind reduce_kind(const Finder *f, const Op *op, Kind x)
{
    const Type *type = &op->args[0]->type;
    const Attr *axes = op_attr(op, ATTR_axes);
    bool mixed = false;
    for (int i = 0; i < axes->n; i++)
        mixed |= is_mixed_axis(f, type->dims[axes->ints[i]], x);
    if (!mixed)
        return x;
    return x == ROWS && op->kind == OP_reduce_sum ? sum_over_rows(op) : WHOLE;
}

static Kind leaf_kind(const Finder *f, const Op *op)
{
    const Type *type = &op_result((Op *)op)->type;
    int n = batch_axes(f, type);
    switch (op->kind) {
    case OP_input: return n == 1 ? ROWS : n == 0 ? SAME : WHOLE;
    case OP_size: {
        int symbol = (int)op_int(op, ATTR_dim);
        return symbol == f->batch || symbol_is_ragged_over(f->module, symbol, f->batch) ? SUM
                                                                                        : SAME;
    }
    case OP_lengths: return ROWS;
    case OP_iota: return n > 0 ? WHOLE : SAME;
    default: return n == 1 ? ROWS : n > 1 ? WHOLE : SAME;
    }
}

/* Of an op that reads these kinds, sums apart: rows meet only what is the same for all of them. */
static Kind join_kinds(Kind a, Kind b)
{
    if (a == SAME || a == b)
        return b;
    return b == SAME ? a : WHOLE;
}

/* Of an op whose rows stay apart: each follows from the same row of the operands. */
static Kind rows_apart(const Finder *f, const Op *op, Kind all)
{
    const int n = batch_axes(f, &op_result((Op *)op)->type);
    if (all == SAME)
        return n == 1 ? ROWS : n > 1 ? WHOLE : SAME;
    return all == ROWS && n != 1 ? WHOLE : all;
}

static bool reads_rows_twice(const Finder *f, const Op *op)
{
    return op->n_args > 1 && fact_of(f, op, 0)->kind == ROWS && fact_of(f, op, 1)->kind == ROWS;
}

static Kind norm_kind(const Finder *f, const Op *op, Kind all)
{
    const Type *type = &op_result((Op *)op)->type;
    return type->rank && is_mixed_axis(f, type->dims[type->rank - 1], all) ? WHOLE
                                                                           : rows_apart(f, op, all);
}

static Kind matmul_kind(const Finder *f, const Op *op, Kind all)
{
    if (op->kind == OP_grouped_dot)
        return rows_apart(f, op, all);
    if (op->kind == OP_grouped_outer)
        return all == ROWS                                         ? sum_over_rows(op)
               : all == SAME && !batch_axes(f, &op->args[2]->type) ? SAME
                                                                   : WHOLE;
    const Attr *inner = op_attr(op, ATTR_contract_a);
    for (int i = 0; all == SAME && i < inner->n; i++)
        if (is_mixed_axis(f, op->args[0]->type.dims[inner->ints[i]], all))
            return WHOLE;
    if (all == ROWS && batch_axes(f, &op_result((Op *)op)->type) == 0)
        return reads_rows_twice(f, op) ? sum_over_rows(op) : WHOLE;
    return rows_apart(f, op, all);
}

static Kind index_kind(const Finder *f, const Op *op, Kind all)
{
    const Type *type = &op_result((Op *)op)->type, *x = &op->args[0]->type;
    bool mixes = false;
    switch (op->kind) {
    case OP_scatter_add: return all == ROWS && !batch_axes(f, type) ? sum_over_rows(op) : WHOLE;
    case OP_lookup:
    case OP_lookup_add: {
        const int axis = (int)op_int(op, ATTR_axis);
        mixes = is_mixed_axis(f, x->dims[axis], all) || is_mixed_axis(f, type->dims[axis], all);
        break;
    }
    case OP_top_k: mixes = is_mixed_axis(f, x->dims[x->rank - 1], all); break;
    case OP_gather: mixes = reads_rows_twice(f, op); break;
    default: mixes = true;
    }
    return mixes ? WHOLE : rows_apart(f, op, all);
}

static Kind rows_kind(const Finder *f, const Op *op, Kind all)
{
    switch (op_family(op)) {
    case FAMILY_leaf: return leaf_kind(f, op);
    case FAMILY_reduce: return reduce_kind(f, op, all);
    case FAMILY_norm: return norm_kind(f, op, all);
    case FAMILY_matmul: return matmul_kind(f, op, all);
    case FAMILY_index: return index_kind(f, op, all);
    case FAMILY_elementwise:
    case FAMILY_shape:
    case FAMILY_loss: return rows_apart(f, op, all);
    default: return WHOLE;
    }
}

/* ---- the walk ---- */

static bool is_trained(const Finder *f, const Op *op)
{
    return op->kind == OP_param &&
           module_param(f->module, op_string(op, ATTR_name))->role == PARAM_TRAINED;
}

static Fact find_fact(Finder *f, Op *op)
{
    Fact fact = {.kind = SUM, .trained = is_trained(f, op)};
    size_t reads = f->sums.reads.count;
    if (!is_sum(f, op)) {
        Kind all = SAME;
        for (int i = 0; i < op->n_args; i++)
            all = join_kinds(all, read_total(f, op, i));
        fact.kind = all == WHOLE || all == LATE ? all : rows_kind(f, op, all);
    }
    fact.totals = f->sums.reads.count != reads;
    for (int i = op->n_args - 1; i >= 0; i--) {
        const Fact *x = fact_of(f, op, i);
        fact.trained |= x->trained;
        fact.totals |= x->totals;
        fact.why = x->kind == LATE || x->kind == WHOLE ? x->why : fact.why;
    }
    if (!fact.why && (fact.kind == LATE || fact.kind == WHOLE))
        fact.why = op;
    return fact;
}

static void mark_needed(Finder *f)
{
    for (Op *op = f->sums.function->body.last; op; op = op->previous)
        if (is_loss(op) || op->kind == OP_assign || side_number(&f->needed, op)) {
            side_set_number(&f->needed, op, 1);
            for (int a = 0; a < op->n_args; a++)
                side_set_number(&f->needed, op->args[a]->op, 1);
        }
}

/* Whether *batch is this symbol, or nothing yet: it is then. */
static bool is_batch(int *batch, int symbol)
{
    if (*batch == NO_SYMBOL)
        *batch = symbol;
    return *batch == symbol;
}

/* The dimension of the rows: that which all ragged ones are ragged over; where there is none, the
 * first of all inputs. NO_SYMBOL: there is none, or there are several. */
static int find_batch(const Function *function)
{
    const Module *module = function->module;
    int batch = NO_SYMBOL;
    for (size_t i = 0; i < module->symbols.count; i++) {
        int of = module->symbols.data[i].batch;
        if (of != NO_SYMBOL && !is_batch(&batch, of))
            return NO_SYMBOL;
    }
    if (batch != NO_SYMBOL)
        return batch;
    FOR_OPS (op, &function->body) {
        const Type *type = op->kind == OP_input ? &op_result(op)->type : NULL;
        if (type && type->rank && !dim_is_const(type->dims[0]) &&
            !is_batch(&batch, type->dims[0].symbol))
            return NO_SYMBOL;
    }
    return batch;
}

static void end_loss(Finder *f, Op *op)
{
    const Fact *loss = fact_of(f, op, 0);
    BatchSums *s = &f->sums;
    if (f->batch != NO_SYMBOL && (loss->kind == SUM || loss->kind == SAME)) {
        if (loss->kind == SAME)
            vec_push(f->arena, s->terms, ((Term){op, 0}));
        return;
    }
    s->whole = loss->why ? loss->why : op->args[0]->op;
}

static void end_assign(Finder *f, Op *op)
{
    const Fact *value = fact_of(f, op, 1);
    BatchSums *s = &f->sums;
    Kind kind = read_total(f, op, 1);
    bool known = kind == SAME || kind == LATE, reads = value->totals || value->kind == SUM;
    if (s->refused || (known && !(s->whole && reads)))
        return;
    s->refused = op;
    s->refused_for = value->why ? value->why : s->whole;
}

BatchSums find_batch_sums(Function *function)
{
    Arena *arena = function->module->arena;
    Finder f = {.arena = arena,
                .module = function->module,
                .sums = {.function = function},
                .needed = side_new(arena),
                .facts = side_new(arena),
                .batch = find_batch(function)};
    Op *loss = find_output(function, "loss");
    mark_needed(&f);
    FOR_OPS (op, &function->body)
        if (side_number(&f.needed, op) && op_family(op) != FAMILY_effect) {
            Fact fact = find_fact(&f, op);
            side_set_op(&f.facts, op, arena_copy(arena, &fact, sizeof fact));
        }
    end_loss(&f, loss);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_assign)
            end_assign(&f, op);
    if (f.sums.whole) { /* all of the loss is shared, as it is in a piece */
        f.sums.totals.count = f.sums.reads.count = f.sums.terms.count = 0;
        vec_push(arena, f.sums.terms, ((Term){loss, 0}));
    }
    return f.sums;
}

/* ---- what comes of it ---- */

static Builder before(const BatchSums *sums, Op *op)
{
    Builder b = builder_before(sums->function, &sums->function->body, op);
    b.loc = op->loc;
    b.scope = op->scope;
    return b;
}

void share_loss(const BatchSums *sums, Value *weight)
{
    for (size_t i = 0; i < sums->terms.count; i++) {
        Term term = sums->terms.data[i];
        Value *x = term.op->args[term.arg];
        Builder b = before(sums, term.op);
        op_set_arg(term.op, term.arg,
                   build_binary(&b, OP_mul, x, build_cast(&b, weight, x->type.dtype)));
    }
}

static const char *total_name(const BatchSums *sums, size_t i)
{
    return arena_printf(sums->function->module->arena, TOTAL_PREFIX "%zu", i);
}

static Value *total_input(const BatchSums *sums, int total)
{
    const char *name = total_name(sums, (size_t)total);
    Op *known = find_input(sums->function, name);
    Type type = sums->totals.data[total].sum->type;
    Builder b = before(sums, sums->function->body.first);
    type.dtype = DT_F32;
    return known ? op_result(known) : build_input(&b, name, type);
}

void read_totals(const BatchSums *sums, bool late)
{
    for (size_t i = 0; i < sums->reads.count; i++) {
        TotalRead read = sums->reads.data[i];
        const BatchTotal *total = &sums->totals.data[read.total];
        Builder b = before(sums, read.op);
        if (late || !total->late)
            op_set_arg(read.op, read.arg,
                       build_cast(&b, total_input(sums, read.total), total->sum->type.dtype));
    }
}

bool give_totals(const BatchSums *sums, bool late)
{
    Builder b = builder_at_end(sums->function);
    bool any = false;
    for (size_t i = 0; i < sums->totals.count; i++) {
        const BatchTotal *total = &sums->totals.data[i];
        if (total->late != late)
            continue;
        b.loc = total->sum->op->loc;
        b.scope = total->sum->op->scope;
        build_output(&b, total_name(sums, i), build_cast(&b, total->sum, DT_F32));
        any = true;
    }
    return any;
}
