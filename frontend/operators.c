/* Operators: folded when both sides are known, ops of the graph otherwise. */
#include "frontend/elab.h"

#include "ir/fold.h"
#include "ir/infer.h"

#include <math.h>

/* ---- operands ---- */

static DType number_type(const Elab *e, const Val *val, DType beside)
{
    int64_t whole;
    bool fits = whole_number(val, &whole) && whole >= INT32_MIN && whole <= INT32_MAX;
    return beside == DT_I32 && fits ? DT_I32 : e->float_type;
}

/* A dimension where a number or tensor is needed. `is_made`: what stands there could be a dimension
 * made of it, as `2 * S` in a shape. */
static void refuse_dim(Elab *e, const Node *node, int symbol, bool is_made)
{
    const char *name = e->module->symbols.data[symbol].name;
    const char *each = symbol_is_ragged(e->module, symbol)
                           ? arena_printf(e->arena, " in each row, `size(%s)` their sum", name)
                           : "";
    const char *made = "";
    if (is_made && counts_rows(e, symbol))
        made =
            "; the rows of a batch stay an axis of their own: products, `softmax` and `heads_of` "
            "take any number of axes before their last two";
    else if (is_made)
        made = arena_printf(e->arena, "; a dimension made of it is declared by `dim U = 2 * %s`",
                            name);
    elab_error(
        e, node,
        "`%s`: %s is a dimension, known only when a batch arrives; `%s(%s)` is its length%s%s",
        expression_text(e->arena, node), name, *each ? "lengths" : "size", name, each, made);
}

static Value *tensor_of(Elab *e, const Node *node, Val val, DType beside)
{
    switch (val.kind) {
    case VAL_TENSOR: return val.tensor;
    case VAL_NUMBER: return build_const(&e->b, number_type(e, &val, beside), val.number);
    case VAL_BOOL: return build_const(&e->b, DT_BOOL, val.number);
    case VAL_DIM: refuse_dim(e, node, val.symbol, false); return NULL;
    case VAL_ERROR: return NULL;
    default:
        elab_error(e, node, "`%s`: cannot compute with %s", expression_text(e->arena, node),
                   val_text(e, &val));
        return NULL;
    }
}

Value *as_tensor(Elab *e, const Node *node, Val val) { return tensor_of(e, node, val, DT_I32); }

Value *as_float(Elab *e, const Node *node, Val val)
{
    Value *x = tensor_of(e, node, val, e->float_type);
    if (!x || x->type.dtype == e->float_type)
        return x;
    Value *y = build_cast(&e->b, x, e->float_type);
    copy_dim_names(e, y, x);
    return y;
}

bool promote_pair(Elab *e, const Node *node, Val a, Val b, Value **x, Value **y)
{
    DType beside_a = b.kind == VAL_TENSOR ? b.tensor->type.dtype : e->float_type;
    DType beside_b = a.kind == VAL_TENSOR ? a.tensor->type.dtype : e->float_type;
    if (beside_a == DT_BOOL)
        beside_a = DT_I32;
    if (beside_b == DT_BOOL)
        beside_b = DT_I32;
    *x = tensor_of(e, node, a, beside_a);
    *y = tensor_of(e, node, b, beside_b);
    if (!*x || !*y)
        return false;
    DType p = (*x)->type.dtype, q = (*y)->type.dtype;
    DType to = dtype_is_float(p) || dtype_is_float(q) ? e->float_type : DT_I32;
    Value *from_x = *x, *from_y = *y;
    *x = build_cast(&e->b, *x, to);
    *y = build_cast(&e->b, *y, to);
    copy_dim_names(e, *x, from_x);
    copy_dim_names(e, *y, from_y);
    return true;
}

static bool is_positions(const Value *x)
{
    const Op *op = x->op;
    while (op->kind == OP_reshape || op->kind == OP_broadcast || op->kind == OP_cast)
        op = op->args[0]->op;
    return op->kind == OP_iota;
}

/* Of tensors with different numbers of axes, such as [B, 1] and [B]: whether each row of the batch
 * would meet each other one, though nobody has said so; after a message. */
