/* Modules, functions and ops: making and linking; the tables of ops and attributes; what uses
 * what. */
#include "ir/graph.h"

#include <assert.h>
#include <string.h>

const OpInfo op_info[OP_COUNT] = {
#define OP(name, arity, family, infer, grad, cost, help) \
    [OP_##name] = {#name, arity, FAMILY_##family, cost, help},
#include "ir/ops.def"
};

const AttrInfo attr_info[ATTR_COUNT] = {
#define ATTR(name, kind, help) [ATTR_##name] = {#name, kind},
#include "ir/attrs.def"
};

Module *module_new(Arena *arena, Diagnostics *diags, const char *name)
{
    Module *module = ARENA_NEW(arena, Module);
    module->arena = arena;
    module->diags = diags;
    module->name = arena_strdup(arena, name);
    map_init(&module->param_by_name, arena);
    return module;
}

Function *module_add_function(Module *module, const char *name)
{
    Function *function = ARENA_NEW(module->arena, Function);
    function->name = arena_strdup(module->arena, name);
    function->module = module;
    map_init(&function->params, module->arena);
    vec_push(module->arena, module->functions, function);
    return function;
}

Function *module_function(const Module *module, const char *name)
{
    for (size_t i = 0; i < module->functions.count; i++)
        if (!strcmp(module->functions.data[i]->name, name))
            return module->functions.data[i];
    return NULL;
}

void module_drop_function(Module *module, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < module->functions.count; i++)
        if (strcmp(module->functions.data[i]->name, name))
            module->functions.data[kept++] = module->functions.data[i];
    module->functions.count = kept;
}

int module_symbol(const Module *module, const char *name)
{
    for (size_t i = 0; i < module->symbols.count; i++)
        if (!strcmp(module->symbols.data[i].name, name))
            return (int)i;
    return NO_SYMBOL;
}

int module_add_symbol(Module *module, const char *name, int batch)
{
    Symbol symbol = {.name = arena_strdup(module->arena, name), .batch = batch};
    vec_push(module->arena, module->symbols, symbol);
    return (int)module->symbols.count - 1;
}

int formula_batch(const Module *module, const DimFormula *formula, int end, const char **problem)
{
    int batch = NO_SYMBOL;
    *problem = dim_formula_problem(formula);
    for (int i = 0; !*problem && i < formula->n; i++) {
        const int symbol = formula->terms[i].symbol;
        const int of = symbol >= 0 && symbol < end ? module->symbols.data[symbol].batch : NO_SYMBOL;
        if (symbol < 0 || symbol >= end)
            *problem = "is made of a dimension that is not declared before it";
        else if (of != NO_SYMBOL && batch != NO_SYMBOL && of != batch)
            *problem = "is made of dimensions that are ragged over different ones";
        for (int j = 0; !*problem && j < i; j++)
            if (formula->terms[j].symbol == symbol)
                *problem = "is made of a dimension twice";
        batch = of != NO_SYMBOL ? of : batch;
    }
    return batch;
}

int module_add_made_symbol(Module *module, const char *name, const DimFormula *formula,
                           const char **problem)
{
    int batch = formula_batch(module, formula, (int)module->symbols.count, problem);
    if (*problem)
        return NO_SYMBOL;
    int symbol = module_add_symbol(module, name, batch);
    module->symbols.data[symbol].formula = *formula;
    return symbol;
}

ParamInfo *module_param(const Module *module, const char *name)
{
    return map_get(&module->param_by_name, name);
}

ParamInfo *module_add_param(Module *module, ParamInfo info)
{
    ParamInfo *param = arena_copy(module->arena, &info, sizeof info);
    param->name = arena_strdup(module->arena, info.name);
    vec_push(module->arena, module->params, param);
    map_set(&module->param_by_name, param->name, param);
    return param;
}

ModuleExtent module_extent(const Module *module)
{
    return (ModuleExtent){module->symbols.count, module->params.count, module->functions.count};
}

