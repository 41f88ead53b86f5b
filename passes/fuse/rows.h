/* Inside fuse_rows.
 *
 *   rows.c        the pass: what is known of ops, reports, regions
 *   rows_group.c  which ops go together
 *   rows_paths.c  whether others stand between two groups
 *   rows_hold.c   what a group computes again, and what it gives */
#ifndef PASSES_FUSE_ROWS_H
#define PASSES_FUSE_ROWS_H

#include "ir/side.h"
#include "passes/fuse/fuse.h"

/* An op of a group: a member, or an op of another group that this one computes again. */
typedef struct RowHeld {
    int index; /* position in the function */
    bool live; /* an output of the group needs it */
} RowHeld;

/* What is known of one op. */
typedef struct RowInfo {
    Op *op;
    int index;      /* position in the function */
    int group;      /* number of a row op's group; -1: no row op */
    RowHeld held;   /* as a member of its group */
    int up, down;   /* of a node of rows_paths.c: numbers of the last searches that visited it */
    bool in_memory; /* its result is stored in any case */
} RowInfo;

typedef struct RowGroup {
    VEC(int) members;   /* indices; empty once merged into another */
    VEC(RowHeld) again; /* ops of other groups that it computes again */
    Type space;         /* iteration space */
    int first, last;    /* least and greatest member index */
    VEC(Value *) outputs;
} RowGroup;

/* A search for a path, and what it looks at now. Used by rows_paths.c alone. */
typedef struct RowSearch {
    VEC(int) nodes;      /* visited, in order */
    size_t node, member; /* of the node the op; of the op an operand or a result */
    int edge;
    const Use *use; /* of the result before `edge` */
} RowSearch;

typedef struct FusedRows {
    Function *function;
    PassContext *context;
    Arena *arena;
    RowInfo *info;
    SideTable of_op; /* op → its RowInfo */
    RowGroup *groups;
    Reach reach; /* fuse.h */
    RowSearch up, down;
    int n, search; /* number of ops; number of the current search */
} FusedRows;

static inline RowInfo *info_of(const FusedRows *rows, const Value *value)
{
    return side_of_op(&rows->of_op, value->op);
}

/* ---- rows_group.c ---- */
void form_groups(FusedRows *rows);
/* MISS_NONE if groups a and b may be merged; *space is then the iteration space of both. Else why
 * not. */
Miss why_groups_apart(FusedRows *rows, int a, int b, Type *space);

/* ---- rows_paths.c ---- */
/* Whether group `below` needs what something outside both groups makes of what group `above` gives:
 * then they cannot be one. */
bool rows_path(FusedRows *rows, int above, int below);

/* ---- rows_hold.c ---- */
void choose_recomputed(FusedRows *rows); /* what each group computes again */
void choose_outputs(FusedRows *rows);    /* what each group gives, and which of its ops are live */
/* The group's op at this position: a member, or its copy that is computed again. NULL: neither. */
RowHeld *find_held(FusedRows *rows, RowGroup *group, int index);

#endif
