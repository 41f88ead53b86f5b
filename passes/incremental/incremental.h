/* Inside derive_incremental.
 *
 *   incremental.c  the pass; which inputs values come from; cutting out the encoder
 *   step.c         a value for given roles: a leaf, memory, from a cache, or built by its op
 *   ops.c          an op's result from operands, each built for the roles that the op needs
 *   absorb.c       products in another order, so that less is kept
 *   rows.c         attention apart for rows with few new positions, and for rows with many
 *   positions.c    lookups by position, and the rows that are kept for them
 *   before.c       dimensions along the text; what stands before it, which encode computes
 *   shortlist.c    derive_shortlist
 *
 * A target dimension is T, along which tokens are generated, or one that has other positions
 * before those of T (find_before of passes/dependence). Its role in decode_step: Q (the newest
 * tokens) or P (all so far, with what stands before). */
#ifndef PASSES_INCREMENTAL_INCREMENTAL_H
#define PASSES_INCREMENTAL_INCREMENTAL_H

#include "ir/builder.h"
#include "ir/side.h"
#include "passes/dependence/dependence.h"

/* RowSet: the rows of the batch that a value of decode_step is made for; of the others it has no
 * positions (rows.c). */
typedef enum RowSet {
    ROWS_ALL,
    ROWS_FEW,  /* with few new positions */
    ROWS_MANY, /* with many */
    N_ROW_SETS
} RowSet;

typedef enum DimRole { ROLE_Q = 'Q', ROLE_P = 'P' } DimRole;
typedef struct Roles {
    char of[MAX_RANK]; /* by dimension of a value: a DimRole; 0: it is no target dimension */
} Roles;

/* What is known of a value of the forward. */
typedef struct Origin {
    bool target, other; /* it depends on the target's tokens; on another input */
    bool length;        /* it or a value behind it has a target dimension, or its size or lengths */
    int n_built;        /* of `built`: the value in decode_step, for up to 8 choices of roles */
    struct {
        Roles roles;
        RowSet rows;
        Value *value;
    } built[8];
    Value *memory; /* the input of decode_step for the value, an output of encode; NULL: none */
    struct LatentSplit
        *split;     /* the value as latent times weight (absorb.c); NULL: it is kept as it is */
    int64_t reach;  /* lookups read it, at most so many positions before their own; 0: none */
    Value *ring;    /* the last `reach` positions before the newest, [.., B, .., reach, ..] */
    double saved;   /* bytes a position that are not read if this is kept in place of splits */
    bool of_latent; /* it is between a latent that is kept and a product that reads it */
    bool absorbed;  /* scores, or what is made of them, where a product is in another order */
    Value *before;  /* the value in encode, at positions before the text; NULL: not built */
} Origin;

/* A target dimension. */
typedef struct TargetDim {
    int symbol;
    Dim before;           /* what stands before the text; a constant 0: nothing */
    int past[N_ROW_SETS]; /* the symbol of all so far */
} TargetDim;

/* A cache that begins with what stands before the text. */
typedef struct Beginning {
    const char *name;   /* of the cache, and of encode's output */
    Value *value;       /* what is cached */
    int perm[MAX_RANK]; /* the axes of the cache */
} Beginning;

/* Operand `side` of a product, whose latent was multiplied in its place. */
typedef struct Absorbed {
    const Op *dot;
    int side;
} Absorbed;

typedef struct Step {
    Module *module;
    Diagnostics *diags;
    Function *forward, *encode, *step;
    SideTable origins; /* value of the forward → its Origin */
    Builder b;
    int batch, time;   /* the symbols B, T */
    int q[N_ROW_SETS]; /* the symbol Q of each set of rows; NO_SYMBOL: there is one set alone */
    RowSet rows;       /* what is built */
    VEC(TargetDim) dims;
    VEC(Beginning) beginnings;
    VEC(Absorbed) absorbed; /* what was built in the other order (absorb.c) */
    Dependence *dependence;
    int n_memory, n_caches;
    bool failed;
} Step;

static inline Origin *origin(const Step *s, const Value *v)
{
    return side_of_value(&s->origins, v);
}

/* The target dimension; NULL: it is none. */
static inline const TargetDim *target_dim(const Step *s, Dim dim)
{
    for (size_t i = 0; i < s->dims.count; i++)
        if (!dim_is_const(dim) && s->dims.data[i].symbol == dim.symbol)
            return &s->dims.data[i];
    return NULL;
}
/* The symbols of the newest positions and of all so far, of the rows that are built. */
static inline int newest_symbol(const Step *s) { return s->q[s->rows]; }
static inline int past_symbol(const Step *s, Dim dim) { return target_dim(s, dim)->past[s->rows]; }
/* The first axis along a target dimension, or -1. */
static inline int target_axis(const Step *s, const Value *v)
{
    for (int i = 0; i < v->type.rank; i++)
        if (target_dim(s, v->type.dims[i]))
            return i;
    return -1;
}

