/* What the files of pass chunk_rows share. */
#ifndef PASSES_CHUNK_CHUNK_H
#define PASSES_CHUNK_CHUNK_H

#include "ir/layout.h"
#include "ir/side.h"
#include "passes/pass.h"

/* The ops that are to run by chunks, found from one product on. */
typedef struct Chunk {
    Function *function;
    const Module *module;
    Arena *arena;
    Op *seed; /* the product that began it */

    /* rows: the leading storage axis; batch: of packed tokens, else NO_SYMBOL */
    int symbol, batch;
    VEC(Op *) members;
    SideTable roles; /* of ops: ROLE_MEMBER for members */
    SideTable flows; /* value → its Flow, see chunk_rows.c */
    Miss miss;       /* why there are no chunks, and the op because of which */
    const char *culprit;
} Chunk;

enum { ROLE_NONE, ROLE_MEMBER, ROLE_AFTER };
static inline bool is_member(const Chunk *chunk, const Op *op)
{
    return side_number(&chunk->roles, op) == ROLE_MEMBER;
}

/* ---- rules.c ---- */
/* Sets the rows to those of the product; false if it has none, or if a row of it is
 * not much wider than what each of its elements is summed over. */
bool chunk_begin(Chunk *chunk, Op *dot);
/* Whether the type has the rows and is too wide to be stored for all of them. */
bool chunk_is_wide(const Chunk *chunk, const Type *type);
/* Whether the op's result is a sum over rows, complete only after the last chunk. */
bool chunk_sums(const Chunk *chunk, const Op *op);
/* MISS_NONE if the op can run for a chunk of rows from what other members computed for
 * that chunk; else why not. */
Miss chunk_why_not(const Chunk *chunk, const Op *op);

#endif
