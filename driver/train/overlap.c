/* Comparing validation texts with the training text, by hashes. */
#include "driver/train/data.h"

#include "base/map.h"
#include "driver/corpus/survey/digest.h"

#include <inttypes.h>

enum { OVERLAP_SHARE = 10 /* percent: less is usual, by chance */ };

static bool has_tensors(const Training *t, const CorpusText *text)
{
    for (int c = 0; c < t->columns.n; c++)
        if (text->columns[c] && text->columns[c]->tensor)
            return true;
    return false;
}

static uint64_t hash_cell(uint64_t hash, const Lines *lines, int64_t i)
{
    return lines ? hash_u64(hash_bytes(hash, lines->at[i].text, lines->at[i].length),
                            lines->at[i].length)
                 : hash;
}

/* Of all that row i has. */
static uint64_t hash_row(const Training *t, const CorpusText *text, int64_t i)
{
    uint64_t hash = HASH_SEED;
    for (int k = 0; k < FIRST_COLUMN + t->columns.n; k++)
        hash = hash_cell(hash, text->values[k], i);
    return hash;
}

static bool is_empty_row(const CorpusText *text, int64_t i)
{
    const Lines *lines = corpus_lines(text);
    return lines && !lines->at[i].length;
}

static void warn_of_share(const Training *t, const ValidText *valid, LineHashes *held)
{
    const Lines *lines = corpus_lines(&valid->text);
    int64_t both = 0, rows = 0, first = 0;
    for (int64_t i = lines->n; i-- > 0;) {
        if (is_empty_row(&valid->text, i))
            continue;
        rows++;
        if (line_hashes_is_marked(held, hash_row(t, &valid->text, i))) {
            both++;
            first = i;
        }
    }
    if (both && both * 100 >= rows * OVERLAP_SHARE)
        diag_warning(&t->job->diags, lines_place(lines, first),
                     "%" PRId64 " of %" PRId64
                     " %s to validate on are training text, too, here first: validation measures "
                     "what was learnt by heart; take them out of one of the texts (tfc data with "
                     "both shows them)",
                     both, rows,
                     t->ports.is_table                  ? "records"
                     : t->options->kind == CORPUS_PAIRS ? "pairs"
                                                        : "lines");
}

void training_warn_of_overlap(Training *t)
{
    const Lines *lines = corpus_lines(&t->text);
    if (t->options->kind == CORPUS_STREAM || t->options->rows || !lines || has_tensors(t, &t->text))
        return;
    for (int v = 0; v < t->n_valid; v++) {
        const ValidText *valid = &t->valid[v];
        const Lines *held_lines = corpus_lines(&valid->text);
        LineHashes held = {0};
        if (!held_lines || has_tensors(t, &valid->text))
            continue;
        for (int64_t i = 0; i < held_lines->n; i++)
            line_hashes_add(&held, hash_row(t, &valid->text, i), i + 1);
        for (int64_t i = 0; i < lines->n; i++)
            line_hashes_find(&held, hash_row(t, &t->text, i), true);
        warn_of_share(t, valid, &held);
        line_hashes_free(&held);
    }
}
