/* What a file is, by its first bytes or its name; what is said of one that is not read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "driver/formats/formats.h"
#include "driver/formats/torch_values.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(text) text, sizeof text - 1

/* Case: bytes, and what the table calls them; NULL: nothing. */
typedef struct Case {
    const char *path, *bytes;
    size_t size;
    const char *name;
} Case;

static const Case cases[] = {
    {"w", BYTES(""), "an empty file"},
    {"w", BYTES("\x02\0\0\0\0\0\0\0{}"), "a safetensors file"},
    {"w.safetensors", BYTES("\1\2"), "a safetensors file"},
    {"w", BYTES("PK\3\4...."), "an archive, of PyTorch or zip, that is cut off or damaged"},
    {"w", BYTES("PK\3\4PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0"), "a zip archive"},
    {"w", BYTES("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
     "a PyTorch archive of before PyTorch 1.6"},
    {"w", BYTES("\x80\4\x95...."), "a pickle of Python"},
    {"w", BYTES("\x93NUMPY\1\0"), "an array of NumPy"},
    {"w", BYTES("GGUF\3\0\0\0"), "a GGUF, a model of llama.cpp"},
    {"w", BYTES("GGUF\1\0\0\0"), "a GGUF of another version than 2 and 3, or big-endian"},
    {"w", BYTES("GGUF\0\0\0\3"), "a GGUF of another version than 2 and 3, or big-endian"},
    {"w", BYTES("tjgg\1\0\0\0"), "a model of llama.cpp from before GGUF"},
    {"w", BYTES("\6\0\0\0\x0f\0TransformerSpec\0\7\0\0\0"), NULL}, /* length without NUL */
    {"w", BYTES("\6\0\0\0\x10\0TransformerSpec\0\7\0\0\0"), "a model of CTranslate2"},
    {"w", BYTES("\2\0\0\0\x10\0TransformerBase\0\2\0\0\0"), "a model of CTranslate2"},
    {"w", BYTES("\x1f\x8b\x08\0"), "a file of gzip"},
    {"w", BYTES("\x28\xb5\x2f\xfd"), "a file of Zstandard"},
    {"w",
     BYTES("\xfd"
           "7zXZ\0"),
     "a file of xz"},
    {"w", BYTES("BZh9"), "a file of bzip2"},
    {"w", BYTES("7z\xbc\xaf\x27\x1c"), "a 7z archive"},
    {"w", BYTES("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "an empty zip archive"},
    {"w", BYTES("\x89HDF\r\n\x1a\n"), "a file of HDF5, as Keras writes"},
    {"w", BYTES("\x08\x07\x12\x07pytorch"), "an ONNX model"},
    {"w", BYTES("{\"model_type\": \"bert\"}"), "text"},
    {"w.msgpack", BYTES("\x82\1\2"), "a checkpoint of Flax"},
    {"w", BYTES("\x82\1\2"), NULL},
};

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        /* bytes that end where the file does, for the sanitizers */
        void *bytes = memory_resized(NULL, c->size + 1);
        memcpy(bytes, c->bytes, c->size);
        const Format *format = format_of(c->path, bytes, c->size);
        if (!c->name != !format || (format && strcmp(format->name, c->name)))
            fail_msg("case %zu is %s", i, format ? format->name : "nothing");
        free(bytes);
    }
}

static void test_messages(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    assert_null(format_parse(&diags, arena, "a.bin", BYTES("\x1f\x8b\x08\0")));
    assert_string_equal(diags.list.data[0].message, "a.bin is a file of gzip: unpack it first");
    assert_null(format_parse(&diags, arena, "b", BYTES("\x82\1\2")));
    assert_non_null(
        strstr(diags.list.data[1].message, "b is no file of weights that is known here: read "));
    assert_non_null(strstr(diags.list.data[1].message, "a safetensors file"));
    assert_null(
        format_parse(&diags, arena, "c", BYTES("version https://git-lfs.github.com/spec/v1\n")));
    assert_non_null(strstr(diags.list.data[2].message, "c is a Git LFS pointer, which stands"));
    static const char *const pages[] = {" \n<!DOCTYPE HTML>", "<HTML lang"};
    for (int i = 0; i < 2; i++) {
        assert_null(format_parse(&diags, arena, "d", pages[i], strlen(pages[i])));
        assert_non_null(strstr(diags.list.data[3 + i].message, "d is a page of HTML: "));
    }
    arena_free(arena);
}

/* ---- tensors, compared with what the format's own program says of them ---- */

static const char folder[] = "tests/fixtures/formats";

/* Pair: a file, the tensors that it has, as f32, and which are passed over. */
typedef struct Pair {
    const char *file, *expected, *passed;
} Pair;

static const Pair pairs[] = {
    {"torch.pt", "torch", ""},
    {"torch_legacy.bin", "torch", ""},
    {"training.pth", "training", ""},
    {"training_legacy.pt", "training", ""},
    {"arrays.npz", "arrays", ""},
    {"packed.npz", "arrays", ""},
    {"one.npy", "one", ""},
    {"blocks.gguf", "blocks", ""},
    {"blocks_2.gguf", "blocks", ""},
    {"llama.gguf", "llama", ""},
    {"model.bin", "model", ""},
    {"weights.onnx", "onnx", ""},
    {"few_bits.gguf", "few_bits", ""},
    {"others.npz", "others_npz", "model_type <U5, raw |S2, objects |O"},
    {"others.pt", "others_pt", "sparse sparse, complex complex64, half complex128"},
    {"others_types.safetensors", "others_read", "u32 U32, c64 C64"},
};

static void compare(const StTensor *is, const StTensor *wanted)
{
    assert_int_equal(is->rank, wanted->rank);
    assert_memory_equal(is->dims, wanted->dims, sizeof *is->dims * (size_t)is->rank);
    for (int64_t i = 0; i < wanted->count; i++)
        if (st_value(is, i) != st_value(wanted, i))
            fail_msg("%s[%d] is %g, not %g", is->name, (int)i, st_value(is, i),
                     st_value(wanted, i));
    float *floats = memory_zeroed((size_t)wanted->count, sizeof *floats);
    assert_true(st_to_f32(is, floats));
    for (int64_t i = 0; i < wanted->count; i++)
        if ((double)floats[i] != st_value(wanted, i))
            fail_msg("%s[%d] is read as %g in a run", is->name, (int)i, (double)floats[i]);
    free(floats);
}

static void test_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        StFile *file =
            format_open(&diags, arena, arena_printf(arena, "%s/%s", folder, pairs[i].file));
        StFile *wanted = st_open(
            &diags, arena, arena_printf(arena, "%s/%s.safetensors", folder, pairs[i].expected));
        if (!file || !wanted)
            fail_msg("%s: %s", pairs[i].file, diags.list.data[0].message);
        assert_int_equal(file->n, wanted->n);
        Text passed = {0};
        for (int64_t k = 0; k < file->n_passed; k++)
            text_add(&passed, "%s%s %s", k ? ", " : "", file->passed[k].name, file->passed[k].type);
        assert_string_equal(passed.data ? passed.data : "", pairs[i].passed);
        text_free(&passed);
        for (int64_t k = 0; k < wanted->n; k++) {
            const StTensor *is = st_find(file, wanted->tensors[k].name);
            if (!is)
                fail_msg("%s has no '%s'", pairs[i].file, wanted->tensors[k].name);
            compare(is, &wanted->tensors[k]);
        }
        st_close(file);
        st_close(wanted);
        arena_free(arena);
    }
}

