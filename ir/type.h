/* Tensor types: an element type and a list of dimensions, each a constant or a
 * symbol whose value is known only when a batch arrives. A symbol may be ragged
 * over another: `S` ragged over `B` means that every row of the batch has its
 * own length, and that positions past this length do not exist. Printed
 * f32[B, S~, 512]. */
#ifndef IR_TYPE_H
#define IR_TYPE_H

#include "base/dim_formula.h"
#include "base/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DType {
#define TYPE(NAME, ...) DT_##NAME,
#include "base/types.def"
    DT_COUNT
} DType;

enum { MAX_RANK = 8, NO_SYMBOL = -1 };
/* Of a dot with quant: an i32 holds the sum of so many terms. */
enum { MAX_QUANT_TERMS = 65536 };

typedef struct Dim {
    int64_t size; /* the constant, or 0 for a symbol */
    int symbol;   /* index into Module.symbols, or NO_SYMBOL */
} Dim;

typedef struct Type {
    DType dtype;
    int rank;
    Dim dims[MAX_RANK];
} Type;

enum { MOST_SYMBOLS = 512 }; /* that a model declares; passes add a few */

/* A named dimension: the rows DIM of ir/declared.def. */
typedef struct Symbol {
#define DIM(kind, type, name) type name;
#include "ir/declared.def"
} Symbol;

static inline Dim dim_const(int64_t size) { return (Dim){size, NO_SYMBOL}; }
static inline Dim dim_symbol(int symbol) { return (Dim){0, symbol}; }
static inline bool dim_is_const(Dim dim) { return dim.symbol == NO_SYMBOL; }
static inline bool dim_is_one(Dim dim) { return dim_is_const(dim) && dim.size == 1; }
static inline bool dim_equal(Dim a, Dim b) { return a.symbol == b.symbol && a.size == b.size; }

bool type_equal(const Type *a, const Type *b);
bool type_same_shape(const Type *a, const Type *b);
static inline bool dtype_is_float(DType t) { return element_info(t)->is_float; }
static inline size_t dtype_bytes(DType t) { return element_info(t)->bytes; }
static inline const char *dtype_name(DType t) { return element_info(t)->name; }
bool dtype_parse(const char *name, DType *dtype);
/* The least finite number of a float type. */
double dtype_lowest(DType t);
/* The only dimension that is not a constant 1, as in types of iota and lengths; -1: none or
 * several. */
int type_long_dim(const Type *type);
/* Whether the types have the same dimensions but for those that are 1: then from_dim[i] is the
 * dimension of `from` that dimension i of `to` is, or -1 where that is 1. */
bool type_differs_by_ones(const Type *from, const Type *to, int from_dim[]);
/* The first dimension of that symbol; -1: none. How many there are. */
int type_find_dim(const Type *type, int symbol);
int type_count_dim(const Type *type, int symbol);
Type type_scalar(DType dtype);
Type type_of(DType dtype, int rank, const Dim *dims);

/* Whether it is a table that gather reads as panels (attributes `panels` and `quant`). */
bool type_is_table(const Type *type);

#endif
