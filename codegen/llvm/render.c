/* Functions, blocks and control; see render.h. */
#include "codegen/llvm/render_state.h"

#include <assert.h>
#include <stdlib.h>

/* ---- control ---- */

static void render_block(Render *r, const LoBlock *block);

static LlBlock new_block(const Render *r, const char *name)
{
    return LLVMAppendBasicBlockInContext(r->context, r->function, name ? name : "");
}

static void jump_to(const Render *r, LlBlock block)
{
    LLVMBuildBr(r->builder, block);
    LLVMPositionBuilderAtEnd(r->builder, block);
}

/* Of a block that may have ended with `return`. */
static void jump_unless_ended(const Render *r, const LoBlock *block, LlBlock to)
{
    if (!block->last || block->last->kind != LO_return)
        LLVMBuildBr(r->builder, to);
}

static void render_for(Render *r, const LoOp *op)
{
    LlType i64 = render_type(r, lo_i64);
    LlBlock before = LLVMGetInsertBlock(r->builder), head = new_block(r, op->name);
    LlBlock body = new_block(r, NULL), done = new_block(r, NULL);
    LlValue start = render_arg(r, op, 0), end = render_arg(r, op, 1);
    jump_to(r, head);
    LlValue index = LLVMBuildPhi(r->builder, i64, "");
    LLVMAddIncoming(index, &start, &before, 1);
    LLVMBuildCondBr(r->builder, LLVMBuildICmp(r->builder, LLVMIntSLT, index, end, ""), body, done);
    LLVMPositionBuilderAtEnd(r->builder, body);
    r->values[op->id] = index;
    render_block(r, op->body);
    LlValue step = LLVMConstInt(i64, (unsigned long long)op->number, true);
    LlValue next = LLVMBuildNSWAdd(r->builder, index, step, "");
    LlBlock last = LLVMGetInsertBlock(r->builder);
    LLVMAddIncoming(index, &next, &last, 1);
    LLVMBuildBr(r->builder, head);
    LLVMPositionBuilderAtEnd(r->builder, done);
}

static void render_while(Render *r, const LoOp *op)
{
    int n = op->n_args - 1;
    LlBlock before = LLVMGetInsertBlock(r->builder), head = new_block(r, "while");
    LlBlock body = new_block(r, NULL), done = new_block(r, NULL);
    LlValue step = render_arg(r, op, n);
    jump_to(r, head);
    for (int i = 0; i < n; i++) {
        const LoOp *carry = op->args[i];
        LlValue first = render_arg(r, carry, 0);
        r->values[carry->id] = LLVMBuildPhi(r->builder, render_type(r, carry->type), "");
        LLVMAddIncoming(r->values[carry->id], &first, &before, 1);
    }
    LlValue left = render_arg(r, op, n - 1);
    LLVMBuildCondBr(r->builder, LLVMBuildICmp(r->builder, LLVMIntSGE, left, step, ""), body, done);
    LLVMPositionBuilderAtEnd(r->builder, body);
    render_block(r, op->body);
    LlBlock last = LLVMGetInsertBlock(r->builder);
    for (int i = 0; i < n; i++) {
        LlValue next = render_arg(r, op->body->last, i);
        LLVMAddIncoming(render_arg(r, op, i), &next, &last, 1);
    }
    LLVMBuildBr(r->builder, head);
    LLVMPositionBuilderAtEnd(r->builder, done);
}

static void render_if(Render *r, const LoOp *op)
{
    LlBlock done = new_block(r, NULL), then = new_block(r, NULL);
    LlBlock other = op->other ? new_block(r, NULL) : done;
    LLVMBuildCondBr(r->builder, render_arg(r, op, 0), then, other);
    LLVMPositionBuilderAtEnd(r->builder, then);
    render_block(r, op->body);
    jump_unless_ended(r, op->body, done);
    if (op->other) {
        LLVMPositionBuilderAtEnd(r->builder, other);
        render_block(r, op->other);
        jump_unless_ended(r, op->other, done);
    }
    LLVMPositionBuilderAtEnd(r->builder, done);
}

static void render_call(Render *r, const LoOp *op)
{
    LlValue args[LO_MAX_LANES], callee = LLVMGetNamedFunction(r->module, op->callee->name);
    assert(op->n_args <= LO_MAX_LANES);
    for (int i = 0; i < op->n_args; i++)
        args[i] = render_arg(r, op, i);
    LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(callee), callee, args, (unsigned)op->n_args,
                   "");
}