/* ---- pickles that would do something ---- */

/* Hostile: a pickle, and what is said of it. */
typedef struct Hostile {
    const char *bytes;
    size_t size;
    const char *problem;
} Hostile;

static const Hostile hostile[] = {
    {BYTES("\x80\2cos\nsystem\nX\2\0\0\0ls\x85R."),
     "it names os.system: only tensors and containers are read, and nothing is called"},
    {BYTES("\x80\4\x8c\5posix\x8c\6system\x93\x8c\2ls\x85R."), "it names posix.system: only"},
    {BYTES("\x80\2cbuiltins\neval\n."), "it names builtins.eval: only"},
    {BYTES("\x80\2c__builtin__\nset\n\x1b[31m\n."), "the byte 0x1b is not an opcode"},
    {BYTES("(cos\nsystem\nX\2\0\0\0lso."), "it names os.system: only"},
    {BYTES("(X\2\0\0\0lsios\nsystem\n."), "the opcode INST, which is not read"},
    {BYTES("\x80\2ctorch\nFloatStorage\n)R."), "it calls torch FloatStorage, which is not read"},
    {BYTES("\x80\2}(X\1\0\0\0aK\1R."), "it calls a value that is not a function"},
    {BYTES("\x80\2X\xff\xff\xff\xff"
           "a."),
     "the pickle is cut off"},
    {BYTES("\x80\2\x8e\xff\xff\xff\xff\xff\xff\xff\xff"
           "a."),
     "the pickle is cut off"},
    {BYTES("\x80\2]r\xff\xff\xff\xff."), "a number of its memo is too large"},
    {BYTES("\x80\2h\1."), "it refers to a memo entry that it never stored"},
    {BYTES("\x80\2R."), "it pops more values than it pushed"},
    {BYTES("\x80\2K\1(0."), "it pops more values than it pushed"},
    {BYTES("\x80\2t."), "it pops more values than it pushed"},
    {BYTES("\x80\2)a."), "it adds to a value that is not a list or dict"},
    {BYTES("\x80\2)K\1a."), "it adds to a value that is not a list or dict"},
    {BYTES("\x80\2ctorch._utils\n_rebuild_tensor_v2\n(K\1K\0))t\x52."),
     "a tensor has no storage, or no place in it"},
    {BYTES("\x80\2ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
           "X\1\0\0\0"
           "0X\3\0\0\0cpuK\1tQK\0\x8a\x09\0\0\0\0\0\0\0\0\1\x85K\1\x85tR."),
     "a tensor's sizes or strides are no numbers"},
    {BYTES("\x80\2}s."), "it adds to a value that is not a list or dict"},
    {BYTES("\x80\2K\1Q."), "a persistent id does not name a storage"},
    {BYTES("\x80\2\x96."), "the opcode BYTEARRAY8, which is not read"},
    {BYTES(""), "the pickle is cut off"},
};

