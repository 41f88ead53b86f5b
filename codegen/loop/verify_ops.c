/* The rules that ops have of their own, one function each; see verify.h. */
#include "codegen/loop/verify.h"

#include "codegen/loop/build.h"
#include "codegen/loop/text/text.h"

typedef bool (*Rule)(LoVerifier *v, const LoOp *op);

static const char *text_of(LoVerifier *v, LoType type) { return lo_type_text(type, v->arena); }

/* Operand i has this type. */
static bool has_type(LoVerifier *v, const LoOp *op, int i, LoType type)
{
    return op->args[i]->type == type || lo_broken(v, op, "operand %d is %s; it takes %s", i,
                                                  text_of(v, op->args[i]->type), text_of(v, type));
}

static bool gives(LoVerifier *v, const LoOp *op, LoType type)
{
    return op->type == type || lo_broken(v, op, "it gives %s, but %s is stated", text_of(v, type),
                                         text_of(v, op->type));
}

static bool counts(LoVerifier *v, const LoOp *op, int least, int most)
{
    return (op->n_args >= least && op->n_args <= most) ||
           lo_broken(v, op, "it takes so many operands: %d to %d, not %d", least, most, op->n_args);
}

static bool is_int(LoType type) { return !lo_is_float(type) && lo_element(type) != lo_ptr; }

/* ---- values ---- */

