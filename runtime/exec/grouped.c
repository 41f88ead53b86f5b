/* Products by groups; see gemm.h. What runs on which thread changes no bit: each element of a
 * result is one sum, over terms in ascending order. */
#include "runtime/exec/gemm.h"

#include "runtime/exec/per_thread.h"
#include "runtime/exec/size.h"
#include "runtime/product/product_pack.h"

#include <stdlib.h>
#include <string.h>

static bool groups_rows(const BoundGemm *bound) { return bound->grouping->kind == TFC_GROUPS_ROWS; }

/* Elements of the index. */
static int64_t index_size(const BoundGemm *bound)
{
    return groups_rows(bound) ? bound->m : bound->k;
}

/* ---- rows of groups ---- */

/* `sorted` of a BoundGemm: where each group begins among the sorted rows, n_groups + 2 numbers, the
 * last two of those that are in no group; then the sorted rows. */
static int32_t *begins_of(const BoundGemm *bound) { return bound->sorted; }
static int32_t *sorted_rows(const BoundGemm *bound)
{
    return bound->sorted + bound->grouping->n_groups + 2;
}

static int32_t group_of(int32_t index, int32_t groups)
{
    return index >= 0 && index < groups ? index : groups;
}

/* Counting sort: stable, so the rows of a group ascend. */
static void sort_rows(const BoundGemm *bound, const int32_t *index)
{
    const int32_t groups = bound->grouping->n_groups, n = (int32_t)index_size(bound);
    int32_t *begins = begins_of(bound), *sorted = sorted_rows(bound);
    memset(begins, 0, sizeof *begins * (size_t)(groups + 2));
    for (int32_t i = 0; i < n; i++)
        begins[group_of(index[i], groups) + 1]++;
    for (int32_t g = 0; g <= groups; g++)
        begins[g + 1] += begins[g];
    for (int32_t i = 0; i < n; i++)
        sorted[begins[group_of(index[i], groups)]++] = i;
    for (int32_t g = groups + 1; g > 0; g--) /* each was moved to its end */
        begins[g] = begins[g - 1];
    begins[0] = 0;
}

/* ---- tasks ---- */

/* The blocks of one product with the rows, or with the matrices, of all groups: there are several
 * groups for the threads to share, and the larger a block is, the less is packed anew for each. */
static GemmShape block_of_groups(const BoundGemm *bound)
{
    const int64_t groups = bound->grouping->n_groups;
    if (groups_rows(bound))
        return gemm_block((GemmShape){bound->m, bound->n, bound->k});
    GemmShape block = gemm_block(
        (GemmShape){groups * bound->m, bound->n, (index_size(bound) + groups - 1) / groups});
    block.m = block.m < bound->m ? block.m : bound->m;
    return block;
}

static int64_t blocks_along(int64_t side, int64_t block) { return (side + block - 1) / block; }

bool grouped_bind(BoundGemm *bound)
{
    const int64_t groups = bound->grouping->n_groups, n = index_size(bound), room = groups + 2 + n;
    if (n > INT32_MAX - groups - 2)
        return false;
    if (room > bound->room) {
        int32_t *rows = realloc(bound->sorted, sizeof *rows * (size_t)room);
        if (!rows)
            return false;
        bound->sorted = rows;
        bound->room = room;
    }
    const GemmShape block = block_of_groups(bound);
    const int64_t down = groups_rows(bound)
                             ? (n < groups ? n : groups + n / (block.m ? block.m : 1))
                             : groups * blocks_along(bound->m, block.m);
    const int64_t tasks = n || !groups_rows(bound) ? down * blocks_along(bound->n, block.n) : 0;
    bound->n_tasks = (int32_t)tasks;
    return gemm_room(bound, tasks);
}

/* The tasks of these rows and columns of a group: `first` is its number. */
static int32_t add_blocks_of_group(const BoundGemm *bound, int32_t group, GemmShape p,
                                   GemmShape block, int32_t n_tasks)
{
    for (int64_t m = 0; m < p.m; m += block.m)
        for (int64_t n = 0; n < p.n; n += block.n)
            bound->tasks[n_tasks++] = (GemmTask){group, p.k,
                                                 m,     m + block.m < p.m ? m + block.m : p.m,
                                                 n,     n + block.n < p.n ? n + block.n : p.n};
    return n_tasks;
}

static int32_t cut_groups(const BoundGemm *bound)
{
    const GemmShape block = block_of_groups(bound);
    const int32_t *begins = begins_of(bound);
    int32_t n_tasks = 0;
    for (int32_t g = 0; g < bound->grouping->n_groups; g++) {
        const int64_t size = begins[g + 1] - begins[g];
        n_tasks = add_blocks_of_group(bound, g,
                                      groups_rows(bound) ? (GemmShape){size, bound->n, bound->k}
                                                         : (GemmShape){bound->m, bound->n, size},
                                      block, n_tasks);
    }
    return n_tasks;
}

/* ---- running ---- */

/* From one matrix's panels to the next one's. */
static int64_t panels_bytes_of(const TfcForm *form, int64_t k, int64_t n)
{
    return blocks_along(n, TFC_PANEL_COLUMNS) * TFC_PANEL_COLUMNS *
           pack_kept_bytes(&form->sizes, k);
}

typedef struct GroupedRun {
    const BoundGemm *bound;
    void *const *buffers;
} GroupedRun;

/* Element (row, column) of an operand's matrix number `group`. */
static char *element_at(const GroupedRun *run, const GemmMatrix *matrix, TfcType type,
                        int64_t elements)
{
    return (char *)run->buffers[matrix->buffer] + (matrix->offset + elements) * type_bytes(type);
}