static bool pairs_rows(Elab *e, const Node *node, const Value *x, const Value *y, const Type *both)
{
    if (x->type.rank == y->type.rank || is_positions(x) || is_positions(y))
        return false;
    const Value *less = x->type.rank < y->type.rank ? x : y;
    for (int i = 0; i < both->rank; i++) {
        const int batch = both->dims[i].symbol;
        if (!symbol_counts_rows(e->module, batch) || type_count_dim(both, batch) != 2 ||
            type_count_dim(&x->type, batch) != 1 || type_count_dim(&y->type, batch) != 1)
            continue;
        elab_error(e, node,
                   "`%s`: %s and %s would give %s, each row of the batch with each other one; "
                   "`reshape` gives them the same axes, or %s a first one of 1 if that is meant",
                   expression_text(e->arena, node), type_text(e, &x->type), type_text(e, &y->type),
                   type_text(e, both), type_text(e, &less->type));
        return true;
    }
    return false;
}

Value *check_broadcast(Elab *e, const Node *node, Value *x, Value *y)
{
    Type both;
    if (shape_broadcast(&x->type, &y->type, &both))
        return pairs_rows(e, node, x, y, &both) ? NULL : x;
    for (int i = 1; i <= x->type.rank && i <= y->type.rank; i++) {
        int a = x->type.rank - i, b = y->type.rank - i;
        Dim p = x->type.dims[a], q = y->type.dims[b];
        if (dim_equal(p, q) || dim_is_one(p) || dim_is_one(q))
            continue;
        const DimName *of_x = dim_names(e, x) + a, *of_y = dim_names(e, y) + b;
        elab_error(e, node, "`%s`: dimension %d differs: %s against %s (%s and %s)",
                   expression_text(e->arena, node), -i, dim_text(e, p, of_x), dim_text(e, q, of_y),
                   type_text(e, &x->type), type_text(e, &y->type));
        note_origin(e, p, of_x);
        note_origin(e, q, of_y);
        return NULL;
    }
    return x;
}

static Val elementwise(Elab *e, const Node *node, OpKind kind, Value *x, Value *y)
{
    if (!check_broadcast(e, node, x, y))
        return val_error();
    Val val = val_tensor(e, node, build_binary(&e->b, kind, x, y));
    if (val.kind == VAL_TENSOR) {
        copy_dim_names(e, val.tensor, x);
        copy_dim_names(e, val.tensor, y);
    }
    return val;
}

/* ---- products ---- */

/* Of a product that fails: if x has a row for each matrix of y, how this is written. */
static void note_rows_of_matrices(Elab *e, const Node *node, const Type *x, const Type *y)
{
    if (x->rank < 2 || y->rank < x->rank + 1)
        return;
    for (int i = 0; i < x->rank - 1; i++)
        if (!dim_equal(x->dims[i], y->dims[i]))
            return;
    elab_note(
        e, node->a->loc,
        "`%s` has a row for each matrix: the product takes it as `reshape(x, [shape(x, 0, -1), %s1, x.-1])`, where x stands for it",
        expression_text(e->arena, node->a), y->rank > x->rank + 1 ? "1, " : "");
}

static bool check_product(Elab *e, const Node *node, Value *x, Value *y)
{
    int rx = x->type.rank, ry = y->type.rank;
    const char *text = expression_text(e->arena, node);
    if (rx < 1 || ry < 1) {
        elab_error(e, node,
                   "`%s`: a product needs matrices, given %s and %s; by a number it is `*`", text,
                   type_text(e, &x->type), type_text(e, &y->type));
        return false;
    }
    int inner_y = ry == 1 ? 0 : ry - 2;
    Dim p = x->type.dims[rx - 1], q = y->type.dims[inner_y];
    if (!dim_equal(p, q)) {
        const DimName *of_x = dim_names(e, x) + rx - 1, *of_y = dim_names(e, y) + inner_y;
        elab_error(e, node, "`%s`: inner dimensions differ: %s against %s (%s and %s)", text,
                   dim_text(e, p, of_x), dim_text(e, q, of_y), type_text(e, &x->type),
                   type_text(e, &y->type));
        note_origin(e, p, of_x);
        note_origin(e, q, of_y);
        return false;
    }
    for (int i = 3; i <= rx && i <= ry; i++) {
        Dim a = x->type.dims[rx - i], b = y->type.dims[ry - i];
        if (dim_equal(a, b) || dim_is_one(a) || dim_is_one(b))
            continue;
        const DimName *of_x = dim_names(e, x) + rx - i, *of_y = dim_names(e, y) + ry - i;
        elab_error(
            e, node,
            "`%s`: dimension %d of the two batches of matrices differs: %s against %s (%s and %s)",
            text, -i, dim_text(e, a, of_x), dim_text(e, b, of_y), type_text(e, &x->type),
            type_text(e, &y->type));
        note_origin(e, a, of_x);
        note_origin(e, b, of_y);
        note_rows_of_matrices(e, node, &x->type, &y->type);
        return false;
    }
    return true;
}