void module_cut(Module *module, ModuleExtent extent)
{
    for (size_t i = extent.params; i < module->params.count; i++)
        map_set(&module->param_by_name, module->params.data[i]->name, NULL);
    module->symbols.count = extent.symbols;
    module->params.count = extent.params;
    module->functions.count = extent.functions;
}

bool attr_lists(const Attr *attr, int axis)
{
    for (int i = 0; i < attr->n; i++)
        if (attr->ints[i] == axis)
            return true;
    return false;
}

const Attr *op_attr(const Op *op, AttrName name)
{
    for (int i = 0; i < op->n_attrs; i++)
        if (op->attrs[i].name == name)
            return &op->attrs[i];
    return NULL;
}

static const Attr *required(const Op *op, AttrName name)
{
    const Attr *attr = op_attr(op, name);
    assert(attr);
    return attr;
}

int64_t op_int(const Op *op, AttrName name) { return required(op, name)->i; }
double op_float(const Op *op, AttrName name) { return required(op, name)->f; }
const char *op_string(const Op *op, AttrName name) { return required(op, name)->s; }

bool value_is_const(const Value *value, double number)
{
    return value->op->kind == OP_const && op_float(value->op, ATTR_value) == number;
}

/* A param's op is found by its name as soon as it has one. */
static void index_param(Function *function, Op *op)
{
    const Attr *name = op->kind == OP_param ? op_attr(op, ATTR_name) : NULL;
    if (name)
        map_set(&function->params, name->s, op);
}

void op_share_attrs(Function *function, Op *op, const Op *from)
{
    op->n_attrs = from->n_attrs;
    op->attrs = from->attrs;
    index_param(function, op);
}

void op_set_attr(Function *function, Op *op, Attr attr)
{
    Attr *attrs = ARENA_ARRAY(function->module->arena, Attr, op->n_attrs + 1);
    int n = 0, i = 0;
    while (i < op->n_attrs && op->attrs[i].name < attr.name)
        attrs[n++] = op->attrs[i++];
    attrs[n++] = attr;
    if (i < op->n_attrs && op->attrs[i].name == attr.name)
        i++;
    while (i < op->n_attrs)
        attrs[n++] = op->attrs[i++];
    op->attrs = attrs;
    op->n_attrs = n;
    index_param(function, op);
}

Quant op_quant(const Op *op)
{
    const Attr *attr = op_attr(op, ATTR_quant);
    return attr ? quant_of_word(attr->s) : QUANT_NONE;
}

bool op_is_packed_lookup(const Op *op)
{
    return op->kind == OP_gather && (op_attr(op, ATTR_quant) || op_attr(op, ATTR_panels));
}

Op *op_new(Function *function, OpKind kind, int n_args, Value *const *args, int n_results)
{
    Arena *arena = function->module->arena;
    Op *op = ARENA_NEW(arena, Op);
    op->kind = kind;
    op->id = function->next_op++;
    op->n_args = n_args;
    op->args = arena_copy(arena, args, sizeof *args * (size_t)n_args);
    op->uses = ARENA_ARRAY(arena, Use, n_args);
    for (int i = 0; i < n_args; i++)
        op->uses[i].user = op;
    op->n_results = n_results;
    op->results = ARENA_ARRAY(arena, Value, n_results);
    for (int i = 0; i < n_results; i++) {
        op->results[i].op = op;
        op->results[i].index = i;
        op->results[i].id = function->next_value++;
    }
    return op;
}

/* ---- uses ---- */

static void list(Op *op, int arg)
{
    Value *value = op->args[arg];
    Use *use = &op->uses[arg];
    use->next = NULL;
    use->previous = value->last_use;
    *(value->last_use ? &value->last_use->next : &value->first_use) = use;
    value->last_use = use;
}

static void unlist(Op *op, int arg)
{
    Value *value = op->args[arg];
    Use *use = &op->uses[arg];
    *(use->previous ? &use->previous->next : &value->first_use) = use->next;
    *(use->next ? &use->next->previous : &value->last_use) = use->previous;
    use->previous = use->next = NULL;
}

