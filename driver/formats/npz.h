/* NumPy's files: .npy, an array, and .npz, a zip of such (numpy.lib.format, versions 1 to 3).
 * Reading trusts nothing: a bad header or type, sizes that overflow or do not agree, a name that
 * occurs twice, and an archive that unpacks to far more than its size are errors. An error of
 * npz_read or npz_parse names the file, and the array if it is of one. */
#ifndef DRIVER_FORMATS_NPZ_H
#define DRIVER_FORMATS_NPZ_H

#include "base/map.h"
#include "runtime/data/safetensors.h"

enum { NPY_MAX_RANK = ST_MAX_RANK, NPY_TYPE = 15 /* letters of a type's name */ };

/* NpyArray: little-endian elements, one behind the other in the order of the axes, the last one
 * fastest; is_fortran: the first one fastest.
 *   data   `count` elements, at any address: in the file's bytes, or unpacked in the arena; of an
 *          array that is written they belong to the caller
 *   seal   of npz_parse: the file's checksum of them; NULL: it is compared, or there is none
 *   other  where `type` is ST_COUNT, after npy_parse has failed: the name of the type, as "<U5" */
typedef struct NpyArray {
    const char *name; /* without .npy */
    StType type;
    bool is_fortran;
    int rank;
    int64_t dims[NPY_MAX_RANK];
    int64_t count;
    const void *data;
    StSeal *seal;
    char other[NPY_TYPE + 1];
} NpyArray;

typedef struct Npz {
    const char *path;
    VEC(NpyArray *) arrays; /* in the file's order */
    VEC(StPassed) passed;   /* arrays of texts, objects and other types that are not read */
    Map index;              /* private: name → array */
} Npz;

/* Reads the bytes of a .npy into an array; its name stays as it is. False: the bytes are no such
 * array, and *problem is the reason. (npy.c) */
bool npy_parse(const void *bytes, size_t size, NpyArray *array, const char **problem);
/* Appends the bytes that precede an array's data in its file, at least `least` of them. */
void npy_put_header(const NpyArray *array, size_t least, Text *out);

/* Reads all arrays of a file, which stays mapped while the arena lives, and checks their bytes;
 * npz_parse reads them from a file's bytes, which must outlive them, with `path` for messages, and
 * checks the bytes of unpacked arrays, and of others when a tensor is (st_is_whole), in an arena
 * that may fail. NULL after an error. (npz.c) */
Npz *npz_read(Diagnostics *diags, Arena *arena, const char *path);
Npz *npz_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes, size_t size);
const NpyArray *npz_find(const Npz *npz, const char *name); /* NULL if absent */
/* Writes arrays (count follows from dims), not compressed, in their order; the same arrays give the
 * same bytes. False after an error: an old file is then not changed. */
bool npz_write(Diagnostics *diags, const char *path, const NpyArray *arrays, int64_t n);

/* FormatParse (formats.h): the arrays of an .npz; and the one of a .npy, by the file's name without
 * the ending. (npz_weights.c) */
StFile *npz_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size);
StFile *npy_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size);
/* Whether a file is a zip of .npy alone. */
bool npz_is(const unsigned char *bytes, uint64_t size);

#endif
