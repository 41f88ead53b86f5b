/* What the files of pass chunk_rows share. */
#ifndef PASSES_CHUNK_CHUNK_H
#define PASSES_CHUNK_CHUNK_H

#include "ir/layout.h"
#include "ir/side.h"
#include "passes/pass.h"

/* Chunk: ops that are to run together for a chunk of rows at a time, found from one product on. */
typedef struct Chunk {
    Function *function;
    const Module *module;
    Arena *arena;
    Op *seed; /* the wide product with which the search begins */

    /* the rows' dimension, and the one that it is ragged over; NO_SYMBOL: no packed tokens */
    int symbol, batch;
    VEC(Op *) members;
    SideTable roles;     /* of ops: ROLE_MEMBER: it is one of `members` */
    SideTable flows;     /* value → its Flow, see chunk_rows.c */
    SideTable copies;    /* for build_region */
    Miss miss;           /* why the ops cannot run by chunks; MISS_NONE: they can */
    const char *culprit; /* kind and name of the op because of which */
} Chunk;

enum { ROLE_NONE, ROLE_MEMBER, ROLE_AFTER };
static inline bool is_member(const Chunk *chunk, const Op *op)
{
    return side_number(&chunk->roles, op) == ROLE_MEMBER;
}

/* ---- rules.c ---- */
/* Sets the seed and its rows: the leading storage axis of its result. False: that axis is constant,
 * the result is not wide (chunk_is_wide), or a row has no more than WIDER (rules.c) elements for
 * each term of an element's sum. */
bool chunk_begin(Chunk *chunk, Op *dot);
/* Whether the rows are the type's leading storage axis, and have at least WIDE elements each
 * (rules.c): too many to store them for all rows. */
bool chunk_is_wide(const Chunk *chunk, const Type *type);
/* Whether a member's result does not have the rows as its leading storage axis: it counts as a sum
 * over the rows, complete only after the last chunk. */
bool chunk_sums(const Chunk *chunk, const Op *op);
/* MISS_NONE if the op can run for a chunk of rows from what other members computed for
 * that chunk; else why not. */
Miss chunk_why_not(const Chunk *chunk, const Op *op);

#endif
