/* The largest batch of prepared data, by what prepared.json says of its rows. */
#include "runtime/data/draws.h"
#include "runtime/data/prepared.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of rows of at most `longest` tokens a side in a batch of the budget, where all rows have
 * `all`. */
static int64_t side_total(const BatchOptions *options, int64_t longest, int64_t all)
{
    int64_t total = all;
    if (options->tokens)
        total = smaller(total, larger(options->tokens, longest));
    if (options->sentences && longest < total / options->sentences)
        total = options->sentences * longest;
    return total;
}

/* Of a side: the longest row and the tokens of all rows.
 *   least   tokens that each row has */
typedef struct SideBound {
    int64_t longest, all, least;
} SideBound;

static SideBound bound_of_text(const PreparedSide *side, int64_t specials, int64_t rows)
{
    return side->tokens ? (SideBound){side->longest + specials, side->tokens + specials * rows, 1}
                        : (SideBound){0};
}

static SideBound join_bounds(SideBound a, SideBound b)
{
    return (SideBound){larger(a.longest, b.longest), larger(a.all, b.all),
                       larger(a.least, b.least)};
}

static void bound_columns(const CorpusOptions *options, const Prepared *p,
                          SideBound bounds[MOST_SIDES])
{
    for (int c = 0; c < options->n_columns; c++) {
        const ColumnSpec *spec = &options->columns[c];
        const PreparedSide *column = &p->columns.data[c];
        if (spec->side >= 0)
            bounds[spec->side] = join_bounds(
                bounds[spec->side], (SideBound){column->longest / spec->width,
                                                column->tokens / spec->width, !spec->is_ctc});
    }
}

static void bound_sides(const CorpusOptions *options, const Prepared *p, int64_t rows,
                        SideBound bounds[MOST_SIDES])
{
    enum { SPECIALS = 2 };
    const bool stream = p->kind == CORPUS_STREAM, swapped = options->kind & IS_ALONE;
    const int64_t specials = stream ? 0 : SPECIALS;
    bool any = false;
    bounds[SIDE_SOURCE] = bound_of_text(swapped ? &p->target : &p->source, specials, rows);
    if (!swapped)
        bounds[SIDE_TARGET] = bound_of_text(&p->target, specials, rows);
    if (bounds[SIDE_TARGET].all)
        bounds[SIDE_TARGET].least = 2; /* a token, and an end or a next one */
    bound_columns(options, p, bounds);
    for (int side = 0; side < MOST_SIDES; side++)
        any = any || bounds[side].all;
    if (!any) /* a row is a token */
        bounds[0] = (SideBound){1, rows, 1};
}

static void bound_corpus(const Corpus *rows, SideBound bounds[MOST_SIDES])
{
    for (int side = 0; side < MOST_SIDES; side++) {
        SideBound *bound = &bounds[side];
        bound->least = rows->n ? corpus_side_length(rows, 0, side) : 0;
        for (int64_t i = 0; i < rows->n; i++) {
            const int64_t length = corpus_side_length(rows, i, side);
            bound->longest = larger(bound->longest, length);
            bound->least = smaller(bound->least, length);
            bound->all += length;
        }
    }
}

/* Adds what an epoch, and so any window, draws of a part; returns how many rows these are. */
static int64_t bound_part(const Corpus *whole, const PreparedPart *part,
                          SideBound bounds[MOST_SIDES])
{
    const double most = 0x1p56; /* sums do not overflow */
    const int64_t wanted = draws_wanted(part->weight, whole->prepared->rows);
    SideBound own[MOST_SIDES] = {0};
    if (part->prepared)
        bound_sides(&whole->options, part->prepared, part->prepared->rows, own);
    else
        bound_corpus(part->rows, own);
    const int64_t n = part->prepared ? part->prepared->rows : part->rows->n;
    for (int side = 0; side < MOST_SIDES; side++) {
        SideBound *bound = &bounds[side];
        const double drawn = (double)(wanted / n + 2) * (double)own[side].all;
        bound->longest = larger(bound->longest, own[side].longest);
        bound->least = smaller(bound->least, own[side].least);
        bound->all += (int64_t)(drawn < most ? drawn : most);
    }
    return wanted;
}

/* Pieces of a batch have about as many tokens each. */
static void cut_shape(BatchShape *shape, int64_t shards)
{
    int64_t piece = 0;
    for (int side = 0; side < MOST_SIDES; side++)
        piece += shape->side[side].total;
    piece /= shards;
    for (int side = 0; side < MOST_SIDES; side++)
        piece += shape->side[side].longest;
    for (int side = 0; side < MOST_SIDES; side++)
        shape->side[side].total = smaller(shape->side[side].total, piece);
}

BatchShape prepared_largest(const Corpus *whole, const BatchOptions *options)
{
    enum { SHORTER = 2 /* windows of a stream, the first and the last */ };
    const Prepared *p = whole->prepared;
    const bool stream = p->kind == CORPUS_STREAM;
    const int64_t limit = whole->options.max_length;
    const int64_t rows = stream ? p->target.tokens / limit + SHORTER + 1 : p->rows;
    SideBound bounds[MOST_SIDES] = {0};
    BatchShape shape = {.rows = rows};
    bound_sides(&whole->options, p, rows, bounds);
    for (int k = 0; k < whole->n_mixed; k++)
        shape.rows += bound_part(whole, &whole->mixed[k], bounds);
    if (stream) /* a window of it may go on from one shard to the next */
        bounds[SIDE_TARGET].longest = smaller(p->target.tokens, limit);
    for (int side = 0; side < MOST_SIDES; side++) {
        const SideBound *bound = &bounds[side];
        SideShape *s = &shape.side[side];
        s->longest = limit ? smaller(bound->longest, limit) : bound->longest;
        s->total = side_total(options, s->longest, bound->all);
        if (stream && side == SIDE_TARGET)
            shape.rows = smaller(shape.rows, s->total / limit + SHORTER + 1);
        else if (bound->least)
            shape.rows = smaller(shape.rows, larger(s->total / bound->least, 1));
    }
    if (options->sentences)
        shape.rows = smaller(shape.rows, options->sentences);
    if (options->shards > 1)
        cut_shape(&shape, options->shards);
    return shape;
}
