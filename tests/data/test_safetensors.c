/* Safetensors: round trips, every way a file can lie, checksums, and a full disk. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/safetensors.h"
#include "tests/data/tensor_file.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5,
     "the last 1 bytes"}, /* a type that is not read is passed over, but not its bytes */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sums_of_old_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
