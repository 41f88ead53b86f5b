/* Records: a program as tables of bytes: its records field by field (runtime/exec/records.def), in
 * one layout for all systems. Bytes between fields are zeros, so the same program gives the same
 * bytes. A table has all records of one type. Pointers in a table are zeros; a list beside the
 * table has, for each pointer but NULL, the table and the offset that it points to. */
#ifndef CODEGEN_RECORDS_H
#define CODEGEN_RECORDS_H

#include "base/map.h"
#include "base/vec.h"
#include "runtime/exec/program.h"

/* TABLE(type of its elements). `text`: the characters of all strings, each string once; programs
 * of one object file share it. `texts` and
 * `functions`: lists of pointers, of the host's size here. `functions`: the program's kernels,
 * which have no entries in the list of pointers. */
#define RECORD_TABLES(TABLE) \
    TABLE(text)              \
    TABLE(texts)             \
    TABLE(functions)         \
    TABLE(int32_t)           \
    TABLE(int64_t)           \
    TABLE(TfcProgramDim)     \
    TABLE(TfcSize)           \
    TABLE(TfcBuffer)         \
    TABLE(TfcView)           \
    TABLE(TfcStep)           \
    TABLE(TfcLoop)           \
    TABLE(TfcGrouping)       \
    TABLE(TfcPort)           \
    TABLE(TfcTensor)         \
    TABLE(TfcProgram)
#define RECORD_TABLE(T) TABLE_##T,
typedef enum RecordTableId { RECORD_TABLES(RECORD_TABLE) N_RECORD_TABLES } RecordTableId;

typedef struct RecordPointer {
    size_t at; /* the pointer's place in its table, bytes */
    RecordTableId to;
    size_t offset; /* in that table, bytes */
} RecordPointer;

typedef struct RecordTable {
    VEC(unsigned char) bytes;
    VEC(RecordPointer) pointers; /* in ascending order */
} RecordTable;

typedef struct Records {
    Arena *arena;
    RecordTable tables[N_RECORD_TABLES];
    Map strings; /* string → its offset in TABLE_text, plus 1 */
} Records;

/* Makes the tables of a program and of all that it points to. `before`: tables of another program,
 * whose text has the same place in these; NULL: none. Everything lives in the arena. */
void records_of(Records *out, const TfcProgram *program, const Records *before, Arena *arena);

#endif
