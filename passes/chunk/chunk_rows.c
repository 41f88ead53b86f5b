/* chunk_rows: what is as wide as the vocabulary is computed for some hundred rows
 * at a time, so that it is never stored for all of them.
 *
 *   %l = dot %h, %w      : f32[B, T~, 37000]       %count, %scale before them; then
 *   %each = row(%l, %label)                        {chunk = 0} on each of:
 *   %loss, %count = column(%each, %label)            %l = dot; %each = row; %dl = row;
 *   %scale = row(%count)                       ⇒     %dh = dot; %dw = dot
 *   %dl = row(%l, %label, %scale)                  and %loss after them
 *   %dh = dot %dl, %w;  %dw = dot %h, %dl
 *
 * From a wide product on, every op that reads a wide value joins; so does what lies
 * between two members. A region that gives both what members need and what needs
 * them (a loss and a count in one column region) is made two. Ops of the same chunk
 * then stand together, in order, and codegen/plan/loops.c runs them as a loop.
 *
 * Which ops can take part is said in rules.c. Nothing here knows of losses: smoothing,
 * soft caps, a bias, tied embeddings and sums of losses are all row regions, column
 * regions and products. */
#include "passes/chunk/chunk.h"
#include "passes/clone.h"
#include "passes/fuse/fuse.h"

#include <assert.h>

bool pass_chunk_rows(Function *function, PassContext *context);

/* ---- members ---- */

static bool fail(Chunk *c, const Op *op, Miss miss)
{
    const char *name = op->kind == OP_output ? op_string(op, ATTR_name)
                       : op->scope           ? op->scope
                                             : "";
    c->miss = miss;
    c->culprit = arena_printf(c->arena, "%s%s%s", op_info[op->kind].name, *name ? " " : "", name);
    return false;
}

static void add_member(Chunk *c, Op *op)
{
    side_set_number(&c->roles, op, ROLE_MEMBER);
    vec_push(c->arena, c->members, op);
}

static bool join_chunk(Chunk *c, Op *op);

static bool join_users(Chunk *c, const Value *value)
{
    FOR_USES (use, value)
        if (!join_chunk(c, use->user))
            return false;
    return true;
}

/* With it join those that read a wide value of it, and those whose wide value it reads. */
static bool join_chunk(Chunk *c, Op *op)
{
    if (is_member(c, op))
        return true;
    Miss miss = chunk_why_not(c, op);
    if (miss != MISS_NONE)
        return fail(c, op, miss);
    add_member(c, op);
    for (int i = 0; i < op->n_args; i++)
        if (chunk_is_wide(c, &op->args[i]->type) && op_family(op->args[i]->op) != FAMILY_leaf &&
            !join_chunk(c, op->args[i]->op))
            return false;
    for (int r = 0; r < op->n_results; r++)
        if (chunk_is_wide(c, &op->results[r].type) && !join_users(c, &op->results[r]))
            return false;
    return true;
}

/* ---- flow: what needs members, and what they need ---- */

typedef struct Flow {
    bool below; /* needs what a member gives */
    bool leads; /* a member needs it */
} Flow;

static Flow *flow_of(const Chunk *c, const Value *value) { return side_of_value(&c->flows, value); }

static bool reads_below(const Chunk *c, const Op *op)
{
    bool below = false;
    for (int i = 0; i < op->n_args; i++)
        below |= flow_of(c, op->args[i])->below;
    return below;
}

static void flow_down(Chunk *c, const Block *block)
{
    FOR_OPS (op, block) {
        for (int r = 0; r < op->n_results; r++)
            side_set_value(&c->flows, &op->results[r], ARENA_NEW(c->arena, Flow));
        if (op->body)
            flow_down(c, op->body);
        for (int r = 0; r < op->n_results; r++) {
            bool given = is_member(c, op) && (!op->body || chunk_is_wide(c, &op->results[r].type));
            flow_of(c, &op->results[r])->below =
                given ||
                (op->body ? flow_of(c, op->body->last->args[r])->below : reads_below(c, op));
        }
    }
}