static void list_uses(Op *op)
{
    for (int i = 0; i < op->n_args && !op->listed; i++)
        list(op, i);
    op->listed = true;
}

static void unlist_uses(Op *op)
{
    for (int i = 0; i < op->n_args && op->listed; i++)
        unlist(op, i);
    op->listed = false;
}

void op_set_arg(Op *op, int arg, Value *value)
{
    assert(!op->body);
    if (op->listed)
        unlist(op, arg);
    op->args[arg] = value;
    if (op->listed)
        list(op, arg);
}

static int find_arg(const Op *op, const Value *value)
{
    int i = 0;
    while (i < op->n_args && op->args[i] != value)
        i++;
    return i;
}

/* A region lists each value that it reads once, and its body reads these directly. */
static void replace_in_region(Op *region, Value *from, Value *to)
{
    bool listed = region->listed;
    int at = find_arg(region, from);
    if (at == region->n_args)
        return;
    unlist_uses(region);
    if (find_arg(region, to) == region->n_args) {
        region->args[at] = to;
    } else {
        region->n_args--;
        for (int i = at; i < region->n_args; i++)
            region->args[i] = region->args[i + 1];
    }
    if (listed)
        list_uses(region);
    FOR_OPS (op, region->body)
        op_replace_arg(op, from, to);
}

void op_replace_arg(Op *op, Value *from, Value *to)
{
    if (op->body) {
        replace_in_region(op, from, to);
        return;
    }
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i] == from)
            op_set_arg(op, i, to);
}

void value_replace(Value *from, Value *to)
{
    while (from != to && from->first_use)
        op_replace_arg(from->first_use->user, from, to);
}

int value_use_count(const Value *value)
{
    int n = 0;
    for (const Use *use = value->first_use; use; use = use->next)
        n++;
    return n;
}

void function_order_uses(Function *function)
{
    FOR_OPS (op, &function->body) {
        unlist_uses(op);
        list_uses(op);
    }
}

/* ---- blocks ---- */

Block *block_of_region(Arena *arena)
{
    Block *block = ARENA_NEW(arena, Block);
    block->of_region = true;
    return block;
}

void block_insert_before(Block *block, Op *position, Op *op)
{
    if (!block->of_region)
        list_uses(op);
    op->next = position;
    op->previous = position ? position->previous : block->last;
    *(op->previous ? &op->previous->next : &block->first) = op;
    *(position ? &position->previous : &block->last) = op;
}

void block_append(Block *block, Op *op) { block_insert_before(block, NULL, op); }

void block_remove(Block *block, Op *op)
{
    unlist_uses(op);
    *(op->previous ? &op->previous->next : &block->first) = op->next;
    *(op->next ? &op->next->previous : &block->last) = op->previous;
    op->previous = op->next = NULL;
}

static void number_block(Function *function, Block *block)
{
    FOR_OPS (op, block) {
        op->id = function->next_op++;
        for (int i = 0; i < op->n_results; i++)
            op->results[i].id = function->next_value++;
        if (op->body)
            number_block(function, op->body);
    }
}

void function_number(Function *function)
{
    function->next_value = function->next_op = 0;
    number_block(function, &function->body);
}

bool function_has(const Function *function, OpKind kind)
{
    FOR_OPS (op, &function->body)
        if (op->kind == kind)
            return true;
    return false;
}

Value *function_param(const Function *function, const char *name)
{
    Op *last = map_get(&function->params, name);
    if (!last || last->listed)
        return last ? op_result(last) : NULL;
    FOR_OPS (op, &function->body) /* the last one was removed: there may be another */
        if (op->kind == OP_param && !strcmp(op_string(op, ATTR_name), name))
            return op_result(op);
    return NULL;
}

bool function_reads(const Function *function, const char *input)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input && !strcmp(op_string(op, ATTR_name), input))
            return true;
    return false;
}
