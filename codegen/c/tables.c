/* Tables as C; see unit.h. records.c makes tables of bytes from the program; here each of them is
 * written as an array of its records, with names of fields and without zeros. */
#include "codegen/c/unit.h"

#include "codegen/c/render.h"
#include "codegen/products.h"
#include "codegen/records.h"

#include <inttypes.h>
#include <string.h>

typedef struct Tables {
    Arena *arena;
    const TfcProgram *program;
    const char *prefix;
    GemmChoice gemm;
    Records records;
    RecordTableId id; /* of the table being written */
    size_t next;      /* of its pointers */
    Text *out;
} Tables;

static const char *const suffixes[] = {
#define TABLE_NAME(T) #T,
    RECORD_TABLES(TABLE_NAME)};

/* The array of a table: "<prefix><program>_TfcStep". */
static const char *array_name(const Tables *t, RecordTableId id)
{
    return arena_printf(t->arena, "%s%s_%s", t->prefix, t->program->name, suffixes[id]);
}

static const char *kernel_symbol(const Tables *t, int32_t kernel)
{
    const char *name = t->program->kernel_names[kernel];
    return c_name(t->arena, arena_printf(t->arena, "%s%s", t->prefix, name));
}

/* ---- values ---- */

/* Texts of values of each type, "0" for what need not be written. */
static const char *double_text(const Tables *t, const void *value)
{
    double number;
    memcpy(&number, value, sizeof number);
    return number == 0 ? "0" : arena_printf(t->arena, "%.17g", number);
}

#define INTEGER_TEXT(name, T)                                          \
    static const char *name##_text(const Tables *t, const void *value) \
    {                                                                  \
        T number;                                                      \
        memcpy(&number, value, sizeof number);                         \
        return arena_printf(t->arena, "%" PRId64, (int64_t)number);    \
    }
INTEGER_TEXT(bool, bool)
INTEGER_TEXT(int8, int8_t)
INTEGER_TEXT(uint8, uint8_t)
INTEGER_TEXT(int16, int16_t)
INTEGER_TEXT(uint16, uint16_t)
INTEGER_TEXT(uint32, uint32_t)
INTEGER_TEXT(int32, int32_t)

static const char *int64_text(const Tables *t, const void *value)
{
    int64_t number;
    memcpy(&number, value, sizeof number);
    return arena_printf(t->arena, number == (int32_t)number ? "%" PRId64 : "INT64_C(%" PRId64 ")",
                        number);
}

static const char *factor_text(const Tables *t, const void *value)
{
    const TfcFactor *factor = value;
    if (!factor->dim && !factor->quantity)
        return "{0, 0}";
    return arena_printf(t->arena, "{%d, %s}", factor->dim,
                        factor->quantity == TFC_TOTAL ? "TFC_TOTAL" : "TFC_EXTENT");
}

/* clang-format off */
#define TEXT_OF(type)                                                                              \
    _Generic((type){0}, double: double_text, bool: bool_text, int8_t: int8_text, uint8_t: uint8_text, \
             int16_t: int16_text, uint16_t: uint16_text, uint32_t: uint32_text, int32_t: int32_text, int64_t: int64_text, \
             TfcFactor: factor_text)
/* clang-format on */

typedef const char *ValueText(const Tables *t, const void *value);

static void put_value(Tables *t, const char *name, ValueText *text, const void *value)
{
    const char *written = text(t, value);
    if (strcmp(written, "0"))
        text_add(t->out, ".%s = %s, ", name, written);
}

/* Zeros at the end are left out. */
static void put_values(Tables *t, const char *name, ValueText *text, const void *values, size_t n,
                       size_t size)
{
    static const char zeros[64];
    const char *bytes = values;
    while (n > 0 && !memcmp(bytes + (n - 1) * size, zeros, size))
        n--;
    if (n == 0)
        return;
    text_add(t->out, ".%s = {", name);
    for (size_t i = 0; i < n; i++)
        text_add(t->out, "%s%s", i ? ", " : "", text(t, bytes + i * size));
    text_add(t->out, "}, ");
}

/* ---- pointers ---- */

/* The pointer that stands at this place of the table; NULL: none does. */
static const RecordPointer *pointer_at(Tables *t, size_t at)
{
    const RecordTable *table = &t->records.tables[t->id];
    for (; t->next < table->pointers.count && table->pointers.data[t->next].at <= at; t->next++)
        if (table->pointers.data[t->next].at == at)
            return &table->pointers.data[t->next];
    return NULL;
}

static void put_string(Tables *t, const RecordPointer *pointer)
{
    text_quote(t->out, (const char *)t->records.tables[TABLE_text].bytes.data + pointer->offset);
}

static const size_t sizes[] = {
#define text char
#define texts char *
#define functions TfcKernel
#define TABLE_SIZE(T) sizeof(T),
    RECORD_TABLES(TABLE_SIZE)
#undef text
#undef texts
#undef functions
};

static void put_pointer(Tables *t, const char *name, size_t at)
{
    const RecordPointer *pointer = pointer_at(t, at);
    if (!pointer)
        return;
    text_add(t->out, ".%s = ", name);
    if (pointer->to == TABLE_text)
        put_string(t, pointer);
    else if (pointer->offset)
        text_add(t->out, "%s + %zu", array_name(t, pointer->to),
                 pointer->offset / sizes[pointer->to]);
    else
        text_add(t->out, "%s", array_name(t, pointer->to));
    text_add(t->out, ", ");
}

