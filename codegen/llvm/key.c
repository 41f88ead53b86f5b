/* Keys of compiled programs; see cache.h. */
#include "codegen/cache.h"

#include "base/cpu.h"
#include "base/sha256.h"
#include "codegen/build_id.h"
#include "codegen/llvm/llvm.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

static_assert(sizeof(ProgramKey) == SHA256_BYTES, "a key is one SHA-256");

static void add_number(Sha256 *sha, int64_t number) { sha256_add(sha, &number, sizeof number); }

static void add_text(Sha256 *sha, const char *text, size_t length)
{
    add_number(sha, (int64_t)length);
    sha256_add(sha, text, length);
}

/* Of the files that codegen and what it stands on are compiled from (CMakeLists.txt): any other
 * edit leaves what is kept as good as it was. */
extern const char compiler_digest[];

/* The same for all keys of a process: without LLVM's build id its whole file is read. */
static unsigned char build[SHA256_BYTES];
static pthread_once_t build_is_known = PTHREAD_ONCE_INIT;

static void find_build(void)
{
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, compiler_digest, strlen(compiler_digest));
    llvm_add_build(&sha);
    add_number(&sha, sizeof(TfcProgram));
    add_number(&sha, sizeof(TfcStep));
    add_number(&sha, sizeof(TfcKernelArgs));
    sha256_finish(&sha, build);
}

static void add_build(Sha256 *sha)
{
    pthread_once(&build_is_known, find_build);
    sha256_add(sha, build, sizeof build);
}

/* What LLVM would call this machine, and what of it would be used, follows from these. */
static void add_here(Sha256 *sha)
{
    cpu_add_words(sha);
    add_number(sha, cpu_allows_amx());
}

static void add_target(Sha256 *sha, const TargetOptions *target)
{
    if (target->cpu)
        add_text(sha, target->cpu, strlen(target->cpu));
    else
        add_here(sha);
    if (target->triple)
        add_text(sha, target->triple, strlen(target->triple));
    add_number(sha, target->scalar);
    add_number(sha, target->emulates_fma);
    add_number(sha, target->opt_level);
    add_number(sha, target->gemm);
    sha256_add(sha, &target->choice, sizeof target->choice);
}

/* ---- the function: what its text form says, in fewer bytes ---- */

typedef struct Bytes {
    Arena *arena;
    VEC(unsigned char) list;
    const char *scope; /* of the op before */
} Bytes;

static void put_bytes(Bytes *out, const void *data, size_t size)
{
    vec_reserve(out->arena, out->list, out->list.count + size);
    memcpy(out->list.data + out->list.count, data, size);
    out->list.count += size;
}

/* Seven bits a byte, the lowest first; the last byte is below 128. */
static void put_number(Bytes *out, int64_t number)
{
    uint64_t rest = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    unsigned char bytes[10];
    size_t n = 0;
    for (; rest > 127; rest >>= 7)
        bytes[n++] = (unsigned char)(rest & 127) | 128;
    bytes[n++] = (unsigned char)rest;
    put_bytes(out, bytes, n);
}

static void put_text(Bytes *out, const char *text)
{
    put_number(out, text ? (int64_t)strlen(text) : -1);
    if (text)
        put_bytes(out, text, strlen(text));
}

static void put_dims(Bytes *out, int rank, const Dim *dims)
{
    put_number(out, rank);
    for (int i = 0; i < rank; i++) {
        put_number(out, dims[i].symbol);
        put_number(out, dims[i].size);
    }
}

static void put_type(Bytes *out, const Type *type)
{
    put_number(out, type->dtype);
    put_dims(out, type->rank, type->dims);
}

static void put_attr(Bytes *out, const Attr *attr)
{
    put_number(out, attr->name);
    switch (attr_info[attr->name].kind) {
    case INT:
    case TYPE:
    case SYMBOL: put_number(out, attr->i); break;
    case FLOAT: put_bytes(out, &attr->f, sizeof attr->f); break;
    case STRING: put_text(out, attr->s); break;
    case DIMS: put_dims(out, attr->rank, attr->dims); break;
    case INTS:
        put_number(out, attr->n);
        for (int i = 0; i < attr->n; i++)
            put_number(out, attr->ints[i]);
        break;
    }
}