static void render_block(Render *r, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        switch (op->kind) {
        case LO_for: render_for(r, op); break;
        case LO_while: render_while(r, op); break;
        case LO_if: render_if(r, op); break;
        case LO_call: render_call(r, op); break;
        case LO_return: LLVMBuildRetVoid(r->builder); break;
        case LO_carry:
        case LO_next: break; /* with their loop */
        default:
            if (op->type != lo_none)
                r->values[op->id] = render_op(r, op);
            else
                render_op(r, op);
        }
    }
}

/* ---- functions and records ---- */

static void set_attribute(const Render *r, LlValue function, LLVMAttributeRef attribute)
{
    (void)r;
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

static void declare(const Render *r, const LoFunction *f)
{
    LlType *types = memory_zeroed((size_t)f->n_params + 1, sizeof *types);
    for (int i = 0; i < f->n_params; i++)
        types[i] = render_type(r, f->params[i]->type);
    LlType type =
        LLVMFunctionType(LLVMVoidTypeInContext(r->context), types, (unsigned)f->n_params, false);
    LlValue function = LLVMAddFunction(r->module, f->name, type);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    set_attribute(r, function, LLVMCreateEnumAttribute(r->context, nounwind, 0));
    if (f->is_kernel) {
        /* Rows of scratch may be longer than a guard page: touch each page in turn. */
        set_attribute(r, function,
                      LLVMCreateStringAttribute(r->context, "probe-stack", 11, "inline-asm", 10));
        LLVMSetVisibility(function, LLVMHiddenVisibility);
    } else {
        LLVMSetLinkage(function, LLVMInternalLinkage);
    }
    free(types);
}

static void define(Render *r, const LoFunction *f)
{
    r->function = LLVMGetNamedFunction(r->module, f->name);
    r->values = memory_zeroed((size_t)f->n_ids + 1, sizeof *r->values);
    r->spare = NULL;
    LLVMPositionBuilderAtEnd(r->builder, new_block(r, "entry"));
    for (int i = 0; i < f->n_params; i++)
        r->values[f->params[i]->id] = LLVMGetParam(r->function, (unsigned)i);
    render_block(r, f->body);
    if (!f->body->last || f->body->last->kind != LO_return)
        LLVMBuildRetVoid(r->builder);
    free(r->values);
}

static void add_record(const Render *r, const LoRecord *record)
{
    LlType i64 = render_type(r, lo_i64), pointer = render_type(r, lo_ptr);
    LlValue *numbers = memory_zeroed((size_t)record->n_numbers + 1, sizeof *numbers);
    LlValue *functions = memory_zeroed((size_t)record->n_functions + 1, sizeof *functions);
    for (int i = 0; i < record->n_numbers; i++)
        numbers[i] = LLVMConstInt(i64, (unsigned long long)record->numbers[i], true);
    for (int i = 0; i < record->n_functions; i++)
        functions[i] = record->functions[i]
                           ? LLVMGetNamedFunction(r->module, record->functions[i]->name)
                           : LLVMConstNull(pointer);
    LlValue fields[] = {LLVMConstArray2(i64, numbers, (uint64_t)record->n_numbers),
                        LLVMConstArray2(pointer, functions, (uint64_t)record->n_functions)};
    LlValue value = LLVMConstStructInContext(r->context, fields, 2, false);
    LlValue global = LLVMAddGlobal(r->module, LLVMTypeOf(value), record->name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetVisibility(global, LLVMHiddenVisibility);
    LLVMSetAlignment(global, 8);
    free(numbers);
    free(functions);
}

LLVMModuleRef render_module(const LoModule *from, const LlvmTarget *target, LLVMContextRef context,
                            const char *name, Diagnostics *diags)
{
    Render r = {.context = context, .module = target_new_module(target, context, name)};
    r.builder = LLVMCreateBuilderInContext(context);
    for (size_t i = 0; i < from->functions.count; i++)
        declare(&r, from->functions.data[i]);
    for (size_t i = 0; i < from->functions.count; i++)
        define(&r, from->functions.data[i]);
    for (size_t i = 0; i < from->records.count; i++)
        add_record(&r, from->records.data[i]);
    LLVMDisposeBuilder(r.builder);
    if (target_optimise(target, r.module, diags))
        return r.module;
    LLVMDisposeModule(r.module);
    return NULL;
}
