/* The verifier: every rule of the IR that docs/ir.md states. It trusts nothing
 * that it has not checked: the types of operands were checked where they were
 * defined, attributes before the type rules read them.
 *
 * Which attributes an op carries is said by its row in ops.def: those named in
 * braces in its help text, no others but `chunk`; one with a question mark may be absent. */
#include "ir/infer.h"
#include "ir/layout.h"
#include "ir/text.h"

#include <stdint.h>
#include <string.h>

/* Elements that the constant dimensions of one tensor may make up. */
#define MOST_ELEMENTS (INT64_C(1) << 48)

/* A defined value, with the region in whose body it lies (NULL: in the function). */
typedef struct Definition {
    const Value *value;
    const Op *region;
} Definition;

typedef struct Verifier {
    const Module *module;
    const Function *function;
    const Op *region; /* whose body is being checked */
    Arena *arena;     /* for this check only */
    Diagnostics *diags;
    Definition *defined; /* open addressing by address */
    size_t n_defined, n_slots;
    size_t n_operands, n_uses; /* of ops of the function's body; listed by values */
    Map inputs, outputs; /* names so far */
} Verifier;

/* ---- messages ---- */

/* "in FUNCTION: the op's line", under the message just given. */
static void note_op(Verifier *v, const Op *op)
{
    Text text = {0};
    Op head = *op;
    head.body = NULL; /* the first line says enough */
    ir_print_op(v->function, &head, &text);
    text.data[text.length - 1] = 0;
    diag_note(v->diags, (Loc){0}, "in function `%s`: %s", v->function->name, text.data);
    text_free(&text);
}

static bool fail(Verifier *v, const Op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(Verifier *v, const Op *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(v->diags, op->loc, "%s: %s", op_info[op->kind].name,
               arena_vprintf(v->arena, format, args));
    va_end(args);
    note_op(v, op);
    return false;
}

static const char *type_text(Verifier *v, const Type *type)
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

/* Whether an op here may read the value; where it lies, in *region. */
static bool is_visible(const Verifier *v, const Value *value, const Op **region)
{
    const Definition *slot = v->n_slots ? find_slot(v, value) : NULL;
    if (!slot || !slot->value || (slot->region && slot->region != v->region))
        return false;
    *region = slot->region;
    return true;
}

/* ---- types and attributes ---- */

/* NULL, or what is wrong. */
static const char *dims_problem(const Module *module, int rank, const Dim *dims)
{
    int64_t elements = 1;
    if (rank < 0 || rank > MAX_RANK)
        return "more dimensions than a tensor can have";
    for (int i = 0; i < rank; i++) {
        if (!dim_is_const(dims[i])) {
            if (dims[i].symbol < 0 || (size_t)dims[i].symbol >= module->symbols.count)
                return "a dimension that the module does not declare";
            if (dims[i].size)
                return "a dimension that is a symbol and a constant";
            continue;
        }
        if (dims[i].size < 0)
            return "a negative dimension";
        if (dims[i].size > MOST_ELEMENTS ||
            __builtin_mul_overflow(elements, dims[i].size ? dims[i].size : 1, &elements) ||
            elements > MOST_ELEMENTS)
            return "more than 2^48 elements";
    }
    return NULL;
}

static const char *type_problem(const Module *module, const Type *type)
{
    if ((unsigned)type->dtype >= DT_COUNT)
        return "an element type that does not exist";
    return dims_problem(module, type->rank, type->dims);
}

typedef enum Takes { TAKES_NOT, TAKES_MAYBE, TAKES } Takes;

/* How the row of the op names the attribute: in braces in its help text, with a
 * question mark where it may be absent. */
static Takes op_takes(OpKind kind, AttrName name)
{
    const char *text = op_info[kind].help, *word = attr_info[name].name;
    size_t length = strlen(word);
    bool inside = false, at_word = false;
    for (; *text; text++) {
        if (*text == '{' || *text == '}')
            inside = at_word = *text == '{';
        else if (inside && at_word && !strncmp(text, word, length) && text[length] &&
                 strchr("},?", text[length]))
            return text[length] == '?' ? TAKES_MAYBE : TAKES;
        else
            at_word = *text == ' ' || *text == ',';
    }
    return TAKES_NOT;
}

static bool check_attr_value(Verifier *v, const Op *op, const Attr *attr)
{
    const char *problem = NULL;
    switch (attr_info[attr->name].kind) {
    case INT:
    case FLOAT: break;
    case STRING: problem = !attr->s || !*attr->s ? "no text" : NULL; break;
    case INTS:
        problem = attr->n < 0 || attr->n > MAX_RANK ? "a list of a wrong length" : NULL;
        break;
    case DIMS: problem = dims_problem(v->module, attr->rank, attr->dims); break;
    case TYPE:
        problem = (uint64_t)attr->i >= DT_COUNT ? "an element type that does not exist" : NULL;
        break;
    case SYMBOL:
        if ((uint64_t)attr->i >= v->module->symbols.count)
            problem = "a dimension that the module does not declare";
        break;
    }
    return problem ? fail(v, op, "attribute %s has %s", attr_info[attr->name].name, problem) : true;
}

static bool check_attrs(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->n_attrs; i++) {
        AttrName name = op->attrs[i].name;
        if ((unsigned)name >= ATTR_COUNT)
            return fail(v, op, "an attribute that does not exist");
        if (i && op->attrs[i - 1].name >= name)
            return fail(v, op, "attributes are not in order or given twice");
        if (name != ATTR_chunk && !op_takes(op->kind, name))
            return fail(v, op, "takes no attribute %s", attr_info[name].name);
        if (!check_attr_value(v, op, &op->attrs[i]))
            return false;
    }
    for (int name = 0; name < ATTR_COUNT; name++)
        if (op_takes(op->kind, (AttrName)name) == TAKES && !op_attr(op, (AttrName)name))
            return fail(v, op, "attribute %s is missing", attr_info[name].name);
    return true;
}

