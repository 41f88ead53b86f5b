/* The safetensors format: an 8-byte little-endian header length, a JSON header,
 * then the data. Reading trusts nothing: wrong lengths, overlaps, holes, unknown
 * types, sizes that overflow and oversized headers are refused with a message that
 * names the file and, where it is about one, the tensor. Files are written beside their place, then
 * renamed into it. */
#ifndef RUNTIME_DATA_SAFETENSORS_H
#define RUNTIME_DATA_SAFETENSORS_H

#include "base/budget.h"
#include "base/diag.h"
#include "base/element.h"
#include "base/file.h"
#include "base/map.h"

#include <stdint.h>

enum { ST_MAX_RANK = 8 };
/* StType: the types of programs (TfcType) with the same numbers, then those of files alone. */
typedef enum StType {
#define TYPE(NAME, ...) ST_##NAME,
#define FILE_TYPE(NAME, ...) ST_##NAME,
#include "base/types.def"
    ST_COUNT
} StType;

/* StScales: those of a quantised tensor, f32 or f16, perhaps unaligned: along one axis each run of
 * elements has a scale, by which its integers are multiplied, and perhaps a minimum, which is
 * added.
 *   axis      which one
 *   n, inner  elements along it; from one of them to the next
 *   run       elements of a run; the last of an axis may be shorter
 * bits of an integer: 8 with a sign; 4, two of the axis a byte, the lower half first, plus 8,
 *             or without a sign where there are minima; 16 with a sign, all with one scale
 *   data      NULL: elements are as they are
 *   minima    of f16; NULL: there are none */
typedef struct StScales {
    const void *data, *minima;
    bool is_half;
    int bits, axis;
    int64_t n, inner, run;
} StScales;

/* A quantised tensor NAME is, in a file with the metadata "quantised", two tensors: "NAME.int8", i8
 * in its shape, or "NAME.int4", u8, whose summed axis is half as long; and "NAME.scale", f32 or
 * f16, whose summed axis has a scale for all elements or for each ST_RUN. "NAME.int4" may have
 * "NAME.minimum", f16, in the shape of the scales; in a file of "q4_1" it has. Reading gives it as
 * a tensor NAME, in its shape, of i8 or u8 with scales. */
#define ST_QUANTISED "quantised"
/* The metadata with the thresholds of sets of labels (TrainState.thresholds). */
#define ST_THRESHOLDS "thresholds"
/* The metadata of a file whose tensors have the names of a model's params: key and value. */
#define ST_FORMAT "format"
#define ST_FORMAT_OWN "tfc"
enum { ST_RUN = 32 };

/* StView: the places in `data` of a tensor whose elements do not lie in the order of its dims, as a
 * transposed one. Counted by `sizes`, whose product is the tensor's count, element (i, j, …) is
 * number first + i · strides[0] + j · strides[1] + … of the data. No stride is negative. */
typedef struct StView {
    int rank;
    int64_t sizes[ST_MAX_RANK], strides[ST_MAX_RANK], first;
} StView;

/* StBlocks: an encoding of floats, `elements` of them in so many bytes. The type of such a tensor
 * is ST_F32, that of its values; `bytes` are those of the file. */
typedef struct StBlocks {
    const char *name; /* as users know it: "Q4_0" */
    int elements, bytes;
    void (*decode)(const void *block, float *out);
} StBlocks;
enum { ST_MAX_BLOCK = 256 }; /* elements */

/* StSeal: bytes of a file with the checksum that its format keeps of them, as archives do. They are
 * compared once, by st_is_whole; several tensors may lie in them.
 *   sum   makes the checksum of n bytes, after others whose checksum is `before` (0: of none) */
typedef struct StSeal {
    const void *data;
    uint64_t bytes;
    uint32_t expected;
    uint32_t (*sum)(uint32_t before, const void *data, uint64_t n);
    enum { ST_SEAL_NEW, ST_SEAL_HOLDS, ST_SEAL_BROKEN } state;
} StSeal;