/* If listed rows are as far apart all along, they need no list: *at and *stride say where
 * they are, in elements. */
static void settle_list(TfcRowList *list, int64_t n, int64_t *at, int64_t *stride)
{
    const int64_t first = n ? listed_row(list, 0) : 0,
                  step = n > 1 ? listed_row(list, 1) - first : 1;
    for (int64_t i = 2; i < n; i++)
        if (listed_row(list, i) - listed_row(list, i - 1) != step)
            return;
    *at += first * *stride;
    *stride *= step;
    list->rows = NULL;
}

/* The same for rows that may lie in the order of groups: there the list begins at row `first`. */
static void settle_rows(TfcRowList *list, bool sorted, int64_t first, int64_t n, int64_t *at,
                        int64_t *stride)
{
    if (!sorted) {
        settle_list(list, n, at, stride);
        return;
    }
    *at += first * *stride;
    list->rows = NULL;
}

/* c[rows] = a[rows] b of the group */
static TfcProduct product_of_rows(const GroupedRun *run, const GemmTask *task)
{
    const BoundGemm *bound = run->bound;
    const TfcGemmStep *step = bound->step;
    const TfcGrouping *grouping = bound->grouping;
    const int64_t first = begins_of(bound)[task->first] + task->m_begin;
    const int32_t *rows = sorted_rows(bound) + first;
    const TfcForm *form = bound->products->native[step->product];
    int64_t a = 0, c = task->n_begin;
    TfcProduct p = {.m = task->m_end - task->m_begin,
                    .n = task->n_end - task->n_begin,
                    .k = bound->k,
                    .a_row = bound->a.row_stride,
                    .a_column = 1,
                    .b_row = bound->b.row_stride,
                    .b_column = bound->b.column_stride,
                    .c_row = bound->c.row_stride,
                    .store = step->result == TFC_BF16 ? TFC_STORE_ROUNDED : TFC_STORE_OVERWRITE,
                    .a_rows = {rows, grouping->repeats_a},
                    .c_rows = {rows, 1}};
    settle_rows(&p.a_rows, grouping->sorted_a, first, p.m, &a, &p.a_row);
    settle_rows(&p.c_rows, grouping->sorted_c, first, p.m, &c, &p.c_row);
    p.a = element_at(run, &bound->a, step->type, a);
    p.c = element_at(run, &bound->c, step->result, c);
    p.b = element_at(run, &bound->b, step->type,
                     task->first * bound->k * bound->n + task->n_begin * bound->b.column_stride);
    if (step->panels && task->n_begin % TFC_PANEL_COLUMNS == 0) {
        p.panels = (char *)run->buffers[step->panels - 1] +
                   task->first * panels_bytes_of(form, bound->k, bound->n);
        p.column = task->n_begin;
    }
    return p;
}

/* c of the group = Σ a[:, terms] b[terms, :] */
static TfcProduct product_of_terms(const GroupedRun *run, const GemmTask *task)
{
    const BoundGemm *bound = run->bound;
    const TfcGemmStep *step = bound->step;
    const TfcGrouping *grouping = bound->grouping;
    const int64_t first = begins_of(bound)[task->first];
    const int32_t *terms = sorted_rows(bound) + first;
    int64_t a = task->m_begin, b = task->n_begin;
    TfcProduct p = {.m = task->m_end - task->m_begin,
                    .n = task->n_end - task->n_begin,
                    .k = task->count,
                    .a_row = 1,
                    .a_column = bound->a.column_stride,
                    .b_row = bound->b.row_stride,
                    .b_column = 1,
                    .c_row = bound->c.row_stride,
                    .store = TFC_STORE_OVERWRITE,
                    .a_terms = {terms, grouping->repeats_a},
                    .b_terms = {terms, grouping->repeats_b}};
    settle_rows(&p.a_terms, grouping->sorted_a, first, p.k, &a, &p.a_column);
    settle_rows(&p.b_terms, grouping->sorted_b, first, p.k, &b, &p.b_row);
    p.a = element_at(run, &bound->a, step->type, a);
    p.b = element_at(run, &bound->b, step->type, b);
    p.c = element_at(run, &bound->c, step->result,
                     (task->first * bound->m + task->m_begin) * bound->n + task->n_begin);
    return p;
}

static void run_task_of_group(const void *context, int64_t t)
{
    const GroupedRun *run = context;
    const BoundGemm *bound = run->bound;
    const GemmTask *task = &bound->tasks[t];
    const TfcProduct p =
        groups_rows(bound) ? product_of_rows(run, task) : product_of_terms(run, task);
    product_run(bound->products->native[bound->step->product], &p, workspace_here());
}

/* Rows of no matrix are zero. */
static void clear_rows(const GroupedRun *run)
{
    const BoundGemm *bound = run->bound;
    const TfcType type = bound->step->result;
    const int32_t *begins = begins_of(bound), groups = bound->grouping->n_groups;
    for (int32_t i = begins[groups]; i < begins[groups + 1]; i++) {
        const int64_t row = bound->grouping->sorted_c ? i : sorted_rows(bound)[i];
        memset(element_at(run, &bound->c, type, row * bound->c.row_stride), 0,
               (size_t)(bound->n * type_bytes(type)));
    }
}

void grouped_run(const BoundGemm *bound, void *const *buffers, Team *team)
{
    const GroupedRun run = {bound, buffers};
    sort_rows(bound, (const int32_t *)buffers[bound->grouping->index] + bound->grouping->index_at);
    if (groups_rows(bound))
        clear_rows(&run);
    team_run(team, cut_groups(bound), run_task_of_group, &run);
}
