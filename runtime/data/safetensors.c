/* Reading safetensors: the header's JSON (json_read.h), then every claim it makes is
 * checked against the size of the file before a pointer is formed. The rules:
 *
 *   the header is a JSON object of at most MAX_HEADER bytes, without duplicate keys;
 *   an entry has a known dtype, a shape of at most ST_MAX_RANK non-negative sizes and
 *   two offsets whose difference is the size that dtype and shape ask for;
 *   entries in the order of their offsets cover the data from its first byte to its
 *   last, without overlap and without holes. */
#define _GNU_SOURCE
#include "runtime/data/safetensors.h"

#include "base/file.h"
#include "base/half.h"
#include "base/json_read.h"
#include "base/quants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Real headers stay below 5 MB; parsing takes up to some ten times the bytes. */
enum { MAX_HEADER = 16 << 20, LENGTH_BYTES = 8, QUOTE_LIMIT = 100 };

typedef struct HeaderReader {
    Diagnostics *diags;
    Arena *arena;
    Loc loc;
    StFile *file;
    const unsigned char *data; /* after the header */
    uint64_t data_bytes;
} HeaderReader;

/* Text from the file, for messages: quoted, control characters escaped, not too long. */
static const char *quote(HeaderReader *r, const char *text)
{
    size_t length = strlen(text);
    size_t keep = length > QUOTE_LIMIT ? QUOTE_LIMIT : length;
    while (keep < length && ((unsigned char)text[keep] & 0xC0) == 0x80)
        keep--;
    char quoted[TEXT_ESCAPE * QUOTE_LIMIT + sizeof "\"\"…"], *to = quoted; /* a Text may not fail */
    *to++ = '"';
    for (size_t i = 0; i < keep; i++)
        to += text_escape((unsigned char)text[i], to);
    *to++ = '"';
    strcpy(to, keep < length ? "…" : "");
    const char *copy = arena_strdup(r->arena, quoted);
    return copy ? copy : "";
}

/* `what` is NULL where there was no memory to say it. */
static bool refuse_tensor(HeaderReader *r, const char *tensor, const char *what)
{
    if (!what)
        what = "out of memory";
    if (tensor)
        diag_error(r->diags, r->loc, "tensor %s: %s", quote(r, tensor), what);
    else
        diag_error(r->diags, r->loc, "%s", what);
    return false;
}

/* ---- types that programs do not have ---- */

/* Of an exponent of `bits` bits and a mantissa that fills the byte, with the bias that fits: a
 * number with exponent 0 is a fraction alone. */
static float small_float(uint8_t byte, int bits)
{
    const int mantissa = 7 - bits, bias = (1 << (bits - 1)) - 1;
    const int exponent = byte >> mantissa & ((1 << bits) - 1), rest = byte & ((1 << mantissa) - 1);
    const float fraction = (float)rest / (float)(1 << mantissa);
    const float value =
        exponent ? ldexpf(1 + fraction, exponent - bias) : ldexpf(fraction, 1 - bias);
    return byte & 0x80 ? -value : value;
}

/* Without infinities; all bits but the sign are a NaN (Micikevicius et al. 2022, table 1). */
static void decode_f8_e4m3(const void *block, float *out)
{
    const uint8_t byte = *(const uint8_t *)block;
    *out = (byte & 0x7f) == 0x7f ? NAN : small_float(byte, 4);
}

/* As an f16 without its last eight bits. */
static void decode_f8_e5m2(const void *block, float *out)
{
    *out = half_to_float((uint16_t)(*(const uint8_t *)block << 8));
}

static void decode_u16(const void *block, float *out)
{
    const uint8_t *at = block;
    *out = (float)(at[0] | at[1] << 8);
}

static const StBlocks lone_types[] = {{"F8_E4M3", 1, 1, decode_f8_e4m3},
                                      {"F8_E5M2", 1, 1, decode_f8_e5m2},
                                      {"U16", 1, 2, decode_u16}};

