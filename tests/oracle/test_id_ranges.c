/* Ranges of ids beside the oracle, on random graphs: a value that id_ranges excludes is used
 * outside of a table, or as a class that there is not, when the function runs.
 *
 * Each graph passes an input on by random ops, of which some change numbers, leave some out, or
 * keep them, and uses what comes out in one to three ways. It also gives out what each use reads (a
 * judge), with the bounds of that use. All elements of the input are 1, which every use takes, but
 * for one, which has the excluded value: then an element of a judge is outside that was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/builder.h"
#include "ir/id_uses.h"
#include "ir/text.h"
#include "oracle/oracle.h"
#include "tests/graphs/rng.h"

#include <stdio.h>

enum { GRAPHS = 3000, MOST_STEPS = 6, MOST_USES = 3, MOST_JUDGES = MOST_USES, MOST_STORED = 64 };

/* Judge: an output with the numbers that a use reads, of which least ≤ x < below are right. */
typedef struct Judge {
    int64_t least, below;
} Judge;

enum { B, S, T, S_T, ONE_S, N_SYMBOLS };
static const int32_t lengths[N_SYMBOLS][3] = {
    [S] = {2, 0, 3}, [T] = {1, 2, 0}, [S_T] = {3, 2, 3}, [ONE_S] = {3, 1, 4}};
static const OracleDim dims[N_SYMBOLS] = {
    {3, NULL}, {3, lengths[S]}, {2, lengths[T]}, {3, lengths[S_T]}, {4, lengths[ONE_S]}};

typedef struct RandomModel {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Builder b;
    Rng rng;
    Value *x, *other; /* inputs: the one that is judged; i32[B, T~] */
    Judge judges[MOST_JUDGES];
    int n_judges, n_sites;
} RandomModel;

static Dim constant(int64_t size) { return dim_const(size); }

static void add_dims(Module *module)
{
    const char *problem;
    const DimFormula both = {2, {{S, 1}, {T, 1}}, .divisor = 1},
                     more = {1, {{S, 1}}, .plus = 1, .divisor = 1};
    module_add_symbol(module, "B", NO_SYMBOL);
    module_add_symbol(module, "S", B);
    module_add_symbol(module, "T", B);
    module_add_made_symbol(module, "C", &both, &problem);
    module_add_made_symbol(module, "D", &more, &problem);
}

static Type input_type(Rng *rng)
{
    const Type types[] = {
        type_of(DT_I32, 1, (Dim[]){dim_symbol(B)}),
        type_of(DT_I32, 2, (Dim[]){dim_symbol(B), constant(2)}),
        type_of(DT_I32, 2, (Dim[]){dim_symbol(B), constant(1)}),
        type_of(DT_I32, 2, (Dim[]){dim_symbol(B), dim_symbol(S)}),
        type_of(DT_I32, 3, (Dim[]){dim_symbol(B), dim_symbol(S), constant(3)}),
        type_of(DT_I32, 3, (Dim[]){dim_symbol(B), constant(3), constant(2)}),
        type_of(DT_I32, 2, (Dim[]){constant(3), constant(2)}),
    };
    return RNG_PICK(rng, types);
}

/* ---- steps ---- */

static Value *number(RandomModel *m, double x) { return build_const(&m->b, DT_I32, x); }

/* A constant axis of at least two elements, from the last on; -1: none. */
static int long_axis(const Value *v)
{
    int axis = v->type.rank - 1;
    while (axis >= 0 && !(dim_is_const(v->type.dims[axis]) && v->type.dims[axis].size > 1))
        axis--;
    return axis;
}

static bool is_text(const Value *v, int symbol)
{
    return v->type.rank == 2 && v->type.dims[0].symbol == B && v->type.dims[1].symbol == symbol;
}

static Value *positions(RandomModel *m, int along) /* [1, along] */
{
    return build_iota_along(&m->b, dim_symbol(along), 1, 2);
}

/* Values one after the other, along S_T or ONE_S; sometimes at the wrong places. */
static Value *joined(RandomModel *m, Value *v)
{
    Builder *b = &m->b;
    const int along = rng_chance(&m->rng, 50) ? S_T : ONE_S;
    const bool is_first = rng_chance(&m->rng, 50), is_wrong = rng_chance(&m->rng, 30);
    const Type one_each = type_of(DT_I32, 2, (Dim[]){dim_symbol(B), constant(1)});
    Value *beside = along == S_T ? m->other : build_const_of(b, one_each, 1);
    Value *one = is_first ? v : beside, *two = is_first ? beside : v, *offset = number(m, 1);
    if (!is_text(v, S))
        return v;
    if (!dim_is_const(one->type.dims[1]))
        offset =
            build_reshape(b, build_lengths(b, DT_I32, one->type.dims[1].symbol), 2, one_each.dims);
    if (is_wrong)
        offset = number(m, 2);
    Value *behind = build_binary(b, OP_sub, positions(m, along), offset);
    return build_binary(b, OP_add, build_lookup(b, one, positions(m, along), 1),
                        build_lookup(b, two, behind, 1));
}

