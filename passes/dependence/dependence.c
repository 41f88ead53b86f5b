/* Which values are causal, in one walk over the function, and the report of one that is not: the op
 * where it begins, and the way from there. */
#include "passes/dependence/dependence.h"

#include "passes/dependence/known.h"

#include <string.h>

/* Verdict: why a value is not causal; none: it is. */
typedef struct Verdict {
    const Op *leak;     /* where it begins */
    const char *why;    /* in words, of the leak */
    const Value *above; /* the operand through which it comes; NULL: it begins at this op */
} Verdict;

/* Why a value along a dimension made of the text's, or that dimension's length, is not causal;
 * NULL: it is none of these. */
static const char *why_made(const Dependence *d, const Op *op)
{
    const Type *type = &op->results[0].type;
    const Attr *asked = op_attr(op, ATTR_dim);
    for (int i = 0; i < type->rank + (asked != NULL); i++) {
        int symbol = i < type->rank ? type->dims[i].symbol : (int)asked->i;
        bool made = i < type->rank && symbol != NO_SYMBOL && !d->before[symbol] &&
                    is_made_of(d->module, symbol, d->time);
        if (made)
            return arena_printf(
                d->arena, "the dimension %s is made of %s, along which tokens are generated",
                d->module->symbols.data[symbol].name, d->module->symbols.data[d->time].name);
    }
    return NULL;
}

/* A sum by the lengths of the function; NULL: these are too many. */
static const LinearBefore *linear_before(Dependence *d, const LengthSum *before)
{
    LinearBefore linear = {.plus = (double)before->plus};
    for (int i = 0; i < before->n; i++) {
        int at = 0;
        while (at < d->n_lengths && d->lengths[at] != before->terms[i].symbol)
            at++;
        if (at == MAX_KNOWN_LENGTHS)
            return NULL;
        d->n_lengths += at == d->n_lengths;
        d->lengths[at] = before->terms[i].symbol;
        linear.lengths[at] = (double)before->terms[i].times;
    }
    d->has_before |= before->n || before->plus;
    return arena_copy(d->arena, &linear, sizeof linear);
}

static void find_dims(Dependence *d)
{
    const int n = (int)d->module->symbols.count;
    LengthSum before;
    d->before = ARENA_ARRAY(d->arena, const LinearBefore *, n + 1);
    for (int symbol = 0; symbol < n; symbol++)
        if (find_before(d->module, symbol, d->time, &before))
            d->before[symbol] = linear_before(d, &before);
}

Dependence *dependence_of(const Function *function, int time)
{
    Arena *arena = function->module->arena;
    Dependence *d = ARENA_NEW(arena, Dependence);
    *d = (Dependence){.module = function->module,
                      .arena = arena,
                      .time = time,
                      .facts = side_new(arena),
                      .verdicts = side_new(arena)};
    find_dims(d);
    FOR_OPS (op, &function->body) {
        Verdict verdict = {0};
        for (int i = 0; i < op->n_args && !verdict.leak; i++) {
            const Verdict *above = side_of_value(&d->verdicts, op->args[i]);
            if (above)
                verdict = (Verdict){above->leak, above->why, op->args[i]};
        }
        if (!verdict.leak && op->n_results) {
            verdict.why = why_made(d, op);
            if (!verdict.why)
                verdict.why = why_later(d, op);
            verdict.leak = verdict.why ? op : NULL;
        }
        for (int r = 0; verdict.leak && r < op->n_results; r++)
            side_set_value(&d->verdicts, &op->results[r],
                           arena_copy(arena, &verdict, sizeof verdict));
    }
    return d;
}

const Op *dependence_leak(Dependence *d, const Value *v)
{
    const Verdict *verdict = side_of_value(&d->verdicts, v);
    return verdict ? verdict->leak : NULL;
}

/* ---- the report ---- */

enum { MOST_NOTES = 4 };

/* What the text of a model has where the graph has an op. */
static const char *word_of(OpKind kind)
{
    switch (kind) {
    case OP_dot: return "this product";
    case OP_gather: return "this look-up";
    case OP_input: return "this input";
    case OP_iota: return "position";
    case OP_reduce_sum: return "this sum";
    case OP_reduce_max: return "this maximum";
    default: return op_info[kind].name;
    }
}

const char *dependence_op_in_words(Arena *arena, const Op *op)
{
    bool inside = op->scope && *op->scope;
    return arena_printf(arena, "%s%s%s", word_of(op->kind), inside ? " in " : "",
                        inside ? op->scope : "");
}

static bool same_place(const Op *a, const Op *b)
{
    return a->loc.source == b->loc.source && a->loc.line == b->loc.line;
}

/* The ops on the way from the value to the leak, one a place in the model, the leak first. */
static int find_path(Dependence *d, const Value *v, const Op **path, int most)
{
    int n = 0;
    for (const Verdict *at; (at = side_of_value(&d->verdicts, v)); v = at->above) {
        if (v->op->loc.source && (n == 0 || !same_place(path[n - 1], v->op))) {
            if (n == most) /* those near the leak are kept */
                memmove(path, path + 1, (size_t)--n * sizeof *path);
            path[n++] = v->op;
        }
        if (!at->above)
            break;
    }
    for (int i = 0; i < n / 2; i++) {
        const Op *last = path[n - 1 - i];
        path[n - 1 - i] = path[i];
        path[i] = last;
    }
    return n;
}

void dependence_report(Dependence *d, const Value *v, const char *name, Diagnostics *diags)
{
    const Verdict *verdict = side_of_value(&d->verdicts, v);
    const Op *path[MOST_NOTES + 1];
    int n = find_path(d, v, path, MOST_NOTES + 1);
    diag_error(diags, verdict->leak->loc,
               "%s depends on later positions, so the model cannot decode token by token: %s",
               dependence_op_in_words(d->arena, verdict->leak), verdict->why);
    for (int i = 0; i < n; i++)
        if (!same_place(path[i], verdict->leak))
            diag_note(diags, path[i]->loc, "so does %s%s",
                      dependence_op_in_words(d->arena, path[i]),
                      path[i] == v->op ? arena_printf(d->arena, ", which is `%s`", name) : "");
}