/* Sets type and blocks; of a type that is not read, ST_COUNT. */
static bool read_type(HeaderReader *r, const char *text, StTensor *tensor)
{
    if (!text)
        return refuse_tensor(r, tensor->name, "\"dtype\" is missing or not a string");
    tensor->type = ST_F32;
    for (size_t i = 0; i < sizeof lone_types / sizeof *lone_types; i++)
        if (!strcmp(text, lone_types[i].name)) {
            tensor->blocks = &lone_types[i];
            return true;
        }
    while (tensor->type < ST_COUNT && strcmp(text, element_info(tensor->type)->stored) != 0)
        tensor->type++;
    return true;
}

static uint64_t element_bytes(const StTensor *tensor)
{
    return tensor->blocks ? (uint64_t)tensor->blocks->bytes : element_info(tensor->type)->bytes;
}

/* Fills rank, dims, count and bytes. */
static bool read_shape(HeaderReader *r, const JsonValue *value, StTensor *tensor)
{
    if (!value || value->kind != JV_LIST)
        return refuse_tensor(r, tensor->name, "\"shape\" is missing or not a list");
    size_t rank = value->n;
    if (rank > ST_MAX_RANK)
        return refuse_tensor(r, tensor->name,
                             arena_printf(r->arena,
                                          "it has %zu dimensions; at most %d are supported", rank,
                                          ST_MAX_RANK));
    tensor->rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        const JsonValue *size = &value->items[i];
        if (size->kind != JV_INTEGER || size->integer < 0)
            return refuse_tensor(r, tensor->name, "its shape holds something other than sizes");
        tensor->dims[i] = size->integer;
    }
    if (!st_count(tensor) ||
        (tensor->type != ST_COUNT &&
         __builtin_mul_overflow((uint64_t)tensor->count, element_bytes(tensor), &tensor->bytes)))
        return refuse_tensor(
            r, tensor->name,
            "its shape has more elements than can be counted, or none and a dimension above 2^20");
    return true;
}

static bool read_offsets(HeaderReader *r, const JsonValue *value, StTensor *tensor)
{
    if (!value || value->kind != JV_LIST || value->n != 2 || value->items[0].kind != JV_INTEGER ||
        value->items[1].kind != JV_INTEGER)
        return refuse_tensor(r, tensor->name,
                             "\"data_offsets\" is missing or not a pair of integers");
    int64_t begin = value->items[0].integer, end = value->items[1].integer;
    if (begin < 0 || end < begin || (uint64_t)end > r->data_bytes)
        return refuse_tensor(
            r, tensor->name,
            arena_printf(
                r->arena,
                "its data [%lld, %lld) lies outside the file's %llu bytes of data, so the file "
                "is cut off or damaged: download or copy it again",
                (long long)begin, (long long)end, (unsigned long long)r->data_bytes));
    if (tensor->type == ST_COUNT)
        tensor->bytes = (uint64_t)(end - begin);
    if ((uint64_t)(end - begin) != tensor->bytes)
        return refuse_tensor(
            r, tensor->name,
            arena_printf(r->arena, "its data takes %lld bytes, but dtype and shape ask for %llu",
                         (long long)(end - begin), (unsigned long long)tensor->bytes));
    tensor->data = r->data + begin;
    return true;
}

static bool read_tensor(HeaderReader *r, const char *name, const JsonValue *entry, StTensor *tensor)
{
    tensor->name = tensor->stored = name;
    if (entry->kind != JV_OBJECT)
        return refuse_tensor(r, name, "its entry is not an object");
    if (entry->n > 3)
        return refuse_tensor(r, name, "its entry holds more than dtype, shape and data_offsets");
    return read_type(r, json_member_text(entry, "dtype"), tensor) &&
           read_shape(r, json_member(entry, "shape"), tensor) &&
           read_offsets(r, json_member(entry, "data_offsets"), tensor);
}

