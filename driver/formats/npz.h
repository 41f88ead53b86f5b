/* NumPy's files: .npy, an array, and .npz, a zip of such (numpy.lib.format, versions 1 to 3).
 * Reading trusts nothing: a bad header or type, sizes that overflow or do not agree, a name that
 * occurs twice, and an archive that unpacks to far more than its size are errors. An error of
 * npz_read or npz_parse names the file, and the array if it is of one. */
#ifndef DRIVER_EXCHANGE_NPZ_H
#define DRIVER_EXCHANGE_NPZ_H

#include "base/diag.h"
#include "base/map.h"

#include <stdint.h>

enum { NPY_MAX_RANK = 8 };

/* NpyArray: little-endian elements in C order; bytes are int8 or uint8.
 *   data   `count` elements, at any address. They are in the arena where npz_read or npz_parse has
 *          made the array, and within its `bytes` where npy_parse has; of an array that is written
 *          they belong to the caller */
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

/* Reads the bytes of a .npy into an array; its name stays as it is. False: the bytes are no such
 * array, and *problem is the reason. (npy.c) */
bool npy_parse(const void *bytes, size_t size, NpyArray *array, const char **problem);
/* Appends the bytes that precede an array's data in its file. */
void npy_put_header(const NpyArray *array, Text *out);
size_t npy_element_size(NpyType type);

/* Reads all arrays of a file; npz_parse reads them from a file's bytes, with `path` for messages.
 * NULL after an error. (npz.c) */
Npz *npz_read(Diagnostics *diags, Arena *arena, const char *path);
Npz *npz_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes, size_t size);
const NpyArray *npz_find(const Npz *npz, const char *name); /* NULL if absent */
/* Writes arrays (count follows from dims), not compressed, in their order; the same arrays give the
 * same bytes. False after an error: an old file is then not changed. */
bool npz_write(Diagnostics *diags, const char *path, const NpyArray *arrays, int64_t n);

#endif