/* ---- ops ---- */

static bool check_operands(Verifier *v, const Op *op)
{
    int arity = op_info[op->kind].arity;
    bool any = op_family(op) == FAMILY_region;
    if (arity >= 0 ? op->n_args != arity : op->n_args < 1 && !any)
        return arity >= 0 ? fail(v, op, "takes %d operand%s, given %d", arity,
                                 arity == 1 ? "" : "s", op->n_args)
                          : fail(v, op, "takes at least one operand");
    for (int i = 0; i < op->n_args; i++) {
        const Op *region;
        if (!op->args[i])
            return fail(v, op, "operand %d is missing", i);
        if (!is_visible(v, op->args[i], &region))
            return fail(v, op, "operand %d, %%%d, is not defined before this use", i,
                        op->args[i]->id);
    }
    return true;
}

static bool check_results(Verifier *v, const Op *op)
{
    bool region = op_family(op) == FAMILY_region;
    int expected = op_family(op) == FAMILY_effect ? 0 : 1;
    if (region ? op->n_results < 1 : op->n_results != expected)
        return region ? fail(v, op, "a region gives at least one result")
                      : fail(v, op, "gives %s, here %d", expected ? "one result" : "no result",
                             op->n_results);
    for (int i = 0; i < op->n_results; i++) {
        const char *problem = type_problem(v->module, &op->results[i].type);
        if (problem)
            return fail(v, op, "the type of result %d has %s", i, problem);
        if (op->results[i].op != op || op->results[i].index != i)
            return fail(v, op, "result %d does not know its op", i);
    }
    return true;
}

/* The stated type against the inferred one. */
static bool check_type(Verifier *v, const Op *op)
{
    Type type = {0};
    if (!infer_type(v->module, op, &type, v->diags)) {
        note_op(v, op);
        return false;
    }
    if (op->n_results != 1 || op->body || type_equal(&type, &op->results[0].type))
        return true;
    return fail(v, op, "gives %s, but %s is stated", type_text(v, &type),
                type_text(v, &op->results[0].type));
}

/* Each name once among the function's inputs, or its outputs. */
static bool check_name(Verifier *v, const Op *op, Map *names)
{
    const char *name = op_string(op, ATTR_name);
    if (map_has(names, name))
        return fail(v, op, "a second one named \"%s\"", name);
    map_set(names, name, (void *)op);
    return true;
}

static bool check_param(Verifier *v, const Op *op)
{
    const ParamInfo *info = module_param(v->module, op_string(op, ATTR_name));
    if (!info)
        return fail(v, op, "param \"%s\" is not declared", op_string(op, ATTR_name));
    if (!type_equal(&info->type, &op->results[0].type))
        return fail(v, op, "\"%s\" is declared %s, but %s is stated", info->name,
                    type_text(v, &info->type), type_text(v, &op->results[0].type));
    return true;
}

/* What may stand in a region's body: what is computed element by element, and
 * reductions; nothing with a kernel of its own. */
static bool check_place(Verifier *v, const Op *op)
{
    bool yields = op->kind == OP_yield;
    if (!v->region)
        return yields ? fail(v, op, "stands outside a region") : true;
    switch (op_family(op)) {
    case FAMILY_elementwise:
    case FAMILY_reduce:
    case FAMILY_shape:
    case FAMILY_index: return true;
    case FAMILY_matmul:
        return v->region->kind == OP_attention ||
               fail(v, op, "cannot stand in the body of a region");
    case FAMILY_leaf:
        return op->kind != OP_input && op->kind != OP_param
                   ? true
                   : fail(v, op, "stands in the body of a region; pass it as an operand");
    case FAMILY_effect:
        if (yields && op != v->region->body->last)
            return fail(v, op, "is not the last op of the body");
        return yields ? true : fail(v, op, "stands in the body of a region");
    default: return fail(v, op, "cannot stand in the body of a region");
    }
}

static bool check_block(Verifier *v, const Block *block);