typedef struct StTensor {
    const char *name;
    const char *stored; /* its name in the file; NULL: not of a file */
    StType type;
    int rank;
    int64_t dims[ST_MAX_RANK];
    int64_t count;    /* elements */
    const void *data; /* into the mapping, or the caller's when writing; may be unaligned */
    uint64_t bytes;
    const StView *view;     /* NULL: elements lie in the order of dims */
    const StBlocks *blocks; /* NULL: elements are of `type` */
    StSeal *seal;           /* NULL: the format keeps no checksum of the tensor's bytes */
    StScales scales;
    int64_t first; /* of a part of a quantised tensor, whose data is the whole one's: the number of
                      its first element */
    const struct StTensor *scale, *minimum; /* of a quantised tensor: those of its scales, minima */
    bool is_scale;                          /* it is one of these of another one */
} StTensor;

/* StPassed: a tensor of a file that is passed over, because the type of its elements is not read.
 *   type   as the format calls it: "U32" */
typedef struct StPassed {
    const char *name, *type;
} StPassed;

/* StMap: another file that a file's tensors lie in. */
typedef struct StMap {
    const char *path;
    const void *map;
    uint64_t bytes;
} StMap;
typedef struct StFile {
    const char *path;
    int64_t n;
    StTensor *tensors; /* in the order of their data */
    int64_t n_passed;
    const StPassed *passed;
    int64_t n_meta;
    const char **meta_keys, **meta_values; /* __metadata__, all strings */
    Map index;                             /* private: name → tensor */
    const void *map;                       /* private: the mapping, NULL for st_parse */
    uint64_t map_bytes;
    StMap *more; /* private: files beside it, n_more of them */
    int64_t n_more;
} StFile;

/* Maps the file; NULL after an error. st_close unmaps; names live in the arena.
 * st_parse reads the bytes of a file in memory, which must outlive the StFile. */
StFile *st_open(Diagnostics *diags, Arena *arena, const char *path);
typedef StFile *StParse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                        uint64_t size);
StFile *st_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                 uint64_t size);
void st_close(StFile *file);

/* Other formats: st_open_by maps a file within reach that `parse` reads as st_parse reads
 * safetensors. `read` does it in an arena that may fail, then returns NULL, and says nothing;
 * st_parse_within gives it one that keeps the budget, and says why. st_read: the one of
 * safetensors. */
StFile *st_open_by(Diagnostics *diags, Arena *arena, FileReach reach, const char *path,
                   StParse *parse);
StFile *st_parse_within(Budget budget, StParse *read, Diagnostics *diags, Arena *arena,
                        const char *path, const void *bytes, uint64_t size);
StFile *st_read(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                uint64_t size);

/* Dimension d as the file has it: of 4 bits the summed axis is half as long. */
static inline int64_t st_stored_dim(const StTensor *tensor, int d)
{
    const StScales *s = &tensor->scales;
    return s->data && s->bits == 4 && d == s->axis ? tensor->dims[d] / 2 : tensor->dims[d];
}

const StTensor *st_find(const StFile *file, const char *name); /* NULL if absent */
/* The type of a tensor that is passed over; NULL: there is no such. */
const char *st_passed(const StFile *file, const char *name);
const char *st_meta(const StFile *file, const char *key); /* NULL if absent */
/* What the elements of the file are: "f32", or "Q4_0" of blocks. */
const char *st_stored_type(const StTensor *tensor);
/* Sets the tensor's count. False: its dims have more elements than can be counted, or it has none
 * and a dim above 2^20, for which a reader would need memory that no byte of the file explains. */
bool st_count(StTensor *tensor);
/* Element i, of any type, as a double. */
double st_value(const StTensor *tensor, int64_t i);
/* Reads n elements from the i-th on. False, and nothing is read: the type is not f32, f16, bf16 or
 * a whole number of 8 bits. */
bool st_floats(const StTensor *tensor, int64_t i, int64_t n, float *out);
/* All elements converted into out (count elements). To floats: an integer must be exact; f64 is
 * rounded to f32. To i32: floats must hold whole numbers, everything must be in range.
 * False where an element does not fit. */
bool st_to_f32(const StTensor *tensor, float *out);
bool st_to_f64(const StTensor *tensor, double *out);
bool st_to_i32(const StTensor *tensor, int32_t *out);

typedef struct StMeta {
    const char *key, *value;
} StMeta;
/* Writes tensors (name, type, rank, dims and data; count and bytes follow from them) in
 * the order of element size, then name, so that each is aligned and the same tensors give
 * the same bytes whatever their order. Names are UTF-8, and unique (an assertion otherwise).
 * False after an error; the old file is then as it was. */
