/* Safetensors: round trips, conversions, every way a file can lie, and a full disk. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bf16.h"
#include "base/half.h"
#include "base/file.h"
#include "runtime/data/safetensors.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char folder[64], path[96];
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/tfc-safetensors-XXXXXX");
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/w.safetensors", f->folder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    unlink(f->path);
    int left = rmdir(f->folder); /* fails if a temporary file was left behind */
    arena_free(f->arena);
    free(f);
    return left;
}

static const char *messages(Fixture *f)
{
    Text out = {0};
    diag_render(&f->diags, &out);
    const char *copy = arena_strdup(f->arena, out.data ? out.data : "");
    text_free(&out);
    return copy;
}

static const float weights[] = {1, -2, 0.5f, 3e38f, 5, 6};
static const int64_t steps[] = {7};
static const uint16_t halves[] = {0x3C00, 0xC000, 0x7C00, 0x0001, 0x7BFF};
static const uint16_t brains[] = {0x3F80, 0xC040};
static const uint8_t flags[] = {0, 1, 7};

static const StTensor examples[] = {
    {.name = "flags", .type = ST_BOOL, .rank = 1, .dims = {3}, .data = flags},
    {.name = "layer.\"ö\"", .type = ST_F32, .rank = 2, .dims = {2, 3}, .data = weights},
    {.name = "half", .type = ST_F16, .rank = 1, .dims = {5}, .data = halves},
    {.name = "brain", .type = ST_BF16, .rank = 2, .dims = {1, 2}, .data = brains},
    {.name = "step", .type = ST_I64, .rank = 0, .data = steps},
    {.name = "none", .type = ST_F32, .rank = 2, .dims = {0, 4}},
};
enum { N_EXAMPLES = sizeof examples / sizeof *examples };
static const StMeta meta[] = {{"format", "tfc"}, {"note", "a \"quoted\"\nline"}};

