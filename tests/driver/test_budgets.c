/* Files of weights that ask for more memory than their size explains, and readers that are given
 * less than they need; and what a published tokenizer.json takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json_write.h"
#include "driver/formats/formats.h"
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/kind.h"

#include <stdio.h>
#include <string.h>

/* ---- files ---- */

static void put_number(Text *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        text_put(out, &(char){(char)(number >> (8 * i))}, 1);
}

/* Bytes in the wire format: the field's number, the length, the bytes. */
static void put_field(Text *out, int field, const char *bytes, size_t size)
{
    put_number(out, (uint64_t)field << 3 | 2, 1);
    for (size_t left = size;; left >>= 7) {
        put_number(out, (left & 127) | (left > 127) << 7, 1);
        if (left < 128)
            break;
    }
    text_put(out, bytes, size);
}

/* Wraps the graph as an ONNX model, and frees it. */
static Text onnx_of(Text *graph)
{
    Text out = {0};
    text_put(&out, "\x08\x08", 2);
    put_field(&out, 2, "x", 1);
    put_field(&out, 7, graph->data, graph->length);
    text_free(graph);
    return out;
}

/* Nodes that give the initialiser "w" n names more. */
static void put_identities(Text *graph, int n)
{
    for (int i = 0; i < n; i++) {
        Text node = {0}, name = {0};
        text_add(&name, "n%x", (unsigned)i);
        put_field(&node, 1, "w", 1);
        put_field(&node, 2, name.data, name.length);
        put_field(&node, 4, "Identity", 8);
        put_field(graph, 1, node.data, node.length);
        text_free(&node);
        text_free(&name);
    }
}

static void put_initialisers(Text *graph, int n)
{
    static const char tensor[] = "\x08\1\x10\1\x42\1w\x4a\4\0\0\0";
    for (int i = 0; i < n; i++)
        put_field(graph, 5, tensor, sizeof tensor);
}

static void put_name(Text *out, const char *name)
{
    put_number(out, strlen(name) + 1, 2);
    text_put(out, name, strlen(name) + 1);
}

/* A matrix of bytes, its scales, and n other names of both. */
static Text ctranslate2_of(uint32_t rows, uint32_t n)
{
    enum { F32 = 0, I8 = 1, VERSION = 6, REVISION = 1 };
    const float two = 2;
    Text out = {0};
    put_number(&out, VERSION, 4);
    put_name(&out, "TransformerSpec");
    put_number(&out, REVISION, 4);
    put_number(&out, 2, 4);
    put_name(&out, "a");
    text_put(&out, "\2", 1);
    put_number(&out, rows, 4);
    put_number(&out, 1, 4);
    put_number(&out, I8, 1);
    put_number(&out, rows, 4);
    for (uint32_t i = 0; i < rows; i++)
        text_put(&out, "\6", 1);
    put_name(&out, "a_scale");
    text_put(&out, "\1", 1);
    put_number(&out, rows, 4);
    put_number(&out, F32, 1);
    put_number(&out, 4 * rows, 4);
    for (uint32_t i = 0; i < rows; i++)
        text_put(&out, (const char *)&two, sizeof two);
    put_number(&out, 2 * n, 4);
    for (uint32_t i = 0; i < n; i++) {
        char name[20];
        sprintf(name, "n%x", i);
        put_name(&out, name);
        put_name(&out, "a");
        strcat(name, "_scale");
        put_name(&out, name);
        put_name(&out, "a_scale");
    }
    return out;
}

