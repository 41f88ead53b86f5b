/* The op graph: modules, functions, ops and values in SSA form.
 *
 * A module owns everything through its arena. A function's body is a list of
 * ops in an order in which every operand is defined before it is used. An op
 * has operands and results: a region at least one result, an effect none, every
 * other op one. A region's body reads values of the function directly, and the
 * `yield` at its end names the region's results. The region's operands list the
 * values that the body reads, each once, so that a walk over operands sees every
 * use.
 *
 * Each value lists its uses: the operands, of ops in the function's body, that read the value. The
 * functions that change a body or an operand (block_*, op_set_arg, value_replace) update the lists,
 * and the verifier checks them. A pass keeps what it knows about values and ops in tables of its
 * own (ir/side.h). */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/quants.h"
#include "base/vec.h"
#include "ir/type.h"

typedef enum OpKind {
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
    OP_COUNT
} OpKind;

/* clang-format off */
typedef enum OpFamily {
    FAMILY_leaf, FAMILY_elementwise, FAMILY_reduce, FAMILY_norm, FAMILY_shape,
    FAMILY_matmul, FAMILY_index, FAMILY_loss, FAMILY_effect, FAMILY_region
} OpFamily;
/* clang-format on */

typedef struct OpInfo {
    const char *name;
    int arity; /* number of operands; -1: any */
    OpFamily family;
    int cost; /* arithmetic instructions for one element */
    const char *help;
} OpInfo;
extern const OpInfo op_info[OP_COUNT];

typedef enum AttrName {
#define ATTR(name, kind, help) ATTR_##name,
#include "ir/attrs.def"
    ATTR_COUNT
} AttrName;

typedef enum AttrKind { INT, FLOAT, STRING, INTS, TYPE, SYMBOL, DIMS } AttrKind;
typedef struct AttrInfo {
    const char *name;
    AttrKind kind;
} AttrInfo;
extern const AttrInfo attr_info[ATTR_COUNT];

typedef struct Attr {
    AttrName name;
    union {
        int64_t i;     /* INT; SYMBOL (index); TYPE (DType) */
        double f;      /* FLOAT */
        const char *s; /* STRING */
        struct {       /* INTS */
            int n;
            int ints[MAX_RANK];
        };
        struct { /* DIMS */
            int rank;
            Dim dims[MAX_RANK];
        };
    };
} Attr;

typedef struct Op Op;
typedef struct Value Value;
typedef struct Use Use;

/* One operand of an op, in the list of uses of the value that it reads. */
struct Use {
    Op *user;
    Use *previous, *next;
};

struct Value {
    Type type;
    Op *op;                    /* the op that defines it */
    int index;                 /* which of the op's results */
    int id;                    /* printed as %id; unique in its function, see function_number */
    Use *first_use, *last_use; /* NULL: unused, or of a region's body */
};

typedef struct Block {
    Op *first, *last;
    bool of_region; /* a region's body, whose ops do not stand in lists of uses (the region does) */
} Block;

struct Op {
    OpKind kind;
    int id; /* unique in its function, see function_number */
    int n_args, n_results, n_attrs;
    Value **args;   /* changed only by op_set_arg and op_replace_arg */
    Use *uses;      /* one for each operand, in the list of its value if `listed` */
    bool listed;    /* the op stands in a function's body */
    Value *results; /* array of n_results */
    Attr *attrs;    /* sorted by name */
    Block *body;    /* regions only */
    Op *previous, *next;
    Loc loc; /* the place in the .tfg or .tir that the op comes from */

    /* dotted name of the blocks around it ("encoder.layer.0"); "" at the top, NULL: unknown */
    const char *scope;
};

typedef struct Function {
    const char *name; /* of base/functions.def; "model": made by the frontend; or of a .tir */
    Block body;
    int next_value, next_op; /* ids */
    struct Module *module;
    Map params;     /* used by function_param alone: name → the last op of that param */
    Op *last_param; /* used by build_new_param alone: the last that it placed */
} Function;

/* InitKind: the initial values of a param. codegen/plan writes it into the program, from which
 * runtime/exec initialises the param. */
typedef enum InitKind {
#define INIT(NAME, ...) INIT_##NAME,
#include "base/params.def"
    INIT_COUNT
} InitKind;

/* ParamRole: the use of a param. Only trained params get gradients; slots belong to the optimizer;
 * states are assigned by the model itself (running statistics, caches of a decoder); a gradient is
 * the sum of a param's gradients over the pieces of an update. */
typedef enum ParamRole {
#define ROLE(NAME, ...) PARAM_##NAME,
#include "base/params.def"
    PARAM_ROLES
} ParamRole;

/* A param: the rows PARAM of ir/declared.def. */
typedef struct ParamInfo {
#define PARAM(kind, type, name) type name;
#include "ir/declared.def"
} ParamInfo;

typedef struct Module {
    Arena *arena;
    const char *name;
    VEC(Symbol) symbols;
    VEC(ParamInfo *) params; /* in order of declaration */
    Map param_by_name;       /* name → ParamInfo* */
    VEC(Function *) functions;
    Diagnostics *diags; /* where infer and verify report */
} Module;

Module *module_new(Arena *arena, Diagnostics *diags, const char *name);
Function *module_add_function(Module *module, const char *name);
Function *module_function(const Module *module, const char *name); /* NULL if absent */
/* Takes the function of that name out of the module, so that it can be derived anew; the function
 * itself stays as it is. */