static void test_round_trip(void **state)
{
    Fixture *f = *state;
    assert_true(st_write(&f->diags, f->path, examples, N_EXAMPLES, meta, 2));
    StFile *file = st_open(&f->diags, f->arena, f->path);
    assert_non_null(file);
    assert_int_equal(file->n, N_EXAMPLES);
    assert_string_equal(st_meta(file, "note"), meta[1].value);
    assert_null(st_meta(file, "absent"));
    assert_null(st_find(file, "absent"));
    for (int i = 0; i < N_EXAMPLES; i++) {
        const StTensor *tensor = st_find(file, examples[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->type, examples[i].type);
        assert_int_equal(tensor->rank, examples[i].rank);
        assert_memory_equal(tensor->dims, examples[i].dims, sizeof tensor->dims);
        if (tensor->bytes)
            assert_memory_equal(tensor->data, examples[i].data, tensor->bytes);
        if (tensor->bytes)
            assert_int_equal((uintptr_t)tensor->data % element_info(tensor->type)->bytes, 0);
    }
    assert_int_equal(st_find(file, "none")->count, 0);
    assert_int_equal(st_find(file, "step")->count, 1);
    st_close(file);
}

/* The same tensors in another order give the same bytes. */
static void test_order(void **state)
{
    Fixture *f = *state;
    assert_true(st_write(&f->diags, f->path, examples, N_EXAMPLES, NULL, 0));
    const Source *first = file_read(&f->diags, f->arena, f->path, 1 << 20);
    StTensor reversed[N_EXAMPLES];
    for (int i = 0; i < N_EXAMPLES; i++)
        reversed[i] = examples[N_EXAMPLES - 1 - i];
    assert_true(st_write(&f->diags, f->path, reversed, N_EXAMPLES, NULL, 0));
    const Source *second = file_read(&f->diags, f->arena, f->path, 1 << 20);
    assert_int_equal(first->length, second->length);
    assert_memory_equal(first->text, second->text, first->length);
}

static void test_values(void **state)
{
    Fixture *f = *state;
    assert_true(st_write(&f->diags, f->path, examples, N_EXAMPLES, NULL, 0));
    StFile *file = st_open(&f->diags, f->arena, f->path);
    float values[6];
    int32_t whole[6];
    assert_true(st_to_f32(st_find(file, "half"), values));
    assert_true(values[0] == 1 && values[1] == -2 && isinf(values[2]));
    assert_true(values[3] == ldexpf(1, -24) && values[4] == 65504);
    assert_false(st_to_i32(st_find(file, "half"), whole));
    assert_true(st_to_f32(st_find(file, "brain"), values));
    assert_true(values[0] == 1 && values[1] == -3);
    assert_true(st_to_i32(st_find(file, "brain"), whole));
    assert_int_equal(whole[1], -3);
    assert_true(st_to_i32(st_find(file, "flags"), whole));
    assert_int_equal(whole[2], 1);
    assert_true(st_value(st_find(file, "step"), 0) == 7);
    assert_false(st_to_i32(st_find(file, "layer.\"ö\""), whole));
    st_close(file);
}

static StTensor scalar(StType type, const void *data)
{
    return (StTensor){
        .name = "x", .type = type, .count = 1, .bytes = element_info(type)->bytes, .data = data};
}

static void test_conversion_limits(void **state)
{
    float f;
    double d;
    int32_t i;
    StTensor x = scalar(ST_I64, &(int64_t){(1 << 24) + 1});
    assert_false(st_to_f32(&x, &f));
    assert_true(st_to_i32(&x, &i) && i == (1 << 24) + 1);
    x = scalar(ST_I64, &(int64_t){INT64_MIN});
    assert_true(st_to_f32(&x, &f) && f == -0x1p63f);
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_I64, &(int64_t){INT64_MAX});
    assert_false(st_to_f64(&x, &d));
    x = scalar(ST_F64, &(double){1e300});
    assert_false(st_to_f32(&x, &f));
    assert_true(st_to_f64(&x, &d) && d == 1e300);
    x = scalar(ST_F64, &(double){0.1});
    assert_true(st_to_f32(&x, &f) && f == 0.1f);
    x = scalar(ST_F32, &(float){NAN});
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_F32, &(float){2147483648.f});
    assert_false(st_to_i32(&x, &i));
    x = scalar(ST_I8, &(int8_t){-5});
    assert_true(st_to_i32(&x, &i) && i == -5);
    assert_int_equal(bf16_from_float(1.f), 0x3F80);
    assert_int_equal(bf16_from_float(1.00390625f), 0x3F80); /* a tie, to even */
    assert_int_equal(bf16_from_float(1.01171875f), 0x3F82);
    assert_true(isnan(bf16_to_float(bf16_from_float(NAN))));
    assert_true(isinf(bf16_to_float(bf16_from_float(INFINITY))));
}

/* ---- lies ---- */

typedef struct Lie {
    const char *header;
    int64_t data; /* bytes after it */
    const char *message;
} Lie;