static void put_block(Bytes *out, const Block *block)
{
    for (const Op *op = block->first; op; op = op->next) {
        bool moved = op->scope != out->scope; /* scopes of neighbours are one string */
        put_number(out, op->kind);
        put_number(out, op->n_args);
        for (int i = 0; i < op->n_args; i++)
            put_number(out, op->args[i]->id);
        put_number(out, op->n_attrs);
        for (int i = 0; i < op->n_attrs; i++)
            put_attr(out, &op->attrs[i]);
        put_number(out, op->n_results);
        for (int i = 0; i < op->n_results; i++)
            put_type(out, &op->results[i].type);
        put_number(out, moved);
        if (moved)
            put_text(out, op->scope);
        out->scope = op->scope;
        put_number(out, op->body != NULL);
        if (op->body)
            put_block(out, op->body);
    }
    put_number(out, OP_COUNT); /* the end */
}

#define RECORD(T)                                \
    static void put_##T(Bytes *out, const T *in) \
    {
#define END(T) }
#define VALUE(type, name) put_number(out, in->name);
#define PARTS(T, name, most)            \
    for (int32_t i = 0; i < in->n; i++) \
        put_##T(out, &in->name[i]);
#include "base/dim_formula.def"
#undef RECORD
#undef END
#undef VALUE
#undef PARTS

/* A field of ir/declared.def by its kind. */
#define PUT_text(field) put_text(out, field)
#define PUT_number(field) put_number(out, field)
#define PUT_real(field) put_bytes(out, &(field), sizeof(field))
#define PUT_shape(field) put_type(out, &(field))
#define PUT_formula(field) put_DimFormula(out, &(field))
#define PUT_place(field) (void)(field)

static void put_param(Bytes *out, const ParamInfo *info)
{
#define PARAM(kind, type, name) PUT_##kind(info->name);
#include "ir/declared.def"
}

static void put_symbol(Bytes *out, const Symbol *symbol)
{
#define DIM(kind, type, name) PUT_##kind(symbol->name);
#include "ir/declared.def"
}

static void add_function(Sha256 *sha, const Function *function)
{
    const Module *module = function->module;
    Bytes bytes = {.arena = arena_new()};
    function_number((Function *)function); /* ids are names, not what is meant */
    put_text(&bytes, function->name);
    for (size_t i = 0; i < module->symbols.count; i++)
        put_symbol(&bytes, &module->symbols.data[i]);
    put_number(&bytes, -1);
    for (size_t i = 0; i < module->params.count; i++)
        put_param(&bytes, module->params.data[i]);
    put_number(&bytes, -1);
    put_block(&bytes, &function->body);
    sha256_add(sha, bytes.list.data, bytes.list.count);
    arena_free(bytes.arena);
}

/* Begins with this build of the compiler. */
static Sha256 begin_key(void)
{
    Sha256 sha;
    sha256_init(&sha);
    add_build(&sha);
    return sha;
}

static ProgramKey end_key(Sha256 *sha)
{
    ProgramKey key;
    sha256_finish(sha, key.hash);
    return key;
}

ProgramKey key_of_text(const char *text, const char *library)
{
    Sha256 sha = begin_key();
    add_here(&sha);
    if (library)
        build_id_add_file(&sha, library);
    add_text(&sha, text, strlen(text));
    return end_key(&sha);
}

ProgramKey key_of(const TargetOptions *target, const Function *function, const char *pipeline)
{
    Sha256 sha = begin_key();
    add_target(&sha, target);
    add_text(&sha, pipeline, strlen(pipeline));
    add_function(&sha, function);
    return end_key(&sha);
}

ProgramKey key_of_objects(const TargetOptions *target, const Function *const *functions, int n,
                          const char *prefix)
{
    Sha256 sha = begin_key();
    add_target(&sha, target);
    add_text(&sha, prefix, strlen(prefix));
    add_number(&sha, n);
    for (int i = 0; i < n; i++)
        add_function(&sha, functions[i]);
    return end_key(&sha);
}

ProgramKey key_of_loops(const TargetOptions *target, const char *text, size_t length)
{
    Sha256 sha = begin_key();
    add_target(&sha, target);
    add_text(&sha, text, length);
    return end_key(&sha);
}

ProgramKey key_of_made(const ProgramKey *program, const void *of, size_t bytes)
{
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, program->hash, sizeof program->hash);
    sha256_add(&sha, of, bytes);
    return end_key(&sha);
}