bool st_write(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
              const StMeta *meta, int64_t n_meta);

/* As st_write, but with checksums, and for a file in a folder of tfc's own (file_create_own). */
bool st_write_checked(Diagnostics *diags, const char *path, const StTensor *tensors, int64_t n,
                      const StMeta *meta, int64_t n_meta);

/* StNotFinite: how many of a tensor's values are not finite, and the index of the first of them. */
typedef struct StNotFinite {
    int64_t n, first;
} StNotFinite;
/* Reports them as an error of the file `path`, unless there are none. `from`: the number of the
 * tensor's first value in the whole; is_part: the tensor has only some of the values. Whether there
 * are none. */
bool st_check_finite(Diagnostics *diags, const char *path, const StTensor *tensor, StNotFinite bad,
                     int64_t from, bool is_part);

/* ---- checksums (safetensors_check.c) ---- */

enum { ST_BLOCK = 1 << 16 }; /* bytes of a tensor's block, the last perhaps fewer */

/* The file's checksums as text; NULL: it has none, and counts as whole. */
const char *st_checksums(const StFile *file);
/* Whether metadata, names and shapes match their checksum; and whether the bytes of a tensor of the
 * file, and of its scales, match theirs, and its seal holds. */
bool st_header_is_whole(const StFile *file);
bool st_is_whole(const StFile *file, const StTensor *tensor);
/* st_is_whole, or with NULL st_header_is_whole, with an error that names the file. */
bool st_check_whole(Diagnostics *diags, const StFile *file, const StTensor *tensor);
/* The same of metadata and all tensors, with an error for each that does not match. */
bool st_check_all(Diagnostics *diags, const StFile *file);
/* The metadata's entry with the checksums of n tensors, in the order of their data. `blocks`: the
 * checksums of all their blocks, in order. A value NULL: out of memory. */
StMeta st_make_checksums(Arena *arena, const StTensor *const *tensors, int64_t n,
                         const StMeta *meta, int64_t n_meta, const uint64_t *blocks);
int64_t st_blocks(uint64_t bytes);                       /* of a tensor */
uint64_t st_block_sum(const void *data, uint64_t bytes); /* of one block */

/* ---- a file that several processes write, each its own parts (safetensors_write.c) ----
 *
 * One process creates the file, and the others join it (base/file.h). Each has an StWriter of the
 * same tensors. The creator takes the sums of all, makes the header, and sends the others the place
 * where the data begin. */

/* StPart: the bytes of a tensor that this process has, from number `from` on. A part begins and
 * ends at the boundary of a block; the last one ends with the tensor. */
typedef struct StPart {
    const void *data;
    uint64_t from, bytes;
} StPart;

/* StSum: the checksum of a block of the file. */
typedef struct StSum {
    int64_t block;
    uint64_t sum;
} StSum;

typedef struct StWriter StWriter;
/* Makes a writer, which lies in the arena with all that it returns. parts[i]: the bytes of tensor i
 * that this process has; NULL: it has all bytes of all tensors. Returns NULL if memory ran out. */
StWriter *st_writer_new(Arena *arena, const StTensor *tensors, const StPart *parts, int64_t n);
/* The checksums of this process's blocks, n of them; NULL: out of memory. */
const StSum *st_sum(StWriter *writer, int64_t *n);
/* Takes the checksums of a process, this one or another. False: a number is not of this file's
 * blocks, or memory ran out. */
bool st_take_sums(StWriter *writer, const StSum *sums, int64_t n);
/* Makes the header; `checked`: with checksums, which have all been taken. Returns where the data
 * begin; 0: out of memory. */
uint64_t st_make_header(StWriter *writer, const StMeta *meta, int64_t n_meta, bool checked);
/* Writes the header, if this writer made it, and this process's parts of the data. */
void st_put(const StWriter *writer, FileWriter *file, uint64_t data_at);
/* Writes the whole file by this process, which has all parts, with checksums. is_own: as
 * file_create_own. */
bool st_write_alone(Diagnostics *diags, const char *path, bool is_own, StWriter *writer,
                    const StMeta *meta, int64_t n_meta);

#endif
