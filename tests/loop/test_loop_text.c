/* The text form of loop IR and its verifier. Files under tests/golden/loop/valid are what the
 * printer prints for them, and hold every op of ops.def; beside each file under errors lie the
 * messages it gives. TFC_UPDATE=1 rewrites those. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "codegen/loop/build.h"
#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char valid_folder[] = "tests/golden/loop/valid";
static const char error_folder[] = "tests/golden/loop/errors";

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
} Fixture;

static Fixture fixture_new(void)
{
    Fixture f = {.arena = arena_new()};
    diag_init(&f.diags, f.arena);
    return f;
}

static int is_loop(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".loop");
}

/* Calls `check` for each .loop of the folder, in order of name. */
static void for_each_file(const char *folder, void (*check)(const char *path))
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_loop, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        check(path);
        free(entries[i]);
    }
    free(entries);
}

static LoModule *accept(Fixture *f, const Source *source)
{
    LoModule *module = source ? lo_parse(f->arena, &f->diags, source) : NULL;
    if (module && lo_verify(module, &f->diags))
        return module;
    Text text = {0};
    diag_render(&f->diags, &text);
    print_error("%s", text.data ? text.data : "no message\n");
    text_free(&text);
    fail();
    return NULL;
}

static LoModule *read_module(Fixture *f, const char *path)
{
    return accept(f, file_read(&f->diags, f->arena, path, 1 << 20));
}

static LoModule *read_text(Fixture *f, const char *text)
{
    return accept(f, diag_source(f->arena, "test.loop", text, strlen(text)));
}

static void check_round_trip(const char *path)
{
    Fixture f = fixture_new();
    LoModule *module = read_module(&f, path);
    Text text = {0};
    lo_print_module(module, &text);
    assert_string_equal(text.data, module->source->text);
    text_free(&text);
    arena_free(f.arena);
}

static void test_round_trip(void **state)
{
    (void)state;
    for_each_file(valid_folder, check_round_trip);
}

static bool met[LO_KINDS];

static void mark_block(const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        met[op->kind] = true;
        if (op->body)
            mark_block(op->body);
        if (op->other)
            mark_block(op->other);
    }
}

static void mark_ops(const char *path)
{
    Fixture f = fixture_new();
    LoModule *module = read_module(&f, path);
    for (size_t i = 0; i < module->functions.count; i++)
        mark_block(module->functions.data[i]->body);
    arena_free(f.arena);
}

static void test_corpus_holds_every_op(void **state)
{
    (void)state;
    for_each_file(valid_folder, mark_ops);
    for (int i = 0; i < LO_KINDS; i++)
        if (lo_info[i].name && i != LO_seam && !met[i])
            fail_msg("no file of %s holds the op %s", valid_folder, lo_info[i].name);
}

static void check_errors(const char *path)
{
    Fixture f = fixture_new();
    const Source *source = file_read(&f.diags, f.arena, path, 1 << 20);
    assert_non_null(source);
    LoModule *module = lo_parse(f.arena, &f.diags, source);
    assert_false(module && lo_verify(module, &f.diags));
    assert_true(f.diags.errors > 0);
    Text text = {0};
    diag_render(&f.diags, &text);
    const char *golden = arena_printf(f.arena, "%.*s.err", (int)strlen(path) - 5, path);
    if (getenv("TFC_UPDATE"))
        assert_true(file_write_all(&f.diags, golden, text.data, text.length));
    const Source *expected = file_read(&f.diags, f.arena, golden, 1 << 20);
    if (!expected)
        fail_msg("%s is missing; TFC_UPDATE=1 writes it", golden);
    assert_string_equal(text.data, expected->text);
    text_free(&text);
    arena_free(f.arena);
}

static void test_errors(void **state)
{
    (void)state;
    for_each_file(error_folder, check_errors);
}

/* docs/loop-ir.md names every op. */
static void test_reference_names_every_op(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    const Source *source = file_read(&f.diags, f.arena, "docs/loop-ir.md", 1 << 20);
    assert_non_null(source);
    for (int i = 0; i < LO_KINDS; i++)
        if (lo_info[i].name &&
            !strstr(source->text, arena_printf(f.arena, "`%s`", lo_info[i].name)))
            fail_msg("docs/loop-ir.md does not describe %s", lo_info[i].name);
    arena_free(f.arena);
}

/* Its example is what the printer prints. */
static void test_reference_shows_a_kernel(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    const Source *page = file_read(&f.diags, f.arena, "docs/loop-ir.md", 1 << 20);
    assert_non_null(page);
    const char *start = strstr(page->text, "```\nkernel"),
               *end = start ? strstr(start, "\n```\n") : NULL;
    assert_non_null(end);
    const char *shown = arena_strndup(f.arena, start + 4, (size_t)(end - start) - 3);
    Text text = {0};
    lo_print_module(read_text(&f, shown), &text);
    assert_string_equal(text.data, shown);
    text_free(&text);
    arena_free(f.arena);
}

