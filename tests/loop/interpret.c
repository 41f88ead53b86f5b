/* Runs of loop IR: frames, blocks and control; see interpret.h. */
#include "tests/loop/interpret_state.h"

enum { DEEPEST_CALL = 64 };

typedef enum Flow { GO_ON, RETURNED, STOPPED } Flow;

static int64_t fetch_signed(const LoFrame *f, const LoOp *x)
{
    return lo_signed(x->type, lo_fetch_scalar(f, x));
}

static void keep(LoFrame *f, const LoOp *op, const LoLanes lanes)
{
    memcpy(f->lanes + f->first[op->id], lanes, (size_t)lo_lanes(op->type) * sizeof *lanes);
}

static void accumulate(LoFrame *f, const LoOp *op)
{
    LoLanes sum, x;
    LoType type = op->args[0]->type;
    LoJoin by = lo_join_of(op->args[0]);
    lo_fetch(f, op->args[0], sum);
    lo_fetch(f, op->args[1], x);
    for (int i = 0; i < lo_lanes(type); i++)
        sum[i] = lo_join_lane(type, by, sum[i], x[i]);
    keep(f, op->args[0], sum);
}

/* ---- control ---- */

static Flow run_block(LoFrame *f, const LoBlock *block);
static bool run_call(LoFrame *caller, const LoOp *call);

static Flow run_for(LoFrame *f, const LoOp *op)
{
    int64_t from = fetch_signed(f, op->args[0]), to = fetch_signed(f, op->args[1]);
    for (int64_t i = from; i < to; i += op->number) {
        keep(f, op, (LoLanes){(uint64_t)i});
        Flow flow = run_block(f, op->body);
        if (flow != GO_ON)
            return flow;
        if (i > INT64_MAX - op->number) {
            lo_stop(f, op, "its index overflows");
            return STOPPED;
        }
    }
    return GO_ON;
}

/* All new values are taken before one is kept; `values` has room for them. */
static void take_turn(LoFrame *f, const LoOp *op, LoLanes *values)
{
    int n = op->n_args - 1;
    const LoOp *next = op->body->last;
    for (int i = 0; i < n; i++)
        lo_fetch(f, next->args[i], values[i]);
    for (int i = 0; i < n; i++)
        keep(f, op->args[i], values[i]);
}

static Flow run_while(LoFrame *f, const LoOp *op)
{
    int n = op->n_args - 1;
    LoLanes *values = ARENA_ARRAY(f->arena, LoLanes, n);
    while (fetch_signed(f, op->args[n - 1]) >= fetch_signed(f, op->args[n])) {
        Flow flow = run_block(f, op->body);
        if (flow != GO_ON)
            return flow;
        take_turn(f, op, values);
    }
    return GO_ON;
}

static Flow run_if(LoFrame *f, const LoOp *op)
{
    const LoBlock *branch = lo_fetch_scalar(f, op->args[0]) ? op->body : op->other;
    return branch ? run_block(f, branch) : GO_ON;
}

static Flow run_op(LoFrame *f, const LoOp *op)
{
    LoLanes out = {0};
    if (f->in->steps-- <= 0) {
        lo_stop(f, op, "the run has taken more steps than it may");
        return STOPPED;
    }
    switch (op->kind) {
    case LO_for: return run_for(f, op);
    case LO_while: return run_while(f, op);
    case LO_if: return run_if(f, op);
    case LO_call: return run_call(f, op) ? GO_ON : STOPPED;
    case LO_return: return RETURNED;
    case LO_next:
    case LO_seam: return GO_ON;
    case LO_carry:
    case LO_accumulator:
    case LO_total: lo_fetch(f, op->args[0], out); break;
    case LO_accumulate: accumulate(f, op); break;
    case LO_scratch:
    case LO_load:
    case LO_store:
    case LO_prefetch:
    case LO_prefetch_write:
    case LO_tile_zero:
    case LO_tile_load:
    case LO_tile_stream:
    case LO_tile_store:
    case LO_tile_dot:
        if (!lo_touch_memory(f, op, out))
            return STOPPED;
        break;
    default:
        if (!lo_compute(f, op, out))
            return STOPPED;
    }
    if (op->type != lo_none)
        keep(f, op, out);
    return GO_ON;
}

static Flow run_block(LoFrame *f, const LoBlock *block)
{
    Flow flow = GO_ON;
    for (const LoOp *op = block->first; op && flow == GO_ON; op = op->after)
        flow = run_op(f, op);
    return flow;
}

/* ---- functions ---- */

/* Places for the values of the block. */
static size_t place_values(LoFrame *f, const LoBlock *block, size_t at)
{
    FOR_LOOP_OPS (op, block) {
        if (op->type != lo_none) {
            f->first[op->id] = at;
            at += (size_t)lo_lanes(op->type);
        }
        if (op->body)
            at = place_values(f, op->body, at);
        if (op->other)
            at = place_values(f, op->other, at);
    }
    return at;
}

/* A frame whose params have no values yet. */
static LoFrame open_frame(LoInterpreter *in, LoFunction *function, const LoFrame *caller)
{
    LoFrame f = {.in = in, .function = function, .caller = caller, .arena = arena_new()};
    size_t n = 0;
    lo_number(function);
    f.first = ARENA_ARRAY(f.arena, size_t, function->n_ids + 1);
    for (int i = 0; i < function->n_params; i++) {
        f.first[function->params[i]->id] = n;
        n += (size_t)lo_lanes(function->params[i]->type);
    }
    n = place_values(&f, function->body, n);
    f.lanes = ARENA_ARRAY(f.arena, uint64_t, n + 1);
    return f;
}

static bool run_frame(LoFrame *f)
{
    f->in->depth++;
    bool ran = run_block(f, f->function->body) != STOPPED;
    f->in->depth--;
    arena_free(f->arena);
    return ran;
}

static bool run_call(LoFrame *caller, const LoOp *call)
{
    if (caller->in->depth >= DEEPEST_CALL)
        return lo_stop(caller, call, "calls are nested more than %d deep", DEEPEST_CALL);
    LoFrame f = open_frame(caller->in, call->callee, caller);
    for (int i = 0; i < call->n_args; i++) {
        LoLanes lanes;
        lo_fetch(caller, call->args[i], lanes);
        keep(&f, call->callee->params[i], lanes);
    }
    return run_frame(&f);
}

/* Vectors are not handed over. */
static bool takes_scalars(const LoFunction *function, Diagnostics *diags)
{
    for (int i = 0; i < function->n_params; i++)
        if (lo_is_vector(function->params[i]->type)) {
            diag_error(diags, (Loc){0}, "@%s: parameter %d is a vector, which no run can give",
                       function->name, i);
            return false;
        }
    return true;
}

bool lo_interpret(LoFunction *function, const uint64_t *args, const LoRun *run, Diagnostics *diags)
{
    if (!takes_scalars(function, diags))
        return false;
    LoInterpreter *in = ARENA_NEW(diags->arena, LoInterpreter);
    *in = (LoInterpreter){.run = run, .diags = diags};
    in->steps = run->steps ? run->steps : LO_DEFAULT_STEPS;
    LoFrame f = open_frame(in, function, NULL);
    for (int i = 0; i < function->n_params; i++)
        keep(&f, function->params[i], (LoLanes){args[i] & lo_mask_of(function->params[i]->type)});
    return run_frame(&f);
}
