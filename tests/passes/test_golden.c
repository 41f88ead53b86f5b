/* Golden tests of the passes: each tests/golden/passes/NAME.tir names in its first
 * line what is done ("# passes: simplify,expand" or "# derive: gradient"), and
 * NAME.out holds the functions and the report that must come out of it.
 * TFC_UPDATE=1 rewrites the .out files. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "ir/text.h"
#include "passes/pass.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char folder[] = "tests/golden/passes";

static int is_tir(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".tir");
}

/* What stands behind "# KEY: " in the first line, or NULL. */
static const char *directive(Arena *arena, const Source *source, const char *key)
{
    const char *prefix = arena_printf(arena, "# %s: ", key);
    if (strncmp(source->text, prefix, strlen(prefix)))
        return NULL;
    const char *begin = source->text + strlen(prefix);
    return arena_strndup(arena, begin, strcspn(begin, "\n"));
}

static void derive(Module *module, const char *what, Diagnostics *diags)
{
    OptimizerSpec adam = {.kind = OPT_ADAM, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9, .clip_norm = 1};
    Incremental incremental;
    if (!strcmp(what, "gradient"))
        derive_gradient(module, true);
    else if (!strcmp(what, "forward"))
        derive_forward(module);
    else if (!strcmp(what, "train_step"))
        derive_train_step(module, &adam);
    else if (!strcmp(what, "incremental"))
        derive_incremental(module, "tokens", "logits", &incremental, diags);
    else
        fail_msg("no such derivation: %s", what);
}

static void process(Arena *arena, const Source *source, Text *out)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = ir_parse(arena, &diags, source);
    if (!module || !ir_verify(module, &diags)) {
        diag_render(&diags, out);
        fail_msg("%s: %s", source->path, out->data);
        return;
    }
    const char *passes = directive(arena, source, "passes"), *what = directive(arena, source, "derive");
    Report report = {.arena = arena};
    size_t before = module->functions.count;
    if (what) {
        derive(module, what, &diags);
        for (size_t i = before; i < module->functions.count; i++) {
            PipelineOptions options = {.passes = "simplify"};
            pipeline_run(module->functions.data[i], &options, &diags);
            ir_print_function(module->functions.data[i], out);
        }
    } else {
        assert_non_null(passes);
        PipelineOptions options = {.passes = passes, .report = &report};
        for (size_t i = 0; i < before; i++) {
            pipeline_run(module->functions.data[i], &options, &diags);
            ir_print_function(module->functions.data[i], out);
        }
    }
    ir_verify(module, &diags);
    for (size_t i = 0; i < report.lines.count; i++) {
        text_add(out, "# ");
        report_print(&report.lines.data[i], out);
        text_add(out, "\n");
    }
    diag_render(&diags, out);
}

static void check_file(const char *path)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    Text out = {0};
    diag_init(&diags, arena);
    const Source *source = file_read(&diags, arena, path, 1 << 20);
    assert_non_null(source);
    process(arena, source, &out);
    const char *expected_path = arena_printf(arena, "%.*s.out", (int)strlen(path) - 4, path);
    if (getenv("TFC_UPDATE"))
        assert_true(file_write_all(&diags, expected_path, out.data, out.length));
    const Source *expected = file_read(&diags, arena, expected_path, 1 << 20);
    if (!expected || strcmp(expected->text, out.data)) {
        print_error("%s\n---- expected\n%s\n---- got\n%s\n", path, expected ? expected->text : "no file",
                    out.data);
        fail();
    }
    text_free(&out);
    arena_free(arena);
}

static void test_golden_files(void **state)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_tir, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        check_file(path);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