/* Tensors of one element, 4 bytes each, that share a name where `twice`. */
static Text gguf_of(int n, bool twice)
{
    enum { F32 = 0, EACH = 32 };
    Text out = {0};
    text_string(&out, "GGUF");
    put_number(&out, 3, 4);
    put_number(&out, (uint64_t)n, 8);
    put_number(&out, 0, 8);
    for (int i = 0; i < n; i++) {
        char name[20];
        sprintf(name, "t%d", twice ? i / 2 : i);
        put_number(&out, strlen(name), 8);
        text_string(&out, name);
        put_number(&out, 1, 4);
        put_number(&out, 1, 8);
        put_number(&out, F32, 4);
        put_number(&out, (uint64_t)i * EACH, 8);
    }
    while (out.length % EACH)
        text_put(&out, "", 1);
    for (int i = 0; i < n * EACH; i++)
        text_put(&out, "", 1);
    return out;
}

/* ---- pickles: in a file of before PyTorch 1.6, which has them one behind the other ---- */

#define TENSOR                                                                             \
    "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" \
    "0X\3\0\0\0cpuK\1NtQK\0(K\1t(K\1t\x89"                                                 \
    "ccollections\nOrderedDict\n)RtR"
#define PUT(out, bytes) text_put(out, bytes, sizeof bytes - 1)

/* The file of a pickle, which is freed: its numbers and settings, the pickle, keys, one element. */
static Text torch_of(Text *pickle)
{
    Text out = {0};
    PUT(&out, "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3.\x80\2}.");
    PUT(&out, "\x80\2");
    text_put(&out, pickle->data, pickle->length);
    PUT(&out, ".\x80\2](X\1\0\0\0"
              "0e.\1\0\0\0\0\0\0\0\0\0\0\0");
    text_free(pickle);
    return out;
}

/* The opcode of a text. */
static void put_text(Text *out, char letter, uint32_t n)
{
    PUT(out, "X");
    put_number(out, n, 4);
    for (uint32_t i = 0; i < n; i++)
        text_put(out, &letter, 1);
}

/* A dict in a dict under a long name. `twice`: one key again and again, else numbers. */
static Text torch_of_names(uint32_t length, int n, bool twice)
{
    Text out = {0};
    PUT(&out, TENSOR "q\1"
                     "0");
    put_text(&out, 'k', length);
    PUT(&out, "q\2"
              "0}(h\2}(");
    for (int i = 0; i < n; i++) {
        if (twice)
            PUT(&out, "h\2");
        else
            PUT(&out, "M"), put_number(&out, (uint64_t)i, 2);
        PUT(&out, "h\1");
    }
    PUT(&out, "uu");
    return torch_of(&out);
}

/* A list of a tensor and of a list; that has a hundred times the same list, and so on, so many
 * levels above a tensor or none. */
static Text torch_of_lists(int levels, bool of_tensors)
{
    Text out = {0};
    if (of_tensors)
        PUT(&out, TENSOR);
    else
        PUT(&out, "N");
    PUT(&out, "q\1"
              "0");
    for (int level = 1; level <= levels; level++) {
        PUT(&out, "](");
        for (int i = 0; i < 100; i++)
            PUT(&out, "h"), put_number(&out, (uint64_t)level, 1);
        PUT(&out, "eq"), put_number(&out, (uint64_t)level + 1, 1);
        PUT(&out, "0");
    }
    PUT(&out, "](" TENSOR "h"), put_number(&out, (uint64_t)levels + 1, 1);
    PUT(&out, "e");
    return torch_of(&out);
}

/* ---- what becomes of them ---- */

/* Expects the problem (NULL: none), within the budget and `most` bytes, and frees the file. */
static void expect(Text file, const char *problem, size_t most)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const StFile *read = format_parse(&diags, arena, "file", file.data, file.length);
    const char *message = diags.list.count ? diags.list.data[0].message : "";
    if (!read != (problem != NULL) || diags.errors != !read ||
        (problem && !strstr(message, problem)))
        fail_msg("'%s' instead of '%s'", message, problem ? problem : "no problem");
    if (arena_peak(arena) > budget_bytes(BUDGET_BINARY, file.length) + (1 << 17) ||
        arena_peak(arena) > most)
        fail_msg("%s: %zu bytes of memory for %zu", message, arena_peak(arena), file.length);
    arena_free(arena);
    text_free(&file);
}

