/* From the variables of a specification to tensors. */
#include "driver/formats/ctranslate2.h"

#include "driver/formats/tensor_list.h"

#include <string.h>

enum { OLDEST = 4, NEWEST = 6 }; /* versions with types and aliases as here */

/* By the order of include/ctranslate2/types.h. */
static const StType types[] = {ST_F32, ST_I8, ST_I16, ST_I32, ST_F16, ST_BF16};
enum { N_TYPES = sizeof types / sizeof *types };

#define SCALE_ENDING "_scale" /* of the name of a matrix's scales, behind its own */

typedef struct SpecReader {
    TensorList list;
    const unsigned char *at, *end;
    bool is_bad;                 /* the file is cut off */
    VEC(size_t) variable_of;     /* of each tensor: the number of its variable */
    VEC(const float *) inverses; /* of each variable 1 over its elements; NULL: not needed yet */
} SpecReader;

static uint64_t take_spec(SpecReader *r, int bytes)
{
    uint64_t value = 0;
    if (r->end - r->at < bytes) {
        r->is_bad = true;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

/* A string with its length, in which the NUL behind it counts. NULL: the arena has failed. */
static const char *take_name(SpecReader *r)
{
    const uint64_t length = take_spec(r, 2);
    if (r->is_bad || !length || length > (uint64_t)(r->end - r->at)) {
        r->is_bad = true;
        return "";
    }
    r->at += length;
    r->is_bad = memchr(r->at - length, 0, (size_t)length - 1) != NULL;
    return arena_strndup(r->list.arena, (const char *)r->at - length, (size_t)length - 1);
}

static bool read_variable(SpecReader *r)
{
    StTensor tensor = {.name = take_name(r)};
    const uint64_t rank = take_spec(r, 1);
    if (rank > ST_MAX_RANK)
        return tensor_list_refuse(&r->list, tensor.name, "it has more than 8 dimensions");
    tensor.rank = (int)rank;
    for (int d = 0; d < tensor.rank; d++)
        tensor.dims[d] = (int64_t)take_spec(r, 4);
    const uint64_t type = take_spec(r, 1), bytes = take_spec(r, 4);
    if (r->is_bad || bytes > (uint64_t)(r->end - r->at))
        return !(r->is_bad = true);
    if (type >= N_TYPES)
        return tensor_list_refuse(&r->list, tensor.name, "its type is not known");
    tensor.type = types[type];
    const unsigned char *data = r->at;
    r->at += bytes;
    if (!tensor_list_add_whole(&r->list, tensor, data, bytes))
        return false;
    vec_push(r->list.arena, r->variable_of, r->inverses.count);
    vec_push(r->list.arena, r->inverses, NULL);
    return !arena_failed(r->list.arena);
}

/* One more name for a tensor. */
static bool read_alias(SpecReader *r)
{
    const char *alias = take_name(r), *name = take_name(r);
    if (!alias || !name || r->is_bad)
        return false;
    const StTensor *tensor = tensor_list_find(&r->list, name);
    if (!tensor)
        return tensor_list_refuse(
            &r->list, alias,
            "it is an alias of a variable that is not in the file: the file is damaged" FETCH_AGAIN);
    const size_t variable = r->variable_of.data[tensor - r->list.tensors.data];
    StTensor other = *tensor;
    other.name = other.stored = alias;
    if (!tensor_list_push(&r->list, other))
        return false;
    vec_push(r->list.arena, r->variable_of, variable);
    return !arena_failed(r->list.arena);
}

/* 1 over each element of a variable, made once for all its names; NULL: the arena has failed. */
static const float *invert_elements(SpecReader *r, const StTensor *tensor)
{
    const float **known = &r->inverses.data[r->variable_of.data[tensor - r->list.tensors.data]];
    if (*known)
        return *known;
    float *inverse = ARENA_ARRAY(r->list.arena, float, tensor->count + 1);
    for (int64_t i = 0; inverse && i < tensor->count; i++)
        inverse[i] = 1 / (float)st_value(tensor, i);
    return *known = inverse;
}

/* The tensor whose name is that of another one with an ending; NULL: there is none. */
static const StTensor *find_scale(SpecReader *r, const StTensor *tensor)
{
    const char *name = arena_printf(r->list.arena, "%s" SCALE_ENDING, tensor->stored);
    return name ? tensor_list_find(&r->list, name) : NULL;
}

/* Gives a matrix of integers its scales: an element is its integer over the scale of its row, or,
 * of int16, of the whole matrix (LayerSpec._quantize). */
static bool scale_rows(SpecReader *r, StTensor *tensor)
{
    const bool is_byte = tensor->type == ST_I8;
    if ((!is_byte && tensor->type != ST_I16) || tensor->rank != 2)
        return true;
    const StTensor *scale = find_scale(r, tensor);
    if (!scale)
        return !arena_failed(r->list.arena) &&
               tensor_list_refuse(&r->list, tensor->name,
                                  "its integers have no scales: convert the model again");
    const int64_t n = is_byte ? tensor->dims[0] : 1;
    if (scale->type != ST_F32 || scale->count != n)
        return tensor_list_refuse(&r->list, tensor->name,
                                  is_byte
                                      ? "it needs one scale for each row: convert the model again"
                                      : "its scale must be one number: convert the model again");
    const float *factors = invert_elements(r, scale);
    tensor->scales = (StScales){.data = factors,
                                .bits = is_byte ? 8 : 16,
                                .axis = 1,
                                .n = tensor->dims[1],
                                .inner = 1,
                                .run = tensor->dims[1]};
    return factors;
}

/* What is only the scales of another variable is no tensor of the model. */
static bool is_scale(SpecReader *r, const StTensor *tensor)
{
    const size_t length = strlen(tensor->stored), less = strlen(SCALE_ENDING);
    if (!text_ends(tensor->stored, SCALE_ENDING))
        return false;
    const char *name = arena_strndup(r->list.arena, tensor->stored, length - less);
    const StTensor *of = name ? tensor_list_find(&r->list, name) : NULL;
    return of && of->scales.data;
}

/* All are looked up before one is moved. */
static bool drop_scales(SpecReader *r)
{
    size_t kept = 0;
    bool *is = ARENA_ARRAY(r->list.arena, bool, r->list.tensors.count + 1);
    for (size_t i = 0; is && i < r->list.tensors.count; i++)
        is[i] = is_scale(r, &r->list.tensors.data[i]);
    for (size_t i = 0; is && i < r->list.tensors.count; i++)
        if (!is[i])
            r->list.tensors.data[kept++] = r->list.tensors.data[i];
    r->list.tensors.count = kept;
    return is;
}

static bool read_all(SpecReader *r)
{
    const uint64_t version = take_spec(r, 4);
    if (version < OLDEST || version > NEWEST)
        return tensor_list_refuse(
            &r->list, NULL,
            arena_printf(
                r->list.arena,
                "it is a model of CTranslate2, of version %llu; versions %d to %d are read: "
                "convert the model again",
                (unsigned long long)version, OLDEST, NEWEST));
    take_name(r);
    take_spec(r, 4); /* the specification's revision */
    for (uint64_t n = take_spec(r, 4); n && !r->is_bad; n--)
        if (!read_variable(r))
            return false;
    for (uint64_t n = take_spec(r, 4); n && !r->is_bad; n--)
        if (!read_alias(r))
            return false;
    for (size_t i = 0; i < r->list.tensors.count && !r->is_bad; i++)
        if (!scale_rows(r, &r->list.tensors.data[i]))
            return false;
    return !r->is_bad && drop_scales(r);
}

StFile *ctranslate2_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size)
{
    SpecReader r = {.list = tensor_list_begin(diags, arena, path), .at = bytes};
    r.end = r.at + size;
    const int errors = diags->errors;
    if (read_all(&r))
        return tensor_list_file(&r.list);
    if (diags->errors == errors)
        tensor_list_refuse(&r.list, NULL, "the file is cut off" FETCH_AGAIN);
    return NULL;
}
