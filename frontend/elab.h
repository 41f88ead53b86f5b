/* Elaboration: from the syntax tree to the op graph. What its files share.
 *
 * Expressions are evaluated while the model is built: numbers, truth values and
 * strings are known then, tensors are values of the graph. An error in the model is
 * reported and yields VAL_ERROR, which all operations accept silently, so that one
 * error gives one message and later ones are still found. */
#ifndef FRONTEND_ELAB_H
#define FRONTEND_ELAB_H

#include "frontend/load.h"
#include "ir/builder.h"
#include "ir/side.h"

/* clang-format off */
enum {
    MAX_CALL_DEPTH = 60, MAX_EVAL_DEPTH = 1000, MAX_STEPS = 2000000, MAX_OPS = 200000,
    MAX_REPEAT = 10000, MAX_NAME_LENGTH = 200
};
/* clang-format on */
#define MAX_ELEMENTS INT64_C(0x10000000000) /* of the constant dimensions of a tensor: 2^40 */

/* clang-format off */
typedef enum ValKind {
    VAL_NONE, VAL_ERROR, VAL_NUMBER, VAL_BOOL, VAL_STRING, VAL_DIM, VAL_TENSOR, VAL_LIST
} ValKind;
/* clang-format on */

typedef struct Val Val;
struct Val {
    ValKind kind;
    int symbol;       /* DIM */
    double number;    /* NUMBER; BOOL: 0 or 1 */
    const char *text; /* STRING; the name of a NUMBER ("d_k"), or NULL */
    Value *tensor;    /* TENSOR */
    Val *items;       /* LIST */
    int n;
    Loc origin; /* of a number: where it was written, for notes */
};

/* DimName: the name of a tensor's dimension in messages. */
typedef struct DimName {
    const char *text; /* NULL: none, only the length is shown */
    Loc origin;
} DimName;

/* The dotted name under which params are declared. Labels of calls and names of params must differ
 * within one scope, except `as same`. */
typedef struct Scope {
    const char *path;   /* "" at the top */
    const char *repeat; /* label of the repeat whose iteration this is; NULL once a call used it */
    Map labels;         /* label of a call, or name of a param → CallLabel */
    Map counts;         /* block → how many calls without `as` (size_t) */
} Scope;

typedef struct CallLabel {
    const Node *block, *site; /* block: NULL of a param */
} CallLabel;

typedef struct Frame {
    struct Frame *up; /* the caller; NULL at the top */
    Map vars;         /* name → Val */
    Scope *scope;
    const Node *call, *block;
    const Trail *trail; /* of the call; NULL at the top */
    bool returned;
    Val result;
} Frame;

typedef enum DeclState { DECL_NEW, DECL_BUSY, DECL_DONE } DeclState;
typedef struct Decl {
    const Node *node;
    DeclState state;
    bool used;
    Val value;
} Decl;

/* LossTerm: a scalar that the call of `add_loss` adds to the loss. */
typedef struct LossTerm {
    Value *value;
    const Node *call;
} LossTerm;

typedef struct Elab {
    Arena *arena;
    Diagnostics *diags;
    Diagnostics inner; /* the builder's errors, which val_tensor reports at places of the .tfg */
    Loaded loaded;
    Model *model;
    Module *module;
    Builder b;
    SideTable dim_names; /* value → MAX_RANK DimNames, of those that have any */
    SideTable twins;     /* value → the one that was found to be computed alike (merges) */
    Frame *top, *frame;
    Map blocks;      /* name → Node */
    Map decls;       /* name → Decl */
    Map param_sites; /* full name → Node that declares it */
    Map inputs_made; /* "tgt.next", "text.hidden" → Value */
    Map exposed;     /* dotted path → Value: what blocks computed */
    Map outputs;     /* names taken */
    Map merges;      /* a param's name → the value it is merged into */
    Map updates;     /* a state's name → Node that updates it */
    Map reported;    /* places for which an error was reported */
    VEC(const Node *) exposures;
    VEC(LossTerm) losses; /* of `add_loss` */
    DType float_type;
    int sites, call_depth, eval_depth;
    const Node *constant; /* the const whose value is being computed, or NULL */
    int mistakes;         /* errors found, also those that were not reported once more */
    int64_t steps, ops;
    bool stopped; /* a limit was exceeded: elaboration ends */
} Elab;

/* Whether it is of this kind and no other file's definition replaces it. */
static inline bool holds(const Node *node, NodeKind kind)
{
    return node->kind == kind && !node->overridden;
}