static const Lie lies[] = {
    {"{}", 1, "the last 1 bytes of the file belong to no tensor"},
    {"[]", 0, "not a JSON object"},
    {"{", 0, "the header is not valid"},
    {"{} x", 0, "the header is not valid"},
    {"{\"a\":1}", 0, "tensor \"a\": its entry is not an object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7, "lies outside"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9, "the last 1 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 8, "takes 4 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "lies outside"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}", 8, "lies outside"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[9223372036854775807,"
     "9223372036854775807]}}",
     8, "lies outside"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", 8,
     "pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4.0]}}", 4, "pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "pair of integers"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":3,\"data_offsets\":[0,4]}}", 4, "\"shape\" is missing"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "other than sizes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]}}", 4, "other than sizes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
     "9 dimensions"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "more elements than can be counted"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
     "more elements than can be counted"},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "dtype \"F33\" is not supported"},
    {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\"dtype\" is missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}}", 1,
     "holds more than"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
     3, "tensor \"b\": its data overlaps that of \"a\""},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     2, "overlaps"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2,
     "1 bytes before its data belong to no tensor"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
     1, "the key 'a' a second time"},
    {"{\"a\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "not valid"},
    {"{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "not valid"},
    {"{\"\\u001b[2J\":1}", 0, "tensor \"\\x1b[2J\""},
    {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__: \"a\" is not a string"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
};

static void test_lies(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        size_t length = strlen(lies[i].header), size = 8 + length + (size_t)lies[i].data;
        unsigned char *bytes = calloc(1, size); /* exactly: the sanitizer sees reads past it */
        bytes[0] = (unsigned char)length;
        bytes[1] = (unsigned char)(length >> 8);
        memcpy(bytes + 8, lies[i].header, length);
        diag_init(&f->diags, f->arena);
        assert_null(st_parse(&f->diags, f->arena, "w", bytes, size));
        assert_int_equal(f->diags.errors, 1);
        if (!strstr(messages(f), lies[i].message))
            fail_msg("%s\nlacks: %s", messages(f), lies[i].message);
        free(bytes);
    }
}

static void refuse_bytes(Fixture *f, const void *bytes, size_t size, const char *message)
{
    assert_true(file_write_all(&f->diags, f->path, bytes, size));
    diag_init(&f->diags, f->arena);
    assert_null(st_open(&f->diags, f->arena, f->path));
    if (!strstr(messages(f), message))
        fail_msg("%s\nlacks: %s", messages(f), message);
}

static void test_files(void **state)
{
    Fixture *f = *state;
    refuse_bytes(f, "", 0, "shorter than 8 bytes");
    refuse_bytes(f, "\1\0\0", 3, "shorter than 8 bytes");
    refuse_bytes(f, "\0\0\0\0\0\0\0\0", 8, "not a JSON object");
    refuse_bytes(f, "\3\0\0\0\0\0\0\0{}", 10, "cut off");
    refuse_bytes(f, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "claims 18446744073709551615 bytes");
    assert_null(st_open(&f->diags, f->arena, "/nonexistent"));
    assert_null(st_open(&f->diags, f->arena, "/dev/zero"));
    assert_non_null(strstr(messages(f), "not a regular file"));
}

/* A good file cut at every length is refused each time. */
static void test_truncated(void **state)
{
    Fixture *f = *state;
    assert_true(st_write(&f->diags, f->path, examples, N_EXAMPLES, meta, 2));
    const Source *whole = file_read(&f->diags, f->arena, f->path, 1 << 20);
    for (size_t size = 0; size < whole->length; size++) {
        char *cut = malloc(size + !size);
        memcpy(cut, whole->text, size);
        assert_null(st_parse(&f->diags, f->arena, "cut", cut, size));
        free(cut);
    }
    assert_non_null(st_parse(&f->diags, f->arena, "whole", whole->text, whole->length));
}

/* A write that fails half way leaves the old file, and no other. */
static void test_full_disk(void **state)
{
    Fixture *f = *state;
    assert_true(st_write(&f->diags, f->path, examples, N_EXAMPLES, meta, 2));
    int64_t big = 1 << 20;
    float *zeros = calloc((size_t)big, sizeof *zeros);
    StTensor tensor = {.name = "big", .type = ST_F32, .rank = 1, .dims = {big}, .data = zeros};
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1 << 16;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool ok = st_write(&f->diags, f->path, &tensor, 1, NULL, 0);
    setrlimit(RLIMIT_FSIZE, &old);
    free(zeros);
    assert_false(ok);
    assert_non_null(strstr(messages(f), "cannot write"));
    StFile *file = st_open(&f->diags, f->arena, f->path);
    assert_non_null(file);
    assert_int_equal(file->n, N_EXAMPLES);
    st_close(file);
}

/* ---- checksums ---- */

/* Tensors of several blocks, of one, and of none; a part of them has what lies between the cuts. */
enum { WRITERS = 3, N_LARGE = 4, MOST_BLOCKS = 8 };
static const StTensor large[N_LARGE] = {
    {.name = "doubles", .type = ST_F64, .rank = 1, .dims = {ST_BLOCK / 2 + 3}},
    {.name = "floats", .type = ST_F32, .rank = 2, .dims = {ST_BLOCK / 4, 2}},
    {.name = "none", .type = ST_F32, .rank = 1, .dims = {0}},
    {.name = "few", .type = ST_F32, .rank = 1, .dims = {5}},
};

static void fill_large(Fixture *f, StTensor tensors[N_LARGE])
{
    for (int i = 0; i < N_LARGE; i++) {
        tensors[i] = large[i];
        uint64_t bytes = element_info(large[i].type)->bytes;
        for (int d = 0; d < large[i].rank; d++)
            bytes *= (uint64_t)large[i].dims[d];
        unsigned char *data = arena_alloc(f->arena, bytes + 1);
        for (uint64_t k = 0; k < bytes; k++)
            data[k] = (unsigned char)(k * 31 + k / 251 + (uint64_t)i);
        tensors[i].data = data;
        tensors[i].bytes = bytes;
    }
}

/* Of each tensor's blocks as many for each writer, the rest for the last. */
static void cut(const StTensor tensors[N_LARGE], int writer, StPart parts[N_LARGE])
{
    for (int i = 0; i < N_LARGE; i++) {
        uint64_t each = (uint64_t)st_blocks(tensors[i].bytes) / WRITERS * ST_BLOCK,
                 from = each * (uint64_t)writer;
        uint64_t end = writer == WRITERS - 1 ? tensors[i].bytes : from + each;
        parts[i] = (StPart){(const char *)tensors[i].data + from, from, end - from};
    }
}

/* Several writers give the file that one gives. */
static void test_parts(void **state)
{
    Fixture *f = *state;
    StTensor tensors[N_LARGE];
    StPart parts[WRITERS][N_LARGE];
    StWriter *writers[WRITERS];
    FileWriter *files[WRITERS];
    fill_large(f, tensors);
    assert_true(st_write_checked(&f->diags, f->path, tensors, N_LARGE, meta, 2));
    const Source *alone = file_read(&f->diags, f->arena, f->path, 1 << 21);
    files[0] = file_create(&f->diags, f->path);
    for (int w = 0; w < WRITERS; w++) {
        cut(tensors, w, parts[w]);
        writers[w] = st_writer_new(f->arena, tensors, parts[w], N_LARGE);
        if (w)
            assert_non_null(files[w] = file_join(f->path, file_temporary(files[0])));
    }
    for (int w = WRITERS; w-- > 0;) {
        int64_t n;
        const StSum *sums = st_sum(writers[w], &n);
        assert_true(n > 0);
        assert_true(st_take_sums(writers[0], sums, n));
    }
    assert_false(st_take_sums(writers[1], &(StSum){MOST_BLOCKS, 0}, 1));
    uint64_t data_at = st_make_header(writers[0], meta, 2, true);
    for (int w = WRITERS; w-- > 0;) {
        st_put(writers[w], files[w], data_at);
        assert_true(file_commit(files[w], &f->diags));
    }
    const Source *together = file_read(&f->diags, f->arena, f->path, 1 << 21);
    assert_int_equal(alone->length, together->length);
    assert_memory_equal(alone->text, together->text, alone->length);
}

/* The tensors of a file that are not whole, as a set of their numbers; its header: N of the
 * tensors. */
static unsigned broken(const StFile *file)
{
    unsigned set = (unsigned)!st_header_is_whole(file) << file->n;
    for (int64_t i = 0; i < file->n; i++)
        set |= (unsigned)!st_is_whole(file, &file->tensors[i]) << i;
    return set;
}

/* A change of its bytes, a step apart, breaks this tensor and no other. */
static void expect_broken(const Source *source, const StFile *file, int64_t tensor, uint64_t step)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)source->text;
    uint64_t from = (uint64_t)((const unsigned char *)file->tensors[tensor].data - bytes);
    for (uint64_t at = 0; at < file->tensors[tensor].bytes; at += step) {
        bytes[from + at] ^= 4;
        assert_int_equal(broken(file), 1u << tensor);
        bytes[from + at] ^= 4;
    }
    assert_int_equal(broken(file), 0);
}

