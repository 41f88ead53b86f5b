/* Running a function: op after op, regions through their bodies; what goes in is checked, what
 * comes out is put into storage order. See oracle.h. */
#include "oracle/interpreter.h"

#include <inttypes.h>
#include <string.h>

static OracleRule *const rules[OP_COUNT] = {
#define ELEMENTWISE(name, ...) [OP_##name] = interpret_elementwise,
#define EFFECT(name, ...) [OP_##name] = NULL,
#define REGION(name, ...) [OP_##name] = NULL,
#define OP(name, ...) [OP_##name] = interpret_##name,
#include "ir/ops.def"
};

/* ---- what goes in ---- */

static bool check_given(Interpreter *in, const Op *op, Diagnostics *diags)
{
    const char *name = op_string(op, ATTR_name), *kind = op_info[op->kind].name;
    const OracleTensor *given = NULL;
    for (int i = 0; i < in->run->n_given; i++)
        if (!strcmp(in->run->given[i].name, name))
            given = &in->run->given[i];
    int64_t count = shape_of(in, &op->results[0].type)->stored;
    if (!given)
        diag_error(diags, op->loc, "%s \"%s\" is not given", kind, name);
    else if (given->count != count)
        diag_error(diags, op->loc, "%s \"%s\" has %" PRId64 " elements, given %" PRId64, kind, name,
                   count, given->count);
    return given && given->count == count;
}

static bool check_all_given(Interpreter *in, const Function *function, Diagnostics *diags)
{
    bool ok = true;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input || op->kind == OP_param)
            ok = check_given(in, op, diags) && ok;
    return ok;
}

/* ---- what comes out ---- */

static OracleTensor store(const Dense *x, const char *name, const Type *type, Arena *arena)
{
    const Shape *shape = x->shape;
    int64_t n = shape->stored;
    OracleTensor out = {.name = arena_strdup(arena, name), .type = *type, .count = n};
    out.data = ARENA_ARRAY(arena, double, n + 1);
    out.error = ARENA_ARRAY(arena, double, n + 1);
    out.exists = shape->exists ? ARENA_ARRAY(arena, bool, n + 1) : NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = shape->order ? shape->order[i] : i;
        out.data[i] = x->x[at].v;
        out.error[i] = x->x[at].e;
        if (out.exists)
            out.exists[i] = shape->exists[at];
    }
    return out;
}

static void give(const Interpreter *in, OracleTensors *to, const Op *op, int arg, const char *name,
                 Arena *arena)
{
    vec_push(arena, *to, store(operand(in, op, arg), name, &op->args[arg]->type, arena));
}

static void leave(const Interpreter *in, const Op *op, Arena *arena)
{
    if (op->kind == OP_output)
        give(in, &in->run->outputs, op, 0, op_string(op, ATTR_name), arena);
    else if (op->kind == OP_assign)
        give(in, &in->run->assigned, op, 1, op_string(op->args[0]->op, ATTR_name), arena);
}

/* A cache is changed in place. */
static void leave_cache(const Interpreter *in, const Op *op, const Dense *x, Arena *arena)
{
    if (op->kind == OP_append && op->args[0]->op->kind == OP_param)
        vec_push(arena, in->run->assigned,
                 store(x, op_string(op->args[0]->op, ATTR_name), &op->results[0].type, arena));
}

/* ---- ops ---- */

static bool is_constant(const Interpreter *in, const Op *op)
{
    bool all = op_family(op) == FAMILY_elementwise || op_family(op) == FAMILY_shape;
    for (int i = 0; all && i < op->n_args; i++)
        all = operand(in, op, i)->constant;
    return all || op->kind == OP_const;
}

static void interpret_block(Interpreter *in, const Block *block, Arena *arena)
{
    FOR_OPS (op, block) {
        if (op->body) {
            interpret_block(in, op->body, arena);
            for (int i = 0; i < op->n_results; i++)
                in->values[op->results[i].id] = operand(in, op->body->last, i);
        } else if (rules[op->kind]) {
            Dense *out = dense_new(in, &op->results[0].type);
            out->constant = is_constant(in, op);
            rules[op->kind](in, op, out);
            in->values[op->results[0].id] = out;
            leave_cache(in, op, out, arena);
        } else {
            leave(in, op, arena);
        }
    }
}

bool oracle_run(const Function *function, OracleRun *run, Arena *arena, Diagnostics *diags)
{
    Interpreter in = {.module = function->module, .run = run, .arena = arena_new()};
    in.values = ARENA_ARRAY(in.arena, Dense *, function->next_value + 1);
    run->outputs = run->assigned = (OracleTensors){0};
    bool ok = check_all_given(&in, function, diags);
    if (ok)
        interpret_block(&in, &function->body, arena);
    arena_free(in.arena);
    return ok;
}

int64_t oracle_count(const Module *module, const Type *type, const OracleDim *dims)
{
    OracleRun run = {.dims = dims};
    Interpreter in = {.module = module, .run = &run, .arena = arena_new()};
    int64_t count = shape_of(&in, type)->stored;
    arena_free(in.arena);
    return count;
}

void oracle_pack(const Module *module, const Type *type, const OracleDim *dims,
                 const double *padded, const int64_t *extents, double *stored)
{
    OracleRun run = {.dims = dims};
    Interpreter in = {.module = module, .run = &run, .arena = arena_new()};
    const Shape *shape = shape_of(&in, type);
    for (int64_t i = 0; i < shape->stored; i++) {
        int64_t dense = shape->order ? shape->order[i] : i, at = 0;
        for (int d = 0; d < shape->rank; d++)
            at = at * extents[d] + dense / shape->stride[d] % shape->extent[d];
        stored[i] = padded[at];
    }
    arena_free(in.arena);
}

/* ---- comparing ---- */

double oracle_tolerance(const OracleTensor *result, int64_t i)
{
    enum { SLACK = 4 };
    return result->exists && !result->exists[i] ? INFINITY : SLACK * result->error[i];
}

bool oracle_is_close(double value, double tolerance, double found)
{
    return tolerance == INFINITY || found == value || (isnan(found) && isnan(value)) ||
           fabs(found - value) <= tolerance;
}

bool oracle_agrees(const OracleTensor *result, int64_t i, double element)
{
    return oracle_is_close(result->data[i], oracle_tolerance(result, i), element);
}
