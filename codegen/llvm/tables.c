/* Tables as LLVM constants; see render.h. */
#include "codegen/llvm/render.h"

#include "codegen/products.h"
#include "codegen/records.h"

#include <llvm-c/Target.h>

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof(void *) == 8,
              "programs are compiled on systems with 64-bit pointers, for any");

typedef struct Tables {
    Arena *arena;
    LLVMContextRef context;
    LLVMModuleRef module;
    LlType i8, i64, pointer;
    size_t pointer_bytes; /* the target's: 8, or 4 and zeros to fill a record's field */
    const char *prefix;
    GemmChoice gemm;
    const TfcProgram *program;
    Records records;
    LlValue globals[N_RECORD_TABLES]; /* made when first asked for */
} Tables;

/* A place in a table and what it points to. */
typedef struct Pointer {
    size_t at;
    LlValue target;
} Pointer;
typedef VEC(Pointer) Pointers;

static void add_pointer(Tables *t, Pointers *out, size_t at, LlValue target)
{
    Pointer pointer = {at, target};
    vec_push(t->arena, *out, pointer);
}

/* ---- kernels and products ---- */

/* Types matter where a linker checks them: p for a pointer, i for an int64_t. */
static LlValue external(Tables *t, const char *symbol, const char *parameters)
{
    LlType types[16];
    unsigned n = 0;
    LlValue known = LLVMGetNamedFunction(t->module, symbol);
    if (known)
        return known;
    for (; parameters[n]; n++)
        types[n] = parameters[n] == 'p' ? t->pointer : t->i64;
    return LLVMAddFunction(t->module, symbol,
                           LLVMFunctionType(LLVMVoidTypeInContext(t->context), types, n, false));
}

static LlValue hidden(Tables *t, const char *name, const char *parameters)
{
    LlValue function = external(t, arena_printf(t->arena, "%s%s", t->prefix, name), parameters);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    return function;
}

/* Of another file of the program; its type does not matter to linkers. */
static LlValue hidden_data(Tables *t, const char *name)
{
    const char *symbol = arena_printf(t->arena, "%s%s", t->prefix, name);
    LlValue known = LLVMGetNamedGlobal(t->module, symbol);
    LlValue data = known ? known : LLVMAddGlobal(t->module, t->i8, symbol);
    LLVMSetVisibility(data, LLVMHiddenVisibility);
    return data;
}

/* The list of the program's kernels. */
static void point_kernels(Tables *t, Pointers *out)
{
    for (int32_t k = 0; k < t->program->n_kernels; k++)
        add_pointer(t, out, (size_t)k * sizeof(TfcKernel),
                    hidden(t, t->program->kernel_names[k], "pii"));
}

/* TfcProducts is an array of pointers: OpenBLAS's two products, then the program's own forms. */
static void point_products(Tables *t, Pointers *out)
{
    static const char *const blas[TFC_BLAS_TYPES] = {"tfc_blas_f32", "tfc_blas_f64"};
    for (int i = 0; i < TFC_BLAS_TYPES + TFC_PRODUCT_TYPES; i++) {
        int native = i - TFC_BLAS_TYPES;
        LlValue product = NULL;
        if (native >= 0 && program_has_product(t->program, (TfcProductType)native, t->gemm))
            product = hidden_data(t, product_names[native]);
        else if (native < 0 && t->program->products.blas[i])
            product = external(t, blas[i], "p");
        if (product)
            add_pointer(t, out, offsetof(TfcProgram, products) + (size_t)i * t->pointer_bytes,
                        product);
    }
}

/* ---- tables ---- */

static LlValue bytes_constant(Tables *t, const unsigned char *bytes, size_t size)
{
    return LLVMConstStringInContext2(t->context, (const char *)bytes, size, true);
}

