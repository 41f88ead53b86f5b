/* What a file is, by its first bytes or its name; what is said of one that is not read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "driver/formats/formats.h"

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
    {"w", BYTES("PK\3\4...."), "a zip archive"},
    {"w", BYTES("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
     "a PyTorch archive of the kind before PyTorch 1.6"},
    {"w", BYTES("\x80\4\x95...."), "a pickle of Python"},
    {"w", BYTES("\x93NUMPY\1\0"), "an array of NumPy"},
    {"w", BYTES("GGUF\3\0\0\0"), "a GGUF, a model of llama.cpp"},
    {"w", BYTES("tjgg\1\0\0\0"), "a model of llama.cpp from before GGUF"},
    {"w", BYTES("\6\0\0\0\x0f\0TransformerSpec\0\7\0\0\0"), NULL}, /* length without NUL */
    {"w", BYTES("\6\0\0\0\x10\0TransformerSpec\0\7\0\0\0"), "a model of CTranslate2"},
    {"w", BYTES("version https://git-lfs.github.com/spec/v1\n"),
     "a Git LFS pointer, which stands for the file itself"},
    {"w", BYTES(" \n<!DOCTYPE HTML>"), "a page of HTML"},
    {"w", BYTES("<HTML lang"), "a page of HTML"},
    {"w", BYTES("\x1f\x8b\x08\0"), "a file of gzip"},
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
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