Val matmul_op(Elab *e, const Node *node, Value *x, Value *y)
{
    if (!check_product(e, node, x, y))
        return val_error();
    bool vector = y->type.rank == 1;
    Value *matrix = y;
    if (vector) {
        Dim column[] = {y->type.dims[0], dim_const(1)};
        matrix = build_reshape(&e->b, y, 2, column);
    }
    Value *product = build_matmul(&e->b, x, matrix);
    if (product && vector)
        product = build_reshape(&e->b, product, product->type.rank - 1, product->type.dims);
    Val val = val_tensor(e, node, product);
    if (val.kind != VAL_TENSOR)
        return val;
    DimName *names = dim_names(e, val.tensor);
    int rank = product->type.rank, rx = x->type.rank, ry = y->type.rank;
    if (vector) {
        for (int i = 0; i < rank; i++)
            names[i] = dim_names(e, x)[i];
        return val;
    }
    names[rank - 1] = dim_names(e, y)[ry - 1];
    for (int i = 2; i <= rank; i++) {
        if (i <= rx && dim_equal(product->type.dims[rank - i], x->type.dims[rx - i]))
            names[rank - i] = dim_names(e, x)[rx - i];
        else if (i > 2 && i <= ry)
            names[rank - i] = dim_names(e, y)[ry - i];
    }
    return val;
}

/* ---- operators that are ops ---- */

typedef struct Operator {
    TokenKind token;
    OpKind op;
    bool gives_truth, swapped, negated; /* swapped: of b and a; negated: not the op's value */
} Operator;

static const Operator operators[] = {
    /* clang-format off */
    {TOKEN_PLUS,          OP_add, false, false, false},
    {TOKEN_MINUS,         OP_sub, false, false, false},
    {TOKEN_STAR,          OP_mul, false, false, false},
    {TOKEN_SLASH,         OP_div, false, false, false},
    {TOKEN_CARET,         OP_pow, false, false, false},
    {TOKEN_LESS,          OP_lt,  true,  false, false},
    {TOKEN_LESS_EQUAL,    OP_le,  true,  false, false},
    {TOKEN_GREATER,       OP_lt,  true,  true,  false},
    {TOKEN_GREATER_EQUAL, OP_le,  true,  true,  false},
    {TOKEN_EQUAL,         OP_eq,  true,  false, false},
    {TOKEN_UNEQUAL,       OP_eq,  true,  false, true},
    {TOKEN_AND,           OP_and, true,  false, false},
    {TOKEN_OR,            OP_or,  true,  false, false},
    /* clang-format on */
};

/* NULL: `%` is made of several ops, `@` is a product. */
static const Operator *find_operator(TokenKind token)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].token == token)
            return &operators[i];
    return NULL;
}

static double operator_value(const Operator *known, double x, double y)
{
    double numbers[] = {known->swapped ? y : x, known->swapped ? x : y}, value = NAN;
    fold_value(known->op, DT_F64, numbers, &value);
    return known->negated ? value == 0 : value;
}