static const char twice[] = "the file has two tensors of this name",
                  too_much[] = "file: " BUDGET_PROBLEM;
enum { SMALL = 1 << 20 };

static void test_names_that_occur_twice(void **state)
{
    (void)state;
    Text graph = {0};
    put_identities(&graph, 300);
    put_initialisers(&graph, 300);
    expect(onnx_of(&graph), twice, SMALL);
    expect(gguf_of(1000, true), twice, SMALL);
    expect(torch_of_names(80000, 50000, true), twice, 16 * SMALL);
}

static void test_names_without_end(void **state)
{
    (void)state;
    Text graph = {0};
    put_identities(&graph, 100000);
    put_initialisers(&graph, 1);
    expect(onnx_of(&graph), too_much, SIZE_MAX);
    expect(gguf_of(10000, false), NULL, SIZE_MAX);
    expect(torch_of_names(80000, 60000, false), too_much, SIZE_MAX);
    expect(torch_of_names(80, 60, false), NULL, SMALL);
}

static void test_values_that_are_shared(void **state)
{
    (void)state;
    expect(torch_of_lists(4, true), too_much, SIZE_MAX);
    expect(torch_of_lists(2, true), NULL, 16 * SMALL);
    expect(torch_of_lists(4, false), "its values contain each other", SIZE_MAX);
}

/* Two names of one matrix share what is made of its scales. */
static void test_names_of_scales(void **state)
{
    (void)state;
    Text file = ctranslate2_of(3000, 2);
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const StFile *read = format_parse(&diags, arena, "file", file.data, file.length);
    const StTensor *one = read ? st_find(read, "n0") : NULL,
                   *other = read ? st_find(read, "n1") : NULL;
    assert_true(one && other && read->n == 3); /* and "a" */
    assert_true(one->scales.data && one->scales.data == other->scales.data);
    assert_true(st_value(one, 2999) == 3 && st_value(other, 0) == 3);
    arena_free(arena);
    text_free(&file);
    expect(ctranslate2_of(3000, 3000), NULL, 10 * SMALL);
}

/* ---- with less memory than it takes ---- */

/* Reads a file with each limit, in some steps, up to what it needs: it is read, or the arena has
 * failed. */
static void read_with_each_limit(const char *path)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    StFile *whole = format_open(&diags, arena, path);
    if (!whole)
        fail_msg("%s: %s", path, diags.list.data[0].message);
    const Format *format = format_of(path, whole->map, whole->map_bytes);
    bool was_read = false;
    for (size_t limit = 0; !was_read; limit += limit / 200 * 16 + 16) {
        Arena *outer = arena_new(), *own = arena_within(outer, limit);
        diag_init(&diags, outer);
        const StFile *file = format->parse(&diags, own, path, whole->map, whole->map_bytes);
        was_read = file && !arena_failed(own);
        if (!was_read && !arena_is_over(own) && !strstr(diags.list.data[0].message, "far larger"))
            fail_msg("%s in %zu bytes is not read: %s", path, limit, diags.list.data[0].message);
        assert_true(arena_used(own) <= limit && (!was_read || file->n == whole->n));
        arena_free(own);
        arena_free(outer);
    }
    st_close(whole);
    arena_free(arena);
}

static void test_each_limit(void **state)
{
    (void)state;
    static const char *const files[] = {
        "arrays.npz",  "arrays.safetensors", "blocks.gguf",  "blocks_2.gguf",
        "llama.gguf",  "model.bin",          "one.npy",      "packed.npz",
        "torch.pt",    "torch_legacy.bin",   "training.pth", "training_legacy.pt",
        "weights.onnx"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[100];
        sprintf(path, "tests/fixtures/formats/%s", files[i]);
        read_with_each_limit(path);
    }
}

/* ---- a tokenizer.json as published ---- */

/* The 26 letters, all texts of two letters, of three, … : text i ends with letter i % 26, and
 * begins with text i / 26 - 1. */
