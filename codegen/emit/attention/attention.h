/* Inside the emitter of attention regions.
 *
 *   attention.c          units, blocks of queries, levels
 *   products.c           products between memory and strips
 *   memory.c             strips, and what else is on the stack
 *   tiles.c              the functions that products call
 *   sweep.c              elementwise ops and reductions over strips
 *   online.c             one pass over several strips of keys, with a running maximum
 *   gaps.c               which keys a block of queries meets, where masks leave gaps
 *   singles.c            products of single queries and keys, for masks of strides
 *
 * A block of queries, a few vectors of them, is computed key by key: lanes are queries,
 * and so reductions along the keys add vector to vector. Scores of a block are a
 * strip in memory: for each key a row of the block's vectors. Products take the whole
 * block, so that keys are read once for many queries; sweeps take one vector at a time.
 *
 * The kernel itself is kernel_attention (attention.c), declared in emit.h. */
#ifndef CODEGEN_EMIT_ATTENTION_ATTENTION_H
#define CODEGEN_EMIT_ATTENTION_ATTENTION_H

#include "codegen/emit/region/sweeps.h"
#include "codegen/tiles.h"

/* Sizes on which the order of sums depends are counted in lines, of Emit.sum_lanes queries, the
 * same on every processor. BLOCK_LINES: lines of queries in a block, at most. STRIP_LINES: lines of
 * scores in a strip, at most. PART_KEYS: keys of a strip where a block has more scores than
 * STRIP_LINES, or where no key needs the others; strips then stay in the second-level cache. Level
 * by level, the backward pass of scaled dot-product attention with dropout needs four strips and
 * one of random words: 2.6 MB of a thread's stack. PANEL_VECTORS: vectors of columns that tiles
 * take at once. */
enum { PANEL_VECTORS = 2, BLOCK_LINES = 4, STRIP_LINES = 8192, PART_KEYS = 512 };

typedef struct Online Online; /* what a single pass over the keys knows of each value (online.c) */
typedef struct KeyRuns KeyRuns; /* runs of keys that the current block meets (gaps.c) */

typedef struct Attention {
    Emit *e;
    Tiles tiles;
    SweepPlan plan;
    bool one_level;       /* the region has no reductions */
    int panel;            /* columns that tiles take at once */
    LoValue *strips;      /* by value number; NULL: not allocated yet */
    LoValue *turned;      /* by value number: queries transposed, [d][block_queries] */
    LoValue most_keys;    /* of this batch's longest sentence, but no more than a strip takes */
    LoValue room;         /* vectors of this batch's largest strip */
    LoValue packed;       /* memory of a packed part of a product's right operand */
    LoValue *unrounded;   /* by value number: f32 sums of a block's rows that are stored as bf16 */
    const Online *online; /* NULL: level by level */
    KeyRuns *runs;        /* NULL: a block meets all keys of its window */
    void (*stand)(struct Attention *a); /* online_stand, called at each query; or NULL */

    /* where the code being written stands */
    LoValue n_queries, n_keys; /* of the unit's sentence */
    LoValue ahead;             /* the key at which the first query stands, maybe < 0; NULL: 0 */
    LoValue query, count;      /* the block's first query, and how many it has */
    LoValue vectors, pitch;    /* vectors, and elements, of a strip's row */
    LoValue lane;              /* number in the block of the query being swept */
    LoValue key, end;          /* this strip's keys: [key, end); diagonals: their numbers */
    bool diagonals;            /* a row of the strip is a diagonal (gaps.c), not a key */
    LoValue counts;            /* i1: whether the current element counts; NULL: it does */
    LoValue *sums;             /* by body op: memory of a reduction's sums, for a block's queries */
    LoValue *slots;            /* by body op: the accumulator of the query being swept */
    LoValue *words;            /* by random number: strips of random words */
} Attention;

/* Queries of a block, at most, and the vectors that they are. */
static inline int64_t block_queries(const Attention *a)
{
    return (int64_t)BLOCK_LINES * a->e->sum_lanes;
}
static inline int64_t block_vectors(const Attention *a) { return block_queries(a) / a->e->vector; }

/* ---- memory.c ---- */
LoValue queries_lines(Attention *a, LoValue queries); /* the lines that so many queries are */
/* Writes the functions that products call, and allocates memory except strips. */
void tile_open(Attention *a);
/* The strip of a value of the scores' shape, allocated when first asked for. */
LoValue tile_strip(Attention *a, int number);
/* Stores a value to each vector of the block's queries. */
void tile_fill(Attention *a, LoValue memory, LoValue value, int align);
/* Allocates memory for the vectors of a strip and a few more. */
LoValue tile_memory(Attention *a, LoType element, const char *name);