static void put_products(Tables *t)
{
    text_add(t->out, ".products = {.native = {");
    for (int type = 0; type < TFC_PRODUCT_TYPES; type++)
        if (program_has_product(t->program, (TfcProductType)type, t->gemm))
            text_add(
                t->out, "[%d] = (const TfcForm *)&%s, ", type,
                c_name(t->arena, arena_printf(t->arena, "%s%s", t->prefix, product_names[type])));
    text_add(t->out, "}}, ");
}

/* ---- records: one function each ---- */

#define RECORD(T)                                          \
    static void put_##T(Tables *t, size_t at, const T *in) \
    {                                                      \
        typedef T Record;                                  \
        (void)sizeof(Record);                              \
        (void)at;
#define END(T) }
#define VALUE(type, name) put_value(t, #name, TEXT_OF(type), &in->name);
#define VALUES(type, name, n) put_values(t, #name, TEXT_OF(type), in->name, n, sizeof(type));
#define PLACE(name) (at + offsetof(Record, name))
#define PART(T, name)                   \
    text_add(t->out, ".%s = {", #name); \
    put_##T(t, PLACE(name), &in->name); \
    text_add(t->out, "}, ");
#define PARTS(T, name, n)                                      \
    text_add(t->out, ".%s = {", #name);                        \
    for (size_t i = 0; i < n; i++) {                           \
        text_add(t->out, "{");                                 \
        put_##T(t, PLACE(name) + i * sizeof(T), &in->name[i]); \
        text_add(t->out, "}, ");                               \
    }                                                          \
    text_add(t->out, "}, ");
#define TEXT(name) put_pointer(t, #name, PLACE(name));
#define NUMBERS(type, name, count) put_pointer(t, #name, PLACE(name));
#define RECORDS(T, name, count) put_pointer(t, #name, PLACE(name));
#define TEXTS(name, count) put_pointer(t, #name, PLACE(name));
#define FUNCTIONS(type, name, count) put_pointer(t, #name, PLACE(name));
#define PRODUCTS(type, name) put_products(t);
#define ONE_OF(kind) switch (in->kind) {
#define CASE(T, name, cases) cases PART(T, name) break;
#define END_ONE_OF(kind) }
#include "runtime/exec/records.def"

/* ---- arrays ---- */

static void put_records(Tables *t, RecordTableId id)
{
    const RecordTable *table = &t->records.tables[id];
    t->id = id;
    t->next = 0;
    for (size_t at = 0; at < table->bytes.count; at += sizes[id]) {
        void *record = arena_copy(t->arena, table->bytes.data + at, sizes[id]); /* aligned */
        text_add(t->out, "    {");
        switch (id) {
#define CASE_OF(T) \
    case TABLE_##T: put_##T(t, at, record); break;
            /* clang-format off */
        CASE_OF(TfcProgramDim) CASE_OF(TfcSize) CASE_OF(TfcBuffer) CASE_OF(TfcView)
        CASE_OF(TfcStep) CASE_OF(TfcLoop) CASE_OF(TfcGrouping) CASE_OF(TfcPort) CASE_OF(TfcTensor)
                /* clang-format on */
                default : break;
        }
        text_add(t->out, "},\n");
    }
}

static void put_numbers(Tables *t, RecordTableId id)
{
    const RecordTable *table = &t->records.tables[id];
    ValueText *text = id == TABLE_int32_t ? int32_text : int64_text;
    text_add(t->out, "    ");
    for (size_t at = 0; at < table->bytes.count; at += sizes[id])
        text_add(t->out, "%s, ", text(t, table->bytes.data + at));
    text_add(t->out, "\n");
}

static void put_strings(Tables *t)
{
    t->id = TABLE_texts;
    t->next = 0;
    for (size_t at = 0; at < t->records.tables[TABLE_texts].bytes.count; at += sizes[TABLE_texts]) {
        const RecordPointer *pointer = pointer_at(t, at);
        text_add(t->out, "    ");
        if (pointer)
            put_string(t, pointer);
        else
            text_add(t->out, "NULL");
        text_add(t->out, ",\n");
    }
}

static const char *element_type(RecordTableId id)
{
    return id == TABLE_texts ? "char *const" : id == TABLE_functions ? "TfcKernel" : suffixes[id];
}

static void put_array(Tables *t, RecordTableId id)
{
    if (!t->records.tables[id].bytes.count)
        return;
    text_add(t->out, "static const %s %s[] = {\n", element_type(id), array_name(t, id));
    if (id == TABLE_int32_t || id == TABLE_int64_t)
        put_numbers(t, id);
    else if (id == TABLE_texts)
        put_strings(t);
    else if (id == TABLE_functions)
        for (int32_t k = 0; k < t->program->n_kernels; k++)
            text_add(t->out, "    %s,\n", kernel_symbol(t, k));
    else
        put_records(t, id);
    text_add(t->out, "};\n");
}

void c_tables(const TfcProgram *program, const char *prefix, GemmChoice gemm, Text *out)
{
    Tables t = {
        .arena = arena_new(), .program = program, .prefix = prefix, .gemm = gemm, .out = out};
    records_of(&t.records, program, NULL, t.arena);
    for (int id = TABLE_texts; id < TABLE_TfcProgram; id++)
        put_array(&t, (RecordTableId)id);
    t.id = TABLE_TfcProgram;
    t.next = 0;
    text_add(out, "static const TfcProgram %s%s = {", prefix, program->name);
    put_TfcProgram(&t, 0, program);
    text_add(out, "};\n\n");
    arena_free(t.arena);
}