static Val operator_on_tensors(Elab *e, const Node *node, const Operator *known, Value *x, Value *y)
{
    Val val = known->swapped ? elementwise(e, node, known->op, y, x)
                             : elementwise(e, node, known->op, x, y);
    return known->negated && val.kind == VAL_TENSOR ? unary_op(e, node, TOKEN_NOT, val) : val;
}

/* ---- arithmetic on numbers ---- */

static const char *known_name(Elab *e, const Val *val)
{
    if (val->text)
        return val->text;
    Text text = {0};
    print_number(val->number, &text);
    return text_keep(e->arena, &text);
}

static Val fold(Elab *e, const Node *node, TokenKind op, const Val *a, const Val *b)
{
    const Operator *known = find_operator(op);
    if (known && known->gives_truth)
        return val_bool(operator_value(known, a->number, b->number) != 0);
    if (a->kind == VAL_BOOL && b->kind == VAL_BOOL)
        return elab_error(e, node, "`%s`: cannot compute with truth values",
                          expression_text(e->arena, node));
    double x = a->number, y = b->number, result;
    if (op == TOKEN_PERCENT)
        result = x - y * floor(x / y);
    else if (known)
        result = operator_value(known, x, y);
    else
        return elab_error(e, node, "`@` multiplies tensors, not numbers");
    if ((op == TOKEN_SLASH || op == TOKEN_PERCENT) && y == 0)
        return elab_error_of(e, node, b, "`%s`: division by zero", expression_text(e->arena, node));
    if (isnan(result))
        return elab_error(e, node, "`%s` is not a number", expression_text(e->arena, node));
    Loc place = primary_place(e, node);
    if (!is_users(e, &place)) /* better a user's constant that it is made of */
        place = is_users(e, &b->origin) ? b->origin : is_users(e, &a->origin) ? a->origin : place;
    Val val = val_number(result, place);
    if ((a->text || b->text) && strlen(known_name(e, a)) + strlen(known_name(e, b)) < 40)
        val.text =
            arena_printf(e->arena, "%s %s %s", known_name(e, a), token_text(op), known_name(e, b));
    return val;
}

/* ---- operators on tensors ---- */

static Value *power_of(Elab *e, Value *x, double exponent)
{
    if (exponent == 1)
        return x;
    if (exponent == 2)
        return build_binary(&e->b, OP_mul, x, x);
    if (exponent == 0.5)
        return build_unary(&e->b, OP_sqrt, x);
    if (exponent == -0.5)
        return build_unary(&e->b, OP_rsqrt, x);
    return build_binary(&e->b, OP_pow, x, build_const(&e->b, e->float_type, exponent));
}

static Val power(Elab *e, const Node *node, Val a, Val b)
{
    Value *x = as_float(e, node, a);
    if (!x || b.kind != VAL_NUMBER) {
        Value *y = x ? as_float(e, node, b) : NULL;
        return y ? elementwise(e, node, OP_pow, x, y) : val_error();
    }
    Value *y = power_of(e, x, b.number);
    Val val = val_tensor(e, node, y);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, y, x);
    return val;
}

/* a - b × floor(a / b); whole numbers: as the language of C for a, b >= 0. */
static Val remainder_op(Elab *e, const Node *node, Value *x, Value *y)
{
    Val quotient = elementwise(e, node, OP_div, x, y);
    if (quotient.kind != VAL_TENSOR)
        return quotient;
    Value *whole = quotient.tensor;
    if (dtype_is_float(whole->type.dtype))
        whole = build_unary(&e->b, OP_floor, whole);
    return elementwise(e, node, OP_sub, x, build_binary(&e->b, OP_mul, whole, y));
}

/* `true` and `false` disappear: a mask that allows everything costs nothing. */
static Val logic(Elab *e, const Node *node, TokenKind op, Val a, Val b)
{
    Val *known = a.kind == VAL_BOOL ? &a : b.kind == VAL_BOOL ? &b : NULL;
    if (known) {
        Val other = known == &a ? b : a;
        bool keeps = (op == TOKEN_AND) == (known->number != 0);
        if (other.kind == VAL_TENSOR && other.tensor->type.dtype == DT_BOOL)
            return keeps ? other : *known;
    }
    Value *x = as_tensor(e, node, a), *y = x ? as_tensor(e, node, b) : NULL;
    if (!x || !y)
        return val_error();
    if (x->type.dtype != DT_BOOL || y->type.dtype != DT_BOOL)
        return elab_error(e, node, "`%s`: `%s` takes truth values, given %s and %s",
                          expression_text(e->arena, node), token_text(op), type_text(e, &x->type),
                          type_text(e, &y->type));
    return operator_on_tensors(e, node, find_operator(op), x, y);
}