static Value *moved(RandomModel *m, Value *v)
{
    if (v->type.rank < 2 || v->type.dims[1].symbol == NO_SYMBOL)
        return v;
    Value *at =
        build_binary(&m->b, OP_sub, build_iota_along(&m->b, v->type.dims[1], 1, v->type.rank),
                     number(m, rng_between(&m->rng, -1, 1)));
    return build_lookup(&m->b, v, at, 1);
}

/* v where a condition holds, of chance, of the number, of a position or of another input. */
static Value *selected(RandomModel *m, Value *v)
{
    Builder *b = &m->b;
    Type floats = v->type;
    floats.dtype = DT_F32;
    Value *condition, *three = number(m, 3);
    switch (rng_below(&m->rng, 4)) {
    case 0:
        condition = build_binary(b, OP_lt, build_random(b, floats, m->n_sites++),
                                 build_const(b, DT_F32, rng_below(&m->rng, 3) * 0.5));
        break;
    case 1: condition = build_binary(b, OP_le, number(m, 0), v); break;
    case 2:
        condition = build_binary(
            b, OP_lt, build_reduce(b, OP_reduce_max, m->other, 2, (int[]){0, 1}), number(m, 1));
        condition = build_reshape(b, condition, 0, NULL);
        break;
    default:
        condition =
            build_binary(b, OP_lt, number(m, 0), build_iota(b, v->type.dims[v->type.rank - 1]));
    }
    return rng_chance(&m->rng, 50) ? build_select(b, condition, v, three)
                                   : build_select(b, condition, three, v);
}

/* Under other coordinates. */
static Value *shown(RandomModel *m, Value *v)
{
    const int rank = v->type.rank, axis = long_axis(v);
    Type to = v->type;
    int perm[MAX_RANK];
    switch (rng_below(&m->rng, 4)) {
    case 0: /* another axis of 1 */
        to.dims[to.rank++] = constant(1);
        return rank > 4 ? v : build_reshape(&m->b, v, to.rank, to.dims);
    case 1: /* the last two in one */
        if (rank < 2 || !dim_is_const(to.dims[rank - 1]) || !dim_is_const(to.dims[rank - 2]))
            return v;
        to.dims[rank - 2].size *= to.dims[rank - 1].size;
        return build_reshape(&m->b, v, rank - 1, to.dims);
    case 2:
        for (int i = 0; i < rank; i++)
            perm[i] = i < rank - 2 || rank < 2 ? i : 2 * rank - 3 - i;
        return rank < 2 || !dim_is_const(to.dims[rank - 1]) || !dim_is_const(to.dims[rank - 2])
                   ? v
                   : build_transpose(&m->b, v, perm);
    default: return axis < 0 ? v : build_flip(&m->b, v, axis);
    }
}

static Value *stretched(RandomModel *m, Value *v)
{
    Type to = v->type;
    const int last = to.rank - 1;
    if (!dim_is_one(to.dims[last]))
        return v;
    to.dims[last] =
        last && to.dims[0].symbol == B && rng_chance(&m->rng, 50) ? dim_symbol(T) : constant(2);
    return build_broadcast(&m->b, v, to.rank, to.dims);
}

static Value *cut(RandomModel *m, Value *v)
{
    const int axis = long_axis(v);
    if (axis < 0)
        return v;
    const int64_t whole = v->type.dims[axis].size;
    const int64_t size = rng_between(&m->rng, 1, (int)whole);
    return build_slice(&m->b, v, axis, rng_below(&m->rng, (int)(whole - size) + 1), size);
}

static Value *beside(RandomModel *m, Value *v)
{
    const int axis = long_axis(v);
    if (axis < 0)
        return v;
    if (rng_chance(&m->rng, 50))
        return build_pad(&m->b, v, axis, 1, v->type.dims[axis].size + 2);
    Value *both[] = {v, cut(m, v)};
    return type_same_shape(&both[0]->type, &both[1]->type) || rng_chance(&m->rng, 50)
               ? build_concat(&m->b, 2, both, axis)
               : v;
}

static Value *changed(RandomModel *m, Value *v)
{
    const OpKind kinds[] = {OP_add, OP_max, OP_min, OP_mul};
    return build_binary(&m->b, RNG_PICK(&m->rng, kinds), v, number(m, rng_between(&m->rng, 0, 2)));
}

