/* Records field by field; see records.h. */
#include "codegen/records.h"

#include <assert.h>
#include <string.h>

/* ---- tables ---- */

/* Zeros at the end of a table; where they begin. */
static size_t room_for(Records *r, RecordTableId id, size_t size)
{
    RecordTable *table = &r->tables[id];
    size_t at = table->bytes.count;
    vec_reserve(r->arena, table->bytes, at + size);
    memset(table->bytes.data + at, 0, size);
    table->bytes.count += size;
    return at;
}

static void put_bytes(Records *r, RecordTableId id, size_t at, const void *bytes, size_t size)
{
    memcpy(r->tables[id].bytes.data + at, bytes, size);
}

static void put_pointer(Records *r, RecordTableId id, size_t at, RecordTableId to, size_t offset)
{
    RecordTable *table = &r->tables[id];
    RecordPointer pointer = {at, to, offset};
    assert(!table->pointers.count || vec_last(table->pointers).at < at);
    vec_push(r->arena, table->pointers, pointer);
}

static void put_text(Records *r, RecordTableId id, size_t at, const char *text)
{
    if (!text)
        return;
    if (!map_has(&r->strings, text)) {
        size_t size = strlen(text) + 1, offset = room_for(r, TABLE_text, size);
        put_bytes(r, TABLE_text, offset, text, size);
        map_set(&r->strings, text, (void *)(offset + 1));
    }
    put_pointer(r, id, at, TABLE_text, (size_t)map_get(&r->strings, text) - 1);
}

/* ---- records: one function each ---- */

#define PLACE(name) (at + offsetof(Record, name))

#define RECORD(T)                                                             \
    static void put_##T(Records *r, RecordTableId id, size_t at, const T *in) \
    {                                                                         \
        typedef T Record;
#define END(T) }

#define VALUE(type, name) put_bytes(r, id, PLACE(name), &in->name, sizeof in->name);
#define VALUES(type, name, n) VALUE(type, name)
#define PART(T, name) put_##T(r, id, PLACE(name), &in->name);
#define PARTS(T, name, n)          \
    for (size_t i = 0; i < n; i++) \
        put_##T(r, id, PLACE(name) + i * sizeof(T), &in->name[i]);

#define TEXT(name) put_text(r, id, PLACE(name), in->name);
#define NUMBERS(type, name, count)                             \
    if (in->count > 0) {                                       \
        size_t size = (size_t)in->count * sizeof(type);        \
        size_t offset = room_for(r, TABLE_##type, size);       \
        put_bytes(r, TABLE_##type, offset, in->name, size);    \
        put_pointer(r, id, PLACE(name), TABLE_##type, offset); \
    }
#define RECORDS(T, name, count)                                                \
    if (in->count > 0) {                                                       \
        size_t offset = room_for(r, TABLE_##T, (size_t)in->count * sizeof(T)); \
        put_pointer(r, id, PLACE(name), TABLE_##T, offset);                    \
        for (size_t i = 0; i < (size_t)in->count; i++)                         \
            put_##T(r, TABLE_##T, offset + i * sizeof(T), &in->name[i]);       \
    }
#define TEXTS(name, count)                                                            \
    if (in->count > 0) {                                                              \
        size_t offset = room_for(r, TABLE_texts, (size_t)in->count * sizeof(char *)); \
        put_pointer(r, id, PLACE(name), TABLE_texts, offset);                         \
        for (size_t i = 0; i < (size_t)in->count; i++)                                \
            put_text(r, TABLE_texts, offset + i * sizeof(char *), in->name[i]);       \
    }
#define FUNCTIONS(type, name, count)                     \
    if (in->count > 0)                                   \
        put_pointer(r, id, PLACE(name), TABLE_functions, \
                    room_for(r, TABLE_functions, (size_t)in->count * sizeof(type)));
#define PRODUCTS(type, name)

#define ONE_OF(kind) switch (in->kind) {
#define CASE(T, name, cases) cases PART(T, name) break;
#define END_ONE_OF(kind) }

#include "runtime/exec/records.def"

/* ---- the program ---- */

void records_of(Records *out, const TfcProgram *program, const Records *before, Arena *arena)
{
    *out = (Records){.arena = arena};
    map_init(&out->strings, arena);
    if (before) {
        out->strings = before->strings;
        out->tables[TABLE_text] = before->tables[TABLE_text];
    }
    put_TfcProgram(out, TABLE_TfcProgram, room_for(out, TABLE_TfcProgram, sizeof *program),
                   program);
}