static Val compare_words(Elab *e, const Node *node, TokenKind op, const Val *a, const Val *b)
{
    bool equal = a->kind == b->kind;
    if (equal)
        equal = a->kind == VAL_STRING ? !strcmp(a->text, b->text) : a->symbol == b->symbol;
    if (op == TOKEN_EQUAL || op == TOKEN_UNEQUAL)
        return val_bool(equal == (op == TOKEN_EQUAL));
    if (a->kind == VAL_STRING || b->kind == VAL_STRING)
        return elab_error(e, node, "`%s`: cannot compute with strings",
                          expression_text(e->arena, node));
    const bool is_made =
        op == TOKEN_PLUS || op == TOKEN_MINUS || op == TOKEN_STAR || op == TOKEN_SLASH;
    refuse_dim(e, node, a->kind == VAL_DIM ? a->symbol : b->symbol, is_made);
    return val_error();
}

/* `/` and `@`, which are of floats alone. */
static Val of_floats(Elab *e, const Node *node, TokenKind op, Val a, Val b)
{
    Value *x = as_float(e, node, a), *y = x ? as_float(e, node, b) : NULL;
    if (!x || !y)
        return val_error();
    return op == TOKEN_AT ? matmul_op(e, node, x, y) : elementwise(e, node, OP_div, x, y);
}

static bool is_known(const Val *val) { return val->kind == VAL_NUMBER || val->kind == VAL_BOOL; }

static bool is_word(const Val *val) { return val->kind == VAL_STRING || val->kind == VAL_DIM; }

static bool is_tensor(const Val *val) { return !is_known(val) && !is_word(val); }

Val binary_op(Elab *e, const Node *node, TokenKind op, Val a, Val b)
{
    if (a.kind == VAL_ERROR || b.kind == VAL_ERROR)
        return val_error();
    if (is_known(&a) && is_known(&b))
        return fold(e, node, op, &a, &b);
    if (!is_tensor(&a) && !is_tensor(&b))
        return compare_words(e, node, op, &a, &b);
    if (op == TOKEN_AND || op == TOKEN_OR)
        return logic(e, node, op, a, b);
    if (op == TOKEN_CARET)
        return power(e, node, a, b);
    if (op == TOKEN_SLASH || op == TOKEN_AT)
        return of_floats(e, node, op, a, b);
    Value *x, *y;
    if (!promote_pair(e, node, a, b, &x, &y))
        return val_error();
    return op == TOKEN_PERCENT ? remainder_op(e, node, x, y)
                               : operator_on_tensors(e, node, find_operator(op), x, y);
}

Val unary_op(Elab *e, const Node *node, TokenKind op, Val a)
{
    if (a.kind == VAL_ERROR)
        return a;
    OpKind kind = op == TOKEN_NOT ? OP_not : OP_neg;
    if (a.kind == VAL_NUMBER || (a.kind == VAL_BOOL && kind == OP_not)) {
        double value = 0;
        fold_value(kind, DT_F64, &a.number, &value);
        return kind == OP_not ? val_bool(value != 0) : val_number(value, a.origin);
    }
    Value *x = as_tensor(e, node, a);
    if (!x)
        return val_error();
    if (op == TOKEN_NOT && x->type.dtype != DT_BOOL)
        return elab_error(e, node, "`not` takes a truth value, not %s", type_text(e, &x->type));
    if (op == TOKEN_MINUS && x->type.dtype == DT_BOOL)
        x = build_cast(&e->b, x, DT_I32);
    Val val = val_tensor(e, node, build_unary(&e->b, kind, x));
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, val.tensor, x);
    return val;
}
