/* Tables as LLVM constants; see tables.h. */
#include "codegen/tables.h"

#include "base/map.h"
#include "base/vec.h"
#include "codegen/records.h"

#include <llvm-c/Target.h>

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof(void *) == 8, "programs are compiled on systems with 64-bit pointers, for any");

/* ---- images: bytes, some of which are pointers ---- */

typedef struct Pointer {
    size_t at;
    LlValue target;
} Pointer;

typedef struct Image {
    unsigned char *bytes;
    size_t size;
    VEC(Pointer) pointers; /* in ascending order */
} Image;

typedef struct Tables {
    Arena *arena;
    LLVMContextRef context;
    LLVMModuleRef module;
    LlType i8, i64, pointer;
    size_t pointer_bytes;  /* the target's: 8, or 4 and zeros to fill a record's field */
    const char *prefix;
    GemmChoice gemm;
    LlValue strings;       /* all strings of the program, one after the other */
    VEC(char) characters;
    Map offsets;           /* of a string → its offset + 1 */
} Tables;

static Image image_new(Tables *t, size_t size)
{
    return (Image){.bytes = arena_alloc(t->arena, size), .size = size};
}

/* The host's pointer at `at` becomes a relocation, or NULL. */
static void image_point(Tables *t, Image *image, size_t at, LlValue target)
{
    assert(!image->pointers.count || vec_last(image->pointers).at < at);
    if (!target)
        return;
    Pointer pointer = {at, target};
    vec_push(t->arena, image->pointers, pointer);
}

static LlValue bytes_constant(Tables *t, const unsigned char *bytes, size_t size)
{
    return LLVMConstStringInContext2(t->context, (const char *)bytes, size, true);
}

static LlValue add_constant(Tables *t, LlValue value, const char *name)
{
    LlValue global = LLVMAddGlobal(t->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, 16);
    return global;
}

static LlValue image_constant(Tables *t, const Image *image)
{
    size_t n = 0, at = 0;
    LlValue *parts = ARENA_ARRAY(t->arena, LlValue, 2 * image->pointers.count + 1);
    for (size_t i = 0; i < image->pointers.count; i++) {
        const Pointer *p = &image->pointers.data[i];
        if (p->at > at)
            parts[n++] = bytes_constant(t, image->bytes + at, p->at - at);
        parts[n++] = p->target;
        at = p->at + t->pointer_bytes;
    }
    if (at < image->size)
        parts[n++] = bytes_constant(t, image->bytes + at, image->size - at);
    return LLVMConstStructInContext(t->context, parts, (unsigned)n, true);
}