static void test_hostile_pickles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        Arena *arena = arena_new();
        TorchValues values;
        torch_values_init(&values, arena);
        uint64_t used;
        const char *problem = NULL;
        assert_null(
            pickle_read(arena, &values.rules, hostile[i].bytes, hostile[i].size, &used, &problem));
        if (!problem || !strstr(problem, hostile[i].problem))
            fail_msg("pickle %zu: %s", i, problem ? problem : "no problem");
        arena_free(arena);
    }
}

/* A list and a dict that contain themselves are values like others. */
static void test_loops(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    TorchValues values;
    torch_values_init(&values, arena);
    uint64_t used;
    const char *problem;
    const Pickled *list =
        pickle_read(arena, &values.rules, BYTES("\x80\2]q\0h\0a.rest"), &used, &problem);
    assert_true(list && list->items.count == 1 && list->items.data[0] == list && used == 9);
    arena_free(arena);
}

/* Whether a file that is read has only tensors that are whole, each with the values of `wanted`. */
static bool is_same(const StFile *file, const StFile *wanted)
{
    bool same = file->n == wanted->n;
    for (int64_t i = 0; same && i < file->n; i++) {
        const StTensor *is = &file->tensors[i], *other = st_find(wanted, is->name);
        same = other && is->count == other->count;
        for (int64_t k = 0; same && k < is->count; k++)
            same = st_value(is, k) == st_value(other, k);
    }
    return same;
}

static bool is_whole(const StFile *file)
{
    for (int64_t i = 0; i < file->n; i++)
        if (!st_is_whole(file, &file->tensors[i]))
            return false;
    return true;
}

/* An archive has checksums: with any bit changed it is refused, its tensors are not whole, or they
 * are what they were. */
static void test_damaged_archives(void **state)
{
    (void)state;
    static const char *const archives[] = {"torch.pt", "training.pth", "arrays.npz", "packed.npz"};
    enum { APART = 5 };
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        const char *path = arena_printf(arena, "%s/%s", folder, archives[i]);
        const Source *source = file_read(&diags, arena, path, 1 << 20);
        const StFile *wanted = format_parse(&diags, arena, path, source->text, source->length);
        assert_true(wanted && is_whole(wanted));
        int broken = 0;
        for (size_t at = 0; at < source->length; at += APART) {
            Arena *own = arena_new();
            diag_init(&diags, own);
            char *bytes = arena_copy(own, source->text, source->length);
            bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
            const StFile *file = format_parse(&diags, own, path, bytes, source->length);
            if (file && is_whole(file) && !is_same(file, wanted))
                fail_msg("%s: a change of byte %zu is not seen", archives[i], at);
            broken += file && !is_whole(file);
            arena_free(own);
        }
        assert_true(broken > 0 ||
                    !strcmp(archives[i], "packed.npz")); /* refused as it is unpacked */
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),  cmocka_unit_test(test_hostile_pickles),
        cmocka_unit_test(test_loops),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_damaged_archives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