static void test_ids_are_renumbered(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    LoModule *module = read_text(&f, "function@f(i64 %70){i64 %7=add%70,i64 1 # a comment\n"
                                     "for i64 %3=i64 0 to%7 step 2{} }");
    Text text = {0};
    lo_print_module(module, &text);
    assert_string_equal(text.data, "function @f(i64 %0) {\n  i64 %1 = add %0, i64 1\n"
                                   "  for i64 %2 = i64 0 to %1 step 2 {\n  }\n}\n");
    text_free(&text);
    arena_free(f.arena);
}

/* Nothing is folded as it is read, and equal constants are one value. */
static void test_reads_what_is_written(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    LoModule *module = read_text(&f, "function @f() {\n  i64 %0 = add i64 1, i64 1\n}\n");
    const LoOp *op = module->functions.data[0]->body->first;
    assert_int_equal(op->kind, LO_add);
    assert_ptr_equal(op->args[0], op->args[1]);
    arena_free(f.arena);
}

/* Constants of many bits: each prints as what reads back as the same bits. */
static void test_constants(void **state)
{
    (void)state;
    uint64_t bits = 1;
    for (int i = 0; i < 4000; i++) {
        Fixture f = fixture_new();
        LoModule *module = lo_module_new(f.arena);
        Lo lo;
        double wide;
        float narrow;
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t half = (uint32_t)(bits >> 32);
        memcpy(&wide, &bits, sizeof wide);
        memcpy(&narrow, &half, sizeof narrow);
        lo_begin(&lo, module, lo_add_function(module, "f", true, 1, (LoType[]){lo_ptr}));
        LoValue x = lo_real(&lo, lo_f64, wide), y = lo_real(&lo, lo_f32, narrow);
        lo_store(&lo, x, lo_param(&lo, 0), 0);
        lo_store(&lo, y, lo_param(&lo, 0), 0);
        Text text = {0};
        lo_print_module(module, &text);
        const LoOp *first = read_text(&f, text.data)->functions.data[0]->body->first;
        assert_memory_equal(&first->args[0]->real, &x->real, sizeof x->real);
        assert_memory_equal(&first->after->args[0]->real, &y->real, sizeof y->real);
        text_free(&text);
        arena_free(f.arena);
    }
}

static void test_many_errors_stop(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    Text text = {0};
    text_string(&text, "function @f() {\n");
    for (int i = 0; i < 1000; i++)
        text_add(&text, "  store %%%d $\n", i);
    assert_null(lo_parse(f.arena, &f.diags, diag_source(f.arena, "t", text.data, text.length)));
    assert_in_range(f.diags.errors, 20, 24);
    text_free(&text);
    arena_free(f.arena);
}

/* Modules that no text gives: only a builder could make them. */
static void expect_rule(Fixture *f, LoModule *module, const char *part)
{
    assert_false(lo_verify(module, &f->diags));
    if (!strstr(f->diags.list.data[0].message, part))
        fail_msg("\"%s\" does not say \"%s\"", f->diags.list.data[0].message, part);
    arena_free(f->arena);
}

static Lo open_module(Fixture *f)
{
    Lo lo;
    *f = fixture_new();
    LoModule *module = lo_module_new(f->arena);
    lo_begin(&lo, module, lo_add_function(module, "f", true, 1, (LoType[]){lo_ptr}));
    return lo;
}

static void test_verify_built(void **state)
{
    (void)state;
    Fixture f;
    Lo lo = open_module(&f);
    lo_store(&lo, NULL, lo_param(&lo, 0), 0);
    expect_rule(&f, lo.module, "operand 0 is missing");

    lo = open_module(&f);
    Fixture other_fixture;
    Lo other = open_module(&other_fixture);
    lo_call(&lo, other.function, 1, (LoValue[]){lo_param(&lo, 0)});
    expect_rule(&f, lo.module, "the module has no such function");
    arena_free(other_fixture.arena);

    lo = open_module(&f);
    lo_add_record(lo.module, "r", 0, 1)->functions[0] =
        lo_add_function(lo_module_new(f.arena), "g", false, 0, NULL);
    expect_rule(&f, lo.module, "names a function that the module does not have");

    lo = open_module(&f);
    LoValue x = lo_real(&lo, lo_f32, 1);
    lo_store(&lo, x, lo_param(&lo, 0), 0);
    x->real = 0.1;
    expect_rule(&f, lo.module, "a constant is no f32");

    lo = open_module(&f);
    lo_if_open(&lo, lo_int(&lo, lo_i1, 1)).op->body = NULL;
    expect_rule(&f, lo.module, "it has a block");

    lo = open_module(&f);
    LoIf branch = lo_if_open(&lo, lo_int(&lo, lo_i1, 1));
    branch.op->body->parent = NULL;
    expect_rule(&f, lo.module, "its block does not know it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_corpus_holds_every_op),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_reference_names_every_op),
        cmocka_unit_test(test_reference_shows_a_kernel),
        cmocka_unit_test(test_ids_are_renumbered),
        cmocka_unit_test(test_reads_what_is_written),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_many_errors_stop),
        cmocka_unit_test(test_verify_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
