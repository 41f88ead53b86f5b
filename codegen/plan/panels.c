/* Weights as panels: steps that pack a matrix which is there throughout, once for many runs, and
 * who reads what they make: products that ask for it (attribute `panels`), and lookups that do, or
 * are of integers (`quant`), whose kernels then read the panels in place of the table. */
#include "codegen/plan/plan.h"

static bool is_constant(const Plan *plan, TfcSizeRef size)
{
    return size_is_const(&plan->sizes.data[size]);
}

/* How many matrices b there are, one for each iteration of the loops along which b moves; 0: not a
 * constant number. */
static int64_t count_matrices(const Plan *plan, const TfcGemmStep *gemm)
{
    int64_t n = 1;
    for (int l = 0; l < gemm->n_loops; l++)
        if (gemm->b.loop_strides[l] != TFC_SIZE_ZERO)
            n *= gemm->loop_lengths[l] < 0 && is_constant(plan, gemm->loops[l])
                     ? plan->sizes.data[gemm->loops[l]].coefficient
                     : 0;
    return n;
}

/* Products of matrices that are there throughout: their panels can be made once. */
static bool may_have_panels(const Plan *plan, const TfcGemmStep *gemm)
{
    return count_matrices(plan, gemm) && !gemm->accumulate && gemm->n.kind == TFC_EXTENT_SIZE &&
           gemm->k.kind == TFC_EXTENT_SIZE && is_constant(plan, gemm->n.size) &&
           is_constant(plan, gemm->k.size) && gemm->b.ragged_dim < 0 &&
           size_is(&plan->sizes.data[gemm->c.column_stride], 1);
}

/* A kept buffer with room for the panels of all matrices b. */
static int32_t panels_buffer(Plan *plan, const TfcGemmStep *gemm)
{
    int64_t n = plan->sizes.data[gemm->n.size].coefficient;
    int64_t k = plan->sizes.data[gemm->k.size].coefficient;
    n = (n + TFC_PANEL_COLUMNS - 1) / TFC_PANEL_COLUMNS * TFC_PANEL_COLUMNS;
    if (gemm->product == TFC_PRODUCT_BF16)
        k = (k + TFC_PAIRS_K - 1) / TFC_PAIRS_K * TFC_PAIRS_K;
    if (product_quant(gemm->product)) /* elements are as large as a float */
        k = quant_column_elements(product_quant(gemm->product), k, INTEGERS_TRAILER);
    Type type = {.dtype = (DType)gemm->type,
                 .rank = 3,
                 .dims = {dim_const(count_matrices(plan, gemm)), dim_const(k), dim_const(n)}};
    return add_buffer(plan, TFC_BUFFER_SLAB, &type, 0);
}

/* Whether the op, or region, is one cast. */
static bool is_one_cast(const Op *op)
{
    int n = 0;
    if (op->kind != OP_row)
        return op->kind == OP_cast;
    FOR_OPS (inner, op->body) {
        if (inner->kind != OP_cast && inner->kind != OP_yield)
            return false;
        n += inner->kind == OP_cast;
    }
    return n == 1;
}

/* Whether the step rounds a tensor, element by element, and does nothing else. */
static bool only_casts(const Plan *plan, size_t s)
{
    const TfcStep *step = &plan->steps.data[s];
    const TfcView *views = step->kernel.views;
    return step->kind == TFC_STEP_KERNEL && step->kernel.n_views == 2 &&
           is_one_cast(plan->origins.data[s]) && !views[0].offset && !views[1].offset &&
           views[0].n_axes == views[1].n_axes &&
           !memcmp(views[0].strides, views[1].strides, sizeof views[0].strides);
}

/* A step that packs a buffer's matrices, and the one before it that packs such (Packing.packs). */
typedef struct PackOf {
    size_t step;
    int32_t before; /* -1: none */
} PackOf;

/* What is known of the buffers that there are before any is packed. */
typedef struct Packing {
    Plan *plan;
    const bool *constant; /* they depend on params alone */
    int32_t *n_writers;   /* steps that write each */
    int32_t *cast_from;   /* the buffer whose elements each has, rounded; NO_BUFFER: none */
    int32_t *packed;      /* the last of `packs` that is of each; -1: none */
    VEC(PackOf) packs;
} Packing;

static void count_writer(void *data, int32_t buffer, bool written)
{
    Packing *p = data;
    p->n_writers[buffer] += written;
}

static Packing packing_of(Plan *plan, const bool *constant)
{
    const size_t n = plan->buffers.count;
    Packing p = {.plan = plan,
                 .constant = constant,
                 .n_writers = ARENA_ARRAY(plan->arena, int32_t, n + 1),
                 .cast_from = ARENA_ARRAY(plan->arena, int32_t, n + 1),
                 .packed = ARENA_ARRAY(plan->arena, int32_t, n + 1)};
    for (size_t b = 0; b < n; b++)
        p.cast_from[b] = p.packed[b] = -1;
    for (size_t s = 0; s < plan->steps.count; s++) {
        step_buffers(plan, &plan->steps.data[s], count_writer, &p);
        if (only_casts(plan, s))
            p.cast_from[plan->steps.data[s].kernel.views[1].buffer] =
                plan->steps.data[s].kernel.views[0].buffer;
    }
    return p;
}

