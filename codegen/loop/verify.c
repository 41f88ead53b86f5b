/* The verifier: names, scopes, and what ops.def says of every op; see verify.h. */
#include "codegen/loop/verify.h"

#include "base/map.h"
#include "base/scan.h"
#include "codegen/loop/text/text.h"

/* ---- messages ---- */

static bool module_broken(LoVerifier *v, const char *format, const char *name)
{
    diag_error(v->diags, (Loc){0}, format, name);
    return false;
}

static bool has_room(const LoVerifier *v)
{
    return v->diags->errors - v->errors_before < MOST_ERRORS;
}

/* ---- types and operands ---- */

static bool is_type(LoType type)
{
    LoElement element = lo_element_kind(type);
    return element > LO_NONE && element < LO_ELEMENTS && lo_lanes(type) >= 1 &&
           lo_lanes(type) <= LO_MAX_LANES;
}

static bool is_wide(LoType type) { return lo_lanes(type) > LO_MAX_LANES; }

static bool check_constant(LoVerifier *v, const LoOp *op, const LoOp *x)
{
    const char *type = lo_type_text(x->type, v->arena);
    if (is_wide(x->type))
        return lo_broken(v, op, "%s is wider than %d lanes", type, LO_MAX_LANES);
    if (!is_type(x->type) || (x->kind == LO_real) != lo_is_float(x->type))
        return lo_broken(v, op, "a constant cannot have the type %s", type);
    bool not_f32 = x->kind == LO_real && lo_element(x->type) == lo_f32 && x->real == x->real &&
                   (double)(float)x->real != x->real;
    return !not_f32 || lo_broken(v, op, "a constant is no f32");
}

/* Operands are constants, or defined before the op, in its block or around it. What a while
 * carries is seen from the while on. */
static bool check_operands(LoVerifier *v, const LoOp *op)
{
    const LoInfo *info = &lo_info[op->kind];
    if (info->args != LO_ANY_ARGS && info->args != op->n_args)
        return lo_broken(v, op, "it takes so many operands: %d, not %d", info->args, op->n_args);
    for (int i = 0; i < op->n_args; i++) {
        const LoOp *x = op->args[i];
        if (!x)
            return lo_broken(v, op, "operand %d is missing", i);
        if (lo_is_constant(x)) {
            if (!check_constant(v, op, x))
                return false;
            continue;
        }
        bool carried = op->kind == LO_while && i < op->n_args - 1;
        if (!carried && !lo_is_seen(v, x))
            return lo_broken(v, op, "operand %d, %%%d, is not seen here: it is defined %s", i,
                             x->id,
                             x->kind == LO_carry ? "with its while" : "later, or in another block");
    }
    return true;
}

static const struct {
    const char *words;
    bool ints, floats, pointers;
} domains[] = {
    [LO_OF_OWN] = {"values", 1, 1, 1},    [LO_OF_NUMBERS] = {"numbers", 1, 1, 0},
    [LO_OF_INTS] = {"integers", 1, 0, 0}, [LO_OF_FLOATS] = {"floats", 0, 1, 0},
    [LO_OF_INDICES] = {"i64s", 1, 0, 0},  [LO_OF_VALUES] = {"values", 1, 1, 1},
};

static bool is_of(LoOperands of, LoType type)
{
    bool pointer = lo_element(type) == lo_ptr, real = lo_is_float(type);
    if (of == LO_OF_INDICES && lo_element(type) != lo_i64)
        return false;
    return pointer ? domains[of].pointers : real ? domains[of].floats : domains[of].ints;
}

static bool check_domain(LoVerifier *v, const LoOp *op)
{
    LoOperands of = lo_info[op->kind].of;
    for (int i = 0; of != LO_OF_OWN && i < op->n_args; i++) {
        LoType type = op->args[i]->type;
        if (!is_of(of, type))
            return lo_broken(v, op, "its operands are %s, not %s", domains[of].words,
                             lo_type_text(type, v->arena));
        if (type != op->args[0]->type)
            return lo_broken(v, op, "its operands have one type, not %s and %s",
                             lo_type_text(op->args[0]->type, v->arena),
                             lo_type_text(type, v->arena));
    }
    return true;
}

static bool check_result(LoVerifier *v, const LoOp *op)
{
    LoResult result = lo_info[op->kind].result;
    if (result == LO_RESULT_NONE)
        return op->type == lo_none || lo_broken(v, op, "it has no result");
    const char *stated = lo_type_text(op->type, v->arena);
    if (is_wide(op->type))
        return lo_broken(v, op, "%s is wider than %d lanes", stated, LO_MAX_LANES);
    if (!is_type(op->type))
        return lo_broken(v, op, "its result has no type");
    if (result == LO_RESULT_GIVEN || op->n_args == 0)
        return true;
    LoType type = op->args[0]->type, given = result == LO_RESULT_SAME ? type : lo_like(type, lo_i1);
    return op->type == given ||
           lo_broken(v, op, "it gives %s, but %s is stated", lo_type_text(given, v->arena), stated);
}