static bool read_metadata(HeaderReader *r, const JsonValue *entry)
{
    if (entry->kind != JV_OBJECT)
        return refuse_tensor(r, NULL, "__metadata__ is not an object");
    StFile *file = r->file;
    file->meta_keys = ARENA_ARRAY(r->arena, const char *, entry->n);
    file->meta_values = ARENA_ARRAY(r->arena, const char *, entry->n);
    if (!file->meta_keys || !file->meta_values)
        return refuse_tensor(r, NULL, NULL);
    for (size_t i = 0; i < entry->n; i++) {
        if (entry->items[i].kind != JV_STRING)
            return refuse_tensor(r, NULL,
                                 arena_printf(r->arena, "__metadata__: %s is not a string",
                                              quote(r, entry->keys[i])));
        file->meta_keys[file->n_meta] = entry->keys[i];
        file->meta_values[file->n_meta++] = entry->items[i].text;
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const StTensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The tensors, sorted, must tile the data. */
static bool check_cover(HeaderReader *r)
{
    const unsigned char *place = r->data;
    for (int64_t i = 0; i < r->file->n; i++) {
        const StTensor *tensor = &r->file->tensors[i];
        const unsigned char *begin = tensor->data;
        if (begin < place)
            return refuse_tensor(r, tensor->name,
                                 arena_printf(r->arena, "its data overlaps that of %s",
                                              quote(r, r->file->tensors[i - 1].name)));
        if (begin > place)
            return refuse_tensor(r, tensor->name,
                                 arena_printf(r->arena,
                                              "%llu bytes before its data belong to no tensor",
                                              (unsigned long long)(begin - place)));
        place = begin + tensor->bytes;
    }
    if (place != r->data + r->data_bytes)
        return refuse_tensor(r, NULL,
                             arena_printf(r->arena,
                                          "the last %llu bytes of the file belong to no tensor",
                                          (unsigned long long)(r->data + r->data_bytes - place)));
    return true;
}

/* The axis along which the scales have other dimensions than the integers; where they have the
 * same, one of a single element, or else the last. -1: several. */
static int summed_axis(const StTensor *tensor, const StTensor *scale)
{
    int single = tensor->rank - 1, other = -1, found = 0;
    for (int d = 0; d < tensor->rank; d++) {
        single = tensor->dims[d] == 1 ? d : single;
        if (scale->dims[d] != tensor->dims[d]) {
            other = d;
            found++;
        }
    }
    return found > 1 ? -1 : found ? other : single;
}

/* The tensor NAME.part; NULL: there is none, or no memory. */
static StTensor *find_part(HeaderReader *r, const char *name, const char *part)
{
    const char *stored = arena_printf(r->arena, "%s.%s", name, part);
    return stored ? map_get(&r->file->index, stored) : NULL;
}

/* Whether the tensor's elements lie in the file as those of the type, not to be decoded. */
static bool is_stored_as(const StTensor *tensor, StType type)
{
    return tensor->type == type && !tensor->blocks;
}

/* Sets the minima of a tensor with scales, of 4 bits. False if they do not fit, are there for 8
 * bits, or are missing in a file whose type has them. */
static bool find_minima(HeaderReader *r, StTensor *tensor, const char *name)
{
    StTensor *minimum = find_part(r, name, "minimum");
    const Quant quant = quant_of_word(st_meta(r->file, ST_QUANTISED));
    const StTensor *scale = tensor->scale;
    const bool has_minima =
        tensor->scales.bits == 4 && (quant_info(quant)->has_minimum || minimum != NULL);
    if (!has_minima || !minimum)
        return !has_minima && !minimum;
    bool fits = is_stored_as(minimum, ST_F16) && minimum->rank == scale->rank;
    for (int d = 0; fits && d < scale->rank; d++)
        fits = minimum->dims[d] == scale->dims[d];
    tensor->scales.minima = minimum->data;
    tensor->minimum = minimum;
    minimum->is_scale = true;
    return fits;
}

/* Sets how many integers lie along the axis, and how many elements behind one of its places. False:
 * there are more than can be counted. */
static bool count_scaled(const StTensor *tensor, StScales *s)
{
    s->inner = 1;
    bool fits = !__builtin_mul_overflow(tensor->dims[s->axis], s->bits == 4 ? 2 : 1, &s->n);
    for (int d = s->axis + 1; fits && d < tensor->rank; d++)
        fits = !__builtin_mul_overflow(s->inner, tensor->dims[d], &s->inner);
    return fits;
}

static bool refuse_scales(HeaderReader *r, const StTensor *tensor)
{
    return refuse_tensor(
        r, tensor->stored,
        arena_failed(r->arena) ? NULL : "its scales or minima are missing, or do not fit it");
}

/* Sets the scales if the tensor of this name fits as such. */
static bool find_scales(HeaderReader *r, StTensor *tensor, const char *name, int bits)
{
    StTensor *scale = find_part(r, name, "scale");
    const bool may_fit = scale && (is_stored_as(scale, ST_F32) || is_stored_as(scale, ST_F16)) &&
                         scale->rank == tensor->rank && tensor->rank > 0;
    const int axis = may_fit ? summed_axis(tensor, scale) : -1;
    if (axis < 0)
        return refuse_scales(r, tensor);
    StScales s = {
        .data = scale->data, .is_half = scale->type == ST_F16, .bits = bits, .axis = axis};
    if (!count_scaled(tensor, &s))
        return refuse_tensor(
            r, tensor->stored,
            "its shape has more elements than can be counted, or none and a dimension above 2^20");
    s.run = bits == 8 && scale->dims[axis] == 1 ? s.n : ST_RUN;
    const int64_t runs = s.run ? s.n / s.run + (s.n % s.run != 0) : 1;
    const bool fits = scale->dims[axis] == runs;
    tensor->dims[axis] = s.n;
    tensor->count *= bits == 4 ? 2 : 1;
    tensor->scales = s;
    tensor->scale = scale;
    scale->is_scale = true;
    return (fits && find_minima(r, tensor, name)) || refuse_scales(r, tensor);
}

/* The bits of a tensor of integers by its name and type, and its name without the ending; 0: it has
 * none. */
static int quantised_bits(const StTensor *tensor, size_t *length)
{
    static const struct {
        const char *ending;
        StType type;
        int bits;
    } kinds[] = {{".int8", ST_I8, 8}, {".int4", ST_U8, 4}};
    const size_t all = strlen(tensor->stored);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t end = strlen(kinds[i].ending);
        *length = all > end ? all - end : 0;
        if (*length && tensor->type == kinds[i].type &&
            !strcmp(tensor->stored + *length, kinds[i].ending))
            return kinds[i].bits;
    }
    return 0;
}

/* Tensors NAME.int8 and NAME.int4 become NAME. */
static bool join_scales(HeaderReader *r)
{
    StFile *file = r->file;
    for (int64_t i = 0; st_meta(file, ST_QUANTISED) && i < file->n; i++) {
        StTensor *tensor = &file->tensors[i];
        size_t length;
        const int bits = quantised_bits(tensor, &length);
        if (!bits)
            continue;
        const char *name = arena_strndup(r->arena, tensor->stored, length);
        if (!name)
            return refuse_tensor(r, NULL, NULL);
        if (map_has(&file->index, name))
            return refuse_tensor(r, tensor->stored, "the file has its tensor as it is, too");
        if (!find_scales(r, tensor, name, bits))
            return false;
        tensor->name = name;
        map_set(&file->index, name, tensor);
    }
    return !arena_failed(r->arena) || refuse_tensor(r, NULL, NULL);
}

/* Takes the tensors out of the file whose types are not read. */
static bool pass_others(HeaderReader *r, const JsonValue *header)
{
    StFile *file = r->file;
    StPassed *passed = ARENA_ARRAY(r->arena, StPassed, file->n + 1);
    if (!passed)
        return refuse_tensor(r, NULL, NULL);
    int64_t kept = 0;
    for (int64_t i = 0; i < file->n; i++) {
        const StTensor *tensor = &file->tensors[i];
        if (tensor->type == ST_COUNT)
            passed[file->n_passed++] = (StPassed){
                tensor->name, json_member_text(json_member(header, tensor->name), "dtype")};
        else
            file->tensors[kept++] = *tensor;
    }
    file->n = kept;
    file->passed = passed;
    return true;
}

static bool read_entries(HeaderReader *r, const JsonValue *header)
{
    StFile *file = r->file;
    file->tensors = ARENA_ARRAY(r->arena, StTensor, header->n + 1);
    if (!file->tensors)
        return refuse_tensor(r, NULL, NULL);
    for (size_t i = 0; i < header->n; i++) {
        const JsonValue *entry = &header->items[i];
        if (!strcmp(header->keys[i], "__metadata__")) {
            if (!read_metadata(r, entry))
                return false;
        } else if (!read_tensor(r, header->keys[i], entry, &file->tensors[file->n++])) {
            return false;
        }
    }
    qsort(file->tensors, (size_t)file->n, sizeof *file->tensors, by_place);
    if (!check_cover(r) || !pass_others(r, header))
        return false;
    map_init(&file->index, r->arena);
    for (int64_t i = 0; i < file->n; i++)
        map_set(&file->index, file->tensors[i].name, &file->tensors[i]);
    if (arena_failed(r->arena))
        return refuse_tensor(r, NULL, NULL);
    return join_scales(r);
}

static bool read_file(HeaderReader *r, const unsigned char *bytes, uint64_t size)
{
    if (size < LENGTH_BYTES)
        return refuse_tensor(r, NULL, "not a safetensors file: it is shorter than 8 bytes");
    uint64_t length = 0;
    for (int i = 0; i < LENGTH_BYTES; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    if (length > MAX_HEADER)
        return refuse_tensor(r, NULL,
                             arena_printf(r->arena,
                                          "not a safetensors file: its header claims %llu bytes",
                                          (unsigned long long)length));
    if (length > size - LENGTH_BYTES)
        return refuse_tensor(r, NULL,
                             "the file is cut off within its header: download or copy it again");
    const char *text = (const char *)bytes + LENGTH_BYTES;
    if (length == 0 || text[0] != '{')
        return refuse_tensor(r, NULL, "not a safetensors file: its header is not a JSON object");
    const char *problem;
    const JsonValue *header = json_read(r->arena, text, length, &problem);
    if (!header)
        return refuse_tensor(
            r, NULL,
            problem ? arena_printf(r->arena, "the header is not valid: %s", problem) : NULL);
    r->data = bytes + LENGTH_BYTES + length;
    r->data_bytes = size - LENGTH_BYTES - length;
    return read_entries(r, header);
}

StFile *st_read(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                uint64_t size)
{
    StFile *file = ARENA_NEW(arena, StFile);
    HeaderReader r = {diags, arena, {.source = diag_source(arena, path, "", 0)}, file, NULL, 0};
    if (file)
        file->path = arena_strdup(arena, path);
    if (arena_failed(arena)) {
        refuse_tensor(&r, NULL, NULL);
        return NULL;
    }
    return read_file(&r, bytes, size) ? file : NULL;
}

/* ---- files ---- */

StFile *st_parse_within(Budget budget, StParse *read, Diagnostics *diags, Arena *arena,
                        const char *path, const void *bytes, uint64_t size)
{
    BudgetScope scope;
    Arena *own = budget_begin(&scope, budget, diags, arena, path, size);
    StFile *file = own ? read(diags, own, path, bytes, size) : NULL;
    return budget_end(&scope) ? file : NULL;
}

StFile *st_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                 uint64_t size)
{
    return st_parse_within(BUDGET_BINARY, st_read, diags, arena, path, bytes, size);
}

StFile *st_open_by(Diagnostics *diags, Arena *arena, FileReach reach, const char *path,
                   StParse *parse)
{
    uint64_t size = 0;
    const void *map = file_map_within(diags, reach, path, &size);
    StFile *file = map ? parse(diags, arena, path, map, size) : NULL;
    if (!file) {
        file_unmap(map, size);
        return NULL;
    }
    file->map = map;
    file->map_bytes = size;
    return file;
}

StFile *st_open(Diagnostics *diags, Arena *arena, const char *path)
{
    return st_open_by(diags, arena, FILE_ANYWHERE, path, st_parse);
}

void st_close(StFile *file)
{
    if (!file)
        return;
    file_unmap(file->map, file->map_bytes);
    for (int64_t i = 0; i < file->n_more; i++)
        file_unmap(file->more[i].map, file->more[i].bytes);
    file->map = NULL;
    file->n_more = 0;
}

const StTensor *st_find(const StFile *file, const char *name)
{
    return map_get(&file->index, name);
}

const char *st_passed(const StFile *file, const char *name)
{
    for (int64_t i = 0; i < file->n_passed; i++)
        if (!strcmp(file->passed[i].name, name))
            return file->passed[i].type;
    return NULL;
}

const char *st_meta(const StFile *file, const char *key)
{
    for (int64_t i = 0; i < file->n_meta; i++)
        if (!strcmp(file->meta_keys[i], key))
            return file->meta_values[i];
    return NULL;
}
