/* Inside the emitters: the state of one kernel being built as loop IR.
 *
 * Values are pulled: emit_eval(value, place) gives the value at a place, a coordinate
 * for each of its logical dimensions. A coordinate is scalar, or moves with the
 * column vector. A value is computed where it is asked for, and remembered for one place (Memo);
 * passes of loop IR remove repetitions, and move what does not change in a loop out of it. */
#ifndef CODEGEN_EMIT_EMIT_H
#define CODEGEN_EMIT_EMIT_H

#include "codegen/body.h"
#include "codegen/kernels.h"
#include "codegen/loop/build.h"
#include "codegen/processor.h"
#include "codegen/signature.h"

/* Coord: a position along a dimension, i64. */
typedef struct Coord {
    LoValue base; /* NULL: 0, or the column of a loop that is not open yet */
    bool varies;  /* with the column */

    /* 1 + the ragged symbol of the tokens axis whose sentence or position this is; 0: neither */
    int token;
} Coord;

typedef struct Place {
    int rank;
    Coord at[MAX_RANK];
    LoValue valid; /* i1: whether memory may be accessed; NULL: it may */
} Place;

typedef struct Buffer {
    LoValue base;
    const Type *type;
    Layout layout;
    LoValue strides[MAX_RANK]; /* of storage axes, elements; set when first asked for */
    bool strided;              /* FORM_STRIDED */
} Buffer;

/* A word of a TfcDim, by its number. */
typedef enum DimField {
    DIM_EXTENT = TFC_WORD(TfcDim, extent),
    DIM_TOTAL = TFC_WORD(TfcDim, total),
    DIM_OFFSET = TFC_WORD(TfcDim, offset),
    DIM_LENGTH = TFC_WORD(TfcDim, length),
    DIM_BATCH = TFC_WORD(TfcDim, batch),
    DIM_POSITION = TFC_WORD(TfcDim, position),
    DIM_FIELDS = sizeof(TfcDim) / 8
} DimField;

typedef struct Memo {
    LoValue value; /* NULL: none */
    Place place;
} Memo;

/* RowBlock: rows of one sentence side by side (region/row.c). What they look up at constant
 * distances is in their sentence. */
typedef struct RowBlock {
    LoValue token, position; /* of the first row; token NULL: there is no block */
    int row;                 /* in which e->space stands */
    int64_t greatest;        /* distance of a lookup */
} RowBlock;
enum { BLOCK_AHEAD = 8 }; /* rows from what is read to what is fetched */

typedef struct Emit {
    Lo lo;
    Arena *arena;
    const Module *module;
    const Op *op;
    const Signature *signature;
    const CodeTarget *target;
    Body body;
    int n_values;             /* inputs and body ops */
    int vector;               /* lanes that loops over columns are to become; 1: none */
    int sum_lanes;            /* partial sums along columns: the same on every processor */
    LoValue part;             /* of a PartLoop that is open: its index; else NULL */
    LoValue args, begin, end; /* arguments, units of this call; end NULL: the one unit `begin` */
    LoValue table;            /* the list of buffers; NULL: each buffer is an argument */
    LoOp *entry;              /* a seam: what is computed once a call goes before it */
    int n_buffers;
    Buffer *buffers;
    LoValue (*dim_fields)[DIM_FIELDS]; /* by kernel-local number, NULL: not loaded */
    Layout layout;                     /* of the space */
    Place space;          /* the current coordinate of each logical dimension of the space */
    Coord token;          /* of the tokens axis bound last; its own `token` says which */
    LoValue column;       /* first column of the vector being emitted */
    Memo *memo;           /* by value number */
    LoValue *reduced;     /* by value number: results of reductions that are done; or NULL */
    LoValue *row_cache;   /* by value number: memory for a row that a sweep saves, or NULL */
    bool *cached;         /* by value number: the saved row may be read */
    LoValue cache_at;     /* index into saved rows; NULL: the column */
    LoValue *random_rows; /* by random number: words of this row, or NULL */
    RowBlock block;
} Emit;

/* ---- element types, and code at the entry (value.c) ---- */
void emit_at_entry(Emit *e);                    /* ops go to the entry until lo_resume */
LoValue val_and(Emit *e, LoValue a, LoValue b); /* of i1; NULL: true */
/* emit_type: an element type in registers; emit_memory_type: in memory. A bool is i1 in registers,
 * i8 in memory. bf16 is i16 in memory, and in registers an f32, which is rounded as soon as it is
 * computed, so that storing it changes no bit. */
LoType emit_type(Emit *e, DType dtype);
LoType emit_memory_type(Emit *e, DType dtype);
LoValue emit_rounded(Emit *e, DType dtype, LoValue x); /* x rounded, if the type is bf16 */

/* ---- arguments (arguments.c), loaded at the entry, or `here`: where the builder stands ---- */
void open_arguments(Emit *e, LoModule *module, const char *name); /* opens the function */
LoValue argument_buffer(Emit *e, int buffer);                     /* here */
LoValue argument_stride(Emit *e, int buffer, int axis);
LoValue argument_dim(Emit *e, int number, DimField field); /* i64, or a table's pointer */
LoValue argument_int(Emit *e, int number);                 /* here */
/* here: a pointer to the random generator's state (TfcKernelArgs.rng) */
LoValue argument_random(Emit *e);
/* Narrows a row's columns [*start, *limit) to those that an epilogue's arguments give; for a device
 * it keeps whole rows. */