void module_drop_function(Module *module, const char *name);
int module_symbol(const Module *module, const char *name); /* NO_SYMBOL if absent */
int module_add_symbol(Module *module, const char *name, int batch);
/* The same for a dimension made of others, which is ragged if one of them is: *problem is what is
 * wrong then with the formula, and NO_SYMBOL the result. */
int module_add_made_symbol(Module *module, const char *name, const DimFormula *formula,
                           const char **problem);
ParamInfo *module_param(const Module *module, const char *name);
ParamInfo *module_add_param(Module *module, ParamInfo info);
/* How much a module has; module_cut takes away what was added since, which nothing may read. */
typedef struct ModuleExtent {
    size_t symbols, params, functions;
} ModuleExtent;
ModuleExtent module_extent(const Module *module);
void module_cut(Module *module, ModuleExtent extent);
static inline bool symbol_is_ragged(const Module *m, int symbol)
{
    return symbol != NO_SYMBOL && m->symbols.data[symbol].batch != NO_SYMBOL;
}
static inline bool symbol_is_made(const Module *m, int symbol)
{
    return symbol != NO_SYMBOL && m->symbols.data[symbol].formula.n > 0;
}
/* The dimension over which one of this formula is ragged; NO_SYMBOL: none. *problem: what is wrong
 * with the formula, whose symbols stand before symbol `end`; NULL: nothing. */
int formula_batch(const Module *module, const DimFormula *formula, int end, const char **problem);
/* Whether each row of `batch` has its own length of the symbol. */
static inline bool symbol_is_ragged_over(const Module *m, int symbol, int batch)
{
    return symbol_is_ragged(m, symbol) && m->symbols.data[symbol].batch == batch;
}

/* Whether the symbol counts the rows of a batch, over which others are ragged. */
static inline bool symbol_counts_rows(const Module *m, int symbol)
{
    for (int i = 0; symbol != NO_SYMBOL && i < (int)m->symbols.count; i++)
        if (symbol_is_ragged_over(m, i, symbol))
            return true;
    return false;
}

const Attr *op_attr(const Op *op, AttrName name); /* NULL if absent */
bool attr_lists(const Attr *attr, int axis);      /* of INTS: whether the axis is among them */
/* The values of an attribute that the op must have. */
int64_t op_int(const Op *op, AttrName name);
double op_float(const Op *op, AttrName name);
const char *op_string(const Op *op, AttrName name);
/* Whether it is a constant of this number. */
bool value_is_const(const Value *value, double number);
/* The attribute `quant`; QUANT_NONE: absent, or no word of base/quants.def. */
Quant op_quant(const Op *op);
/* Whether it is a gather whose table is packed as panels, perhaps of integers. */
bool op_is_packed_lookup(const Op *op);
void op_set_attr(Function *function, Op *op, Attr attr); /* adds or replaces */
void op_share_attrs(Function *function, Op *op,
                    const Op *from); /* all of them, which it has none of */
static inline OpFamily op_family(const Op *op) { return op_info[op->kind].family; }
/* Whether the result can be the operand's own memory with other strides: true for all shape ops but
 * those that put operands into a larger tensor. */
static inline bool op_is_view(const Op *op)
{
    return op_family(op) == FAMILY_shape && op->kind != OP_pad && op->kind != OP_concat;
}
/* Ops with the same number run together, a chunk of rows at a time. */
enum { NO_CHUNK = -1 };
static inline int op_chunk(const Op *op)
{
    return op_attr(op, ATTR_chunk) ? (int)op_int(op, ATTR_chunk) : NO_CHUNK;
}
static inline Value *op_result(Op *op) { return &op->results[0]; }

/* An op that stands in no block yet, with these operands; the types of its results are not set. */
Op *op_new(Function *function, OpKind kind, int n_args, Value *const *args, int n_results);
Block *block_of_region(Arena *arena);
void block_append(Block *block, Op *op);
void block_insert_before(Block *block, Op *position, Op *op);
void block_remove(Block *block, Op *op);

/* Replaces an operand; for a region use op_replace_arg. */
void op_set_arg(Op *op, int arg, Value *value);
/* Makes the op, and the ops of its body, read `to` in place of `from`. A region still lists each
 * value once. */
void op_replace_arg(Op *op, Value *from, Value *to);
/* Replaces every use of `from` by `to`, in bodies of regions too. */
void value_replace(Value *from, Value *to);
int value_use_count(const Value *value);
static inline bool value_is_used_once(const Value *value)
{
    return value->first_use && value->first_use == value->last_use;
}
#define FOR_USES(use, value)                                                       \
    for (Use *use = (value)->first_use, *use##_next = use ? use->next : NULL; use; \
         use = use##_next, use##_next = use ? use->next : NULL)
/* Sorts the lists of uses by the order of the body: changes of the body append to the lists. */
void function_order_uses(Function *function);
/* Gives values and ops new ids in order of appearance, as the printer shows them. */
void function_number(Function *function);
/* Whether the body has an op of that kind; ops in regions do not count. */
bool function_has(const Function *function, OpKind kind);
/* The result of the body's op of that param; NULL: there is none. */
Value *function_param(const Function *function, const char *name);
/* Whether it has the input of that name. */
bool function_reads(const Function *function, const char *input);

#define FOR_OPS(op, block)                                               \
    for (Op *op = (block)->first, *op##_next = op ? op->next : NULL; op; \
         op = op##_next, op##_next = op ? op->next : NULL)

#endif
