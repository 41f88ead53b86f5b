/* Sparse gradients: which groups of elements are not zero, and packing these for other ranks. */
#include "runtime/train/parallel/gradient_state.h"

#include <string.h>

uint64_t *gradient_marks(const GradientSum *sum, const Slice *slice, int64_t from, int level)
{
    int64_t block = sum->gradients[slice->tensor].block + from / PART_BLOCK;
    return sum->marks + ((level + 1) * sum->n_blocks + block) * BLOCK_WORDS;
}

int64_t gradient_mark_words(const Slice *slice) { return parts_blocks(slice->count) * BLOCK_WORDS; }

static bool is_marked(const uint64_t *marks, int64_t group)
{
    return marks[group / 64] >> group % 64 & 1;
}

/* ---- a block ---- */

static bool is_zero(const char *data, int64_t bytes)
{
    uint64_t any = 0, word;
    for (; bytes >= (int64_t)sizeof word; data += sizeof word, bytes -= (int64_t)sizeof word) {
        memcpy(&word, data, sizeof word);
        any |= word;
    }
    for (; bytes; bytes--)
        any |= (unsigned char)*data++;
    return !any;
}

static int64_t group_size(int64_t group, int64_t count)
{
    int64_t left = count - group * SPARSE_GROUP;
    return left < SPARSE_GROUP ? left : SPARSE_GROUP;
}

void gradient_mark_block(const Pass *pass, int64_t from, int64_t n)
{
    int64_t size = pass->sum->gradients[pass->slice.tensor].size;
    const char *data = store_at_element(pass->sum, &pass->slice, from);
    uint64_t *marks = gradient_marks(pass->sum, &pass->slice, from, pass->level);
    memset(marks, 0, BLOCK_WORDS * sizeof *marks);
    for (int64_t group = 0; group * SPARSE_GROUP < n; group++)
        if (!is_zero(data + group * SPARSE_GROUP * size, group_size(group, n) * size))
            marks[group / 64] |= (uint64_t)1 << group % 64;
}

void gradient_each_marked(const Pass *pass, int64_t from, int64_t n)
{
    const uint64_t *marks = gradient_marks(pass->sum, &pass->slice, from, pass->level);
    for (int64_t group = 0; group * SPARSE_GROUP < n; group++)
        if (is_marked(marks, group))
            pass->run(pass, from + group * SPARSE_GROUP, group_size(group, n));
}

/* ---- a slice, which begins with a block ---- */

int64_t gradient_marked(const GradientSum *sum, const Slice *slice, int level)
{
    const uint64_t *marks = gradient_marks(sum, slice, slice->from, level);
    int64_t marked = 0;
    for (int64_t group = 0; group * SPARSE_GROUP < slice->count; group++)
        if (is_marked(marks, group))
            marked += group_size(group, slice->count);
    return marked;
}

void gradient_pack(const GradientSum *sum, const Slice *slice, int level)
{
    int64_t bytes = SPARSE_GROUP * sum->gradients[slice->tensor].size;
    const uint64_t *marks = gradient_marks(sum, slice, slice->from, level);
    char *data = place_of_element(sum, slice, slice->from, level), *to = data;
    for (int64_t group = 0; group * SPARSE_GROUP < slice->count; group++)
        if (is_marked(marks, group)) {
            memmove(to, data + group * bytes,
                    (size_t)(group_size(group, slice->count) * bytes / SPARSE_GROUP));
            to += bytes;
        }
}

void gradient_unpack(const GradientSum *sum, const Slice *slice, int level)
{
    int64_t bytes = SPARSE_GROUP * sum->gradients[slice->tensor].size;
    int64_t packed = (gradient_marked(sum, slice, level) + SPARSE_GROUP - 1) / SPARSE_GROUP;
    const uint64_t *marks = gradient_marks(sum, slice, slice->from, level);
    char *data = place_of_element(sum, slice, slice->from, level);
    for (int64_t group = (slice->count + SPARSE_GROUP - 1) / SPARSE_GROUP - 1; group >= 0;
         group--) {
        size_t size = (size_t)(group_size(group, slice->count) * bytes / SPARSE_GROUP);
        if (is_marked(marks, group))
            memmove(data + group * bytes, data + --packed * bytes, size);
        else if (level < 0)
            memset(data + group * bytes, 0, size);
    }
}
