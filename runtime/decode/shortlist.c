/* The tokens of batches; see shortlist.h. */
#include "runtime/decode/shortlist.h"

#include <stdlib.h>
#include <string.h>

/* Marks an id at places[id] of `marks`, or, without places, at the id. */
static void mark_id(const Shortlist *shortlist, int32_t id, const int32_t *places, uint8_t *marks)
{
    if (id >= 0 && id < shortlist->n_targets)
        marks[places ? places[id] : id] = 1;
}

/* Marks what sentence i needs for itself. */
static void mark_sentence(const Shortlist *shortlist, const TokenNeeds *needs, int32_t i,
                          const int32_t *places, uint8_t *marks)
{
    const Tokens *source = &needs->sources[i];
    for (int32_t k = 0; k < source->n; k++) {
        const int32_t token = source->ids[k];
        if (token < 0 || token >= shortlist->n_sources)
            continue;
        for (int32_t c = shortlist->start[token]; c < shortlist->start[token + 1]; c++)
            mark_id(shortlist, shortlist->ids[c], places, marks);
    }
    for (int32_t k = 0; needs->prefixes && k < needs->prefixes[i].n; k++)
        mark_id(shortlist, needs->prefixes[i].ids[k], places, marks);
}

static void mark_common(const Shortlist *shortlist, const TokenNeeds *needs, uint8_t *marks)
{
    const int32_t all = shortlist->n_targets;
    memset(marks, 0, (size_t)all);
    memset(marks, 1, (size_t)(shortlist->first < all ? shortlist->first : all));
    for (int32_t i = 0; i < needs->n_common; i++)
        mark_id(shortlist, needs->common[i], NULL, marks);
}

static bool reserve_batch(const Shortlist *shortlist, ShortlistBatch *batch, int32_t n)
{
    const int64_t all = (int64_t)shortlist->n_targets + 1, room = n * all;
    if (!batch->list) /* ids, then the place of each id */
        batch->list = malloc(2 * (size_t)all * sizeof *batch->list);
    if (!batch->seen)
        batch->seen = malloc(2 * (size_t)all);
    if (room > batch->may_room) {
        free(batch->may);
        batch->may = malloc((size_t)room);
        batch->may_room = batch->may ? room : 0;
    }
    return batch->list && batch->seen && batch->may;
}

bool shortlist_choose(const Shortlist *shortlist, const TokenNeeds *needs, ShortlistBatch *batch)
{
    const int32_t n = needs->n, all = shortlist->n_targets;
    if (!reserve_batch(shortlist, batch, n + 1))
        return false;
    int32_t *places = batch->list + all + 1, count = 0;
    uint8_t *common = batch->seen + all + 1;
    mark_common(shortlist, needs, common);
    memcpy(batch->seen, common, (size_t)all);
    for (int32_t i = 0; i < n; i++)
        mark_sentence(shortlist, needs, i, NULL, batch->seen);
    for (int32_t id = 0; id < all; id++)
        if (batch->seen[id]) {
            places[id] = count;
            common[count] = common[id];
            batch->list[count++] = id;
        }
    for (int32_t i = 0; i < n; i++) {
        uint8_t *may = batch->may + (size_t)i * (size_t)count;
        memcpy(may, common, (size_t)count);
        mark_sentence(shortlist, needs, i, places, may);
    }
    batch->chosen = (ChosenTokens){batch->list, count, batch->may};
    if (shortlist->count) {
        shortlist->count->batches++;
        shortlist->count->tokens += count;
    }
    return true;
}

void shortlist_free_batch(ShortlistBatch *batch)
{
    free(batch->list);
    free(batch->seen);
    free(batch->may);
    *batch = (ShortlistBatch){0};
}

int32_t shortlist_place(const int32_t *list, int32_t n, int32_t id)
{
    int32_t least = 0, end = n;
    while (least < end) {
        const int32_t middle = least + (end - least) / 2;
        if (list[middle] < id)
            least = middle + 1;
        else
            end = middle;
    }
    return least < n && list[least] == id ? least : -1;
}
