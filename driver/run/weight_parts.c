/* Where the elements of a part lie, in a param and in a tensor of a foreign checkpoint. */
#include "driver/run/weight_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const WeightMap *weight_map(const Model *model, const char *name)
{
    for (size_t i = 0; i < model->weights.count; i++)
        if (!strcmp(model->weights.data[i].ours, name))
            return &model->weights.data[i];
    return NULL;
}

WeightMap whole_map(Arena *arena, const StoreTensor *param, const char *name)
{
    WeightPart *part = ARENA_NEW(arena, WeightPart);
    *part = (WeightPart){.n_theirs = 1, .rank = param->rank, .scale = 1};
    part->theirs = ARENA_ARRAY(arena, const char *, 1);
    part->theirs[0] = name;
    for (int i = 0; i < param->rank; i++)
        part->axes[i] = (WeightAxis){.ours = i, .size = param->dims[i]};
    return (WeightMap){.ours = param->name, .parts = part, .n_parts = 1};
}

/* ---- shapes ---- */

/* Elements along axis i of the part of a tensor that has `front` axes more; 1 along an axis that it
 * lacks, which then stretches. */
static int64_t their_size(const StTensor *tensor, int front, int i)
{
    return front + i < 0 ? 1 : tensor->dims[front + i];
}

bool part_fits(Job *job, const WeightPart *part, const Shard *from, const StoreTensor *param)
{
    const StTensor *tensor = from->tensor;
    const char *path = from->file->path;
    int front = tensor->rank - part->rank;
    bool fits = true;
    int64_t asked[MAX_RANK];
    for (int i = 0; i < front; i++)
        fits = fits && tensor->dims[i] == 1;
    for (int i = 0; i < part->rank; i++) {
        const WeightAxis *axis = &part->axes[i];
        asked[i] = axis->size;
        int64_t size = their_size(tensor, front, i);
        if (axis->stretches && size == 1)
            continue;
        fits = fits && front + i >= 0;
        if (fits && axis->is_slice && axis->their_begin > size - axis->size)
            return job_error(job,
                             "%s: the tensor '%s' is %s; there is no part %" PRId64 " … %" PRId64
                             " of its axis %d (for the param '%s')",
                             path, tensor->name, text_list(job->arena, tensor->dims, tensor->rank),
                             axis->their_begin, axis->their_begin + axis->size - 1, i, param->name);
        fits = fits && (axis->is_slice || axis->size == size);
    }
    return fits || job_error(job, "%s: the tensor '%s' is %s, but the param '%s' takes %s%s", path,
                             tensor->name, text_list(job->arena, tensor->dims, tensor->rank),
                             param->name, text_list(job->arena, asked, part->rank),
                             part->multiplies ? ", or axes of 1" : "");
}

/* ---- elements ---- */

/* A place in a part: offsets of the element in the param and in the tensor. */
typedef struct Walk {
    int rank;
    int64_t sizes[MAX_RANK], index[MAX_RANK];
    int64_t our_strides[MAX_RANK], their_strides[MAX_RANK]; /* by the tensor's axes */
    int64_t ours, theirs, left;
} Walk;

/* `dims`: those of the tensor, by the part's axes. */
static Walk walk_begin(const WeightPart *part, const StoreTensor *param, const int64_t *dims)
{
    Walk walk = {.rank = part->rank, .left = 1};
    int64_t strides[MAX_RANK], stride = 1;
    for (int i = param->rank; i-- > 0; stride *= param->dims[i])
        strides[i] = stride;
    stride = 1;
    for (int i = part->rank; i-- > 0; stride *= dims[i]) {
        const WeightAxis *axis = &part->axes[i];
        const bool stretched = axis->stretches && dims[i] == 1;
        walk.sizes[i] = axis->size;
        walk.our_strides[i] = strides[axis->ours];
        walk.their_strides[i] = stretched ? 0 : stride;
        walk.ours += axis->begin * strides[axis->ours];
        walk.theirs += stretched ? 0 : axis->their_begin * stride;
        walk.left *= axis->size;
    }
    return walk;
}

static void walk_on(Walk *walk)
{
    walk->left--;
    for (int i = walk->rank; i-- > 0;) {
        walk->ours += walk->our_strides[i];
        walk->theirs += walk->their_strides[i];
        if (++walk->index[i] < walk->sizes[i])
            return;
        walk->ours -= walk->sizes[i] * walk->our_strides[i];
        walk->theirs -= walk->sizes[i] * walk->their_strides[i];
        walk->index[i] = 0;
    }
}

/* False: a whole number that the type of the tensor cannot hold, or a fraction that it
 * would cut off. Floats are rounded. */
static bool put_value(StoreTensor *tensor, int64_t i, double value, bool whole)
{
    const bool is_f32 = tensor->type == TFC_F32;
    return element_put(tensor->type, tensor->data, i, value) &&
           (!whole || !is_f32 || (double)(float)value == value);
}

enum { TILE = 16 }; /* floats of a line of the cache */