static void test_damage(void **state)
{
    Fixture *f = *state;
    StTensor tensors[N_LARGE];
    fill_large(f, tensors);
    assert_true(st_write_checked(&f->diags, f->path, tensors, N_LARGE, meta, 2));
    const Source *source = file_read(&f->diags, f->arena, f->path, 1 << 21);
    StFile *file = st_parse(&f->diags, f->arena, "whole", source->text, source->length);
    assert_non_null(file);
    assert_non_null(st_meta(file, "xxh64_blocks"));
    int64_t blocks = 0;
    for (int64_t i = 0; i < file->n; i++) {
        expect_broken(source, file, i, ST_BLOCK / 2);
        blocks += st_blocks(file->tensors[i].bytes);
    }
    assert_int_equal(blocks, MOST_BLOCKS);
    ((char *)(uintptr_t)st_meta(file, "note"))[0] ^= 1;
    assert_int_equal(broken(file), 1u << file->n);
}

/* What an older tfc wrote (tfc train, two params, sgd with momentum, three steps): a sum over each
 * tensor as a whole. */
static void test_sums_of_old_files(void **state)
{
    Fixture *f = *state;
    const Source *source =
        file_read(&f->diags, f->arena, "tests/fixtures/sums_of_tensors.safetensors", 1 << 20);
    assert_non_null(source);
    StFile *file = st_parse(&f->diags, f->arena, "old", source->text, source->length);
    assert_non_null(file);
    assert_non_null(st_meta(file, "xxh64"));
    assert_ptr_equal(st_checksums(file), st_meta(file, "xxh64"));
    assert_int_equal(file->n, 4);
    for (int64_t i = 0; i < file->n; i++)
        expect_broken(source, file, i, 1);
    ((char *)(uintptr_t)st_meta(file, "seed"))[0] ^= 1;
    assert_int_equal(broken(file), 1u << file->n);
}