static LlValue add_private(Tables *t, LlValue value, const char *name)
{
    LlValue global = add_constant(t, value, name);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

/* NULL for a table without entries. */
static LlValue image_define(Tables *t, const Image *image, const char *name)
{
    return image->size ? add_private(t, image_constant(t, image), name) : NULL;
}

/* An array of pointers. */
static LlValue pointers_define(Tables *t, LlValue *pointers, int32_t n, const char *name)
{
    return n ? add_private(t, LLVMConstArray2(t->pointer, pointers, (uint64_t)n), name) : NULL;
}

static LlValue at_offset(Tables *t, LlValue base, size_t offset)
{
    LlValue index = LLVMConstInt(t->i64, offset, false);
    return base ? LLVMConstInBoundsGEP2(t->i8, base, &index, 1) : NULL;
}

/* ---- strings: all of a program's in one table, each once ---- */

static void add_string(Tables *t, const char *text)
{
    if (!text || map_has(&t->offsets, text))
        return;
    map_set(&t->offsets, text, (void *)(t->characters.count + 1));
    size_t n = strlen(text) + 1, end = t->characters.count + n;
    vec_reserve(t->arena, t->characters, end);
    memcpy(t->characters.data + t->characters.count, text, n);
    t->characters.count = end;
}

static void define_strings(Tables *t, const TfcProgram *p)
{
    add_string(t, p->name);
    for (int32_t i = 0; i < p->n_dims; i++)
        add_string(t, p->dims[i].name);
    for (int32_t i = 0; i < p->n_steps; i++)
        add_string(t, p->steps[i].name);
    for (int32_t i = 0; i < p->n_kernels; i++)
        add_string(t, p->kernel_names[i]);
    for (int32_t i = 0; i < p->n_inputs; i++)
        add_string(t, p->inputs[i].name);
    for (int32_t i = 0; i < p->n_outputs; i++)
        add_string(t, p->outputs[i].name);
    for (int32_t i = 0; i < p->n_tensors; i++) {
        add_string(t, p->tensors[i].name);
        add_string(t, p->tensors[i].file);
        add_string(t, p->tensors[i].tensor);
    }
    t->strings = add_private(
        t, bytes_constant(t, (unsigned char *)t->characters.data, t->characters.count), ".text");
}

static LlValue string_of(Tables *t, const char *text)
{
    if (!text)
        return NULL;
    size_t offset = (size_t)map_get(&t->offsets, text);
    assert(offset && "every string is in the table");
    return at_offset(t, t->strings, offset - 1);
}

/* ---- arrays ---- */

/* The host's array of records without anything between their fields, byte for byte. */
static Image array_image(Tables *t, const void *data, size_t n, size_t element)
{
    Image image = image_new(t, n * element);
    if (image.size)
        memcpy(image.bytes, data, image.size);
    return image;
}

static LlValue dims_table(Tables *t, const TfcProgram *program)
{
    Image image = image_new(t, (size_t)program->n_dims * sizeof(TfcProgramDim));
    for (int32_t i = 0; i < program->n_dims; i++) {
        record_dim((TfcProgramDim *)image.bytes + i, &program->dims[i]);
        image_point(t, &image, (size_t)i * sizeof(TfcProgramDim) + offsetof(TfcProgramDim, name),
                    string_of(t, program->dims[i].name));
    }
    return image_define(t, &image, ".dims");
}

static LlValue ports_table(Tables *t, const TfcPort *ports, int32_t n, const char *name)
{
    Image image = image_new(t, (size_t)n * sizeof(TfcPort));
    for (int32_t i = 0; i < n; i++) {
        record_port((TfcPort *)image.bytes + i, &ports[i]);
        image_point(t, &image, (size_t)i * sizeof(TfcPort) + offsetof(TfcPort, name),
                    string_of(t, ports[i].name));
    }
    return image_define(t, &image, name);
}

static LlValue tensors_table(Tables *t, const TfcProgram *program)
{
    Image image = image_new(t, (size_t)program->n_tensors * sizeof(TfcTensor));
    for (int32_t i = 0; i < program->n_tensors; i++) {
        const TfcTensor *tensor = &program->tensors[i];
        size_t at = (size_t)i * sizeof *tensor;
        record_tensor((TfcTensor *)image.bytes + i, tensor);
        image_point(t, &image, at + offsetof(TfcTensor, name), string_of(t, tensor->name));
        image_point(t, &image, at + offsetof(TfcTensor, file), string_of(t, tensor->file));
        image_point(t, &image, at + offsetof(TfcTensor, tensor), string_of(t, tensor->tensor));
    }
    return image_define(t, &image, ".tensors");
}

/* ---- steps ---- */

/* The lists of all kernel steps, one after the other. */
typedef struct StepLists {
    VEC(TfcView) views;
    VEC(int32_t) dims;
    VEC(int64_t) ints;
} StepLists;

static void list_steps(Tables *t, const TfcProgram *program, StepLists *lists)
{
    for (int32_t s = 0; s < program->n_steps; s++) {
        if (program->steps[s].kind != TFC_STEP_KERNEL)
            continue;
        const TfcKernelStep *step = &program->steps[s].kernel;
        for (int32_t i = 0; i < step->n_views; i++)
            vec_push(t->arena, lists->views, step->views[i]);
        for (int32_t i = 0; i < step->n_dims; i++)
            vec_push(t->arena, lists->dims, step->dims[i]);
        for (int32_t i = 0; i < step->n_ints; i++)
            vec_push(t->arena, lists->ints, step->ints[i]);
    }
}

static LlValue steps_table(Tables *t, const TfcProgram *program)
{
    StepLists lists = {0};
    list_steps(t, program, &lists);
    Image views = array_image(t, lists.views.data, lists.views.count, sizeof(TfcView));
    Image dims = array_image(t, lists.dims.data, lists.dims.count, sizeof(int32_t));
    Image ints = array_image(t, lists.ints.data, lists.ints.count, sizeof(int64_t));
    LlValue all_views = image_define(t, &views, ".views"), all_dims = image_define(t, &dims, ".locals"),
            all_ints = image_define(t, &ints, ".ints");
    Image image = image_new(t, (size_t)program->n_steps * sizeof(TfcStep));
    size_t view = 0, dim = 0, site = 0;
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        size_t at = (size_t)s * sizeof *step;
        record_step((TfcStep *)image.bytes + s, step);
        image_point(t, &image, at + offsetof(TfcStep, name), string_of(t, step->name));
        if (step->kind != TFC_STEP_KERNEL)
            continue;
        const TfcKernelStep *kernel = &step->kernel;
        size_t field = at + offsetof(TfcStep, kernel);
        image_point(t, &image, field + offsetof(TfcKernelStep, views),
                    at_offset(t, all_views, view * sizeof(TfcView)));
        image_point(t, &image, field + offsetof(TfcKernelStep, dims),
                    at_offset(t, all_dims, dim * sizeof(int32_t)));
        image_point(t, &image, field + offsetof(TfcKernelStep, ints),
                    at_offset(t, all_ints, site * sizeof(int64_t)));
        view += (size_t)kernel->n_views;
        dim += (size_t)kernel->n_dims;
        site += (size_t)kernel->n_ints;
    }
    return image_define(t, &image, ".steps");
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

static LlValue kernels_table(Tables *t, const TfcProgram *program)
{
    LlValue *kernels = ARENA_ARRAY(t->arena, LlValue, program->n_kernels + 1);
    for (int32_t k = 0; k < program->n_kernels; k++)
        kernels[k] = hidden(t, program->kernel_names[k], "pii");
    return pointers_define(t, kernels, program->n_kernels, ".kernels");
}

static LlValue kernel_names_table(Tables *t, const TfcProgram *program)
{
    LlValue *names = ARENA_ARRAY(t->arena, LlValue, program->n_kernels + 1);
    for (int32_t k = 0; k < program->n_kernels; k++)
        names[k] = string_of(t, program->kernel_names[k]);
    return pointers_define(t, names, program->n_kernels, ".names");
}

const char *const product_names[TFC_PRODUCT_TYPES] = {"gemm.f32", "gemm.f64", "gemm.bf16"};

bool program_has_product(const TfcProgram *program, TfcType type, GemmChoice gemm)
{
    if (gemm == GEMM_BLAS && (int)type < TFC_BLAS_TYPES)
        return false;
    for (int32_t s = 0; s < program->n_steps; s++)
        if (program->steps[s].kind == TFC_STEP_GEMM && program->steps[s].gemm.type == type)
            return true;
    return false;
}

/* TfcProducts is an array of pointers: OpenBLAS's two products, then the program's own forms. */
static void point_products(Tables *t, const TfcProgram *program, Image *image)
{
    static const char *const blas[TFC_BLAS_TYPES] = {"tfc_blas_f32", "tfc_blas_f64"};
    for (int i = 0; i < TFC_BLAS_TYPES + TFC_PRODUCT_TYPES; i++) {
        int native = i - TFC_BLAS_TYPES;
        LlValue product = NULL;
        if (native >= 0 && program_has_product(program, (TfcType)native, t->gemm))
            product = hidden_data(t, product_names[native]);
        else if (native < 0 && program->products.blas[i])
            product = external(t, blas[i], "p");
        image_point(t, image, offsetof(TfcProgram, products) + (size_t)i * t->pointer_bytes, product);
    }
}

/* ---- the program ---- */

static LlValue loops_table(Tables *t, const TfcProgram *program)
{
    Image image = array_image(t, program->loops, (size_t)program->n_loops, sizeof(TfcLoop));
    return image_define(t, &image, ".loops");
}

static LlValue sizes_table(Tables *t, const TfcProgram *program)
{
    Image image = array_image(t, program->sizes, (size_t)program->n_sizes, sizeof(TfcSize));
    return image_define(t, &image, ".sizes");
}

static LlValue buffers_table(Tables *t, const TfcProgram *program)
{
    Image image = image_new(t, (size_t)program->n_buffers * sizeof(TfcBuffer));
    for (int32_t i = 0; i < program->n_buffers; i++)
        record_buffer((TfcBuffer *)image.bytes + i, &program->buffers[i]);
    return image_define(t, &image, ".buffers");
}

static Image program_image(Tables *t, const TfcProgram *p)
{
    Image image = image_new(t, sizeof *p);
    record_program((TfcProgram *)image.bytes, p);
    image_point(t, &image, offsetof(TfcProgram, name), string_of(t, p->name));
    image_point(t, &image, offsetof(TfcProgram, dims), dims_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, sizes), sizes_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, buffers), buffers_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, steps), steps_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, loops), loops_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, kernels), kernels_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, kernel_names), kernel_names_table(t, p));
    image_point(t, &image, offsetof(TfcProgram, inputs),
                ports_table(t, p->inputs, p->n_inputs, ".inputs"));
    image_point(t, &image, offsetof(TfcProgram, outputs),
                ports_table(t, p->outputs, p->n_outputs, ".outputs"));
    image_point(t, &image, offsetof(TfcProgram, tensors), tensors_table(t, p));
    point_products(t, p, &image);
    return image;
}

void tables_emit(LLVMContextRef context, LLVMModuleRef module, const TfcProgram *program,
                 const char *prefix, GemmChoice gemm)
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
    map_init(&t.offsets, t.arena);
    define_strings(&t, program);
    Image image = program_image(&t, program);
    add_constant(&t, image_constant(&t, &image),
                 arena_printf(t.arena, "%s%s", prefix, program->name));
    arena_free(t.arena);
}