/* The buffer whose elements this one has, rounded; itself, if there is none. */
static int32_t cast_from(const Packing *p, int32_t b)
{
    return p->n_writers[b] == 1 && p->cast_from[b] != NO_BUFFER ? p->cast_from[b] : b;
}

/* As TfcGemmStep.param. */
static int32_t param_of(const Packing *p, const TfcGemmStep *gemm)
{
    const Plan *plan = p->plan;
    const int32_t from = cast_from(p, gemm->b.buffer);
    const TfcBuffer *buffer = &plan->buffers.data[from];
    const TfcType type = from == gemm->b.buffer ? TFC_F32 : TFC_BF16;
    const TfcSize *n = &plan->sizes.data[gemm->n.size], *k = &plan->sizes.data[gemm->k.size];
    const TfcSize *row = &plan->sizes.data[gemm->b.row_stride],
                  *column = &plan->sizes.data[gemm->b.column_stride];
    const int64_t matrix = n->coefficient * k->coefficient;
    const bool is_list =
        gemm->n_loops == 1 && size_is(&plan->sizes.data[gemm->b.loop_strides[0]], matrix);
    if (buffer->kind != TFC_BUFFER_TENSOR || buffer->type != TFC_F32 || gemm->type != type ||
        gemm->b.offset || (gemm->n_loops && !is_list) ||
        !size_is(&plan->sizes.data[buffer->size], count_matrices(plan, gemm) * matrix))
        return 0;
    const bool is_whole =
        (size_equal(row, n) && size_is(column, 1)) || (size_is(row, 1) && size_equal(column, k));
    return is_whole ? 1 + buffer->index : 0;
}

/* Matrices that an index chooses from are packed one after another, as those of a loop. */
static void loop_over_groups(Plan *plan, TfcGemmStep *gemm)
{
    const int64_t size =
        plan->sizes.data[gemm->n.size].coefficient * plan->sizes.data[gemm->k.size].coefficient;
    const TfcGrouping *grouping = &plan->groupings.data[gemm->grouping - 1];
    gemm->grouping = 0;
    gemm->n_loops = 1;
    gemm->loops[0] = size_ref(plan, size_const(grouping->n_groups));
    gemm->loop_lengths[0] = -1;
    gemm->b.loop_strides[0] = gemm->c.loop_strides[0] = size_ref(plan, size_const(size));
}

/* The loops that a pack step has: those along which b moves. */
static void keep_loops_of_b(Plan *plan, TfcGemmStep *gemm)
{
    int n = 0;
    if (gemm->grouping)
        loop_over_groups(plan, gemm);
    for (int l = 0; l < gemm->n_loops; l++) {
        if (gemm->b.loop_strides[l] == TFC_SIZE_ZERO)
            continue;
        gemm->loops[n] = gemm->loops[l];
        gemm->loop_lengths[n] = -1;
        gemm->b.loop_strides[n++] = gemm->b.loop_strides[l];
    }
    if (gemm->m.kind == TFC_EXTENT_LENGTH)
        gemm->m = (TfcExtent){.size = size_ref(plan, size_const(1)), .dim = -1};
    gemm->n_loops = n;
    gemm->batch_loop = -1;
}

static bool same_loops(const TfcGemmStep *a, const TfcGemmStep *b)
{
    for (int l = 0; l < a->n_loops; l++)
        if (a->loops[l] != b->loops[l] || a->b.loop_strides[l] != b->b.loop_strides[l])
            return false;
    return a->n_loops == b->n_loops;
}

static bool same_matrices(const TfcGemmStep *a, const TfcGemmStep *b)
{
    return a->b.offset == b->b.offset && a->n.size == b->n.size && a->k.size == b->k.size &&
           a->b.row_stride == b->b.row_stride && a->b.column_stride == b->b.column_stride &&
           a->product == b->product && same_loops(a, b);
}

/* Products of the same matrices share their panels. As TfcGemmStep.panels. */
static int32_t find_panels(const Packing *p, const TfcGemmStep *gemm)
{
    for (int32_t i = p->packed[gemm->b.buffer]; i >= 0; i = p->packs.data[i].before) {
        const TfcGemmStep *other = &p->plan->steps.data[p->packs.data[i].step].gemm;
        if (same_matrices(other, gemm))
            return other->panels;
    }
    return 0;
}

/* A product of integers that packs b itself takes only so many terms. */
void widen_long_products(Plan *plan)
{
    for (size_t s = 0; s < plan->steps.count; s++) {
        TfcGemmStep *gemm = &plan->steps.data[s].gemm;
        if (plan->steps.data[s].kind == TFC_STEP_GEMM && product_quant(gemm->product) &&
            !gemm->panels && plan->sizes.data[gemm->k.size].coefficient > TFC_INT8_PACKED_K)
            gemm->product = (TfcProductType)gemm->type;
    }
}