static bool gives_below(const Chunk *c, const Op *op)
{
    bool below = false;
    for (int r = 0; r < op->n_results; r++)
        below |= flow_of(c, &op->results[r])->below;
    return below;
}

/* A region that gives what members need and nothing that needs them comes before them whole,
 * and so does all that it reads. */
static void flow_up(Chunk *c, const Block *block)
{
    for (Op *op = block->last; op; op = op->previous) {
        bool leads = is_member(c, op);
        for (int r = 0; r < op->n_results; r++)
            leads |= flow_of(c, &op->results[r])->leads;
        if (op->body) {
            for (int r = 0; r < op->n_results; r++)
                flow_of(c, op->body->last->args[r])->leads |= flow_of(c, &op->results[r])->leads;
            flow_up(c, op->body);
        }
        for (int i = 0; i < op->n_args; i++)
            flow_of(c, op->args[i])->leads |=
                is_member(c, op) || (leads && (!op->body || !gives_below(c, op)));
    }
}

/* ---- splitting ---- */

enum { IN_BODY = ROLE_AFTER + 1, TAKEN };

static void mark(Chunk *c, const Op *op, int role) { side_set_number(&c->roles, op, role); }
static bool is_marked(const Chunk *c, const Op *op, int role)
{
    return side_number(&c->roles, op) == role;
}

/* A region before `op` with those of its results that are `below` or not, and what
 * of the body they take. */
static Op *part_of(Chunk *c, Op *op, bool below)
{
    Op *yield = op->body->last;
    Members members = {0};
    Value **outputs = ARENA_ARRAY(c->arena, Value *, op->n_results);
    int n = 0, *at = ARENA_ARRAY(c->arena, int, op->n_results);
    FOR_OPS (inner, op->body)
        mark(c, inner, IN_BODY);
    for (int r = 0; r < op->n_results; r++)
        if (flow_of(c, &op->results[r])->below == below) {
            at[n] = r;
            outputs[n++] = yield->args[r];
            mark(c, yield->args[r]->op, TAKEN);
        }
    for (Op *inner = yield->previous; inner; inner = inner->previous)
        for (int i = 0; is_marked(c, inner, TAKEN) && i < inner->n_args; i++)
            if (is_marked(c, inner->args[i]->op, IN_BODY))
                mark(c, inner->args[i]->op, TAKEN);
    FOR_OPS (inner, op->body)
        if (is_marked(c, inner, TAKEN))
            vec_push(c->arena, members.ops, inner);
    Op *part = build_region(c->function, op->kind, &members, n, outputs, op, &c->copies);
    for (int i = 0; i < n; i++)
        value_replace(&op->results[at[i]], &part->results[i]);
    return part;
}

/* Gives members something of what does not need any, beside what does. */
static bool is_mixed(const Chunk *c, const Op *op)
{
    bool below = false, before = false;
    if (!op->body)
        return false;
    for (int r = 0; r < op->n_results; r++) {
        const Flow *flow = flow_of(c, &op->results[r]);
        below |= flow->below;
        before |= !flow->below && flow->leads;
    }
    return below && before;
}

static void split(Chunk *c, Op *op)
{
    part_of(c, op, false);
    Op *rest = part_of(c, op, true);
    for (size_t i = 0; i < c->members.count; i++)
        if (c->members.data[i] == op) {
            c->members.data[i] = rest;
            mark(c, rest, ROLE_MEMBER);
        }
    block_remove(&c->function->body, op);
}

/* ---- closing ---- */

static bool is_between(const Chunk *c, const Op *op)
{
    for (int r = 0; r < op->n_results; r++)
        if (flow_of(c, &op->results[r])->below && flow_of(c, &op->results[r])->leads)
            return true;
    return false;
}

