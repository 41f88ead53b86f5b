/* fuse_products: what is made of a product element by element is made of each part of
 * its result as soon as that is whole, while the cache holds it.
 *
 *   %2 = dot %0, %w : f32[B, S~, 2048]               %2 = dot %0, %w
 *   …                                          ⇒     %4 = row(%2, %bias) {epilogue = 0} {
 *   %4 = row(%2, %bias) {                              add; relu; yield }
 *     add; relu; yield }                             …
 *
 * The region is the product's epilogue: it comes right behind it, and `epilogue` says
 * which operand is the product. Regions with reductions (a layer norm) need whole rows
 * and stay as they are; fuse_rows took into them what belongs there. The arithmetic is
 * the same, and codegen/plan/epilogue.c joins the two steps. */
#include "passes/fuse/fuse.h"

bool pass_fuse_products(Function *function, PassContext *context);

/* Whether the body computes each element from elements of the same place. */
static bool stays_in_place(const Op *row)
{
    FOR_OPS (op, row->body)
        if (op_family(op) != FAMILY_elementwise && !is_generator(op) && op->kind != OP_broadcast &&
            op->kind != OP_random && op->kind != OP_yield)
            return false;
    return true;
}

static bool has_shape(const Op *row, const Type *type)
{
    for (int r = 0; r < row->n_results; r++)
        if (!type_same_shape(&row->results[r].type, type))
            return false;
    return true;
}

/* As many rows, of more than one axis: kernels go along the last one. */
static bool has_columns(const Module *module, const Type *type)
{
    Layout layout = layout_of(module, type);
    return layout.n > 1 && layout.axes[layout.n - 1].batch_dim < 0;
}

/* ---- places ---- */

/* The place of an op in the order of the body. One that is moved gets a number between those of
 * its new neighbours; each op moves, or gets a neighbour, a few times at most. */
typedef struct Places {
    Arena *arena;
    SideTable of_op; /* op → its double */
} Places;

static double place_of(const Places *places, const Op *op)
{
    const double *place = side_of_op(&places->of_op, op);
    return *place;
}

static void set_place(Places *places, const Op *op, double place)
{
    side_set_op(&places->of_op, op, arena_copy(places->arena, &place, sizeof place));
}

static Places places_of(Function *function)
{
    Places places = {function->module->arena, side_new(function->module->arena)};
    double place = 0;
    FOR_OPS (op, &function->body)
        set_place(&places, op, place++);
    return places;
}

/* Whether the region may go up to stand right behind the product. */
static bool may_rise(const Places *places, const Op *dot, const Op *row)
{
    for (int i = 0; i < row->n_args; i++)
        if (place_of(places, row->args[i]->op) > place_of(places, dot))
            return false;
    return true;
}

/* Whether the product may go down to stand right before the region. */
static bool may_sink(const Places *places, const Op *dot, const Op *row)
{
    FOR_USES (use, &dot->results[0])
        if (place_of(places, use->user) < place_of(places, row))
            return false;
    return true;
}

static bool is_assigned(const Op *row)
{
    for (int r = 0; r < row->n_results; r++)
        FOR_USES (use, &row->results[r])
            if (use->user->kind == OP_assign && use->user->args[1] == &row->results[r])
                return true;
    return false;
}

/* The product that the value is a part of or another view of, or NULL. */
static const Op *product_under(const Value *value)
{
    const Op *op = value->op;
    while (op->kind == OP_slice || op->kind == OP_reshape || op->kind == OP_transpose)
        op = op->args[0]->op;
    return op->kind == OP_dot ? op : NULL;
}

/* MISS_NONE if the region may be the epilogue of the product that is this operand. */
static Miss why_apart(const Function *function, const Places *places, const Op *row, int operand)
{
    const Op *dot = row->args[operand]->op;
    if (dot->kind != OP_dot)
        return MISS_EPILOGUE_VIEW;
    if (!stays_in_place(row))
        return MISS_EPILOGUE_ROWS;
    if (!has_shape(row, &dot->results[0].type) ||
        !has_columns(function->module, &dot->results[0].type))
        return MISS_EPILOGUE_SHAPE;
    if (op_attr(row, ATTR_epilogue) || (dot->next && op_attr(dot->next, ATTR_epilogue)))
        return MISS_EPILOGUE_TAKEN;
    if (op_attr(dot, ATTR_chunk) || op_attr(row, ATTR_chunk))
        return MISS_EPILOGUE_CHUNK;
    if (is_assigned(row)) /* in place, once nobody needs the param as it was */
        return MISS_EPILOGUE_PARAM;
    return may_rise(places, dot, row) || may_sink(places, dot, row) ? MISS_NONE
                                                                    : MISS_EPILOGUE_BETWEEN;
}

static void move_before(Function *function, Places *places, Op *op, Op *position)
{
    block_remove(&function->body, op);
    block_insert_before(&function->body, position, op);
    set_place(places, op, (place_of(places, op->previous) + place_of(places, op->next)) / 2);
}

/* The region goes to the product, so that nothing lives longer, if it can. */
static void join_product(Function *function, Places *places, Op *row, int operand)
{
    Op *dot = row->args[operand]->op;
    if (may_rise(places, dot, row) && dot->next != row)
        move_before(function, places, row, dot->next);
    else if (dot->next != row)
        move_before(function, places, dot, row);
    op_set_attr(function, row, (Attr){.name = ATTR_epilogue, .i = operand});
}

/* The operand whose product the region is to follow: of several the last one. */
static int choose_product(const Function *function, const Places *places, const Op *row)
{
    int chosen = -1;
    for (int i = 0; i < row->n_args; i++)
        if (row->args[i]->op->kind == OP_dot && why_apart(function, places, row, i) == MISS_NONE &&
            (chosen < 0 ||
             place_of(places, row->args[chosen]->op) <= place_of(places, row->args[i]->op)))
            chosen = i;
    return chosen;
}

static const char *describe_row(Arena *arena, const Op *row)
{
    Members members = {0};
    for (Op *op = row->body->first; op != row->body->last; op = op->next)
        vec_push(arena, members.ops, op);
    return describe_members(&members, arena);
}

static void report_apart(const Function *function, const Places *places, Report *report,
                         const Op *row)
{
    for (int i = 0; i < row->n_args; i++)
        if (product_under(row->args[i]))
            report_miss(report, row, why_apart(function, places, row, i), "dot into %s",
                        describe_row(report->arena, row));
}

bool pass_fuse_products(Function *function, PassContext *context)
{
    Members rows = {0};
    Places places = places_of(function);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_row)
            vec_push(function->module->arena, rows.ops, op);
    for (size_t i = 0; i < rows.ops.count; i++) {
        Op *row = rows.ops.data[i];
        int chosen = choose_product(function, &places, row);
        if (chosen >= 0)
            join_product(function, &places, row, chosen);
        if (context->report && chosen >= 0)
            report_op(context->report, row, "product: dot, then %s",
                      describe_row(context->report->arena, row));
        else if (context->report)
            report_apart(function, &places, context->report, row);
    }
    return true;
}