/* ---- products.c ---- */
/* Transposes this block's queries, the left operands of scores. */
void tile_turn_queries(Attention *a);
/* Three functions that compute this strip's part of a product, one for each TileUse. */
void tile_scores(Attention *a, const TileProduct *p);
/* `accumulate`, an i64: 1: the part is added to that of the strips before; 0: it overwrites. */
void tile_rows(Attention *a, const TileProduct *p, LoValue accumulate);
void tile_columns(Attention *a, const TileProduct *p);
/* Multiplies each row of a product's sums by its query's factor. `factors`: memory, one factor for
 * each query of the block. */
void tile_scale_rows(Attention *a, const TileProduct *p, LoValue factors);
/* Rounds the block's rows of results of bf16 and stores them; called when their sums are
 * complete. */
void tile_round_rows(Attention *a);
void tile_clear_columns(Attention *a, const TileProduct *p); /* sets all keys' results to 0 */

/* ---- tiles.c ---- */
/* Writes the functions for operands of this type, unless the module has them. */
void tile_need_functions(Attention *a, DType operand);
/* The function of this name: "rows" (only for the type of the scores), "queries" or "panel". NULL:
 * it was not written. */
LoFunction *tile_function(Attention *a, DType operand, const char *part);

/* ---- sweep.c ---- */
/* The axis of the scores whose packed tokens are the queries; NULL: queries are not packed. */
const Axis *tile_tokens(const Emit *e);
void tile_open_reductions(Attention *a, int sweep); /* sets the block's sums to their first value */
void tile_sweep(Attention *a, int sweep);           /* over the strip's keys */
void tile_store_rows(Attention *a);                 /* results that no product gives */
typedef void (*QueryBody)(Attention *a, int sweep);
/* Builds a loop over the block's queries, whose body `body` builds; the results of the reductions
 * of the sweeps before are set. */
void tile_each_query(Attention *a, int sweep, QueryBody body);
/* Whether a reduction or a product that contracts in this sweep reads the op's value, directly or
 * through other values along the keys that no sweep has saved. True also if the op's own value is
 * saved already: callers look at e->cached. */
bool tile_needs(const Attention *a, int sweep, const Op *op);

/* ---- online.c ---- */
/* How one pass over the keys computes the region, in the arena; NULL: the region goes level by
 * level. */
const Online *online_of(const Attention *a);
/* By value number: whether the value is a factor, which counts as 1 until the last strip is
 * done. */
const bool *online_ready(const Online *o);
/* Called before a strip's first sweep: saves the maxima so far. */
void online_keep_maxima(Attention *a);
/* Called after a strip's first sweep: scales the sums so far from the saved maxima to the new
 * ones. */
void online_follow(Attention *a, int sweep);
/* Scales a product's rows so far in the same way; called before the strip's keys are added.
 * `later`, an i64: not 0 if there were strips before. */
void online_scale_rows(Attention *a, const TileProduct *p, LoValue later);
void online_stand(Attention *a);  /* sets the values of a query that a strip's sweeps read */
void online_finish(Attention *a); /* multiplies rows by their factors, after the last strip */

/* ---- gaps.c ---- */
/* Sets a->runs, if the masks of the region leave gaps. */
void gaps_open(Attention *a);
/* Finds the runs of the keys [first, last) that the current block meets; one at least, which may be
 * empty. Finds its diagonals, too, if the masks have a stride. */
void gaps_find(Attention *a, LoValue first, LoValue last);
LoValue gaps_count(Attention *a); /* how many runs, i64 */
/* The keys [*first, *last) of the run of this number, from 0 on. */
void gaps_run(Attention *a, LoValue index, LoValue *first, LoValue *last);
LoValue gaps_distances(Attention *a); /* how many diagonals, i64; NULL: the masks have no stride */
/* query − key of the diagonal of this number, from 0 on. */
LoValue gaps_distance(Attention *a, LoValue index);
/* How many diagonals a block may meet beyond one for each of its keys. */
int64_t gaps_more_distances(const Attention *a);
/* Whether the key at this distance from the query being swept exists and is in no run, an i1. */
LoValue gaps_is_single(Attention *a, LoValue distance);

/* ---- singles.c ---- */
/* tile_scores, tile_rows (which adds) and tile_columns for a strip of diagonals. */
void single_scores(Attention *a, const TileProduct *p);
void single_rows(Attention *a, const TileProduct *p);
void single_columns(Attention *a, const TileProduct *p);

#endif