static bool check_math(LoVerifier *v, const LoOp *op)
{
    static const struct {
        const char *name;
        int n_args;
    } functions[] = {
#define FUNCTION(name, n) {#name, n},
#include "codegen/loop/functions.def"
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (op->name && !strcmp(functions[i].name, op->name))
            return counts(v, op, functions[i].n_args, functions[i].n_args);
    return lo_broken(v, op, "there is no function \"%s\"", op->name ? op->name : "");
}

static bool check_select(LoVerifier *v, const LoOp *op)
{
    LoType condition = op->args[0]->type, type = op->args[1]->type;
    if (condition != lo_i1 && condition != lo_like(type, lo_i1))
        return lo_broken(v, op, "its condition is i1, or i1 of each lane, not %s",
                         text_of(v, condition));
    return has_type(v, op, 2, type) && gives(v, op, type);
}

/* How the result of a cast compares with its operand in width. */
typedef enum Width { NARROWER = -1, ANY_WIDTH, WIDER } Width;

static const struct {
    bool from_float, to_float;
    Width width;
} casts[LO_KINDS] = {
    [LO_trunc] = {false, false, NARROWER},    [LO_zext] = {false, false, WIDER},
    [LO_sext] = {false, false, WIDER},        [LO_fcast] = {true, true, ANY_WIDTH},
    [LO_from_int] = {false, true, ANY_WIDTH}, [LO_from_uint] = {false, true, ANY_WIDTH},
    [LO_to_int] = {true, false, ANY_WIDTH},
};

static bool check_cast(LoVerifier *v, const LoOp *op)
{
    LoType from = op->args[0]->type, to = op->type;
    Width width = casts[op->kind].width;
    int more = lo_bits(to) - lo_bits(from);
    bool fits = (casts[op->kind].from_float ? lo_is_float(from) : is_int(from)) &&
                (casts[op->kind].to_float ? lo_is_float(to) : is_int(to)) &&
                lo_lanes(from) == lo_lanes(to) &&
                (width == ANY_WIDTH || (width == WIDER ? more > 0 : more < 0));
    return fits || lo_broken(v, op, "it does not make %s of %s", text_of(v, to), text_of(v, from));
}

static bool check_bitcast(LoVerifier *v, const LoOp *op)
{
    LoType from = op->args[0]->type, to = op->type;
    bool pointers = lo_element(from) == lo_ptr || lo_element(to) == lo_ptr;
    return (!pointers && lo_bits(from) * lo_lanes(from) == lo_bits(to) * lo_lanes(to)) ||
           lo_broken(v, op, "%s and %s have not the same bits", text_of(v, from), text_of(v, to));
}

static bool check_splat(LoVerifier *v, const LoOp *op)
{
    if (!lo_is_vector(op->type))
        return lo_broken(v, op, "it gives a vector, not %s", text_of(v, op->type));
    return has_type(v, op, 0, lo_element(op->type));
}

static bool check_order(LoVerifier *v, const LoOp *op, int n, int lanes)
{
    if (op->n_order != n)
        return lo_broken(v, op, "it lists %d lanes, not %d", n, op->n_order);
    for (int i = 0; i < n; i++)
        if (op->order[i] < 0 || op->order[i] >= lanes)
            return lo_broken(v, op, "lane %d is not below %d", op->order[i], lanes);
    return true;
}

static bool check_extract(LoVerifier *v, const LoOp *op)
{
    LoType from = op->args[0]->type;
    return check_order(v, op, 1, lo_lanes(from)) && gives(v, op, lo_element(from));
}

static bool check_shuffle(LoVerifier *v, const LoOp *op)
{
    LoType from = op->args[0]->type;
    if (!lo_is_vector(from) || !lo_is_vector(op->type))
        return lo_broken(v, op, "it is of vectors");
    return has_type(v, op, 1, from) && gives(v, op, lo_like(op->type, lo_element(from))) &&
           check_order(v, op, lo_lanes(op->type), 2 * lo_lanes(from));
}

static bool check_pair_dot(LoVerifier *v, const LoOp *op)
{
    LoType sum = op->args[0]->type, pairs = lo_like(sum, lo_i32);
    return has_type(v, op, 0, lo_like(sum, lo_f32)) && has_type(v, op, 1, pairs) &&
           has_type(v, op, 2, pairs);
}

static bool check_integer_dot(LoVerifier *v, const LoOp *op)
{
    LoType words = lo_like(op->args[0]->type, lo_i32);
    return has_type(v, op, 0, words) && has_type(v, op, 1, words) && has_type(v, op, 2, words);
}

/* ---- memory ---- */

static bool stands_in_loop(const LoOp *op)
{
    for (const LoBlock *b = op->block; b && b->parent; b = b->parent->block)
        if (b->parent->kind != LO_if)
            return true;
    return false;
}

static bool check_scratch(LoVerifier *v, const LoOp *op)
{
    if (stands_in_loop(op))
        return lo_broken(v, op, "it stands outside of loops");
    if (lo_is_int(op->args[0]) && op->args[0]->number < 0)
        return lo_broken(v, op, "it cannot hold fewer elements than none");
    return has_type(v, op, 0, lo_i64) && gives(v, op, lo_ptr);
}

static bool check_at(LoVerifier *v, const LoOp *op)
{
    LoType pointer = op->args[0]->type, index = op->args[1]->type;
    LoType shape = lo_is_vector(pointer) ? pointer : index;
    if (lo_is_vector(pointer) && !has_type(v, op, 1, lo_like(pointer, lo_i64)))
        return false;
    return has_type(v, op, 0, lo_like(pointer, lo_ptr)) &&
           has_type(v, op, 1, lo_like(index, lo_i64)) && gives(v, op, lo_like(shape, lo_ptr));
}

/* Of a value of this type; the pointer is operand i, and a mask may follow. */
static bool check_access(LoVerifier *v, const LoOp *op, LoType type, int i)
{
    LoType pointer = op->args[i]->type;
    if (pointer != lo_ptr && !has_type(v, op, i, lo_like(type, lo_ptr)))
        return false;
    if (lo_element(type) == lo_i1)
        return lo_broken(v, op, "memory holds no i1");
    if (op->n_args == i + 1)
        return true;
    return has_type(v, op, i + 1, lo_like(type, lo_i1));
}

static bool check_load(LoVerifier *v, const LoOp *op)
{
    return counts(v, op, 1, 2) && check_access(v, op, op->type, 0);
}

static bool check_store(LoVerifier *v, const LoOp *op)
{
    return counts(v, op, 2, 3) && check_access(v, op, op->args[0]->type, 1);
}

static bool check_prefetch(LoVerifier *v, const LoOp *op) { return has_type(v, op, 0, lo_ptr); }

/* Operand i is the number of a tile register. */
static bool is_register(LoVerifier *v, const LoOp *op, int i)
{
    const LoOp *x = op->args[i];
    return (lo_is_int(x) && x->type == lo_i8 && x->number >= 0 && x->number < LO_TILES) ||
           lo_broken(v, op, "operand %d is a register, i8 0 to %d", i, LO_TILES - 1);
}

static bool check_tile_zero(LoVerifier *v, const LoOp *op) { return is_register(v, op, 0); }

static bool check_tile_access(LoVerifier *v, const LoOp *op)
{
    return is_register(v, op, 0) && has_type(v, op, 1, lo_ptr) && has_type(v, op, 2, lo_i64);
}

static bool check_tile_dot(LoVerifier *v, const LoOp *op)
{
    return is_register(v, op, 0) && is_register(v, op, 1) && is_register(v, op, 2);
}

/* ---- sums over loops ---- */

static bool check_accumulator(LoVerifier *v, const LoOp *op)
{
    return (op->name && (!strcmp(op->name, "add") || !strcmp(op->name, "max"))) ||
           lo_broken(v, op, "it joins by \"add\" or \"max\"");
}

static bool is_accumulator(LoVerifier *v, const LoOp *op)
{
    return op->args[0]->kind == LO_accumulator || lo_broken(v, op, "operand 0 is no accumulator");
}

static bool check_accumulate(LoVerifier *v, const LoOp *op)
{
    return is_accumulator(v, op) && has_type(v, op, 1, op->args[0]->type);
}

/* ---- control ---- */

static bool check_call(LoVerifier *v, const LoOp *op)
{
    const LoFunction *f = op->callee;
    if (!f || lo_find_function(v->module, f->name) != f)
        return lo_broken(v, op, "the module has no such function");
    if (op->n_args != f->n_params)
        return lo_broken(v, op, "@%s has %d parameters, not %d", f->name, f->n_params, op->n_args);
    for (int i = 0; i < op->n_args; i++)
        if (!has_type(v, op, i, f->params[i]->type))
            return false;
    return true;
}

static bool check_return(LoVerifier *v, const LoOp *op)
{
    if (op->after)
        return lo_broken(v, op, "it is the last op of its block");
    const LoOp *parent = op->block->parent;
    return !parent || parent->kind == LO_if ||
           lo_broken(v, op, "it ends a function or a branch of an if, not a turn of a loop");
}

static bool check_for(LoVerifier *v, const LoOp *op)
{
    if (op->number <= 0)
        return lo_broken(v, op, "its step is above 0");
    if (op->vector.lanes && op->number != 1)
        return lo_broken(v, op, "of a loop that becomes vectors the step is 1");
    return has_type(v, op, 0, lo_i64) && has_type(v, op, 1, lo_i64) && gives(v, op, lo_i64);
}

/* Its block ends with the values of the next turn. */
static bool check_turn(LoVerifier *v, const LoOp *op)
{
    const LoOp *next = op->body->last;
    if (!next || next->kind != LO_next)
        return lo_broken(v, op, "its block ends with next");
    if (next->n_args != op->n_args - 1)
        return lo_broken(v, next, "its while carries %d values, not %d", op->n_args - 1,
                         next->n_args);
    for (int i = 0; i < next->n_args; i++)
        if (next->args[i] && !has_type(v, next, i, op->args[i]->type))
            return false;
    return true;
}

/* Turns that can become one: straight code that takes the step from what is left. */
static bool check_unroll(LoVerifier *v, const LoOp *op)
{
    int n = op->n_args - 1;
    const LoOp *after = op->body->last->args[n - 1];
    FOR_LOOP_OPS (inner, op->body)
        if (inner->body)
            return lo_broken(v, op, "of a loop that is unrolled the block has no others in it");
    bool counts = after && after->kind == LO_isub && after->args[0] == op->args[n - 1] &&
                  after->args[1] == op->args[n] && lo_is_int(op->args[n]);
    return counts ||
           lo_broken(
               v, op,
               "of a loop that is unrolled a turn takes the step, a constant, from the last of its carries");
}

static bool check_while(LoVerifier *v, const LoOp *op)
{
    int n = op->n_args - 1;
    if (n < 1)
        return lo_broken(v, op, "it carries a value");
    if (n > LO_MAX_CARRIED)
        return lo_broken(v, op, "it carries %d values, more than %d", n, LO_MAX_CARRIED);
    for (int i = 0; i < n; i++) {
        const LoOp *carry = op->args[i];
        if (carry->kind != LO_carry || carry->block != op->block)
            return lo_broken(v, op, "operand %d is no carry of its block", i);
        bool taken = lo_is_seen(v, carry);
        for (int j = 0; j < i; j++)
            taken |= op->args[j] == carry;
        if (taken)
            return lo_broken(v, op, "operand %d, %%%d, is carried already", i, carry->id);
    }
    LoType left = op->args[n - 1]->type;
    if (lo_is_vector(left) || !is_int(left))
        return lo_broken(v, op, "the last of its carries is an integer, not %s", text_of(v, left));
    return has_type(v, op, n, left) && check_turn(v, op) && (!op->unroll || check_unroll(v, op));
}

static bool check_next(LoVerifier *v, const LoOp *op)
{
    const LoOp *parent = op->block->parent;
    return (!op->after && parent && parent->kind == LO_while) ||
           lo_broken(v, op, "it ends the block of a while");
}

static bool check_if(LoVerifier *v, const LoOp *op) { return has_type(v, op, 0, lo_i1); }

static bool check_seam(LoVerifier *v, const LoOp *op)
{
    return lo_broken(v, op, "it is gone when a function is whole");
}

static const Rule rules[LO_KINDS] = {
    [LO_math] = check_math,
    [LO_select] = check_select,
    [LO_trunc] = check_cast,
    [LO_zext] = check_cast,
    [LO_sext] = check_cast,
    [LO_fcast] = check_cast,
    [LO_from_int] = check_cast,
    [LO_from_uint] = check_cast,
    [LO_to_int] = check_cast,
    [LO_bitcast] = check_bitcast,
    [LO_splat] = check_splat,
    [LO_extract] = check_extract,
    [LO_shuffle] = check_shuffle,
    [LO_pair_dot] = check_pair_dot,
    [LO_word_dot] = check_integer_dot,
    [LO_byte_dot] = check_integer_dot,
    [LO_byte_pairs] = check_integer_dot,
    [LO_signed_dot] = check_integer_dot,
    [LO_scratch] = check_scratch,
    [LO_at] = check_at,
    [LO_load] = check_load,
    [LO_store] = check_store,
    [LO_prefetch] = check_prefetch,
    [LO_prefetch_write] = check_prefetch,
    [LO_tile_zero] = check_tile_zero,
    [LO_tile_load] = check_tile_access,
    [LO_tile_stream] = check_tile_access,
    [LO_tile_store] = check_tile_access,
    [LO_tile_dot] = check_tile_dot,
    [LO_accumulator] = check_accumulator,
    [LO_accumulate] = check_accumulate,
    [LO_total] = is_accumulator,
    [LO_call] = check_call,
    [LO_return] = check_return,
    [LO_for] = check_for,
    [LO_while] = check_while,
    [LO_next] = check_next,
    [LO_if] = check_if,
    [LO_seam] = check_seam,
};

bool lo_verify_own(LoVerifier *v, const LoOp *op)
{
    return !rules[op->kind] || rules[op->kind](v, op);
}
