/* Arrays as numpy.save has them: "\x93NUMPY", two bytes of version, the length of a header, the
 * header (a Python dict of 'descr', 'fortran_order' and 'shape'), the elements. */
#include "driver/formats/npz.h"

#include <ctype.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGNMENT = 64, LONGEST_NUMBER = 18 };

/* NumPy's names of types (the array interface, version 3): "<" is little-endian, "|" of bytes. */
static const struct {
    const char *name;
    StType type;
} types[] = {{"'<f4'", ST_F32}, {"'<f8'", ST_F64}, {"'<f2'", ST_F16},
             {"'<i8'", ST_I64}, {"'<i4'", ST_I32}, {"'<i2'", ST_I16},
             {"'|i1'", ST_I8},  {"'|u1'", ST_U8},  {"'|b1'", ST_BOOL}};
enum { N_TYPES = sizeof types / sizeof *types };

/* ---- reading ---- */

/* Header: the dict, which ends at `end`; `problem` is the first. `other`: of a type that is not
 * read, what is wrong with it. */
typedef struct Header {
    const char *at, *end, *problem, *other;
    bool has_type, has_order, has_shape;
} Header;

static bool wrong(Header *h, const char *problem)
{
    if (!h->problem)
        h->problem = problem;
    return false;
}

static void skip_blanks(Header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n'))
        h->at++;
}

static bool take_npy(Header *h, const char *text)
{
    size_t n = strlen(text);
    skip_blanks(h);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, text, n))
        return false;
    h->at += n;
    return true;
}

static bool read_type(Header *h, NpyArray *array)
{
    for (int i = 0; i < N_TYPES; i++)
        if (take_npy(h, types[i].name)) {
            array->type = types[i].type;
            return true;
        }
    const char *from = h->at, *quote = NULL;
    if (from < h->end && *from == '\'')
        quote = memchr(from + 1, '\'', (size_t)(h->end - from - 1));
    h->other =
        take_npy(h, "'>")
            ? "its numbers are big-endian, which is not read: save them as little-endian (x.astype(x.dtype.newbyteorder('<')))"
        : take_npy(h, "'|O")
            ? "its elements are objects of Python, which are not read: save numbers"
            : "its elements are of a type that is not read: save them as float32";
    if (!quote || quote - from > NPY_TYPE)
        return wrong(h, h->other);
    array->type = ST_COUNT;
    memcpy(array->other, from + 1, (size_t)(quote - from - 1));
    h->at = quote + 1;
    return true;
}

static bool read_size(Header *h, int64_t *size)
{
    int digits = 0;
    for (*size = 0; h->at < h->end && isdigit((unsigned char)*h->at); digits++) {
        if (digits == LONGEST_NUMBER)
            return wrong(h, "its shape is larger than memory");
        *size = *size * 10 + (*h->at++ - '0');
    }
    return digits > 0 || wrong(h, "its header has no shape: the file is damaged");
}

static bool read_shape(Header *h, NpyArray *array)
{
    if (!take_npy(h, "("))
        return wrong(h, "its header has no shape: the file is damaged");
    while (!take_npy(h, ")")) {
        if (array->rank == NPY_MAX_RANK)
            return wrong(h, "it has too many axes");
        if (!read_size(h, &array->dims[array->rank++]))
            return false;
        if (!take_npy(h, ",")) {
            if (!take_npy(h, ")"))
                return wrong(h, "its header has no shape: the file is damaged");
            break;
        }
    }
    return true;
}

static bool read_entry(Header *h, NpyArray *array)
{
    bool *is = NULL;
    if (take_npy(h, "'descr':"))
        is = read_type(h, array) ? &h->has_type : NULL;
    else if (take_npy(h, "'shape':"))
        is = !h->has_shape && read_shape(h, array) ? &h->has_shape : NULL;
    else if (take_npy(h, "'fortran_order':"))
        is = take_npy(h, "False") || (array->is_fortran = take_npy(h, "True")) ? &h->has_order
                                                                               : NULL;
    if (!is || *is)
        return wrong(h, "its header is not one that numpy.save writes");
    return (*is = true);
}

static bool read_header(Header *h, NpyArray *array)
{
    if (!take_npy(h, "{"))
        return wrong(h, "its header is not one that numpy.save writes");
    while (!take_npy(h, "}")) {
        if (!read_entry(h, array))
            return false;
        if (take_npy(h, ","))
            continue;
        if (take_npy(h, "}"))
            break;
        return wrong(h, "its header is not one that numpy.save writes");
    }
    skip_blanks(h);
    return (h->has_type && h->has_order && h->has_shape && h->at == h->end) ||
           wrong(h, "its header is not one that numpy.save writes");
}

/* Elements by the shape; false: more than can be. */
static bool count_elements(NpyArray *array)
{
    array->count = 1;
    for (int i = 0; i < array->rank; i++)
        if (__builtin_mul_overflow(array->count, array->dims[i], &array->count))
            return false;
    return array->count <= INT64_MAX / (int64_t)sizeof(double);
}

bool npy_parse(const void *bytes, size_t size, NpyArray *array, const char **problem)
{
    const unsigned char *at = bytes;
    *array = (NpyArray){.name = array->name};
    *problem = "it is no .npy, or is cut off";
    if (size < MAGIC + 4 || memcmp(at, magic, MAGIC))
        return false;
    int version = at[MAGIC];
    if (version < 1 || version > 3) {
        *problem = "it is of a version of .npy that is not known";
        return false;
    }
    size_t length = at[8] | (size_t)at[9] << 8, begin = MAGIC + 4;
    if (version > 1) {
        if (size < MAGIC + 6)
            return false;
        length |= (size_t)at[10] << 16 | (size_t)at[11] << 24;
        begin += 2;
    }
    if (length > size - begin)
        return false;
    Header h = {.at = (const char *)at + begin, .end = (const char *)at + begin + length};
    bool ok = read_header(&h, array);
    *problem = h.problem;
    if (ok && !count_elements(array)) {
        *problem = "its shape is larger than memory";
        return false;
    }
    size_t data = size - begin - length;
    if (ok && array->type == ST_COUNT) {
        *problem = h.other;
        return false;
    }
    if (ok && (size_t)array->count * element_info(array->type)->bytes != data) {
        *problem = "it holds more or fewer bytes than its shape says";
        return false;
    }
    array->data = at + begin + length;
    return ok;
}

/* ---- writing ---- */

void npy_put_header(const NpyArray *array, size_t least, Text *out)
{
    Text dict = {0};
    const char *type = "";
    for (int i = 0; i < N_TYPES; i++)
        type = types[i].type == array->type ? types[i].name : type;
    text_add(&dict, "{'descr': %s, 'fortran_order': %s, 'shape': (", type,
             array->is_fortran ? "True" : "False");
    for (int i = 0; i < array->rank; i++)
        text_add(&dict, "%s%lld", i ? ", " : "", (long long)array->dims[i]);
    text_string(&dict, array->rank == 1 ? ",), }" : "), }");
    for (size_t n; (n = MAGIC + 4 + dict.length + 1) % ALIGNMENT || n < least;)
        text_string(&dict, " ");
    text_string(&dict, "\n");
    text_put(out, magic, MAGIC);
    const char rest[] = {1, 0, (char)(dict.length & 255), (char)(dict.length >> 8)};
    text_put(out, rest, sizeof rest);
    text_put(out, dict.data, dict.length);
    text_free(&dict);
}