/* A record's bytes are the host's, its pointers the target's. */
static LlValue records_constant(Tables *t, const RecordTable *table, const Pointers *pointers)
{
    size_t n = 0, at = 0, end = table->bytes.count;
    LlValue *parts = ARENA_ARRAY(t->arena, LlValue, 2 * pointers->count + 1);
    for (size_t i = 0; i < pointers->count; i++) {
        const Pointer *p = &pointers->data[i];
        if (p->at > at)
            parts[n++] = bytes_constant(t, table->bytes.data + at, p->at - at);
        parts[n++] = p->target;
        at = p->at + t->pointer_bytes;
    }
    if (at < end)
        parts[n++] = bytes_constant(t, table->bytes.data + at, end - at);
    return LLVMConstStructInContext(t->context, parts, (unsigned)n, true);
}

/* A list of pointers, none of which is NULL. */
static LlValue pointers_constant(Tables *t, const Pointers *pointers)
{
    LlValue *targets = ARENA_ARRAY(t->arena, LlValue, pointers->count + 1);
    for (size_t i = 0; i < pointers->count; i++)
        targets[i] = pointers->data[i].target;
    return LLVMConstArray2(t->pointer, targets, pointers->count);
}

static bool holds_pointers(RecordTableId id) { return id == TABLE_texts || id == TABLE_functions; }

static LlValue table_global(Tables *t, RecordTableId id);

static LlValue target_of(Tables *t, const RecordPointer *pointer)
{
    size_t offset = pointer->offset;
    if (holds_pointers(pointer->to))
        offset = offset / sizeof(void *) * t->pointer_bytes;
    LlValue index = LLVMConstInt(t->i64, offset, false);
    return LLVMConstInBoundsGEP2(t->i8, table_global(t, pointer->to), &index, 1);
}

static LlValue table_constant(Tables *t, RecordTableId id)
{
    const RecordTable *table = &t->records.tables[id];
    Pointers pointers = {0};
    for (size_t i = 0; i < table->pointers.count; i++)
        add_pointer(t, &pointers, table->pointers.data[i].at,
                    target_of(t, &table->pointers.data[i]));
    if (id == TABLE_functions)
        point_kernels(t, &pointers);
    if (id == TABLE_TfcProgram)
        point_products(t, &pointers);
    return holds_pointers(id) ? pointers_constant(t, &pointers)
                              : records_constant(t, table, &pointers);
}

static LlValue add_constant(Tables *t, LlValue value, const char *name)
{
    LlValue global = LLVMAddGlobal(t->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, 16);
    return global;
}

static LlValue table_global(Tables *t, RecordTableId id)
{
#define TABLE_NAME(T) "." #T,
    static const char *const names[] = {RECORD_TABLES(TABLE_NAME)};
    if (!t->globals[id]) {
        t->globals[id] = add_constant(t, table_constant(t, id), names[id]);
        LLVMSetLinkage(t->globals[id], LLVMPrivateLinkage);
    }
    return t->globals[id];
}

/* ---- the programs ---- */

void tables_emit(LLVMContextRef context, LLVMModuleRef module, int n,
                 const TfcProgram *const *programs, const char *prefix, GemmChoice gemm)
{
    Tables t = {.arena = arena_new(),
                .context = context,
                .module = module,
                .i8 = LLVMInt8TypeInContext(context),
                .i64 = LLVMInt64TypeInContext(context),
                .pointer = LLVMPointerTypeInContext(context, 0),
                .pointer_bytes = LLVMPointerSize(LLVMGetModuleDataLayout(module)),
                .prefix = prefix,
                .gemm = gemm};
    Records *all = ARENA_ARRAY(t.arena, Records, n + 1);
    for (int p = 0; p < n; p++)
        records_of(&all[p], programs[p], p ? &all[p - 1] : NULL, t.arena);
    LlValue text = NULL; /* of all programs, which the last one's tables have */
    if (n) {
        t.records = all[n - 1];
        text = table_global(&t, TABLE_text);
    }
    for (int p = 0; p < n; p++) {
        memset(t.globals, 0, sizeof t.globals);
        t.globals[TABLE_text] = text;
        t.records = all[p];
        t.program = programs[p];
        add_constant(&t, table_constant(&t, TABLE_TfcProgram),
                     arena_printf(t.arena, "%s%s", prefix, t.program->name));
    }
    arena_free(t.arena);
}