static const char *text_of_letters(int i, char room[8])
{
    char *at = room + 7;
    for (*at = 0; i >= 0; i = i / 26 - 1)
        *--at = (char)('a' + i % 26);
    return at;
}

typedef enum Published { BPE, BPE_OF_PAIRS, WORDPIECE, UNIGRAM, PUBLISHED } Published;
static const char *const published_types[] = {"BPE", "BPE", "WordPiece", "Unigram"};

static void put_merges(JsonWriter *json, int n, bool as_pairs)
{
    char room[8], pair[16];
    json_open(json, "merges", '[');
    for (int i = 26; i < n; i++) {
        const char *first = text_of_letters(i / 26 - 1, room), last[] = {(char)('a' + i % 26), 0};
        if (as_pairs)
            json_open(json, NULL, '[');
        snprintf(pair, sizeof pair, as_pairs ? "%s" : "%s %s", first, last);
        json_put_text(json, NULL, pair);
        if (as_pairs) {
            json_put_text(json, NULL, last);
            json_close(json, ']');
        }
    }
    json_close(json, ']');
}

/* Texts of letters, which are shorter than published pieces: memory goes by their number. */
static Text published_tokenizer(Published form, int n)
{
    Text out = {0};
    JsonWriter json = {.out = &out};
    char room[8];
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    json_open(&json, "model", '{');
    json_put_text(&json, "type", published_types[form]);
    if (form == WORDPIECE)
        json_put_text(&json, "unk_token", "a");
    if (form == UNIGRAM)
        json_put_integer(&json, "unk_id", 0);
    json_open(&json, "vocab", form == UNIGRAM ? '[' : '{');
    for (int i = 0; i < n; i++) {
        const char *text = text_of_letters(i, room);
        if (form == UNIGRAM) {
            json_open(&json, NULL, '[');
            json_put_text(&json, NULL, text);
            json_put_number(&json, NULL, -2 - i * 1e-4, 12);
            json_close(&json, ']');
        } else
            json_put_integer(&json, text, i);
    }
    json_close(&json, form == UNIGRAM ? ']' : '}');
    if (form == BPE || form == BPE_OF_PAIRS)
        put_merges(&json, n, form == BPE_OF_PAIRS);
    json_close(&json, '}');
    json_close(&json, '}');
    return out;
}

/* SECURITY.md states this limit, for files of at least a million bytes. */
static void expect_tokenizer(const char *name, const char *bytes, size_t size, int32_t n)
{
    enum { MOST_TIMES = 12 };
    Arena *arena = arena_new();
    const char *problem;
    Tokenizer *tokenizer = tokenizer_json(arena, bytes, size, &problem);
    if (!tokenizer)
        fail_msg("%s: %s", name, problem);
    assert_true(size >= 1000000 && tokenizer_size(tokenizer) >= n);
    if (arena_peak(tokenizer->arena) > MOST_TIMES * size)
        fail_msg("%s of %zu bytes takes %zu", name, size, arena_peak(tokenizer->arena));
    tokenizer_free(tokenizer);
    arena_free(arena);
}

static void test_published_tokenizers(void **state)
{
    (void)state;
    enum { TOKENS = 80000 };
    for (int form = 0; form < PUBLISHED; form++) {
        Text file = published_tokenizer((Published)form, TOKENS);
        expect_tokenizer(published_types[form], file.data, file.length, TOKENS);
        text_free(&file);
    }
    const char *path = "../shared/data/hf-marian/tokenizer.json";
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *file = file_exists(path) ? file_read(&diags, arena, path, (size_t)1 << 24) : NULL;
    if (file)
        expect_tokenizer(path, file->text, file->length, 1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_that_occur_twice),
        cmocka_unit_test(test_names_without_end),
        cmocka_unit_test(test_values_that_are_shared),
        cmocka_unit_test(test_names_of_scales),
        cmocka_unit_test(test_each_limit),
        cmocka_unit_test(test_published_tokenizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