/* One step: splits a region or takes in an op between members. False: none is left,
 * or there is a problem. */
static bool close_step(Chunk *c)
{
    flow_down(c, &c->function->body);
    flow_up(c, &c->function->body);
    FOR_OPS (op, &c->function->body)
        if (is_mixed(c, op)) {
            split(c, op);
            return true;
        }
    FOR_OPS (op, &c->function->body)
        if (!is_member(c, op) && is_between(c, op))
            return join_chunk(c, op);
    return false;
}

static bool check_members(Chunk *c)
{
    for (size_t i = 0; i < c->members.count; i++) {
        Op *op = c->members.data[i];
        Miss miss = chunk_why_not(c, op);
        if (miss != MISS_NONE)
            return fail(c, op, miss);
        if (chunk_sums(c, op) && is_between(c, op))
            return fail(c, op, MISS_CHUNK_TOTAL);
    }
    return true;
}

/* ---- order ---- */

static void move_ops(Chunk *c, Block *from, Block *to, Op *first, const Op *end, int role)
{
    for (Op *op = first, *next; op != end; op = next) {
        next = op->next;
        if (!is_marked(c, op, role))
            continue;
        block_remove(from, op);
        block_append(to, op);
    }
}

/* Members one after the other: what stands among them goes before, or, if it needs
 * one of them, behind. */
static void gather(Chunk *c)
{
    Block *body = &c->function->body, loop = {0}, behind = {0};
    Op *first = NULL, *last = NULL;
    FOR_OPS (op, body) {
        if (is_member(c, op)) {
            first = first ? first : op;
            last = op;
        }
        for (int i = 0; i < op->n_args; i++)
            if (!is_marked(c, op->args[i]->op, ROLE_NONE)) {
                assert(!is_member(c, op) || is_member(c, op->args[i]->op));
                if (!is_member(c, op))
                    mark(c, op, ROLE_AFTER);
            }
    }
    Op *rest = last->next;
    Op *before = first->previous;
    move_ops(c, body, &behind, before ? before->next : body->first, rest, ROLE_AFTER);
    move_ops(c, body, &loop, before ? before->next : body->first, rest, ROLE_MEMBER);
    for (Block *part = &loop; part; part = part == &loop ? &behind : NULL)
        for (Op *op; (op = part->first);) {
            block_remove(part, op);
            rest ? block_insert_before(body, rest, op) : block_append(body, op);
        }
}

static void number_members(Chunk *c, int number)
{
    for (size_t i = 0; i < c->members.count; i++) {
        Attr attr = {.name = ATTR_chunk, .i = number};
        op_set_attr(c->function, c->members.data[i], attr);
    }
}

/* ---- the pass ---- */

static bool find_members(Chunk *c)
{
    if (!join_chunk(c, c->seed))
        return false;
    while (close_step(c))
        continue;
    return c->miss == MISS_NONE && check_members(c);
}

bool pass_chunk_rows(Function *function, PassContext *context)
{
    Arena *arena = function->module->arena;
    VEC(Op *) dots = {0};
    int n = 0;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_dot)
            vec_push(arena, dots, op);
    for (size_t i = 0; i < dots.count; i++) {
        Op *op = dots.data[i];
        Chunk chunk = {.function = function,
                       .module = function->module,
                       .arena = arena,
                       .roles = side_new(arena),
                       .flows = side_new(arena),
                       .copies = side_new(arena)};
        if (op_attr(op, ATTR_chunk) || !chunk_begin(&chunk, op))
            continue;
        if (!find_members(&chunk)) {
            report_miss(context->report, op, chunk.miss, "dot by chunks of rows with %s",
                        chunk.culprit);
            continue;
        }
        gather(&chunk);
        number_members(&chunk, n++);
        report_op(context->report, op, "chunks of rows: dot and %d ops that read it",
                  (int)chunk.members.count - 1);
    }
    return true;
}
