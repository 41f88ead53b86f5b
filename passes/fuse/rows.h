/* Inside fuse_rows.
 *
 *   rows.c        the pass: what is known of ops, reports, regions
 *   rows_group.c  which ops go together
 *   rows_hold.c   what a group computes again, and what it gives */
#ifndef PASSES_FUSE_ROWS_H
#define PASSES_FUSE_ROWS_H

#include "ir/side.h"
#include "passes/fuse/fuse.h"

/* An op that a group holds: a member, or one computed again here. */
typedef struct RowHeld {
    int index;
    bool live; /* needed here */
} RowHeld;

/* What is known of one op. */
typedef struct RowInfo {
    Op *op;
    int index;    /* position in the function */
    int group;    /* of a row op; -1 of others */
    RowHeld held; /* as its group holds it */
    int visited;  /* number of the last search that visited it */
    bool in_memory;
} RowInfo;

typedef struct RowGroup {
    VEC(int) members; /* indices; empty once merged into another */
    VEC(RowHeld) again;
    Type space;
    int last; /* greatest member index */
    VEC(Value *) outputs;
} RowGroup;

typedef struct FusedRows {
    Function *function;
    PassContext *context;
    Arena *arena;
    RowInfo *info;
    SideTable of_op; /* op → its RowInfo */
    RowGroup *groups;
    int *reach;    /* fuse.h */
    int n, search; /* ops; number of the current search */
} FusedRows;

static inline RowInfo *info_of(const FusedRows *rows, const Value *value)
{
    return side_of_op(&rows->of_op, value->op);
}

/* ---- rows_group.c ---- */
void form_groups(FusedRows *rows);
/* MISS_NONE if the groups may be one, which has the space *space; else why not. */
Miss why_groups_apart(FusedRows *rows, int a, int b, Type *space);

/* ---- rows_hold.c ---- */
/* What each group computes again, and what it gives. */
void choose_recomputed(FusedRows *rows);
void choose_outputs(FusedRows *rows);
/* The op in the group, as a member or computed again; NULL if it is not there. */
RowHeld *find_held(FusedRows *rows, RowGroup *group, int index);

#endif
