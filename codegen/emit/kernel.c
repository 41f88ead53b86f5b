/* The shell of a kernel: its function, its buffers, and which emitter writes it. */
#include "codegen/emit/emit.h"

#include <assert.h>

/* Tokens as columns stand in sentences of their own: element by element. */
static bool has_token_columns(const Emit *e)
{
    return e->signature->range == RANGE_ROWS && e->layout.n == 1 &&
           e->layout.axes[0].batch_dim >= 0;
}

/* Sets the lanes that columns are to become, as wide as the largest element computed with allows,
 * and the partial sums along them. */
static void choose_lanes(Emit *e)
{
    size_t bytes = 4;
    int bits = e->target->processor->vector_bits;
    for (int i = 0; i < e->n_values; i++) {
        const Value *v = i < e->body.n_inputs ? e->body.inputs[i]
                                              : &e->body.ops[i - e->body.n_inputs].op->results[0];
        size_t own = dtype_bytes(v->type.dtype);
        bytes = own > bytes ? own : bytes;
    }
    bool one = has_token_columns(e);
    e->vector = bits && !one ? bits / (int)(8 * bytes) : 1;
    e->sum_lanes = one || e->target->device ? e->vector : SUM_BYTES / (int)bytes;
}

static void open_buffers(Emit *e)
{
    e->buffers = ARENA_ARRAY(e->arena, Buffer, e->n_buffers + 1);
    for (int i = 0; i < e->n_buffers; i++) {
        const Value *value =
            i < e->body.n_inputs ? e->body.inputs[i] : e->body.yields[i - e->body.n_inputs];
        Buffer *buffer = &e->buffers[i];
        buffer->type = &value->type;
        buffer->layout = layout_of(e->module, &value->type);
        buffer->strided = i < 64 && (e->signature->strided >> i & 1);
        buffer->base = argument_buffer(e, i);
    }
}

static void open_state(Emit *e)
{
    e->n_values = e->body.n_inputs + e->body.n_ops;
    e->n_buffers = e->body.n_inputs + e->body.n_results;
    e->dim_fields = arena_alloc(e->arena, sizeof *e->dim_fields * (size_t)e->signature->n_dims);
    e->memo = ARENA_ARRAY(e->arena, Memo, e->n_values + 1);
    e->reduced = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1);
    e->row_cache = ARENA_ARRAY(e->arena, LoValue, e->n_values + 1);
    e->cached = ARENA_ARRAY(e->arena, bool, e->n_values + 1);
    e->random_rows = ARENA_ARRAY(e->arena, LoValue, e->signature->n_sites + 1);
    e->layout = layout_of(e->module, &e->signature->space);
    e->space.rank = e->signature->space.rank;
    choose_lanes(e);
}

/* Where the op and its body stand; of an op that several share a kernel with, the first one's. */
static void list_origins(const Emit *e, LoFunction *function)
{
    function->n_origins = LO_ORIGIN_PARTS + e->body.n_ops;
    function->origins = ARENA_ARRAY(e->lo.module->arena, const Loc *, function->n_origins);
    function->origins[LO_ORIGIN_WHOLE] = &e->op->loc;
    for (int i = 0; i < e->body.n_ops; i++)
        function->origins[LO_ORIGIN_PARTS + i] = &e->body.ops[i].op->loc;
}

static void write_body(Emit *e)
{
    switch (e->op->kind) {
    case OP_column: kernel_column(e); return;
    case OP_attention: kernel_attention(e); return;
    case OP_scatter_add: kernel_scatter_add(e); return;
    case OP_lookup_add: kernel_lookup_add(e); return;
    case OP_top_k: kernel_top_k(e); return;
    case OP_append: kernel_append(e); return;
    case OP_concat: kernel_concat(e); return;
    case OP_ctc: kernel_ctc(e); return;
    case OP_ctc_grad: kernel_ctc_grad(e); return;
    default: kernel_row(e); return;
    }
}

/* Writes an entry's kernel into the module under this name. */
static void emit_kernel(const KernelEntry *entry, LoModule *module, const CodeTarget *target,
                        const char *name)
{
    Arena *arena = arena_new();
    Emit e = {.arena = arena,
              .module = entry->module,
              .op = entry->op,
              .signature = &entry->signature,
              .target = target,
              .body = body_of(arena, entry->op)};
    open_state(&e);
    open_arguments(&e, module, name);
    list_origins(&e, e.lo.function);
    open_buffers(&e);
    e.entry = lo_seam(&e.lo);
    write_body(&e);
    arena_free(arena);
}

void emit_kernels(LoModule *module, const KernelSet *set, int begin, int end, const char *prefix,
                  const CodeTarget *target)
{
    Text name = {0};
    for (int k = begin; k < end; k++) {
        const KernelEntry *entry = &set->list.data[k];
        name.length = 0;
        text_add(&name, "%s%s", prefix, entry->name);
        emit_kernel(entry, module, target, name.data);
    }
    text_free(&name);
}
