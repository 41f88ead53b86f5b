/* Golden tests of the passes over loop IR: each tests/golden/loop/passes/NAME.loop names in its
 * first line what is done ("# passes: hoist,share"), and NAME.out holds the module that must come
 * out of it. TFC_UPDATE=1 rewrites the .out files. Together they show each pass at work. What comes
 * out keeps the verifier's rules. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char folder[] = "tests/golden/loop/passes";

static const char *const names[] = {
#define PASS(name, help) #name,
#include "codegen/loop/passes/passes.def"
};
enum { N_PASSES = sizeof names / sizeof *names };

static const Processor processor = {
    .name = "test", .vector_bits = 128, .registers = 16, .fused = true};
static const CodeTarget target = {.processor = &processor};
static const Processor unfused = {.name = "unfused", .vector_bits = 128, .registers = 16};
static const CodeTarget emulating = {.processor = &unfused, .emulates_fma = true};

static int is_loop(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".loop");
}

/* Runs the passes that the first line names, and marks them. */
static void run_passes(Arena *arena, LoModule *module, const char *text, bool *shown)
{
    static const char prefix[] = "# passes: ";
    assert_int_equal(strncmp(text, prefix, sizeof prefix - 1), 0);
    text += sizeof prefix - 1;
    char *list = arena_strndup(arena, text, strcspn(text, "\n")), *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        const bool emulates = !strcmp(name, "emulate_fma");
        if (!lo_run_pass(module, emulates ? &emulating : &target, name))
            fail_msg("there is no pass %s", name);
        for (int i = 0; i < N_PASSES; i++)
            shown[i] |= !strcmp(names[i], name);
    }
}

static void compare(Arena *arena, Diagnostics *diags, const char *golden, const Text *out)
{
    if (getenv("TFC_UPDATE"))
        assert_true(file_write_all(diags, golden, out->data, out->length));
    const Source *expected = file_read(diags, arena, golden, 1 << 20);
    if (!expected)
        fail_msg("%s is missing; TFC_UPDATE=1 writes it", golden);
    assert_string_equal(out->data, expected->text);
}

static void check_file(const char *name, bool *shown)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    Text out = {0};
    diag_init(&diags, arena);
    const Source *source =
        file_read(&diags, arena, arena_printf(arena, "%s/%s", folder, name), 1 << 20);
    LoModule *module = source ? lo_parse(arena, &diags, source) : NULL;
    if (!module)
        fail_msg("%s cannot be read", name);
    run_passes(arena, module, source->text, shown);
    if (!lo_verify(module, &diags)) {
        diag_render(&diags, &out);
        fail_msg("%s: what came out breaks a rule: %s", name, out.data);
    }
    lo_print_module(module, &out);
    size_t stem = strlen(name) - strlen(".loop");
    compare(arena, &diags, arena_printf(arena, "%s/%.*s.out", folder, (int)stem, name), &out);
    text_free(&out);
    arena_free(arena);
}

static void test_passes(void **state)
{
    (void)state;
    struct dirent **entries;
    bool shown[N_PASSES] = {0};
    int n = scandir(folder, &entries, is_loop, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        check_file(entries[i]->d_name, shown);
        free(entries[i]);
    }
    free(entries);
    for (int i = 0; i < N_PASSES; i++)
        if (!shown[i])
            fail_msg("no file of %s shows the pass %s", folder, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