/* Files that other programs wrote. */
static void test_foreign(void **state)
{
    Fixture *f = *state;
    const char *folder = "../shared/data/onnx-ops";
    DIR *dir = opendir(folder);
    if (!dir) {
        print_message("skipped: no %s\n", folder);
        skip();
    }
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".safetensors"))
            continue;
        StFile *file =
            st_open(&f->diags, f->arena, arena_printf(f->arena, "%s/%s", folder, entry->d_name));
        if (!file)
            fail_msg("%s", messages(f));
        assert_true(file->n > 0);
        st_close(file);
        n++;
    }
    closedir(dir);
    assert_true(n > 100);
    StFile *model = st_open(&f->diags, f->arena, "../shared/data/gpt-nano-sort/model.safetensors");
    assert_non_null(model);
    assert_non_null(st_find(model, model->tensors[0].name));
    st_close(model);
}

/* ---- quantised tensors ---- */

/* Element (i, j) of w: 8 bits with a scale for each column, in runs of its rows; of v: 4 bits, runs
 * of its columns, or of its rows. */
static void test_quantised(void **state)
{
    Fixture *f = *state;
    enum { ROWS = 64, COLUMNS = 96 };
    static uint8_t bytes[ROWS * COLUMNS], pairs[ROWS * COLUMNS / 2];
    static float whole[COLUMNS];
    static uint16_t halves_of[ROWS * COLUMNS / ST_RUN], minima[2 * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 51);
    memcpy(pairs, bytes, sizeof pairs);
    for (int j = 0; j < COLUMNS; j++)
        whole[j] = (float)(j + 1) / 8;
    for (int i = 0; i < ROWS * COLUMNS / ST_RUN; i++)
        halves_of[i] = half_from_float((float)(i - 70) / 16);
    for (int i = 0; i < 2 * COLUMNS; i++)
        minima[i] = half_from_float((float)(50 - i) / 4);
    const StTensor tensors[] = {
        {.name = "channels.int8", .type = ST_I8, .rank = 2, .dims = {ROWS, COLUMNS}, .data = bytes},
        {.name = "channels.scale", .type = ST_F32, .rank = 2, .dims = {1, COLUMNS}, .data = whole},
        {.name = "runs.int8", .type = ST_I8, .rank = 2, .dims = {ROWS, COLUMNS}, .data = bytes},
        {.name = "runs.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "down.int4", .type = ST_U8, .rank = 2, .dims = {ROWS / 2, COLUMNS}, .data = pairs},
        {.name = "down.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "row.int8", .type = ST_I8, .rank = 2, .dims = {1, COLUMNS}, .data = bytes},
        {.name = "row.scale", .type = ST_F32, .rank = 2, .dims = {1, COLUMNS}, .data = whole},
        {.name = "along.int4",
         .type = ST_U8,
         .rank = 2,
         .dims = {ROWS, COLUMNS / 2},
         .data = pairs},
        {.name = "along.scale", .type = ST_F16, .rank = 2, .dims = {ROWS, 3}, .data = halves_of},
        {.name = "least.int4",
         .type = ST_U8,
         .rank = 2,
         .dims = {ROWS / 2, COLUMNS},
         .data = pairs},
        {.name = "least.scale", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = halves_of},
        {.name = "least.minimum", .type = ST_F16, .rank = 2, .dims = {2, COLUMNS}, .data = minima},
    };
    const StMeta mark = {ST_QUANTISED, "int4"}, minimum_mark = {ST_QUANTISED, "q4_1"};
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 3, &minimum_mark, 1));
    StFile *of_minima = st_open(&f->diags, f->arena, f->path);
    assert_non_null(of_minima);
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 2, &minimum_mark, 1));
    assert_null(st_open(&f->diags, f->arena, f->path)); /* minima are missing */
    assert_true(st_write_checked(&f->diags, f->path, tensors + 10, 3, &mark, 1));
    assert_null(st_open(&f->diags, f->arena, f->path)); /* the type has none */
    assert_true(st_write_checked(&f->diags, f->path, tensors, 10, &mark, 1));
    StFile *file = st_open(&f->diags, f->arena, f->path);
    assert_non_null(file);
    assert_true(st_header_is_whole(file));
    const char *const names[] = {"channels", "runs", "down", "along", "least"};
    static float all[ROWS * COLUMNS], part[ROWS * COLUMNS];
    for (int n = 0; n < 5; n++) {
        const StTensor *x = st_find(n == 4 ? of_minima : file, names[n]);
        assert_true(x && x->rank == 2 && x->dims[0] == ROWS && x->dims[1] == COLUMNS);
        assert_true(x->count == ROWS * COLUMNS && st_to_f32(x, all));
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                const int place = n % 2 == 0 ? i / 2 * COLUMNS + j : (i * COLUMNS + j) / 2;
                const int nibble =
                    pairs[place % (ROWS * COLUMNS / 2)] >> (n % 2 == 0 ? i : j) % 2 * 4;
                const int integer =
                    n < 2 ? (int8_t)bytes[i * COLUMNS + j] : (nibble & 15) - (n == 4 ? 0 : 8);
                const float least = n == 4 ? half_to_float(minima[i / ST_RUN * COLUMNS + j]) : 0;
                const float scale = n == 0   ? whole[j]
                                    : n == 3 ? half_to_float(halves_of[i * 3 + j / ST_RUN])
                                             : half_to_float(halves_of[i / ST_RUN * COLUMNS + j]);
                assert_true(all[i * COLUMNS + j] == scale * (float)integer + least);
                assert_true((float)st_value(x, i * COLUMNS + j) == all[i * COLUMNS + j]);
            }
        for (int from = 0, k = 1; from < ROWS * COLUMNS; from += k, k = k * 3 % 101 + 1) {
            const int count = k < ROWS * COLUMNS - from ? k : ROWS * COLUMNS - from;
            assert_true(st_floats(x, from, count, part + from));
        }
        assert_memory_equal(all, part, sizeof all);
    }
    const StTensor *row = st_find(file, "row");
    for (int j = 0; row && j < COLUMNS; j++)
        assert_true((float)st_value(row, j) == whole[j] * (float)(int8_t)bytes[j]);
    assert_true(row && st_is_whole(file, row));
    const uint64_t place = (uint64_t)((const char *)row->scale->data - (const char *)file->map);
    char *copy = arena_array(f->arena, file->map_bytes, 1);
    memcpy(copy, file->map, file->map_bytes);
    copy[place] ^= 1;
    StFile *other = st_parse(&f->diags, f->arena, "copy", copy, file->map_bytes);
    assert_true(other && st_is_whole(other, st_find(other, "runs")));
    assert_false(st_is_whole(other, st_find(other, "row"))); /* its scales are others */
    st_close(of_minima);
    st_close(file);
}

