/* Origins of ops (LoOp.origin) through the passes of loop IR: what a pass makes of an op has that
 * op's, and no pass drops one. Over an example, and over all that tests/golden/loop/passes shows
 * the passes by. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/text/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const Processor processor = {
    .name = "test", .vector_bits = 128, .registers = 16, .fused = true};
static const CodeTarget target = {.processor = &processor};

typedef void Visit(LoOp *op, void *data);

static void each_op(LoBlock *block, Visit *visit, void *data)
{
    FOR_LOOP_OPS (op, block) {
        visit(op, data);
        if (op->body)
            each_op(op->body, visit, data);
        if (op->other)
            each_op(op->other, visit, data);
    }
}

/* 1, 2, 3, … in the order of the text. */
static void number_op(LoOp *op, void *data) { op->origin = ++*(int *)data; }

static LoModule *read_module(Arena *arena, const char *path, const char *text, size_t length)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    LoModule *module = lo_parse(arena, &diags, diag_source(arena, path, text, length));
    if (!module)
        fail_msg("%s cannot be read", path);
    for (size_t i = 0; i < module->functions.count; i++)
        each_op(module->functions.data[i]->body, number_op, &(int){0});
    return module;
}

/* ---- an example ---- */

static const char example[] = "kernel @k(ptr %0, ptr %1, i64 %2) {\n"
                              "  for i64 %3 = i64 0 to %2 step 1 vector 4 {\n"
                              "    ptr %4 = at f32 %0, %3\n"
                              "    f32 %5 = load fixed %4 align 4\n"
                              "    f32 %6 = div %5, f32 3\n"
                              "    f32 %7 = math \"exp\" %6\n"
                              "    ptr %8 = at f32 %1, %3\n"
                              "    store %7, %8 align 4\n"
                              "  }\n"
                              "}\n";
enum { THE_LOOP = 1, THE_FIRST, THE_LOAD, THE_DIV, THE_EXP, THE_SECOND, THE_STORE };

static void check_op(LoOp *op, void *data)
{
    int *seen = data;
    switch (op->kind) {
    case LO_for:
    case LO_if: assert_int_equal(op->origin, THE_LOOP); break;
    case LO_load: assert_int_equal(op->origin, THE_LOAD); break;
    case LO_div: assert_int_equal(op->origin, THE_DIV); break;
    case LO_store:
        assert_int_equal(op->origin, THE_STORE);
        assert_int_equal(op->args[1]->origin, THE_SECOND);
        break;
    default:
        if (lo_element(op->type) == lo_f32)
            assert_int_equal(op->origin, THE_EXP);
        assert_in_range(op->origin, THE_LOOP, THE_STORE);
    }
    seen[op->origin]++;
}

static void test_example(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    LoModule *module = read_module(arena, "example", example, sizeof example - 1);
    int seen[THE_STORE + 1] = {0};
    lo_run_passes(module, &target);
    each_op(module->functions.data[0]->body, check_op, seen);
    for (int origin = THE_LOOP; origin <= THE_STORE; origin++)
        assert_true(seen[origin] > 0);
    assert_true(seen[THE_EXP] > 20);
    arena_free(arena);
}

/* ---- every pass ---- */

static void check_known(LoOp *op, void *data)
{
    if (!op->origin)
        fail_msg("%s: %s has no origin", (const char *)data, lo_info[op->kind].name);
}

static int is_loop(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".loop");
}

static void check_file(const char *path)
{
    for (int pass = 0; pass < lo_n_passes; pass++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        const Source *source = file_read(&diags, arena, path, 1 << 20);
        assert_non_null(source);
        LoModule *module = read_module(arena, path, source->text, source->length);
        lo_run_pass(module, &target, "strip"); /* seams, which others do not find */
        lo_run_pass(module, &target, lo_pass_names[pass]);
        for (size_t i = 0; i < module->functions.count; i++)
            each_op(module->functions.data[i]->body, check_known,
                    arena_printf(arena, "%s: after %s", path, lo_pass_names[pass]));
        arena_free(arena);
    }
}

static void test_passes(void **state)
{
    (void)state;
    static const char folder[] = "tests/golden/loop/passes";
    struct dirent **entries;
    Arena *arena = arena_new();
    int n = scandir(folder, &entries, is_loop, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        check_file(arena_printf(arena, "%s/%s", folder, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_example),
                                       cmocka_unit_test(test_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
