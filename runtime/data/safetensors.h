/* The safetensors format: an 8-byte little-endian header length, a JSON header,
 * then the data. Reading trusts nothing: lengths, overlaps, holes, types, sizes
 * that overflow and oversized headers are refused with a message that names the
 * file and the tensor. Writing is beside and renamed. */
#ifndef RUNTIME_DATA_SAFETENSORS_H
#define RUNTIME_DATA_SAFETENSORS_H

#include "base/diag.h"
#include "base/element.h"
#include "base/map.h"

#include <stdint.h>

enum { ST_MAX_RANK = 8 };
/* The first are those of programs (TfcType). */
typedef enum StType {
#define TYPE(NAME, ...) ST_##NAME,
#define FILE_TYPE(NAME, ...) ST_##NAME,
#include "base/types.def"
    ST_COUNT
} StType;

/* Gives all bytes of the tensor of this name. */
typedef void StFetch(void *context, const char *name, void *out);

typedef struct StTensor {
    const char *name;
    StType type;
    int rank;
    int64_t dims[ST_MAX_RANK];
    int64_t count;    /* elements */
    const void *data; /* into the mapping, or the caller's when writing; may be unaligned */
    uint64_t bytes;
    StFetch *fetch;   /* when writing, in the place of data: called twice */
    void *context;
} StTensor;

typedef struct StFile {
    const char *path;
    int64_t n;
    StTensor *tensors; /* in the order of their data */
    int64_t n_meta;
    const char **meta_keys, **meta_values; /* __metadata__, all strings */
    Map index;                             /* private: name → tensor */
    void *map;                             /* private: the mapping, NULL for st_parse */
    uint64_t map_bytes;
} StFile;

/* Maps the file; NULL after an error. st_close unmaps; names live in the arena.
 * st_parse reads the bytes of a file in memory, which must outlive the StFile. */
StFile *st_open(Diagnostics *diags, Arena *arena, const char *path);
StFile *st_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                 uint64_t size);
void st_close(StFile *file);
const StTensor *st_find(const StFile *file, const char *name);
const char *st_meta(const StFile *file, const char *key); /* NULL if absent */
/* Element i as a double, whatever the type. */
double st_value(const StTensor *tensor, int64_t i);
/* All elements converted into out (count elements). To float: f64 is rounded, integers
 * must be exact. To i32: floats must hold whole numbers, everything must be in range.
 * False where an element does not fit. */
bool st_to_f32(const StTensor *tensor, float *out);
bool st_to_f64(const StTensor *tensor, double *out);
bool st_to_i32(const StTensor *tensor, int32_t *out);
float st_from_f16(uint16_t bits);

typedef struct StMeta {
    const char *key, *value;
} StMeta;
/* Writes tensors (name, type, rank, dims and data; count and bytes follow from them) in
 * the order of element size, then name, so that each is aligned and the same tensors give
 * the same bytes whatever their order. Names are unique UTF-8 (an assertion otherwise).
 * False after an error; the old file is then as it was. */
bool st_write(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
              const StMeta *meta, int64_t n_meta);

/* ---- checksums (safetensors_check.c) ---- */

#define ST_CHECKSUMS "xxh64" /* their key in the metadata */

/* As st_write, with checksums. */
bool st_write_checked(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                      const StMeta *meta, int64_t n_meta);
/* Whether metadata, names and shapes are those that were written, and the bytes of a tensor
 * of the file. A file without checksums is always whole. */
bool st_header_is_whole(const StFile *file);
bool st_is_whole(const StFile *file, const StTensor *tensor);
/* Of tensors in the order of their data, bytes included; NULL: no memory. `room`: for the largest
 * that is fetched. */
const char *st_make_checksums(Arena *arena, const StTensor *const *tensors, int64_t n,
                              const StMeta *meta, int64_t n_meta, void *room);
/* The tensor's data, fetched into the room if it has none. */
const void *st_data(const StTensor *tensor, void *room);

#endif