/* A view of a matrix is the matrix turned, in each type that is read one by one or in runs. */
static void test_views(void **state)
{
    (void)state;
    static const float floats[] = {-1, 0, 1, 2, 3, 4, 5};
    static const int64_t whole[] = {9, 1, 2, 3, 4, 5, 6};
    const StView turned = {.rank = 3, .sizes = {3, 1, 2}, .strides = {1, 0, 3}, .first = 1};
    const int turned_to[] = {0, 3, 1, 4, 2, 5};
    const StTensor of_floats = {
        .name = "f", .type = ST_F32, .rank = 2, .dims = {3, 2}, .count = 6, .data = floats};
    StTensor tensor = of_floats;
    tensor.view = &turned;
    float out[6];
    for (int64_t from = 0; from < 6; from++) {
        assert_true(st_floats(&tensor, from, 6 - from, out));
        for (int64_t i = from; i < 6; i++) {
            assert_true(out[i - from] == (float)turned_to[i]);
            assert_true(st_value(&tensor, i) == turned_to[i]);
        }
    }
    tensor.type = ST_I64;
    tensor.data = whole;
    int32_t integers[6];
    assert_true(st_to_i32(&tensor, integers) && st_to_f32(&tensor, out));
    for (int i = 0; i < 6; i++)
        assert_true(integers[i] == turned_to[i] + 1 && out[i] == (float)integers[i]);
}