/* A matrix of the tensor, by its last two axes, and where it goes. Strides are in elements. */
typedef struct Matrix {
    const StTensor *from;
    int64_t rows, columns, their_row, our_row, our_column;
} Matrix;

static Matrix take_matrix(Walk *walk, const StTensor *from)
{
    Matrix m = {from, 1, 1, 0, 0, 1};
    if (walk->rank > 0) {
        int last = --walk->rank;
        m.columns = walk->sizes[last];
        m.our_column = walk->our_strides[last];
    }
    if (walk->rank > 0) {
        int last = --walk->rank;
        m.rows = walk->sizes[last];
        m.their_row = walk->their_strides[last];
        m.our_row = walk->our_strides[last];
    }
    walk->left = walk->left ? walk->left / m.rows / m.columns : 0;
    return m;
}

static bool read_rows(const Matrix *m, int64_t theirs, float *ours)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < m->rows; i++)
        ok = st_floats(m->from, theirs + i * m->their_row, m->columns, ours + i * m->our_row);
    return ok;
}

/* Ours has other elements beside each other: tile by tile, each from as many rows. */
static bool read_tiles(const Matrix *m, int64_t theirs, float *ours)
{
    float tile[TILE][TILE];
    bool ok = true;
    for (int64_t i = 0; i < m->rows; i += TILE)
        for (int64_t j = 0; j < m->columns; j += TILE) {
            int64_t rows = m->rows - i < TILE ? m->rows - i : TILE;
            int64_t columns = m->columns - j < TILE ? m->columns - j : TILE;
            for (int64_t r = 0; ok && r < rows; r++)
                ok = st_floats(m->from, theirs + (i + r) * m->their_row + j, columns, tile[r]);
            if (!ok)
                return false;
            for (int64_t c = 0; c < columns; c++)
                for (int64_t r = 0; r < rows; r++)
                    ours[(i + r) * m->our_row + (j + c) * m->our_column] = tile[r][c];
        }
    return ok;
}

static Walk walk_of_tensor(const WeightPart *part, const StTensor *from, const StoreTensor *param)
{
    int64_t dims[MAX_RANK];
    for (int i = 0; i < part->rank; i++)
        dims[i] = their_size(from, from->rank - part->rank, i);
    return walk_begin(part, param, dims);
}

/* Floats as they are. False: the tensor's type has other values. */
static bool read_floats(const WeightPart *part, const StTensor *from, StoreTensor *param)
{
    Walk walk = walk_of_tensor(part, from, param);
    Matrix m = take_matrix(&walk, from);
    bool ok = true;
    for (; ok && walk.left > 0; walk_on(&walk))
        ok = (m.our_column == 1 ? read_rows : read_tiles)(&m, walk.theirs,
                                                          (float *)param->data + walk.ours);
    return ok;
}

/* Axes in the order of the param's, so that its elements are walked in their order: the tensor,
 * stretched, is small. */
static void walk_ours_in_order(Walk *walk)
{
    for (int i = 1; i < walk->rank; i++)
        for (int k = i; k > 0 && walk->our_strides[k - 1] < walk->our_strides[k]; k--) {
            int64_t *const of[] = {walk->sizes, walk->our_strides, walk->their_strides};
            for (int a = 0; a < 3; a++) {
                const int64_t swapped = of[a][k];
                of[a][k] = of[a][k - 1];
                of[a][k - 1] = swapped;
            }
        }
}

static bool multiply(const WeightPart *part, const StTensor *from, StoreTensor *param)
{
    Walk w = walk_of_tensor(part, from, param);
    walk_ours_in_order(&w);
    double value = 0;
    for (int64_t read = -1; w.left > 0; walk_on(&w)) {
        if (w.theirs != read)
            value = part->scale * st_value(from, read = w.theirs);
        if (!put_value(param, w.ours, element_value(param->type, param->data, w.ours) * value,
                       false))
            return false;
    }
    return true;
}

bool part_read(const WeightPart *part, const StTensor *from, StoreTensor *param)
{
    if (part->multiplies)
        return multiply(part, from, param);
    if (param->type == TFC_F32 && part->scale == 1 && read_floats(part, from, param))
        return true;
    bool whole = !element_info(from->type)->is_float && part->scale == 1;
    for (Walk w = walk_of_tensor(part, from, param); w.left > 0; walk_on(&w))
        if (!put_value(param, w.ours, part->scale * st_value(from, w.theirs), whole))
            return false;
    return true;
}

void part_initialise(const WeightPart *part, StoreTensor *param)
{
    const double value = param->init == TFC_INIT_CONSTANT ? param->a : param->init == TFC_INIT_ONES;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < part->rank; i++)
        dims[i] = part->axes[i].their_begin + part->axes[i].size;
    for (Walk w = walk_begin(part, param, dims); w.left > 0; walk_on(&w))
        put_value(param, w.ours, value, false);
}

void part_write(const WeightPart *part, const StoreTensor *param, const int64_t *dims, double *to)
{
    for (Walk w = walk_begin(part, param, dims); w.left > 0; walk_on(&w))
        to[w.theirs] = element_value(param->type, param->data, w.ours) / part->scale;
}