static Value *passed_on(RandomModel *m, Value *v)
{
    const DType through[] = {DT_F32, DT_F64, DT_BF16};
    switch (rng_below(&m->rng, 10)) {
    case 0: return joined(m, v);
    case 1: return moved(m, v);
    case 2: return v->type.rank ? selected(m, v) : v;
    case 3: return stretched(m, v);
    case 4: return cut(m, v);
    case 5: return beside(m, v);
    case 6: return rng_chance(&m->rng, 30) ? changed(m, v) : v;
    case 7: return build_cast(&m->b, build_cast(&m->b, v, RNG_PICK(&m->rng, through)), DT_I32);
    case 8: return build_unary(&m->b, OP_stop_gradient, v);
    default: return shown(m, v);
    }
}

/* ---- uses ---- */

static void judge(RandomModel *m, Value *v, int64_t least, int64_t below)
{
    build_output(&m->b, arena_printf(m->arena, "judge%d", m->n_judges), v);
    m->judges[m->n_judges++] = (Judge){least, below};
}

static Value *param(RandomModel *m)
{
    const Dim five = constant(5);
    ParamInfo *info = module_param(m->module, "w");
    if (!info)
        info = module_add_param(m->module,
                                (ParamInfo){.name = "w", .type = type_of(DT_F32, 1, &five)});
    return build_param(&m->b, info);
}

/* Adds along all axes. */
static Value *total(RandomModel *m, Value *v)
{
    int axes[MAX_RANK];
    for (int i = 0; i < v->type.rank; i++)
        axes[i] = i;
    return build_reduce(&m->b, OP_reduce_sum, v, v->type.rank, axes);
}

/* The cross-entropy of models/lib/prelude.tfg, or one that forgives labels without a class. */
static Value *cross_entropy(RandomModel *m, Value *v)
{
    Builder *b = &m->b;
    const int n = rng_between(&m->rng, 2, 5), rank = v->type.rank, forgives = rng_below(&m->rng, 8);
    Type row = v->type, logits_type;
    row.dims[row.rank++] = constant(1);
    logits_type = row;
    logits_type.dims[rank] = constant(n);
    Value *logits =
        build_broadcast(b, build_slice(b, param(m), 0, 0, n), logits_type.rank, logits_type.dims);
    Value *label = build_reshape(b, v, row.rank, row.dims);
    Value *hit = build_binary(b, OP_eq, label, build_iota(b, constant(n)));
    Value *chosen = build_reduce(b, OP_reduce_sum,
                                 build_select(b, hit, logits, build_const(b, DT_F32, 0)), 1, &rank);
    Value *each = build_binary(b, OP_sub, build_unary(b, OP_logsumexp, logits), chosen);
    Value *mask = build_binary(b, OP_le, number(m, forgives == 1 ? -2 : 0), label);
    if (forgives == 2)
        mask = build_binary(b, OP_and, mask, build_binary(b, OP_lt, label, number(m, n)));
    if (forgives == 3)
        each = build_binary(b, OP_mul, each,
                            build_cast(b, build_binary(b, OP_lt, label, number(m, n)), DT_F32));
    Value *loss = build_binary(b, OP_mul, each, build_cast(b, mask, DT_F32));
    if (forgives != 1 && forgives != 2 && forgives != 3)
        judge(m, v, INT32_MIN, n);
    return total(m, loss);
}

static Value *used(RandomModel *m, Value *v)
{
    Builder *b = &m->b;
    const int rows = rng_between(&m->rng, 2, 5);
    if (rng_chance(&m->rng, 40) && v->type.rank < 6)
        return cross_entropy(m, v);
    if (is_text(v, S) && rng_chance(&m->rng, 50)) {
        const Type frames =
            type_of(DT_F32, 3, (Dim[]){dim_symbol(B), dim_symbol(T), constant(rows)});
        judge(m, v, 1, rows);
        return total(m, build_binary(b, OP_ctc, build_const_of(b, frames, -1), v));
    }
    Value *table = build_slice(b, param(m), 0, 0, rows);
    judge(m, v, 0, rows);
    return total(m, build_gather(b, table, v));
}

/* ---- a graph ---- */

