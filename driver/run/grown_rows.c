/* Tokens by their texts, and rows by their tokens; see grown_rows.h. */
#include "driver/run/grown_rows.h"

#include "base/element.h"

#include <string.h>

GrownRows grown_rows(Arena *arena, const Vocabulary *before, const Vocabulary *now)
{
    GrownRows grown = {.before = vocab_size(before), .now = vocab_size(now)};
    for (int32_t id = 0; id < grown.before && !grown.lacks; id++) {
        const char *token = vocab_token(before, id);
        if (*token && vocab_find(now, token) < 0)
            grown.lacks = token;
    }
    if (grown.lacks || grown.now < grown.before)
        return grown;
    int32_t *was = ARENA_ARRAY(arena, int32_t, grown.now);
    for (int32_t id = 0; id < grown.now; id++) {
        const char *token = vocab_token(now, id);
        const bool is_empty = id < grown.before && !*vocab_token(before, id);
        was[id] = *token ? vocab_find(before, token) : is_empty ? id : -1;
    }
    grown.was = was;
    return grown;
}

StoreTensor grown_before(const GrownRows *grown, const StoreTensor *param, int axis)
{
    StoreTensor before = *param;
    before.data = NULL;
    before.dims[axis] = grown->before;
    before.count = param->count / grown->now * grown->before;
    return before;
}

/* Rows of `inner` elements, of one block: the first of them is element `from` of `before`, and
 * element `to` of the param. */
typedef struct GrownBlock {
    int64_t from, to, inner;
} GrownBlock;

/* Integers have no mean: new rows keep their initial values. */
static void fill_block(const GrownRows *grown, const StoreTensor *before, StoreTensor *param,
                       GrownBlock block)
{
    const size_t size = element_info(param->type)->bytes, row = size * (size_t)block.inner;
    const char *from = (const char *)before->data + (size_t)block.from * size;
    char *to = (char *)param->data + (size_t)block.to * size;
    for (int32_t id = 0; id < grown->now; id++)
        if (grown->was[id] >= 0)
            memcpy(to + (size_t)id * row, from + (size_t)grown->was[id] * row, row);
    for (int64_t i = 0; i < block.inner && element_info(param->type)->is_float; i++) {
        double sum = 0;
        for (int32_t id = 0; id < grown->before; id++)
            sum += element_value(before->type, before->data, block.from + id * block.inner + i);
        for (int32_t id = 0; id < grown->now; id++)
            if (grown->was[id] < 0)
                element_put(param->type, param->data, block.to + id * block.inner + i,
                            sum / grown->before);
    }
}

void grown_fill(const GrownRows *grown, const StoreTensor *before, int axis, StoreTensor *param)
{
    GrownBlock block = {.inner = 1};
    for (int d = axis + 1; d < param->rank; d++)
        block.inner *= param->dims[d];
    const int64_t step = block.inner * grown->now;
    for (; step && block.to < param->count; block.to += step) {
        fill_block(grown, before, param, block);
        block.from += block.inner * grown->before;
    }
}
