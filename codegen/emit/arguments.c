/* What a kernel is called with: a record (TfcKernelArgs), or, on a device with memory of its own,
 * words, numbers and buffers (runtime/exec/device.h). */
#include "codegen/emit/emit.h"
#include "runtime/exec/device.h"

/* Words of records do not change while the kernel runs, and are there. */
static LoValue load_word(Emit *e, LoValue record, int64_t word, LoType type)
{
    LoValue at = lo_at(&e->lo, lo_i64, record, lo_i64_of(&e->lo, word));
    return lo_reads(lo_load(&e->lo, type, at, 8), LO_GIVEN);
}

static TfcDeviceWords words_of(const Emit *e)
{
    return tfc_device_words(e->n_buffers, e->signature->n_dims, e->signature->n_sites);
}

void open_arguments(Emit *e, LoModule *module, const char *name)
{
    bool device = e->target->device;
    int n = device ? TFC_DEVICE_BUFFERS + e->n_buffers : 3;
    LoType *params = ARENA_ARRAY(e->arena, LoType, n);
    for (int i = 0; i < n; i++)
        params[i] = i == TFC_DEVICE_UNIT || (!device && i > 0) ? lo_i64 : lo_ptr;
    lo_begin(&e->lo, module, lo_add_function(module, name, true, n, params));
    emit_from_whole(e);
    e->args = lo_param(&e->lo, 0);
    e->begin = lo_param(&e->lo, 1);
    e->end = device ? NULL : lo_param(&e->lo, 2);
    e->table = device ? NULL : load_word(e, e->args, TFC_WORD(TfcKernelArgs, buffers), lo_ptr);
}

LoValue argument_buffer(Emit *e, int buffer)
{
    Lo *lo = &e->lo;
    if (!e->target->device)
        return lo_load_pointer(lo, e->table, buffer);
    LoValue offset = load_word(e, e->args, words_of(e).offsets + buffer, lo_i64);
    return lo_at(lo, lo_i8, lo_param(lo, TFC_DEVICE_BUFFERS + buffer), offset);
}

LoValue argument_stride(Emit *e, int buffer, int axis)
{
    int64_t word = (int64_t)buffer * TFC_MAX_AXES + axis;
    emit_at_entry(e);
    LoValue stride =
        e->target->device
            ? load_word(e, e->args, words_of(e).strides + word, lo_i64)
            : load_word(e, load_word(e, e->args, TFC_WORD(TfcKernelArgs, strides), lo_ptr), word,
                        lo_i64);
    lo_resume(&e->lo);
    return stride;
}

/* On a device a table is a place in the list of numbers. */
static LoValue device_dim(Emit *e, int number, DimField field)
{
    Lo *lo = &e->lo;
    int64_t word = words_of(e).dims + (int64_t)number * TFC_DEVICE_DIM_WORDS + field;
    LoValue x = load_word(e, e->args, word, lo_i64);
    return field <= DIM_TOTAL ? x : lo_at(lo, lo_i32, lo_param(lo, TFC_DEVICE_NUMBERS), x);
}

static LoValue record_dim(Emit *e, int number, DimField field)
{
    LoValue dims = load_word(e, e->args, TFC_WORD(TfcKernelArgs, dims), lo_ptr);
    LoValue dim = lo_load_pointer(&e->lo, dims, number);
    return load_word(e, dim, field, field <= DIM_TOTAL ? lo_i64 : lo_ptr);
}

LoValue argument_dim(Emit *e, int number, DimField field)
{
    emit_at_entry(e);
    LoValue x = e->target->device ? device_dim(e, number, field) : record_dim(e, number, field);
    lo_resume(&e->lo);
    return x;
}

LoValue argument_int(Emit *e, int number)
{
    if (e->target->device)
        return load_word(e, e->args, words_of(e).ints + number, lo_i64);
    LoValue ints = load_word(e, e->args, TFC_WORD(TfcKernelArgs, ints), lo_ptr);
    return load_word(e, ints, number, lo_i64);
}

LoValue argument_random(Emit *e)
{
    if (e->target->device)
        return lo_at(&e->lo, lo_i64, e->args, lo_i64_of(&e->lo, words_of(e).random));
    return load_word(e, e->args, TFC_WORD(TfcKernelArgs, rng), lo_ptr);
}

/* At entry, i64. */
static LoValue argument_field(Emit *e, int64_t word)
{
    emit_at_entry(e);
    LoValue field = load_word(e, e->args, word, lo_i64);
    lo_resume(&e->lo);
    return field;
}

void argument_columns(Emit *e, LoValue *start, LoValue *limit)
{
    Lo *lo = &e->lo;
    if (e->target->device)
        return;
    *start = argument_field(e, TFC_WORD(TfcKernelArgs, column_begin));
    LoValue end = argument_field(e, TFC_WORD(TfcKernelArgs, column_end));
    LoValue inside = lo_lt(lo, end, *limit);
    *limit = lo_select(lo, inside, end, *limit);
}