/* ---- step.c ---- */
/* Builds v in decode_step. `roles` says what each of its dimensions T stands for there. NULL after
 * an error. */
Value *build_step(Step *s, Value *v, Roles roles);
/* Reports that the op cannot be computed one position at a time, unless another op was reported.
 * Returns NULL. */
Value *refuse(Step *s, const Op *op, const char *why);
Dim as_step_dim(const Step *s, Dim dim, char role);
int count_times(const Step *s, const Value *v); /* how many axes T it has */
/* Whether `built`, the value v in decode_step, has a batch dimension in front that v lacks. */
static inline bool is_lifted(const Value *v, const Value *built)
{
    return built->type.rank > v->type.rank;
}

/* The axes of a cache: batch and positions first; and back. Neither moves an element
 * (ir/layout.h). */
void cache_axes(int rank, int batch, int time, int perm[MAX_RANK], int inverse[MAX_RANK]);
/* A new cache of that type. */
Value *build_cache(Step *s, Type type);

/* ---- incremental.c ---- */
/* The symbol of that name and batch, which is added if there is none; if another symbol has the
 * name, its name ends with '. */
int named_symbol(Module *module, const char *name, int batch);

/* ---- positions.c ---- */
/* Finds how far lookups of each value reach back. */
void find_reaches(Step *s);

/* ---- absorb.c ---- */
/* Finds values that are a latent times a weight, and what keeping the latent would save. */
void absorb_find(Step *s);
/* Whether the product is to multiply with the latent and the weight of its operand, which has these
 * roles, one after the other. */
bool absorbs(const Step *s, const Op *dot, int side, Roles of_value);
/* That; `other`: the other operand in decode_step, not lifted. NULL after a message. */
Value *build_absorbed(Step *s, const Op *dot, int side, Value *other);

/* Of a step that was built: how many positions must be new in a row for the forward's order to
 * multiply less often; 0: as many are never fed, or no product is in the other order. */
int64_t absorb_least_many(const Step *s);
/* Marks the values of what was built in the other order, of_latent and absorbed, and forgets it. */
void absorb_mark(Step *s);

/* ---- rows.c ---- */
/* Finds the sets of rows; `many`: the least new positions of a row that has many. */
void find_row_sets(Step *s, int64_t many);
/* The least new positions of a row that has many; 0: there is one set alone. */
int64_t many_new(const Step *s);
/* Whether the contraction is made for each set on its own. */
bool is_of_row_sets(const Step *s, const Op *dot, Roles roles);
/* That; NULL after a message. */
Value *build_row_sets(Step *s, Op *dot, Roles roles);
/* The value for the set of rows that is built, from that of all rows; NULL after a message. */
Value *build_from_all(Step *s, Value *v, Roles roles);

/* ---- before.c ---- */
/* The dimension of that formula; one that is added is called after `name`. */
Dim dim_of_formula(Module *module, const char *name, const DimFormula *formula);
/* Finds the target dimensions of the forward; `past` is all so far of T. */
void find_target_dims(Step *s, int past);
/* Adds to encode what caches begin with, where `copies` maps values of the forward to encode's.
 * False after a message. */
bool build_beginnings(Step *s, const SideTable *copies);

/* ---- ops.c ---- */
/* Roles of an operand that is aligned with a result of `rank` dimensions at its last one. */
Roles aligned_roles(const Step *s, const Value *x, int rank, Roles roles);
/* A lifted operand of an op whose result (in decode_step) has `rank` dimensions, the batch at
 * `batch`: [B, x…] becomes [1…, B, 1…, x…], or [x…, B, x…] in place of a 1. Any other operand as it
 * is. */
Value *align_lifted(Step *s, const Value *v, Value *built, int rank, int batch);
/* The op's result in decode_step, for these roles; NULL after a message. */
Value *build_elementwise(Step *s, Op *op, Roles roles);
Value *build_along_rows(Step *s, Op *op, Roles roles); /* reductions, softmax, logsumexp */
Value *build_shape(Step *s, Op *op, Roles roles);
Value *build_contraction(Step *s, Op *op, Roles roles);
Value *build_ordered(Step *s, Op *op, Roles roles); /* a dot, of the rows that are built */
Value *build_grouped_rows(Step *s, Op *op, Roles roles);
Value *build_table_rows(Step *s, Op *op, Roles roles); /* gather */
Value *build_chosen(Step *s, Op *op, Roles roles);     /* top_k */
Value *build_looked_up(Step *s, Op *op, Roles roles);  /* lookup: positions.c */

#endif