/* A block of the test: eight values, each its byte times the block's first. */
static void decode_block(const void *block, float *out)
{
    const uint8_t *bytes = block;
    for (int i = 0; i < 8; i++)
        out[i] = (float)bytes[0] * (float)bytes[1 + i];
}

/* Elements of blocks are read from any place on, also in another order. */
static void test_blocks(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {2, 1, 2, 3, 4, 5, 6, 7, 8, 3, 1, 2, 3, 4, 5, 6, 7, 8};
    static const StBlocks blocks = {"eights", 8, 9, decode_block};
    const StView rows = {.rank = 2, .sizes = {2, 8}, .strides = {0, 1}, .first = 8};
    StTensor tensor = {.name = "b",
                       .type = ST_F32,
                       .rank = 1,
                       .dims = {16},
                       .count = 16,
                       .data = bytes,
                       .blocks = &blocks};
    float out[16];
    for (int64_t from = 0; from < 16; from++) {
        assert_true(st_floats(&tensor, from, 16 - from, out));
        for (int64_t i = from; i < 16; i++)
            assert_true(out[i - from] == (float)((i % 8 + 1) * (i < 8 ? 2 : 3)) &&
                        st_value(&tensor, i) == (double)out[i - from]);
    }
    assert_string_equal(st_stored_type(&tensor), "eights");
    tensor.view = &rows;
    assert_true(st_floats(&tensor, 0, 16, out));
    for (int i = 0; i < 16; i++)
        assert_true(out[i] == (float)((i % 8 + 1) * 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_quantised, setup, teardown),
        cmocka_unit_test(test_conversion_limits),
        cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sums_of_old_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
