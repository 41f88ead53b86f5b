/* Modules, functions and numbers of loop IR; see loop.h. */
#include "codegen/loop/loop.h"

#include <assert.h>
#include <string.h>

#define ANY LO_ANY_ARGS
const LoInfo lo_info[LO_KINDS] = {
#define OP(name, args, result, form, of) \
    [LO_##name] = {#name, args, LO_RESULT_##result, LO_FORM_##form, LO_OF_##of},
#include "codegen/loop/ops.def"
};
#undef ANY

typedef struct Element {
    const char *name;
    int bits;
} Element;

static const Element elements[LO_ELEMENTS] = {
    [LO_I1] = {"i1", 1},    [LO_I8] = {"i8", 8},    [LO_I16] = {"i16", 16}, [LO_I32] = {"i32", 32},
    [LO_I64] = {"i64", 64}, [LO_F32] = {"f32", 32}, [LO_F64] = {"f64", 64}, [LO_PTR] = {"ptr", 64},
};

int lo_bits(LoType element) { return elements[lo_element_kind(element)].bits; }

const char *lo_element_name(LoElement element) { return elements[element].name; }

LoModule *lo_module_new(Arena *arena)
{
    LoModule *module = ARENA_NEW(arena, LoModule);
    module->arena = arena;
    return module;
}

LoFunction *lo_find_function(const LoModule *module, const char *name)
{
    for (size_t i = 0; i < module->functions.count; i++)
        if (!strcmp(module->functions.data[i]->name, name))
            return module->functions.data[i];
    return NULL;
}

LoFunction *lo_add_function(LoModule *module, const char *name, bool is_kernel, int n_params,
                            const LoType *params)
{
    Arena *arena = module->arena;
    LoFunction *f = ARENA_NEW(arena, LoFunction);
    *f = (LoFunction){.name = arena_strdup(arena, name),
                      .is_kernel = is_kernel,
                      .n_params = n_params,
                      .params = ARENA_ARRAY(arena, LoValue, n_params + 1),
                      .body = ARENA_NEW(arena, LoBlock)};
    f->body->function = f;
    for (int i = 0; i < n_params; i++) {
        f->params[i] = ARENA_NEW(arena, LoOp);
        *f->params[i] = (LoOp){.kind = LO_param, .type = params[i], .number = i};
    }
    vec_push(arena, module->functions, f);
    return f;
}

LoRecord *lo_add_record(LoModule *module, const char *name, int n_numbers, int n_functions)
{
    Arena *arena = module->arena;
    LoRecord *record = ARENA_NEW(arena, LoRecord);
    *record = (LoRecord){.name = arena_strdup(arena, name),
                         .n_numbers = n_numbers,
                         .n_functions = n_functions,
                         .numbers = ARENA_ARRAY(arena, int64_t, n_numbers),
                         .functions = ARENA_ARRAY(arena, LoFunction *, n_functions)};
    vec_push(arena, module->records, record);
    return record;
}

void lo_insert(LoOp *op, LoBlock *block, LoOp *before)
{
    op->block = block;
    op->after = before;
    op->before = before ? before->before : block->last;
    *(op->before ? &op->before->after : &block->first) = op;
    *(op->after ? &op->after->before : &block->last) = op;
}

void lo_remove(LoOp *op)
{
    *(op->before ? &op->before->after : &op->block->first) = op->after;
    *(op->after ? &op->after->before : &op->block->last) = op->before;
    op->block = NULL;
}

const Loc *lo_follow(LoFollow *at, const LoFunction *f, int origin)
{
    const Loc *loc = origin >= LO_ORIGIN_PARTS && origin < f->n_origins ? f->origins[origin] : NULL;
    if (at->function != f)
        *at = (LoFollow){.function = f};
    if (!loc || !loc->source || (loc->source == at->source && loc->line == at->line))
        return NULL;
    at->source = loc->source;
    at->line = loc->line;
    return loc;
}

static void number_block(LoFunction *f, LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->type != lo_none)
            op->id = f->n_ids++;
        if (op->body)
            number_block(f, op->body);
        if (op->other)
            number_block(f, op->other);
    }
}

void lo_number(LoFunction *f)
{
    f->n_ids = 0;
    for (int i = 0; i < f->n_params; i++)
        f->params[i]->id = f->n_ids++;
    number_block(f, f->body);
}
