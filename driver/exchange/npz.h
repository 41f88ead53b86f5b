/* NumPy's files: .npy, an array, and .npz, a zip of such (numpy.lib.format, versions 1 to 3).
 * Reading trusts nothing: headers, types, orders and sizes that overflow or do not agree, names
 * twice and archives that unpack to far more than they are, are refused with a message that
 * names the file and the array. */
#ifndef DRIVER_EXCHANGE_NPZ_H
#define DRIVER_EXCHANGE_NPZ_H

#include "base/diag.h"
#include "base/map.h"

#include <stdint.h>

enum { NPY_MAX_RANK = 8 };

/* NpyArray: little-endian elements in C order; bytes are int8 or uint8.
 *   data   count elements, unaligned; in the arena, or the caller's when writing */
typedef enum NpyType { NPY_F32, NPY_BYTES } NpyType;
typedef struct NpyArray {
    const char *name; /* without .npy */
    NpyType type;
    int rank;
    int64_t dims[NPY_MAX_RANK];
    int64_t count;
    const void *data;
} NpyArray;

typedef struct Npz {
    const char *path;
    VEC(NpyArray *) arrays; /* in the file's order */
    Map index;              /* private: name → array */
} Npz;

/* The array that the bytes are, but its name; false, and *problem tells why: they are none that is
 * read here. (npy.c) */
bool npy_parse(const void *bytes, size_t size, NpyArray *array, const char **problem);
/* The bytes before an array's data. */
void npy_put_header(const NpyArray *array, Text *out);
size_t npy_element_size(NpyType type);

/* All arrays of the file; NULL after an error. npz_parse reads a file's bytes, which are named
 * `path` in messages. (npz.c) */
Npz *npz_read(Diagnostics *diags, Arena *arena, const char *path);
Npz *npz_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes, size_t size);
const NpyArray *npz_find(const Npz *npz, const char *name); /* NULL if absent */
/* Writes arrays (count follows from dims), not compressed, in their order; the same arrays give the
 * same bytes. Beside and renamed. False after an error: the old file is then as it was. */
bool npz_write(Diagnostics *diags, const char *path, const NpyArray *arrays, int64_t n);

#endif