void argument_columns(Emit *e, LoValue *start, LoValue *limit);

/* ---- coordinates, places and dimensions (coord.c) ---- */
Coord coord_const(Emit *e, int64_t value);
Coord coord_of(LoValue base);
Coord coord_add(Emit *e, Coord a, Coord b);
Coord coord_scale(Emit *e, Coord c, int64_t factor);
LoValue coord_value(Emit *e, const Coord *c, LoType element); /* as i32 or i64 */
LoValue dim_field(Emit *e, int symbol, DimField field);       /* at entry: i64, or a table */
LoValue extent_of(Emit *e, const Axis *axis);                 /* at entry */
/* How many positions a value of this type has along the axis, where the other dimensions stand at
 * `place`. */
Coord length_along(Emit *e, const Type *type, int axis, const Place *place);
Coord table_lookup(Emit *e, int symbol, DimField table, Coord index);
void bind_tokens(Emit *e, const Type *type, const Axis *axis, Coord token);
/* The place of an operand whose type is right-aligned with that of a result at `place`. */
Place place_aligned(const Type *type, const Place *place);
bool place_equal(const Place *a, const Place *b);
/* Whether the place is where the space stands now (Emit.space), for a value of this type. */
bool place_is_own(const Emit *e, const Type *type, const Place *place);

/* ---- memory (access.c) ---- */
LoValue emit_load_at(Emit *e, int buffer, const Place *place);
void emit_store_at(Emit *e, int buffer, const Place *place, LoValue value);
void emit_add_at(Emit *e, int buffer, const Place *place, LoValue term); /* to what is there */
LoValue emit_address(Emit *e, int buffer, const Place *place);
/* The element in the last dimension of the place, of row `row`, an i64, of a table that is panels,
 * of f32 or of integers (packed.c). */
LoValue emit_packed(Emit *e, int buffer, Quant quant, LoValue row, const Place *place);
/* The stride along a logical dimension that is a storage axis, in elements. */
LoValue emit_stride(Emit *e, int buffer, int dim);
/* The element's number in storage order of a contiguous tensor of this type, i64. */
LoValue element_number(Emit *e, const Type *type, const Place *place);

/* ---- elements (elementwise.c, random.c, shape.c) ---- */
/* One element of a result from one of each operand; for dropout x also has its random word,
 * last. */
LoValue emit_elementwise(Emit *e, const Op *op, LoValue *x);
LoValue emit_convert(Emit *e, LoValue x, DType from, DType to);
LoValue random_word(Emit *e, const BodyOp *op, const Place *place); /* 32 bits an element */
const BodyOp *random_first(const Emit *e, const BodyOp *op); /* first op with the same words */
/* Writes the words of columns [start, start + count) of the row into `scratch`, from which
 * random_word then takes them: memory of random_scratch for at least `count` columns. */
void random_fill(Emit *e, const BodyOp *op, LoValue start, LoValue count, LoValue scratch);
LoValue random_scratch(Emit *e, LoValue columns);
/* Writes the words of a strip: `steps` vectors, `pitch` words apart; lane l of vector s has the
 * word of element number first + l × stride + s. The strip has room for three vectors more. */
void random_fill_strip(Emit *e, const BodyOp *op, LoValue first, LoValue stride, LoValue steps,
                       LoValue strip, LoValue pitch);
int random_lanes(const Emit *e); /* Philox counters that random_fill computes at once */
/* The place of its operand that a shape op reads for a place of its result. *inside, an i1: whether
 * the operand has that place; if not, the result is 0. *inside NULL: the operand always has it. */
Place place_of_operand(Emit *e, const Op *op, const Place *place, LoValue *inside);

/* ---- origins ---- */

/* The origin (LoOp.origin) of the op of a value, by the value's number. */
static inline int origin_of(const Emit *e, int number)
{
    return LO_ORIGIN_PARTS + number - e->body.n_inputs;
}
/* Sets the origin of the ops built from here on: this value's op, or the kernel as a whole. */
static inline void emit_from(Emit *e, int number) { e->lo.origin = origin_of(e, number); }
static inline void emit_from_whole(Emit *e) { e->lo.origin = LO_ORIGIN_WHOLE; }

/* ---- values (value.c) ---- */
LoValue emit_eval(Emit *e, const Value *value, const Place *place);
static inline LoValue emit_aligned(Emit *e, const Value *value, const Place *place)
{
    Place own = place_aligned(&value->type, place);
    return emit_eval(e, value, &own);
}
/* Whether the op looks up an operand of the kernel at a constant distance from the own position
 * along the tokens of this ragged symbol: row i of its result is row i + *distance. */
bool lookup_distance(const Emit *e, const Op *op, int symbol, int64_t *distance);
void memo_forget(Emit *e); /* forgets what was computed; call it when `reduced` has changed */

