/* Regions that would need one another. A region runs as one op: each of its results needs all that
 * any of its members reads. So two regions may need each other where no op of them does.
 *
 * The search goes from each op to its operands, and keeps its own stack, since a function may be
 * deep. */
#include "passes/fuse/attention.h"

typedef enum CircleState { CIRCLE_NEW, CIRCLE_OPEN, CIRCLE_DONE } CircleState;

/* CircleStep: an op whose operands are being searched, or the op that stands for a region.
 *   member, arg   of the next operand; member: of a region */
typedef struct CircleStep {
    const Op *op;
    size_t member;
    int arg;
} CircleStep;

typedef struct CircleSearch {
    const Fuser *f;
    Arena *arena;
    SideTable states; /* op → CircleState; of a region, the op that stands for it */
    VEC(CircleStep) steps;
} CircleSearch;

/* The op itself, or that of the first result of the region that gives the op's result. */
static const Op *stands_for(const CircleSearch *c, const Op *op)
{
    const ScoresNode *node = node_of(c->f, op);
    return node->giver ? node->giver->outputs.data[0]->op : op;
}

/* The next operand that the region reads from outside; NULL: there is none. */
static const Op *next_of_region(const CircleSearch *c, const ScoresRegion *r, CircleStep *step)
{
    for (; step->member < r->members.count; step->member++, step->arg = 0) {
        const Op *op = r->members.data[step->member];
        while (step->arg < op->n_args) {
            const Op *above = op->args[step->arg++]->op;
            const ScoresNode *node = node_of(c->f, above);
            const bool is_given = node->scores != r->scores || node->part == PART_PRODUCT ||
                                  (node->part == PART_ROW && node->level < r->level);
            if (is_given)
                return above;
        }
    }
    return NULL;
}

static const Op *next_operand(const CircleSearch *c, CircleStep *step)
{
    const ScoresRegion *region = node_of(c->f, step->op)->giver;
    if (region)
        return next_of_region(c, region, step);
    return step->arg < step->op->n_args ? step->op->args[step->arg++]->op : NULL;
}

/* Begins with an op. False: its operands are being searched, so it needs itself. */
static bool open_step(CircleSearch *c, const Op *op)
{
    const Op *one = stands_for(c, op);
    const int state = side_number(&c->states, one);
    if (state == CIRCLE_NEW) {
        const CircleStep step = {.op = one};
        side_set_number(&c->states, one, CIRCLE_OPEN);
        vec_push(c->arena, c->steps, step);
    }
    return state != CIRCLE_OPEN;
}

static bool has_circle(CircleSearch *c, const Op *from)
{
    bool ok = open_step(c, from);
    while (ok && c->steps.count) {
        CircleStep *step = &vec_last(c->steps);
        const Op *above = next_operand(c, step);
        if (above)
            ok = open_step(c, above);
        else {
            side_set_number(&c->states, step->op, CIRCLE_DONE);
            c->steps.count--;
        }
    }
    return !ok;
}

bool regions_have_circle(const Fuser *f)
{
    CircleSearch c = {.f = f, .arena = f->arena, .states = side_new(f->arena)};
    FOR_OPS (op, &f->function->body)
        if (has_circle(&c, op))
            return true;
    return false;
}
