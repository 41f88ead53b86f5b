/* The verifier: every rule of the IR that docs/ir.md states. It trusts nothing
 * that it has not checked: the types of operands were checked where they were
 * defined, attributes before the type rules read them.
 *
 * Which attributes an op carries is said by its row in ops.def: those named in
 * braces in its help text, no others but `chunk`; one with a question mark may be absent. */
#include "ir/text.h"
#include "ir/verify/verify.h"

#include <stdint.h>
#include <string.h>

/* ---- messages ---- */

/* "in FUNCTION: the op's line", under the message just given. */
void verify_note(Verifier *v, const Op *op)
{
    Text text = {0};
    Op head = *op;
    head.body = NULL; /* the first line says enough */
    ir_print_op(v->function, &head, &text);
    text.data[text.length - 1] = 0;
    diag_note(v->diags, (Loc){0}, "in function `%s`: %s", v->function->name, text.data);
    text_free(&text);
}

bool verify_fail(Verifier *v, const Op *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(v->diags, op->loc, "%s: %s", op_info[op->kind].name,
               arena_vprintf(v->arena, format, args));
    va_end(args);
    verify_note(v, op);
    return false;
}

const char *verify_type_text(Verifier *v, const Type *type)
{
    return ir_type_text(v->module, type, v->arena);
}

/* ---- the values defined so far ---- */

static Definition *find_slot(const Verifier *v, const Value *value)
{
    size_t i = hash_u64(HASH_SEED, (uintptr_t)value) & (v->n_slots - 1);
    while (v->defined[i].value && v->defined[i].value != value)
        i = (i + 1) & (v->n_slots - 1);
    return &v->defined[i];
}

static void define(Verifier *v, const Value *value)
{
    if (2 * v->n_defined >= v->n_slots) {
        Definition *old = v->defined;
        size_t n = v->n_slots;
        v->n_slots = n ? 2 * n : 64;
        v->defined = ARENA_ARRAY(v->arena, Definition, v->n_slots);
        for (size_t i = 0; i < n; i++)
            if (old[i].value)
                *find_slot(v, old[i].value) = old[i];
    }
    *find_slot(v, value) = (Definition){value, v->region};
    v->n_defined++;
}

bool verify_visible(const Verifier *v, const Value *value)
{
    const Definition *slot = v->n_slots ? find_slot(v, value) : NULL;
    return slot && slot->value && (!slot->region || slot->region == v->region);
}

const Op *verify_region_of(const Verifier *v, const Value *value)
{
    return find_slot(v, value)->region;
}

/* ---- ops ---- */

/* Each name once among the function's inputs, or its outputs. */
static bool check_name(Verifier *v, const Op *op, Map *names)
{
    const char *name = op_string(op, ATTR_name);
    if (map_has(names, name))
        return verify_fail(v, op, "a second one named \"%s\"", name);
    map_set(names, name, (void *)op);
    return true;
}

static bool begins_with_batch(const Verifier *v, const Type *type)
{
    return type->rank > 0 && !dim_is_const(type->dims[0]) &&
           !symbol_is_ragged(v->module, type->dims[0].symbol);
}

/* What may feed an input, and what its integers may stand for. */
static bool check_input(Verifier *v, const Op *op)
{
    const Type *type = &op->results[0].type;
    const Attr *vocab = op_attr(op, ATTR_vocab);
    bool is_file = vocab && ((!strncmp(vocab->s, "words:", 6) && vocab->s[6]) ||
                             (!strncmp(vocab->s, "own:", 4) && vocab->s[4]));
    if (op_attr(op, ATTR_column) && !begins_with_batch(v, type))
        return verify_fail(v, op, "fed by a column, but its first dimension is no batch");
    if (op_attr(op, ATTR_hide) && (!op_attr(op, ATTR_column) || type->dtype != DT_I32))
        return verify_fail(v, op, "hides tokens, but no column of them feeds it");
    if (vocab && !is_file && strcmp(vocab->s, "words") != 0 && strcmp(vocab->s, "shared") != 0 &&
        strcmp(vocab->s, "auto") != 0)
        return verify_fail(
            v, op, "vocab is shared, words, words:FILE, own:SPEC or auto, not \"%s\"", vocab->s);
    if (op_attr(op, ATTR_missing) && (!op_attr(op, ATTR_column) || !dtype_is_float(type->dtype)))
        return verify_fail(v, op, "says what is missing, but no column of floats");
    if (op_attr(op, ATTR_many) && (!op_attr(op, ATTR_column) || type->dtype != DT_BOOL))
        return verify_fail(v, op, "sets of labels, but no column of truth values");
    if (vocab && type->dtype != DT_I32 && !op_attr(op, ATTR_many))
        return verify_fail(v, op, "of %s, but only i32 has a vocab", verify_type_text(v, type));
    return check_name(v, op, &v->inputs);
}

static bool check_output(Verifier *v, const Op *op)
{
    const Type *type = &op->args[0]->type;
    const Attr *predict = op_attr(op, ATTR_predict);
    bool classes = predict && (!strcmp(predict->s, "classes") || !strcmp(predict->s, "many"));
    if (predict && !classes && strcmp(predict->s, "values") != 0)
        return verify_fail(v, op, "predict is classes, many or values, not \"%s\"", predict->s);
    if (predict && !begins_with_batch(v, type))
        return verify_fail(v, op, "predicted, but the first dimension of %s is no batch",
                           verify_type_text(v, type));
    if (classes && (!dtype_is_float(type->dtype) || !dim_is_const(type->dims[type->rank - 1])))
        return verify_fail(v, op, "classes are floats along a constant dimension, not %s",
                           verify_type_text(v, type));
    if (predict && type->dtype == DT_BOOL)
        return verify_fail(v, op, "predicted are numbers, not %s", verify_type_text(v, type));
    return check_name(v, op, &v->outputs);
}