/* The buffer of the step's panels; a step that packs them comes to the end, unless there is one. */
static int32_t panels_of(Packing *p, TfcGemmStep *gemm, size_t s)
{
    Plan *plan = p->plan;
    keep_loops_of_b(plan, gemm);
    const int32_t found = find_panels(p, gemm);
    if (found)
        return found;
    TfcStep step = {.kind = TFC_STEP_PACK, .name = plan->steps.data[s].name, .gemm = *gemm};
    step.gemm.panels = 1 + panels_buffer(plan, gemm);
    step.gemm.param = param_of(p, gemm);
    int32_t *packed = &p->packed[gemm->b.buffer];
    vec_push(plan->arena, p->packs, ((PackOf){plan->steps.count, *packed}));
    *packed = (int32_t)p->packs.count - 1;
    vec_push(plan->arena, plan->steps, step);
    vec_push(plan->arena, plan->origins, plan->origins.data[s]);
    return step.gemm.panels;
}

static void pack_product(Packing *p, size_t s)
{
    Plan *plan = p->plan;
    TfcGemmStep gemm = plan->steps.data[s].gemm;
    if (op_attr(plan->origins.data[s], ATTR_panels) && p->constant[gemm.b.buffer] &&
        may_have_panels(plan, &gemm))
        plan->steps.data[s].gemm.panels = panels_of(p, &gemm, s);
}

/* A table [n, k] as the matrix b of the product that would sum along its rows. */
static TfcGemmStep product_of_table(Plan *plan, const Value *table, Quant quant, int32_t buffer)
{
    const TfcSizeRef one = size_ref(plan, size_const(1)),
                     k = size_ref(plan, size_const(table->type.dims[1].size));
    return (TfcGemmStep){
        .type = TFC_F32,
        .product = product_of_quant(quant, TFC_PRODUCT_F32),
        .result = TFC_F32,
        .b = {.buffer = buffer, .ragged_dim = -1, .row_stride = one, .column_stride = k},
        .n = {.size = size_ref(plan, size_const(table->type.dims[0].size))},
        .k = {.size = k},
        .batch_loop = -1};
}

/* The lookup in this table that reads panels; NULL: there is none. */
static const Op *lookup_of(const Op *op, const Value *table)
{
    if (op->kind == OP_gather)
        return op->args[0] == table && op_is_packed_lookup(op) ? op : NULL;
    if (op->body)
        FOR_OPS (inner, op->body)
            if (inner->kind == OP_gather && lookup_of(inner, table))
                return inner;
    return NULL;
}

static void pack_tables(Packing *p, size_t s)
{
    Plan *plan = p->plan;
    const Op *op = plan->origins.data[s];
    TfcKernelStep *kernel = &plan->steps.data[s].kernel;
    TfcView *views = NULL;
    if (kernel->n_views != op->n_args + op->n_results) /* a copy that the op needs */
        return;
    for (int i = 0; i < op->n_args; i++) {
        const Op *lookup = lookup_of(op, op->args[i]);
        if (!lookup)
            continue;
        TfcGemmStep gemm =
            product_of_table(plan, op->args[i], op_quant(lookup), kernel->views[i].buffer);
        if (!views)
            views = arena_copy(plan->arena, kernel->views, sizeof *views * (size_t)kernel->n_views);
        views[i].buffer = panels_of(p, &gemm, s) - 1;
        kernel = &plan->steps.data[s].kernel; /* the list may have moved */
        kernel->views = views;
    }
}

void pack_weights(Plan *plan, const bool *constant)
{
    Packing p = packing_of(plan, constant);
    for (size_t s = 0, n = plan->steps.count; s < n; s++)
        if (plan->steps.data[s].kind == TFC_STEP_GEMM)
            pack_product(&p, s);
        else if (plan->steps.data[s].kind == TFC_STEP_KERNEL)
            pack_tables(&p, s);
}

/* ---- the law of it ---- */

bool lookups_read_panels(const Plan *plan)
{
    bool *packed = ARENA_ARRAY(plan->arena, bool, plan->buffers.count + 1);
    for (size_t s = 0; s < plan->steps.count; s++)
        if (plan->steps.data[s].kind == TFC_STEP_PACK)
            packed[plan->steps.data[s].gemm.panels - 1] = true;
    for (size_t s = 0; s < plan->steps.count; s++) {
        const TfcStep *step = &plan->steps.data[s];
        const Op *op = plan->origins.data[s];
        if (step->kind != TFC_STEP_KERNEL || step->kernel.n_views != op->n_args + op->n_results)
            continue;
        for (int i = 0; i < op->n_args; i++)
            if (lookup_of(op, op->args[i]) && !packed[step->kernel.views[i].buffer])
                return false;
    }
    return true;
}
