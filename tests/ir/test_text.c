/* The IR's text form. Files under tests/golden/ir/valid are what the printer
 * prints for them, and hold every op of ops.def; beside each file under errors
 * lie the messages it gives. TFC_UPDATE=1 rewrites those. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "ir/builder.h"
#include "ir/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char valid_folder[] = "tests/golden/ir/valid";
static const char error_folder[] = "tests/golden/ir/errors";

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

static int is_tir(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".tir");
}

/* Calls `check` for each .tir of the folder, in order of name. */
static void for_each_file(const char *folder, void (*check)(const char *path))
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_tir, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        check(path);
        free(entries[i]);
    }
    free(entries);
}

static void fail_with(const Diagnostics *diags, const char *path)
{
    Text text = {0};
    diag_render(diags, &text);
    print_error("%s", text.data ? text.data : "no message\n");
    text_free(&text);
    fail_msg("%s is not accepted", path);
}

static Module *read_module(Fixture *f, const char *path)
{
    const Source *source = file_read(&f->diags, f->arena, path, 1 << 20);
    Module *module = source ? ir_parse(f->arena, &f->diags, source) : NULL;
    if (!module || !ir_verify(module, &f->diags))
        fail_with(&f->diags, path);
    return module;
}

static void check_round_trip(const char *path)
{
    Fixture f = fixture_new();
    Module *module = read_module(&f, path);
    Text text = {0};
    ir_print_module(module, &text);
    const Source *source = file_read(&f.diags, f.arena, path, 1 << 20);
    assert_string_equal(text.data, source->text);
    text_free(&text);
    arena_free(f.arena);
}

static void test_round_trip(void **state)
{
    (void)state;
    for_each_file(valid_folder, check_round_trip);
}

static bool met[OP_COUNT];

static void mark_block(const Block *block)
{
    for (const Op *op = block->first; op; op = op->next) {
        met[op->kind] = true;
        if (op->body)
            mark_block(op->body);
    }
}

static void mark_ops(const char *path)
{
    Fixture f = fixture_new();
    Module *module = read_module(&f, path);
    for (size_t i = 0; i < module->functions.count; i++)
        mark_block(&module->functions.data[i]->body);
    arena_free(f.arena);
}

static void test_corpus_holds_every_op(void **state)
{
    (void)state;
    for_each_file(valid_folder, mark_ops);
    for (int i = 0; i < OP_COUNT; i++)
        if (!met[i])
            fail_msg("no file of %s holds the op %s", valid_folder, op_info[i].name);
}

static void check_errors(const char *path)
{
    Fixture f = fixture_new();
    const Source *source = file_read(&f.diags, f.arena, path, 1 << 20);
    assert_non_null(source);
    Module *module = ir_parse(f.arena, &f.diags, source);
    bool fits = module && ir_verify(module, &f.diags);
    assert_false(fits);
    assert_true(f.diags.errors > 0);
    Text text = {0};
    diag_render(&f.diags, &text);
    const char *golden = arena_printf(f.arena, "%.*s.err", (int)strlen(path) - 4, path);
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

/* docs/ir.md names every op. */
static void test_reference_names_every_op(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    const Source *source = file_read(&f.diags, f.arena, "docs/ir.md", 1 << 20);
    assert_non_null(source);
    for (int i = 0; i < OP_COUNT; i++)
        if (!strstr(source->text, arena_printf(f.arena, "`%s`", op_info[i].name)))
            fail_msg("docs/ir.md does not describe %s", op_info[i].name);
    arena_free(f.arena);
}

static Module *parse_text(Fixture *f, const char *text)
{
    return ir_parse(f->arena, &f->diags, diag_source(f->arena, "test.tir", text, strlen(text)));
}

static void test_ids_are_renumbered(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    Module *module = parse_text(&f, "module \"m\"  # a comment\n"
                                    "func f { %70 = const {value=1}:f32[] %7=neg %70:f32[]\n"
                                    "output %7 {name=\"y\"} }");
    assert_non_null(module);
    assert_true(ir_verify(module, &f.diags));
    Text text = {0};
    ir_print_module(module, &text);
    assert_string_equal(text.data, "module \"m\"\n\nfunc f {\n"
                                   "  %0 = const {value = 1} : f32[]\n"
                                   "  %1 = neg %0 : f32[]\n"
                                   "  output %1 {name = \"y\"}\n}\n");
    text_free(&text);
    arena_free(f.arena);
}

static void test_many_errors_stop(void **state)
{
    (void)state;
    Fixture f = fixture_new();
    Text text = {0};
    text_add(&text, "module \"m\"\nfunc f {\n");
    for (int i = 0; i < 1000; i++)
        text_add(&text, "  neg %%%d $\n", i);
    assert_null(parse_text(&f, text.data));
    assert_in_range(f.diags.errors, 20, 24);
    text_free(&text);
    arena_free(f.arena);
}

/* Graphs that no text gives: only a pass could make them. */
static void expect_error(Fixture *f, Module *module, const char *part)
{
    assert_false(ir_verify(module, &f->diags));
    assert_true(f->diags.list.count > 0);
    if (!strstr(f->diags.list.data[0].message, part))
        fail_msg("\"%s\" does not say \"%s\"", f->diags.list.data[0].message, part);
    arena_free(f->arena);
}

static void test_verify_built_graphs(void **state)
{
    (void)state;
    Type type = {.dtype = DT_F32, .rank = 1, .dims = {{4, NO_SYMBOL}}};

    Fixture f = fixture_new();
    Module *module = module_new(f.arena, &f.diags, "m");
    Builder b = builder_at_end(module_add_function(module, "f"));
    Value *x = build_input(&b, "x", type), *y = build_unary(&b, OP_neg, x);
    block_remove(&b.function->body, x->op);
    block_append(&b.function->body, x->op);
    expect_error(&f, module, "not defined before this use");

    f = fixture_new();
    module = module_new(f.arena, &f.diags, "m");
    b = builder_at_end(module_add_function(module, "f"));
    x = build_input(&b, "x", type);
    y = build_unary(&b, OP_neg, x);
    y->type.dims[0].size = 5;
    expect_error(&f, module, "gives f32[4], but f32[5] is stated");

    f = fixture_new();
    module = module_new(f.arena, &f.diags, "m");
    b = builder_at_end(module_add_function(module, "f"));
    x = build_input(&b, "x", type);
    y = build_unary(&b, OP_neg, x);
    y->op->args[0] = NULL;
    expect_error(&f, module, "operand 0 is missing");

    f = fixture_new();
    module = module_new(f.arena, &f.diags, "m");
    b = builder_at_end(module_add_function(module, "f"));
    type.dims[0] = dim_symbol(3);
    build_input(&b, "x", type);
    expect_error(&f, module, "a dimension that the module does not declare");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_corpus_holds_every_op),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_reference_names_every_op),
        cmocka_unit_test(test_ids_are_renumbered),
        cmocka_unit_test(test_many_errors_stop),
        cmocka_unit_test(test_verify_built_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