static bool check_form(LoVerifier *v, const LoOp *op)
{
    if (op->align & (op->align - 1))
        return lo_broken(v, op, "an alignment is a power of two, not %d", op->align);
    if (lo_info[op->kind].form != LO_FORM_ELEMENT)
        return true;
    if (is_wide(op->element) || !is_type(op->element))
        return lo_broken(v, op, "an element cannot have the type %s",
                         lo_type_text(op->element, v->arena));
    return lo_element(op->element) != lo_i1 || lo_broken(v, op, "memory holds no i1");
}

/* ---- blocks ---- */

static void see(LoVerifier *v, const LoOp *op, const LoOp *as)
{
    if (op->type != lo_none && op->id >= 0 && op->id < v->function->n_ids)
        v->visible[op->id] = as;
}

static void verify_block(LoVerifier *v, const LoBlock *block);

static void verify_inner(LoVerifier *v, const LoOp *op, const LoBlock *block)
{
    if (block->parent != op || block->function != v->function)
        lo_broken(v, op, "its block does not know it");
    verify_block(v, block);
}

static bool check_blocks(LoVerifier *v, const LoOp *op)
{
    bool has = lo_info[op->kind].form == LO_FORM_BLOCKS;
    if (has != (op->body != NULL))
        return lo_broken(v, op, has ? "it has a block" : "it has no block");
    return !op->other || op->kind == LO_if || lo_broken(v, op, "only an if has a second block");
}

static void verify_op(LoVerifier *v, const LoOp *op)
{
    if (check_operands(v, op) && check_domain(v, op) && check_result(v, op) && check_form(v, op) &&
        check_blocks(v, op))
        lo_verify_own(v, op);
    if (op->kind ==
        LO_while) /* what it carries is seen, even where it breaks a rule: once is enough */
        for (int i = 0; i < op->n_args - 1; i++)
            if (op->args[i] && op->args[i]->kind == LO_carry)
                see(v, op->args[i], op->args[i]);
    if (op->kind != LO_carry)
        see(v, op, op);
    if (op->body)
        verify_inner(v, op, op->body);
    if (op->other)
        verify_inner(v, op, op->other);
    if (op->kind == LO_for) /* its index is of its block */
        see(v, op, NULL);
}

static void verify_block(LoVerifier *v, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->block != block)
            lo_broken(v, op, "it does not know its block");
        if (has_room(v))
            verify_op(v, op);
    }
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_carry && !lo_is_seen(v, op) && has_room(v))
            lo_broken(v, op, "no while of its block carries it");
        see(v, op, NULL);
    }
}

/* ---- modules ---- */

static void verify_function(LoVerifier *v, LoFunction *f)
{
    int errors_before = v->diags->errors;
    v->function = f;
    lo_number(f);
    v->visible = ARENA_ARRAY(v->arena, const LoOp *, f->n_ids + 1);
    for (int i = 0; i < f->n_params; i++) {
        if (!is_type(f->params[i]->type))
            module_broken(v, "a parameter of @%s has no type, or is too wide", f->name);
        see(v, f->params[i], f->params[i]);
    }
    verify_block(v, f->body);
    if (has_room(v) && v->diags->errors == errors_before) /* all ops were verified */
        lo_verify_turns(v, f->body);
}

/* Functions and records are names of one module, each once. */
static void verify_names(LoVerifier *v)
{
    Map names;
    map_init(&names, v->arena);
    for (size_t i = 0; i < v->module->functions.count; i++) {
        LoFunction *f = v->module->functions.data[i];
        if (!*f->name || map_has(&names, f->name))
            module_broken(v, "@%s is no name of its own", f->name);
        map_set(&names, f->name, f);
    }
    for (size_t i = 0; i < v->module->records.count; i++) {
        LoRecord *record = v->module->records.data[i];
        for (int j = 0; j < record->n_functions; j++) {
            LoFunction *f = record->functions[j];
            if (f && map_get(&names, f->name) != f)
                module_broken(v, "record @%s names a function that the module does not have",
                              record->name);
        }
        if (!*record->name || map_has(&names, record->name))
            module_broken(v, "@%s is no name of its own", record->name);
        map_set(&names, record->name, record);
    }
}

bool lo_verify(LoModule *module, Diagnostics *diags)
{
    LoVerifier v = {
        .module = module, .diags = diags, .arena = diags->arena, .errors_before = diags->errors};
    verify_names(&v);
    for (size_t i = 0; i < module->functions.count; i++)
        verify_function(&v, module->functions.data[i]);
    return diags->errors == v.errors_before;
}
