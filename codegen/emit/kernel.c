/* The shell of a kernel: its function, its buffers, and which emitter writes it. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* Lanes of a column vector: as wide as the largest element computed with allows. */
static int choose_lanes(const Emit *e)
{
    size_t bytes = 4;
    if (!e->target->processor->vector_bits)
        return 1;
    /* Tokens as columns stand in sentences of their own: element by element. */
    if (e->signature->range == RANGE_ROWS && e->layout.n == 1 && e->layout.axes[0].batch_dim >= 0)
        return 1;
    for (int i = 0; i < e->n_values; i++) {
        const Value *v = i < e->body.n_inputs
                             ? e->body.inputs[i]
                             : &e->body.ops[i - e->body.n_inputs].op->results[0];
        size_t own = dtype_bytes(v->type.dtype);
        bytes = own > bytes ? own : bytes;
    }
    return e->target->processor->vector_bits / (int)(8 * bytes);
}

static void open_buffers(Emit *e)
{
    Ll *ll = &e->ll;
    LlValue table = load_word(e, e->args, TFC_WORD(TfcKernelArgs, buffers), ll->ptr);
    e->n_buffers = e->body.n_inputs + e->body.n_results;
    e->buffers = ARENA_ARRAY(e->arena, Buffer, e->n_buffers + 1);
    for (int i = 0; i < e->n_buffers; i++) {
        const Value *value =
            i < e->body.n_inputs ? e->body.inputs[i] : e->body.yields[i - e->body.n_inputs];
        Buffer *buffer = &e->buffers[i];
        buffer->type = &value->type;
        buffer->layout = layout_of(e->module, &value->type);
        buffer->strided = i < 64 && (e->signature->strided >> i & 1);
        buffer->base = ll_load_pointer(ll, table, i);
    }
}

static void open_state(Emit *e)
{
    e->n_values = e->body.n_inputs + e->body.n_ops;
    e->memo = ARENA_ARRAY(e->arena, Memo, e->n_values + 1);
    e->reduced = ARENA_ARRAY(e->arena, Val, e->n_values + 1);
    e->row_cache = ARENA_ARRAY(e->arena, LlValue, e->n_values + 1);
    e->cached = ARENA_ARRAY(e->arena, bool, e->n_values + 1);
    e->random_rows = ARENA_ARRAY(e->arena, LlValue, e->signature->n_sites + 1);
    e->layout = layout_of(e->module, &e->signature->space);
    e->space.rank = e->signature->space.rank;
    e->lanes = choose_lanes(e);
}

/* void name(const TfcKernelArgs *args, int64_t begin, int64_t end) */
static void open_function(Emit *e, const char *name)
{
    Ll *ll = &e->ll;
    LlType types[] = {ll->ptr, ll->i64, ll->i64};
    LlType type = LLVMFunctionType(LLVMVoidTypeInContext(ll->context), types, 3, false);
    LlValue function = LLVMAddFunction(ll->module, name, type);
    const char *nounwind = "nounwind", *probe = "probe-stack";
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(ll->context, LLVMGetEnumAttributeKindForName(nounwind, 8), 0));
    /* Rows of scratch may be longer than a guard page: touch each page in turn. */
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(ll->context, probe, 11, "inline-asm", 10));
    ll_begin_function(ll, function);
    e->args = LLVMGetParam(function, 0);
    e->begin = LLVMGetParam(function, 1);
    e->end = LLVMGetParam(function, 2);
}

static void write_body(Emit *e)
{
    switch (e->op->kind) {
    case OP_column: kernel_column(e); return;
    case OP_attention: kernel_attention(e); return;
    case OP_scatter_add: kernel_scatter_add(e); return;
    case OP_append: kernel_append(e); return;
    case OP_concat: kernel_concat(e); return;
    case OP_ctc: kernel_ctc(e); return;
    case OP_ctc_grad: kernel_ctc_grad(e); return;
    default: kernel_row(e); return;
    }
}

/* Writes an entry's kernel into the module under this name. */
static LlValue emit_kernel(const KernelEntry *entry, LLVMContextRef context, LLVMModuleRef llvm,
                           const Target *target, const char *name)
{
    Arena *arena = arena_new();
    Emit e = {.arena = arena, .module = entry->module, .op = entry->op,
              .signature = &entry->signature, .target = target, .body = body_of(arena, entry->op)};
    ll_init(&e.ll, context, llvm);
    open_state(&e);
    open_function(&e, name);
    open_buffers(&e);
    e.spare = ll_alloca(&e.ll, LLVMArrayType2(e.ll.i64, 8), "nothing");
    e.anchors[DEPTH_ENTRY] = ll_seam(&e.ll, "start");
    write_body(&e);
    ll_resume(&e.ll);
    LLVMBuildRetVoid(e.ll.builder);
    ll_dispose(&e.ll);
    arena_free(arena);
    return e.ll.function;
}

LLVMModuleRef emit_kernels(const KernelSet *set, int begin, int end, const char *prefix,
                           const Target *target, LLVMContextRef context, Diagnostics *diags)
{
    LLVMModuleRef module = target_new_module(target, context, "kernels");
    Text symbol = {0};
    for (int k = begin; k < end; k++) {
        const KernelEntry *entry = &set->list.data[k];
        symbol.length = 0;
        text_add(&symbol, "%s%s", prefix, entry->name);
        LLVMSetVisibility(emit_kernel(entry, context, module, target, symbol.data),
                          LLVMHiddenVisibility);
    }
    text_free(&symbol);
    if (target_optimise(target, module, diags))
        return module;
    LLVMDisposeModule(module);
    return NULL;
}
