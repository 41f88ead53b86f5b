/* The linker: objects of the C compiler run in this process; what is damaged or not understood is
 * refused by name. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    char folder[32];
} Case;

static int open_case(void **state)
{
    Case *c = calloc(1, sizeof *c);
    c->arena = arena_new();
    diag_init(&c->diags, c->arena);
    strcpy(c->folder, "/tmp/tfc-link-XXXXXX");
    *state = c;
    return mkdtemp(c->folder) ? 0 : -1;
}

static int close_case(void **state)
{
    Case *c = *state;
    int status = system(arena_printf(c->arena, "rm -r %s", c->folder));
    arena_free(c->arena);
    free(c);
    return status;
}

/* The object of a C text. Code is small, with no tables for unwinding and no notes of its own. */
static ObjectFile compile(Case *c, const char *name, const char *text)
{
    const char *cc = getenv("CC") ? getenv("CC") : "cc";
#ifdef __riscv
    cc = arena_printf(c->arena, "%s -mno-relax", cc); /* as LLVM's code is */
#endif
    const char *path = arena_printf(c->arena, "%s/%s", c->folder, name);
    FILE *file = fopen(arena_printf(c->arena, "%s.c", path), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(
        system(arena_printf(c->arena, "%s -c -O1 -fPIC -w -fno-stack-protector -o %s.o %s.c", cc,
                            path, path)),
        0);
    ObjectFile object = {0};
    static char bytes[1 << 16];
    file = fopen(arena_printf(c->arena, "%s.o", path), "r");
    assert_non_null(file);
    object.size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    object.bytes = arena_copy(c->arena, bytes, object.size);
    return object;
}

static int seven(int x) { return x + 7; }

static const void *outside(const char *name, Diagnostics *diags)
{
    if (!strcmp(name, "broken"))
        diag_error(diags, (Loc){0}, "broken cannot be loaded");
    return !strcmp(name, "seven") ? (const void *)(uintptr_t)seven : NULL;
}

static const char main_text[] =
    "extern int twice(int), seven(int), shared; static int counter = 100, zeros[1000];\n"
    "extern int (*const table[2])(int); static const char text[] = \"constant\"; const char *const name = text;\n"
    "int begin(int x) { counter += x; zeros[999] += 1; shared += 1000 * zeros[999];\n"
    "    return twice(counter) + table[1](x) + seven(x) + name[x] + shared; }\n";
static const char other_text[] =
    "extern int seven(int); int shared = 3; int twice(int x) { return 2 * x; }\n"
    "int (*const table[2])(int) = {twice, seven};\n";

static void objects_run(void **state)
{
    Case *c = *state;
    const ObjectFile files[] = {compile(c, "main", main_text), compile(c, "other", other_text)};
    LinkedCode code[2];
    for (int i = 0; i < 2; i++) { /* each with data of its own */
        int (*begin)(int) =
            (int (*)(int))(uintptr_t)link_objects(files, 2, outside, "begin", &code[i], &c->diags);
        assert_non_null(begin);
        assert_int_equal(begin(2), 2 * 102 + 9 + 9 + 'n' + 1003);
        assert_int_equal(begin(1), 2 * 103 + 8 + 8 + 'o' + 3003);
    }
    link_free(&code[0]);
    link_free(&code[1]);
    link_free(&(LinkedCode){0});
}

/* perf's map has the address and the bytes of each function; without the variable there is none. */
static void perf_is_told(void **state)
{
    Case *c = *state;
    const ObjectFile files[] = {compile(c, "main", main_text), compile(c, "other", other_text)};
    const char *path = arena_printf(c->arena, "/tmp/perf-%ld.map", (long)getpid());
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(setenv(LINK_PERF_MAP, "1", 1), 0);
    LinkedCode code;
    const void *begin = link_objects(files, 2, outside, "begin", &code, &c->diags);
    unsetenv(LINK_PERF_MAP);
    FILE *map = fopen(path, "r");
    assert_non_null(map);
    unsigned long start, size;
    char name[64];
    int begins = 0, twices = 0;
    while (fscanf(map, "%lx %lx %63s", &start, &size, name) == 3) {
        assert_true(size && start >= (uintptr_t)code.memory &&
                    start + size <= (uintptr_t)code.memory + code.size);
        begins += !strcmp(name, "begin") && start == (uintptr_t)begin;
        twices += !strcmp(name, "twice");
    }
    assert_true(feof(map) && begins == 1 && twices == 1);
    fclose(map);
    assert_int_equal(remove(path), 0);
    link_free(&code);
}

static void expect_refusal(Case *c, const ObjectFile *files, int n, const char *symbol,
                           const char *message)
{
    LinkedCode code;
    size_t before = c->diags.list.count;
    assert_null(link_objects(files, n, outside, symbol, &code, &c->diags));
    assert_null(code.memory);
    assert_int_equal(c->diags.list.count, before + 1);
    if (!strstr(c->diags.list.data[before].message, message))
        fail_msg("%s; expected: %s", c->diags.list.data[before].message, message);
}

static void others_are_refused(void **state)
{
    Case *c = *state;
    static const struct {
        const char *text, *message;
    } refused[] = {
        {"extern int absent(void); int begin(void) { return absent(); }",
         "cannot be linked: nothing is called \"absent\""},
        {"extern int broken(void); int begin(void) { return broken(); }",
         "broken cannot be loaded"},
        {"int x __attribute__((common)); int begin(void) { return x; }", "symbol x is of a kind"},
        {"static __thread int x = 1; int begin(void) { return x++; }",
         "of a kind that is not loaded"},
        {"extern int x __attribute__((weak)); int begin(void) { return x; }",
         "symbol x is of a kind"},
        {"__attribute__((constructor)) void f(void) {} int begin(void) { return 1; }",
         "section .init_array is of a kind"},
        {"int start(void) { return 1; }", "does not define begin"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ObjectFile file = compile(c, "x", refused[i].text);
        expect_refusal(c, &file, 1, "begin", refused[i].message);
    }
    ObjectFile other = compile(c, "other", other_text);
    expect_refusal(c, (ObjectFile[]){other, other}, 2, "twice", "is defined a second time");
    expect_refusal(c, &(ObjectFile){"no object", 9}, 1, "begin", "cannot be linked: it is shorter");
    expect_refusal(c, NULL, 0, "begin", "does not define begin");
}

/* Whatever a byte becomes, and wherever the file ends: linked, or refused with a message. */
static void damage_is_survived(void **state)
{
    Case *c = *state;
    ObjectFile files[] = {compile(c, "main", main_text), compile(c, "other", other_text)};
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    size_t size = files[0].size, refused = 0, tried = 0;
    const unsigned char *whole = files[0].bytes;
    for (size_t i = 0; i < 4 * size; i++) {
        size_t end = i < size ? i : size; /* prefixes first */
        /* of its size, so that a sanitizer sees reads behind it */
        unsigned char *bytes = malloc(end ? end : 1);
        memcpy(bytes, whole, end);
        if (i >= size)
            bytes[i % size] ^= flips[i / size - 1];
        files[0].bytes = bytes;
        files[0].size = end;
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        LinkedCode code;
        const void *found = link_objects(files, 2, outside, "begin", &code, &diags);
        assert_true(found ? diags.errors == 0 : diags.errors == 1);
        assert_true(!found || (i >= size && code.memory));
        refused += !found;
        tried++;
        link_free(&code);
        arena_free(arena);
        free(bytes);
    }
    assert_true(refused > size && refused < tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_run, open_case, close_case),
        cmocka_unit_test_setup_teardown(perf_is_told, open_case, close_case),
        cmocka_unit_test_setup_teardown(others_are_refused, open_case, close_case),
        cmocka_unit_test_setup_teardown(damage_is_survived, open_case, close_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
