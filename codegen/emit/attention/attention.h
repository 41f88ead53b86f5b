/* Inside the emitter of attention regions.
 *
 *   attention.c          units, blocks of queries, levels
 *   products.c           products between memory and strips
 *   memory.c             strips, and what else is on the stack
 *   tiles.c              the functions that these call
 *   sweep.c              elementwise ops and reductions over strips
 *   online.c             a running maximum, if keys take several strips
 *
 * A block of queries, a few vectors of them, meets its keys one after the other: lanes
 * are queries, and so reductions along the keys are vertical. Scores of a block are a
 * strip in memory: for each key a row of the block's vectors. Products take the whole
 * block, so that keys are read once for many queries; sweeps take one vector at a time.
 *
 * The kernel itself is kernel_attention (attention.c), declared in emit.h. */
#ifndef CODEGEN_EMIT_ATTENTION_ATTENTION_H
#define CODEGEN_EMIT_ATTENTION_ATTENTION_H

#include "codegen/emit/region/sweeps.h"
#include "codegen/tiles.h"

/* BLOCK_VECTORS: vectors of queries in a block, at most. STRIP_VECTORS: vectors of scores in a
 * strip, at most. PART_KEYS: keys of a strip where a block has more scores than that, or where no
 * key needs the others; strips then stay in the second-level cache. Level by level, a backward pass
 * of the textbook's attention holds four strips and one of random words: 2.6 MB of a thread's
 * stack. PANEL_VECTORS: vectors of columns that tiles take at once. */
enum { PANEL_VECTORS = 2, BLOCK_VECTORS = 4, STRIP_VECTORS = 8192, PART_KEYS = 512 };

typedef struct Online Online; /* what one pass over the keys knows of values */

typedef struct Attention {
    Emit *e;
    Tiles tiles;
    SweepPlan plan;
    bool one_level;       /* no reductions */
    int panel;            /* columns that tiles take at once */
    LoValue *strips;      /* by value number */
    LoValue *turned;      /* by operand: its block of queries, [d][BLOCK_VECTORS × lanes] */
    LoValue most_keys;    /* of a sentence of this batch */
    LoValue room;         /* vectors of a strip in this batch */
    LoValue packed;       /* a part of a product's right operand */
    LoValue *unrounded;   /* by value number: sums of a block's rows that are given as bf16 */
    const Online *online; /* NULL: level by level */
    void (*stand)(struct Attention *a); /* tells of a query what is known besides; NULL: nothing */

    /* where the code being written stands */
    LoValue n_queries, n_keys; /* of the unit's sentence */
    LoValue query, count;      /* the block's first, and how many */
    LoValue vectors, pitch;    /* … and elements of a strip's row */
    LoValue lane;              /* of the block: the query being swept */
    LoValue key, end;          /* this strip's keys */
    LoValue *sums;             /* of reductions, by body op: of each query of a block */
    LoValue *slots;            /* … of the query being swept: accumulators */
    LoValue *words;            /* strips of random words, by random number */
} Attention;

/* ---- memory.c ---- */
/* Declares the module's functions and takes memory for strips. */
void tile_open(Attention *a);
LoValue tile_strip(Attention *a, int number); /* of a value of the scores' shape */
/* Memory for the vectors of a strip and some more. */
LoValue tile_memory(Attention *a, LoType element, const char *name);

/* ---- products.c ---- */
void tile_turn_queries(Attention *a); /* left operands of scores, for this block */
void tile_scores(Attention *a, const TileProduct *p);
/* rows: added to what the strips before gave, if i64 `accumulate` is not 0. */
void tile_rows(Attention *a, const TileProduct *p, LoValue accumulate);
void tile_columns(Attention *a, const TileProduct *p);
/* Each row times its query's factor, of BLOCK_VECTORS vectors in memory. */
void tile_scale_rows(Attention *a, const TileProduct *p, LoValue factors);
/* Results of rows that are given as bf16, once they are whole */
void tile_round_rows(Attention *a);
void tile_clear_columns(Attention *a, const TileProduct *p); /* of all keys */

/* ---- tiles.c ---- */
/* Writes the functions for operands of this type, unless the module has them. */
void tile_need_functions(Attention *a, DType operand);
/* "rows", "queries" or "panel". */
LoFunction *tile_function(Attention *a, DType operand, const char *part);

/* ---- sweep.c ---- */
/* The axis of the scores whose packed tokens are the queries; NULL: queries are not packed. */
const Axis *tile_tokens(const Emit *e);
void tile_open_reductions(Attention *a, int sweep); /* of all vectors */
void tile_sweep(Attention *a, int sweep);           /* over the strip's keys */
void tile_store_rows(Attention *a);
typedef void (*QueryBody)(Attention *a, int sweep);
/* Calls body for every query of the block, with the sums of sweeps before this one. */
void tile_each_query(Attention *a, int sweep, QueryBody body);
/* Whether something done in this sweep needs the op's value, and no sweep kept it or
 * what is computed from it. */
bool tile_needs(const Attention *a, int sweep, const Op *op);

/* ---- online.c ---- */
/* NULL: the region needs its levels one after the other. */
const Online *online_of(const Attention *a);
/* By value number: what is a factor, 1 until the last strip is done. */
const bool *online_ready(const Online *o);
/* Of a strip: before its first sweep, after it, and before its keys are added to a product's rows
 * (i64 `later`: not 0 if there were strips before). */
void online_keep_maxima(Attention *a);
void online_follow(Attention *a, int sweep);
void online_scale_rows(Attention *a, const TileProduct *p, LoValue later);
void online_stand(Attention *a);  /* values of the row that a strip's sweeps read */
void online_finish(Attention *a); /* rows times their factors, after the last strip */

#endif