/* Marks what the body reads from outside; each must be an operand, once. */
static bool check_captures(Verifier *v, const Op *region)
{
    bool fits = true;
    Map read;
    map_init(&read, v->arena);
    for (const Op *op = region->body->first; op; op = op->next)
        for (int i = 0; i < op->n_args; i++)
            if (op->args[i]->op != region && find_slot(v, op->args[i])->region != region)
                map_set(&read, arena_printf(v->arena, "%p", (void *)op->args[i]), op->args[i]);
    for (int i = 0; i < region->n_args; i++) {
        const char *key = arena_printf(v->arena, "%p", (void *)region->args[i]);
        for (int j = 0; j < i; j++)
            if (region->args[j] == region->args[i])
                return fail(v, region, "operand %%%d is listed twice", region->args[i]->id);
        if (!map_has(&read, key))
            fits = fail(v, region, "operand %%%d is not read by the body", region->args[i]->id);
        map_set(&read, key, NULL);
    }
    for (size_t i = 0; i < read.count; i++)
        if (read.entries[i].value)
            fits = fail(v, region, "the body reads %%%d, which is no operand",
                        ((Value *)read.entries[i].value)->id);
    return fits;
}

/* What follows a product reads it, and makes one element of each of its elements. */
static bool check_epilogue(Verifier *v, const Op *region)
{
    const Attr *attr = op_attr(region, ATTR_epilogue);
    if (!attr)
        return true;
    if (attr->i < 0 || attr->i >= region->n_args || region->args[attr->i]->op->kind != OP_dot)
        return fail(v, region, "attribute epilogue names no operand that is a product");
    for (int r = 0; r < region->n_results; r++)
        if (!type_same_shape(&region->results[r].type, &region->args[attr->i]->type))
            return fail(v, region, "an epilogue gives results of its product's shape");
    FOR_OPS(op, region->body)
        if (op_family(op) != FAMILY_elementwise && op_family(op) != FAMILY_leaf &&
            op->kind != OP_broadcast && op->kind != OP_yield)
            return fail(v, op, "cannot stand in an epilogue, which goes element by element");
    return true;
}

static bool check_region(Verifier *v, const Op *op)
{
    if (v->region)
        return fail(v, op, "cannot stand in the body of a region");
    if (!op->body || !op->body->last || op->body->last->kind != OP_yield)
        return fail(v, op, "the body must end with a yield");
    v->region = op;
    bool fits = check_block(v, op->body);
    v->region = NULL;
    return fits && check_captures(v, op) && check_epilogue(v, op);
}

/* Rows are reduced along the last axis as it is stored, columns along the others. */
static bool check_reduction(Verifier *v, const Op *op)
{
    const Attr *axes = op_attr(op, ATTR_axes);
    bool row = v->region->kind != OP_column;
    Layout layout = layout_of(v->module, &op->args[0]->type);
    int last = layout.axes[layout.n - 1].dim; /* a reduction has an axis */
    for (int i = 0; i < axes->n; i++)
        if ((axes->ints[i] == last) != row)
            return fail(v, op, "in a %s region it goes along %s, not along axis %d",
                        op_info[v->region->kind].name,
                        row ? "the last axis" : "axes other than the last", axes->ints[i]);
    return true;
}

/* The op's operands are in the lists of their values, and nothing else is (check_function). */
static bool check_uses(Verifier *v, const Op *op)
{
    if (op->listed != !v->region)
        return fail(v, op, "its operands are %s lists of uses", op->listed ? "in" : "in no");
    for (int i = 0; i < op->n_args && op->listed; i++) {
        const Use *use = &op->uses[i];
        const Value *value = op->args[i];
        if (use->user != op || (use->previous ? use->previous->next : value->first_use) != use ||
            (use->next ? use->next->previous : value->last_use) != use)
            return fail(v, op, "operand %%%d does not list this use", value->id);
        v->n_operands++;
    }
    for (int i = 0; i < op->n_results; i++)
        v->n_uses += (size_t)value_use_count(&op->results[i]);
    return true;
}

static bool check_op(Verifier *v, const Op *op)
{
    bool region = op_family(op) == FAMILY_region;
    if (!check_place(v, op) || !check_attrs(v, op) || !check_operands(v, op) ||
        !check_results(v, op) || !check_uses(v, op))
        return false;
    if (!region && op->body)
        return fail(v, op, "has a body, but is no region");
    if ((region && !check_region(v, op)) || !check_type(v, op))
        return false;
    if (op->kind == OP_input)
        return check_name(v, op, &v->inputs);
    if (op_family(op) == FAMILY_reduce && v->region)
        return check_reduction(v, op);
    if (op->kind == OP_output)
        return check_name(v, op, &v->outputs);
    return op->kind == OP_param ? check_param(v, op) : true;
}

/* All ops of a block, also after a wrong one: its results count as defined if
 * their types make sense. */
static bool check_block(Verifier *v, const Block *block)
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
            if (type_problem(v->module, &op->results[i].type))
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
        const char *wrong = type_problem(module, &info->type), *problem = NULL;
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
    if (!check_block(&v, &function->body))
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