static RandomModel model_new(uint64_t seed)
{
    RandomModel m = {.arena = arena_new(), .rng = {seed}};
    diag_init(&m.diags, m.arena);
    m.module = module_new(m.arena, &m.diags, "m");
    add_dims(m.module);
    m.b = builder_at_end(module_add_function(m.module, "model"));
    m.x = build_input(&m.b, "x", input_type(&m.rng));
    m.other = build_input(&m.b, "other", type_of(DT_I32, 2, (Dim[]){dim_symbol(B), dim_symbol(T)}));
    Value *v = m.x, *before = m.x;
    for (int n = rng_between(&m.rng, 1, MOST_USES); n > 0; n--) {
        for (int steps = rng_below(&m.rng, MOST_STEPS + 1); steps > 0; steps--) {
            Value *next = passed_on(&m, v);
            if (next && next->type.rank < 6)
                v = next;
        }
        const int judges = m.n_judges;
        Value *y = used(&m, v);
        if (rng_chance(&m.rng, 90))
            build_output(&m.b, arena_printf(m.arena, "y%d", n), y);
        else if (m.n_judges > judges) /* nothing is made of it, so that all is right */
            m.judges[judges] = (Judge){INT64_MIN, INT64_MAX};
        v = rng_chance(&m.rng, 50) ? before : v;
    }
    return m;
}

enum { MOST_JUDGED = 1024 };
typedef struct Seen {
    bool outside[MOST_JUDGED]; /* of each element of the judges */
    int64_t n;
} Seen;

/* Runs the model with these elements of x. */
static void look(RandomModel *m, double *x, int64_t n, uint64_t seed, Seen *seen)
{
    double other[] = {1, 1, 1}, w[] = {1, 2, 3, 4, 5};
    const OracleTensor given[] = {{.name = "x", .count = n, .data = x},
                                  {.name = "other", .count = 3, .data = other},
                                  {.name = "w", .count = 5, .data = w}};
    OracleRun run = {.dims = dims, .seed = seed, .compute = DT_F64, .given = given, .n_given = 3};
    assert_true(oracle_run(module_function(m->module, "model"), &run, m->arena, &m->diags));
    seen->n = 0;
    for (size_t i = 0; i < run.outputs.count; i++) {
        const OracleTensor *out = &run.outputs.data[i];
        int number;
        if (sscanf(out->name, "judge%d", &number) != 1)
            continue;
        const Judge *judge = &m->judges[number];
        for (int64_t k = 0; k < out->count; k++) {
            const bool exists = !out->exists || out->exists[k];
            assert_true(seen->n < MOST_JUDGED);
            seen->outside[seen->n++] = exists && (out->data[k] < (double)judge->least ||
                                                  out->data[k] >= (double)judge->below);
        }
    }
}

/* Whether the value of the element comes to a use that it is wrong for; by chance perhaps only in
 * some runs. */
static bool is_seen_outside(RandomModel *m, int64_t n, int64_t element, double value)
{
    enum { RUNS = 40 };
    bool found = false;
    Seen before, after;
    for (uint64_t seed = 0; seed < RUNS && !found; seed++) {
        double x[MOST_STORED];
        for (int64_t i = 0; i < n; i++)
            x[i] = 1;
        look(m, x, n, seed, &before);
        x[element] = value;
        look(m, x, n, seed, &after);
        for (int64_t i = 0; i < after.n; i++)
            found = found || (after.outside[i] && !before.outside[i]);
    }
    return found;
}

static void test_excluded_values_are_wrong(void **state)
{
    (void)state;
    int64_t excluded = 0, parts = 0, bounded = 0;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        RandomModel m = model_new(seed);
        if (!ir_verify(m.module, &m.diags))
            fail_msg("graph %d: %s", (int)seed, m.diags.list.data[0].message);
        const IdRanges ranges = id_ranges(module_function(m.module, "model"), m.x->op, false);
        const int64_t n = oracle_count(m.module, &m.x->type, dims);
        assert_in_range(n, 1, MOST_STORED);
        bounded += ranges.n > 0;
        for (int64_t r = 0; r < ranges.n; r++) {
            const IdRange *range = &ranges.at[r];
            const int64_t least = range->least < 0 ? range->below + 7 : range->least - 1;
            int64_t element = rng_below(&m.rng, (int)n);
            while (!id_range_concerns(range, element))
                element = (element + 1) % n;
            parts += !id_range_is_whole(range);
            for (int low = 0; low < 2; low++, excluded++)
                if (!is_seen_outside(&m, n, element, (double)(low ? least : range->below))) {
                    Text text = {0};
                    ir_print_module(m.module, &text);
                    print_error("%s", text.data);
                    fail_msg("graph %d: x[%d] may be %d", (int)seed, (int)element,
                             (int)(low ? least : range->below));
                }
        }
        arena_free(m.arena);
    }
    printf("%d graphs with a range, %d values excluded, %d ranges of parts\n", (int)bounded,
           (int)excluded, (int)parts);
    assert_true(bounded > GRAPHS / 4 && parts > GRAPHS / 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_excluded_values_are_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