/* ---- loops (loops.c) ---- */
/* A loop over the units of this call; no loop if each call does one unit (Emit.end is NULL). */
LoLoop units_open(Emit *e, const char *name);
void units_close(Emit *e, LoLoop *loop);
/* RowLoop: the loop over the units of a row kernel. rows_open opens it and sets e->space to the
 * current row. Rows past their sentence's length do not exist: an `if` leaves them out. */
typedef struct RowLoop {
    LoLoop loop;
    LoIf some, exists;
    bool guarded;
    int n;
    LoValue slots[MAX_RANK];
    Coord limit; /* columns of this row */
} RowLoop;
RowLoop rows_open(Emit *e);
void rows_close(Emit *e, RowLoop *rows);
/* Sets the column of the space's last axis; NULL: a later loop sets it. */
void stand_at_column(Emit *e, LoValue column);
/* row_exists: whether the row's positions exist, an i1; NULL: they always do. `bound`: logical
 * dimensions that loops keep within lengths; NULL: none. column_limit: how many columns the row
 * has. */
LoValue row_exists(Emit *e, const bool *bound);
Coord column_limit(Emit *e);
/* How many positions the space's dimension has here: the length of the current sentence if the
 * dimension is ragged, the space has its batch, and stands at none of its tokens; else the
 * dimension's extent. */
Coord dim_length(Emit *e, int dim);
/* Builds a loop over the columns [start, limit), which becomes vectors; `body` builds its body.
 * limit NULL: no loop, the one column `start`. */
typedef void (*ColumnBody)(Emit *e, void *data);
void each_column(Emit *e, LoValue start, LoValue limit, ColumnBody body, void *data);
/* Whether a loop over columns up to this one is one loop under a mask (LoVector). */
bool masks_throughout(const Emit *e, LoValue limit);

/* ---- sums (sums.c) ---- */
/* The order of a sum of floats, on every processor: docs/loop-ir.md. SUM_TURNS: terms that are
 * added one after the other, and such blocks that are. SUM_LARGEST: elements of the largest block;
 * beyond it blocks are added one after the other. SUM_BYTES: of the partial sums along columns. */
enum { SUM_TURNS = 16, SUM_LEVELS = 5, SUM_LARGEST = 1 << 4 * SUM_LEVELS, SUM_BYTES = 64 };
/* Elements of the largest block of [start, end), if a turn takes `turn` elements; of no more than
 * SUM_TURNS turns: 0. */
int64_t sum_block(LoValue start, LoValue end, int64_t turn);
/* SumSlots: the accumulators of the sums being built, by body op, or NULL; the partial sums of each
 * along columns; 0: columns have accumulators of their own. */
typedef struct SumSlots {
    LoValue *of;
    int parts;
} SumSlots;
void sum_open(Emit *e, SumSlots *slots, const Op *op, int i); /* of the reduction body op i is */
/* A block has accumulators of its own, whose totals are added to those outside. Gives these. */
LoValue *sum_enter(Emit *e, SumSlots *slots);
void sum_leave(Emit *e, SumSlots *slots, LoValue *outer);
/* PartLoop: where numbers are computed one at a time, a loop over the partial sums along columns;
 * its body goes through the columns first + index, first + index + Emit.sum_lanes, … Elsewhere
 * vectors are the partial sums, and there is no loop (index NULL). sum_parts_open gives each of n
 * slots an accumulator of the loop's body; sum_parts_close adds the folded totals to the slots'
 * own. */
typedef struct PartLoop {
    LoLoop loop;
    int n;
    LoValue **slots, *outer, *memory;
} PartLoop;
PartLoop sum_parts_open(Emit *e, int n, LoValue **slots);
void sum_parts_close(Emit *e, PartLoop *parts);
/* sum_parts_open for the sums of n rows. */
PartLoop slots_parts_open(Emit *e, SumSlots *const *rows, int n);
/* How a loop along which one sums becomes vectors; `whole`: see LoVector. */
LoVector sum_vector(const Emit *e, bool whole);
/* each_column whose body adds to the accumulators of n rows side by side, block by block. */
void sum_columns(Emit *e, LoValue start, LoValue limit, ColumnBody body, void *data,
                 SumSlots *const *rows, int n);

static inline LoJoin reduce_join(const Op *op)
{
    return op->kind == OP_reduce_max ? LO_JOIN_MAX : LO_JOIN_ADD;
}

/* ---- kernels ---- */
void kernel_row(Emit *e);
void kernel_column(Emit *e);
void kernel_attention(Emit *e);
void kernel_scatter_add(Emit *e);
void kernel_lookup_add(Emit *e);
void kernel_top_k(Emit *e);
void kernel_append(Emit *e);
void kernel_concat(Emit *e);
void kernel_ctc(Emit *e);
void kernel_ctc_grad(Emit *e);

/* Adds the kernels [begin, end) of the set to the module; their names begin with the prefix. It
 * only reads the set and the graph: threads may call it at once, each with a module of its own. */
void emit_kernels(LoModule *module, const KernelSet *set, int begin, int end, const char *prefix,
                  const CodeTarget *target);

#endif