/* ---- declare_dims.c ---- */
void declare_dims(Elab *e);
/* Whether a dimension is the first one of an input, or one that others are ragged over. */
bool counts_rows(const Elab *e, int symbol);

/* ---- elab.c ---- */
Val decl_value(Elab *e, Decl *decl, const Node *use);

/* ---- errors.c ---- */
/* Reports at the node, or at the user's call if the node is in a library, with
 * notes on the calls around; only once for each place, and nothing more after 20
 * errors. Returns VAL_ERROR. */
Val elab_error(Elab *e, const Node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* elab_error about a number. If the node and all calls around it are in libraries, the place is
 * that of the user's constant from which the number comes, if there is one. */
Val elab_error_of(Elab *e, const Node *node, const Val *number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* elab_error about a whole block: without notes on the calls that led to it. */
Val elab_error_of_block(Elab *e, const Node *block, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The block of a used file that `block` replaces, if the call stands in another file than `block`
 * and so was written for the replaced one; NULL: none. */
const Node *replaced_block(const Elab *e, const Node *block, const Node *call);
bool is_users(const Elab *e, const Loc *loc); /* a place in a file that is no library's */
Val no_value(Elab *e, const Node *node);      /* reports that an expression gives no value */
/* Reports that the scope has a call, loop or param `name` already, at `taken`; `advice` follows. */
Val elab_error_taken(Elab *e, const Node *node, const char *name, const CallLabel *taken,
                     const char *advice);
/* Adds a note to the error that elab_error has just reported; nothing if it reported none. */
void elab_note(Elab *e, Loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The node's place or, if that is in a library, the place of the innermost call in the user's files
 * that led to it (if there is one). */
Loc primary_place(const Elab *e, const Node *node);
/* The node's own place and the calls that led to it. */
const Trail *trail_to(const Elab *e, const Node *node);
/* What a function is called by in the user's own files: its name or, if the call stands in a
 * library, that of the user's call which led there. */
const char *called_name(const Elab *e, const Node *call);
const char *did_you_mean(Elab *e, const char *name, const Map *const *maps, int n_maps,
                         const char *const *more, int n_more); /* "; did you mean `x`?" or "" */
const char *val_text(Elab *e, const Val *val); /* "f32[B, S~, 512]", "the number 3", … */
const char *type_text(Elab *e, const Type *type);

/* ---- dims.c ---- */
DimName *dim_names(Elab *e, const Value *value); /* its MAX_RANK names, empty at the first call */
const DimName *find_dim_names(const Elab *e, const Value *value); /* NULL: it has none */
/* Names the dimensions of `to` that have no name as the equal ones of `from`, aligned at the
 * last. */
void copy_dim_names(Elab *e, Value *to, const Value *from);
/* Names the constant dimensions as the numbers in `dims` that gave them. */
void name_dims(Elab *e, Value *value, const Val *dims);
const char *dim_text(Elab *e, Dim dim, const DimName *name); /* "d_k = 64", "S~", "64" */
void note_origin(Elab *e, Dim dim, const DimName *name);
bool dim_of(Elab *e, const Node *node, const Val *val, Dim *dim); /* false after a message */
/* Reads a list of dimensions into dims, and as values into flat, both of MAX_RANK. Nested lists are
 * spliced in. False after a message. */
bool dims_of(Elab *e, const Node *node, const Val *list, int *rank, Dim *dims, Val *flat);
Val dim_val(Elab *e, Value *tensor, int axis);
/* *axis, from 0, of a number that may be negative (-1: the last axis); false after a message. */
bool axis_of(Elab *e, const Node *node, const Val *val, int rank, int *axis);

/* ---- eval.c ---- */
Val eval_node(Elab *e, const Node *node);
Val eval_list(Elab *e, const Node *node); /* its kids */
/* Counts a step; false once there are too many steps or ops, or the nesting is too deep (an error
 * was reported). */
bool check_limits(Elab *e, const Node *node);
Val eval_at_top(Elab *e, const Node *node); /* in the outermost frame: constants, settings */
static inline Val val_error(void) { return (Val){.kind = VAL_ERROR}; }
static inline Val val_number(double number, Loc origin)
{
    return (Val){.kind = VAL_NUMBER, .number = number, .origin = origin};
}
static inline Val val_bool(bool truth) { return (Val){.kind = VAL_BOOL, .number = truth}; }
/* The tensor as a Val; reports an error if the tensor is too large, and the builder's error if the
 * builder gave NULL. */
Val val_tensor(Elab *e, const Node *node, Value *tensor);
/* Reports that the model exceeds a limit, once, and ends its elaboration. */
void stop_elaboration(Elab *e, const Node *node, const char *message);
bool whole_number(const Val *val, int64_t *out);
/* *truth: whether a truth value is true or a number not 0; false after a message about any other
 * value. */
bool known_truth(Elab *e, const Node *node, const Val *val, bool *truth);

/* ---- statements.c ---- */
void run_body(Elab *e, const NodeList *body);

/* ---- calls.c ---- */
Val eval_call(Elab *e, const Node *node);
void define_var(Elab *e, const char *name, Val val); /* in the frame; exposes tensors */
Scope *scope_new(Elab *e, const char *path);
const char *scope_join(Elab *e, const Scope *scope, const char *name);

/* ---- data.c: what a model says of its data ---- */
/* Gives the op of an input the column that feeds it, if its declaration names one. */
void declare_column(Elab *e, const Node *input, Op *op);
/* Gives the inputs' ops their vocabularies; when all inputs are declared. */
void declare_vocabs(Elab *e);
/* "classes" or "values": what the tensor of a `predict` holds; NULL after a message. */
const char *prediction_kind(Elab *e, const Node *predict, const Val *val);

/* ---- params.c ---- */
Val declare_param(Elab *e, const Node *node, Scope *scope);

/* ---- operators.c ---- */
Val binary_op(Elab *e, const Node *node, TokenKind op, Val a, Val b);
Val unary_op(Elab *e, const Node *node, TokenKind op, Val a);
/* Any number, truth value or tensor as a tensor; as_float casts it to the float type. NULL after a
 * message. */
Value *as_tensor(Elab *e, const Node *node, Val val);
Value *as_float(Elab *e, const Node *node, Val val);
/* *x and *y: a and b as tensors of one element type, the float type or i32; false after a
 * message. */
bool promote_pair(Elab *e, const Node *node, Val a, Val b, Value **x, Value **y);
/* x if the shapes of x and y can be broadcast together; NULL after a message. */
Value *check_broadcast(Elab *e, const Node *node, Value *x, Value *y);
Val matmul_op(Elab *e, const Node *node, Value *x, Value *y);

/* ---- builtins.c ---- */
enum { MAX_BUILTIN_ARGS = 4 };
typedef Val BuiltinRun(Elab *e, const Node *call, Val *args);
typedef struct Builtin {
    const char *name, *params; /* "x axis?": a question mark: may be left out */
    BuiltinRun *run;           /* NULL: one operand, through `op` */
    OpKind op;
} Builtin;
const Builtin *find_builtin(const char *name);
Val run_builtin(Elab *e, const Builtin *builtin, const Node *call);
int builtin_names(const char **names); /* returns how many; names may be NULL */
/* A whole number, the argument `what`; false after a message. (builtins_shape.c, as the next) */
bool known_int(Elab *e, const Node *call, const Val *val, const char *what, int64_t *out);
/* x, whose rows along `axis` are looked up, with the batch over which the axis is ragged. */
Value *with_batch(Elab *e, Value *x, int *axis);
/* The length of a dimension, a whole number; of a ragged one those of all rows, where `type` has
 * them, among dimensions of 1. */
Value *length_of(Elab *e, int symbol, const Type *type);
BuiltinRun builtin_reshape, builtin_permute, builtin_transpose, builtin_broadcast, builtin_slice,
    builtin_pad, builtin_concat, builtin_split, builtin_flip, builtin_shape, builtin_rank,
    builtin_ragged, builtin_is_float, builtin_position, builtin_size, builtin_lengths, builtin_full;
BuiltinRun builtin_lookup, builtin_scatter, builtin_pick, builtin_top_k,
    builtin_argmax; /* builtins_index.c */
BuiltinRun builtin_sum, builtin_max, builtin_min, builtin_mean, builtin_softmax, builtin_logsumexp;

/* Whether the model's outputs are its merges alone. */
static inline bool gives_merges(const Elab *e)
{
    return e->loaded.options && e->loaded.options->merges;
}

/* ---- unused.c ---- */
void warn_unused(const Loaded *loaded); /* call it for a model without errors */

/* ---- train.c, weights.c ---- */
void elaborate_train(Elab *e, const Node *train);
void train_defaults(TrainSpec *spec);
void elaborate_weights(Elab *e, const Node *weights);

#endif
