/* Tokens by their texts, and rows by their tokens; see grown_rows.h. */
#include "driver/run/grown_rows.h"

#include "base/element.h"

#include <string.h>

/* RowTexts: a vocabulary or a list of labels. */
typedef struct RowTexts {
    const Vocabulary *vocab;
    const Labels *labels;
    int32_t n;
} RowTexts;

static const char *row_text(const RowTexts *texts, int32_t i)
{
    return texts->vocab ? vocab_token(texts->vocab, i) : texts->labels->words.data[i];
}

static int32_t row_of(const RowTexts *texts, const char *text)
{
    return texts->vocab ? vocab_find(texts->vocab, text)
                        : labels_find(texts->labels, text, strlen(text));
}

static GrownRows grown_texts(Arena *arena, RowTexts before, RowTexts now, const char *what)
{
    GrownRows grown = {.before = before.n, .now = now.n, .what = what};
    for (int32_t id = 0; id < grown.before && !grown.lacks; id++) {
        const char *text = row_text(&before, id);
        if (*text && row_of(&now, text) < 0)
            grown.lacks = text;
    }
    if (grown.lacks || grown.now < grown.before)
        return grown;
    int32_t *was = ARENA_ARRAY(arena, int32_t, grown.now + 1);
    for (int32_t id = 0; id < grown.now; id++) {
        const char *text = row_text(&now, id);
        const bool is_same =
            id < grown.before && !strcmp(text, row_text(&before, id)); /* a text may stand twice */
        was[id] = is_same ? id : *text ? row_of(&before, text) : -1;
        grown.moves = grown.moves || (was[id] >= 0 && was[id] != id);
    }
    grown.was = was;
    return grown;
}

GrownRows grown_rows(Arena *arena, const Vocabulary *before, const Vocabulary *now)
{
    return grown_texts(arena, (RowTexts){.vocab = before, .n = vocab_size(before)},
                       (RowTexts){.vocab = now, .n = vocab_size(now)}, "tokens");
}

GrownRows grown_labels(Arena *arena, const Labels *before, const Labels *now)
{
    return grown_texts(arena, (RowTexts){.labels = before, .n = (int32_t)before->words.count},
                       (RowTexts){.labels = now, .n = (int32_t)now->words.count}, "labels");
}

/* The place of a param among those with rows; -1: it has none. */
static int64_t row_param(const GrownRows *grown, const char *param)
{
    for (size_t i = 0; grown->params && i < grown->params->names.count; i++)
        if (!strcmp(grown->params->names.data[i], param))
            return (int64_t)i;
    return -1;
}

bool grown_takes(const GrownRows *grown, const char *param)
{
    return !grown->params || row_param(grown, param) >= 0;
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

/* The axis of a param's rows; -1: several have as many elements; `rank`: none has. */
static int axis_of_rows(const GrownRows *grown, const StoreTensor *param, int64_t rows)
{
    if (row_param(grown, param->name) < (int64_t)grown->params->n_tables)
        return 0;
    int axis = param->rank;
    for (int d = param->rank - 1; d >= 0; d--)
        if (param->dims[d] == rows)
            axis = axis == param->rank ? d : -1;
    return axis;
}

bool grown_move(Job *job, const GrownRows *grown, StoreTensor *param)
{
    const int64_t least = grown->params->rows > grown->now ? grown->params->rows : grown->now;
    const int axis = axis_of_rows(grown, param, least);
    if (axis < 0)
        return job_error(
            job,
            "'%s' has two axes of %lld elements, so that its rows cannot follow the %s, which "
            "stand in another order: give the list of the run, in its order",
            param->name, (long long)least, grown->what);
    const int64_t rows = axis < param->rank ? param->dims[axis] : 0;
    if (rows < grown->now || rows > INT32_MAX)
        return true;
    Arena *scratch = arena_scratch(job->arena);
    int32_t *was = ARENA_ARRAY(scratch, int32_t, rows + 1);
    for (int32_t id = 0; id < rows; id++) /* those of the model's room stay */
        was[id] = id < grown->now && grown->was[id] >= 0 ? grown->was[id] : id;
    const GrownRows all = {.before = (int32_t)rows, .now = (int32_t)rows, .was = was};
    StoreTensor before = *param;
    const size_t bytes = (size_t)param->count * element_info(param->type)->bytes;
    before.data = ARENA_ARRAY(scratch, double, bytes / sizeof(double) + 1); /* aligned */
    memcpy(before.data, param->data, bytes);
    grown_fill(&all, &before, axis, param);
    arena_free(scratch);
    return true;
}