static bool check_param(Verifier *v, const Op *op)
{
    const ParamInfo *info = module_param(v->module, op_string(op, ATTR_name));
    if (!info)
        return verify_fail(v, op, "param \"%s\" is not declared", op_string(op, ATTR_name));
    if (!type_equal(&info->type, &op->results[0].type))
        return verify_fail(v, op, "\"%s\" is declared %s, but %s is stated", info->name,
                           verify_type_text(v, &info->type),
                           verify_type_text(v, &op->results[0].type));
    return true;
}

static bool check_op(Verifier *v, const Op *op)
{
    bool region = op_family(op) == FAMILY_region;
    if (!verify_place(v, op) || !verify_attrs(v, op) || !verify_operands(v, op) ||
        !verify_results(v, op) || !verify_uses(v, op))
        return false;
    if (!region && op->body)
        return verify_fail(v, op, "has a body, but is no region");
    if ((region && !verify_region(v, op)) || !verify_inferred(v, op))
        return false;
    if (op->kind == OP_input)
        return check_input(v, op);
    if (op_family(op) == FAMILY_reduce && v->region)
        return verify_reduction(v, op);
    if (op->kind == OP_gather)
        return verify_table(v, op);
    if (op->kind == OP_lookup && v->region && verify_region_of(v, op->args[0]) == v->region)
        return verify_fail(v, op, "looks up what its region computes; pass it as an operand");
    if (op->kind == OP_output)
        return check_output(v, op);
    return op->kind == OP_param ? check_param(v, op) : true;
}

/* All ops of a block, also after a wrong one: its results count as defined if
 * their types make sense. */
bool verify_block(Verifier *v, const Block *block)
{
    bool fits = true;
    const Op *previous = NULL;
    for (const Op *op = block->first; op; previous = op, op = op->next) {
        if ((unsigned)op->kind >= OP_COUNT || op->previous != previous) {
            diag_error(v->diags, op->loc, "in function `%s`: the list of ops is broken",
                       v->function->name);
            return false;
        }
        fits &= check_op(v, op);
        for (int i = 0; i < op->n_results; i++)
            if (verify_type(v->module, &op->results[i].type))
                return false;
            else
                define(v, &op->results[i]);
    }
    return fits;
}

/* ---- the module ---- */

static bool module_fail(const Module *module, Diagnostics *diags, Loc loc, const char *what,
                        const char *name, const char *problem)
{
    diag_error(diags, loc, "module \"%s\": %s `%s` %s", module->name, what, name ? name : "",
               problem);
    return false;
}

static bool check_symbols(const Module *module, Diagnostics *diags)
{
    bool fits = true;
    for (size_t i = 0; i < module->symbols.count; i++) {
        const Symbol *symbol = &module->symbols.data[i];
        const char *problem = NULL;
        if (!symbol->name || !*symbol->name)
            problem = "has no name";
        else if (module_symbol(module, symbol->name) != (int)i)
            problem = "is declared twice";
        else if (symbol->batch != NO_SYMBOL && (symbol->batch < 0 || symbol->batch >= (int)i))
            problem = "is ragged over a dimension that is not declared before it";
        else if (symbol_is_ragged(module, symbol->batch))
            problem = "is ragged over a ragged dimension";
        else if (symbol->formula.n &&
                 formula_batch(module, &symbol->formula, (int)i, &problem) != symbol->batch &&
                 !problem)
            problem = "is not ragged over what it is made of";
        if (problem)
            fits = module_fail(module, diags, (Loc){0}, "dimension", symbol->name, problem);
    }
    return fits;
}

static bool check_params(const Module *module, Diagnostics *diags)
{
    bool fits = true;
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        const char *wrong = verify_type(module, &info->type), *problem = NULL;
        if (!info->name || !*info->name)
            problem = "has no name";
        else if (module_param(module, info->name) != info)
            problem = "is declared twice";
        else if (wrong)
            problem = arena_printf(diags->arena, "has %s", wrong);
        for (int j = 0; !problem && info->role != PARAM_STATE && j < info->type.rank; j++)
            if (!dim_is_const(info->type.dims[j]))
                problem = "has a dimension that is not constant, and its role is not state";
        if (problem)
            fits = module_fail(module, diags, info->loc, "param", info->name, problem);
    }
    return fits;
}

static bool check_function(const Module *module, const Function *function, Arena *arena,
                           Diagnostics *diags)
{
    Verifier v = {.module = module, .function = function, .arena = arena, .diags = diags};
    if (module_function(module, function->name) != function)
        return module_fail(module, diags, (Loc){0}, "function", function->name, "is defined twice");
    if (function->module != module)
        return module_fail(module, diags, (Loc){0}, "function", function->name,
                           "belongs to another module");
    map_init(&v.inputs, arena);
    map_init(&v.outputs, arena);
    if (!verify_block(&v, &function->body))
        return false;
    return v.n_uses == v.n_operands ||
           module_fail(module, diags, (Loc){0}, "function", function->name,
                       "lists uses by ops that are not there");
}

bool ir_verify(const Module *module, Diagnostics *diags)
{
    if (!check_symbols(module, diags) || !check_params(module, diags))
        return false;
    bool fits = true;
    Arena *arena = arena_new();
    for (size_t i = 0; i < module->functions.count; i++)
        fits &= check_function(module, module->functions.data[i], arena, diags);
    arena_free(arena);
    return fits;
}
