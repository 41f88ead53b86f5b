/* Messages, tokens, trees and graphs against golden files: tests/golden/frontend/NAME.tfg
 * with NAME.err, NAME.tokens, NAME.ast or NAME.tir beside it. TFC_UPDATE=1 rewrites them. */
#include "base/file.h"
#include "frontend/frontend.h"
#include "ir/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define FOLDER "tests/golden/frontend"

static void compare(Arena *arena, const char *name, const char *ending, const Text *text)
{
    const char *path = arena_printf(arena, FOLDER "/%s.%s", name, ending);
    const char *shown = text->data ? text->data : "";
    Diagnostics diags;
    diag_init(&diags, arena);
    if (getenv("TFC_UPDATE")) {
        assert_true(file_write_all(&diags, path, shown, text->length));
        return;
    }
    const Source *golden = file_read(&diags, arena, path, 1 << 20);
    if (!golden || strcmp(golden->text, shown)) {
        print_message("%s differs; now it is:\n%s", path, shown);
        fail();
    }
}

/* Every .tfg of the folder but those that are meant to load. */
static void messages(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".tfg") ||
            !strncmp(entry->d_name, "good_", 5))
            continue;
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        Text text = {0};
        const char *path = arena_printf(arena, FOLDER "/%s", entry->d_name);
        FrontendOptions options = {.library = "models/lib"};
        assert_null(model_load(arena, &diags, path, &options));
        assert_true(diags.errors > 0);
        diag_render(&diags, &text);
        compare(arena, arena_strndup(arena, entry->d_name, length - 4), "err", &text);
        text_free(&text);
        arena_free(arena);
        n++;
    }
    closedir(folder);
    assert_true(n >= 10);
}

static void settings(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Setting given[] = {{"d_modle", "64"}, {"layers", "2 +"}, {"heads", "3"}};
    FrontendOptions options = {.settings = given, .n_settings = 3, .library = "models/lib"};
    assert_null(model_load(arena, &diags, "models/multi30k_tiny.tfg", &options));
    Text text = {0};
    diag_render(&diags, &text);
    compare(arena, "settings", "err", &text);
    text_free(&text);
    arena_free(arena);
}

static void tokens(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *source = file_read(&diags, arena, FOLDER "/good_syntax.tfg", 1 << 20);
    Text text = {0};
    assert_non_null(source);
    assert_true(frontend_dump_tokens(source, &text, &diags));
    compare(arena, "good_syntax", "tokens", &text);
    text_free(&text);
    arena_free(arena);
}

static void compare_tree(const char *name)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const char *path = arena_printf(arena, FOLDER "/%s.tfg", name);
    const Source *source = file_read(&diags, arena, path, 1 << 20);
    Text text = {0}, again = {0};
    assert_non_null(source);
    assert_true(frontend_dump_ast(arena, source, NULL, &text, &diags));
    compare(arena, name, "ast", &text);
    source = diag_source(arena, path, text.data, text.length);
    assert_true(frontend_dump_ast(arena, source, NULL, &again, &diags));
    assert_string_equal(text.data, again.data); /* canonical: printing it again changes nothing */
    text_free(&text);
    text_free(&again);
    arena_free(arena);
}

static void tree(void **state)
{
    (void)state;
    compare_tree("good_syntax");
    compare_tree("good_columns");
    compare_tree("good_made_dims");
}

/* The graph's text, which verifies, and is the same when it is parsed and printed again. */
static void compare_graph(const char *name)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    FrontendOptions options = {.library = "models/lib"};
    Text text = {0}, again = {0};
    const char *path = arena_printf(arena, FOLDER "/%s.tfg", name);
    Model *model = model_load(arena, &diags, path, &options);
    assert_non_null(model);
    assert_true(ir_verify(model->module, &diags));
    ir_print_module(model->module, &text);
    compare(arena, name, "tir", &text);
    Module *read = ir_parse(arena, &diags, diag_source(arena, "again.tir", text.data, text.length));
    assert_non_null(read);
    ir_print_module(read, &again);
    assert_string_equal(text.data, again.data);
    text_free(&text);
    text_free(&again);
    arena_free(arena);
}

static void graph(void **state)
{
    (void)state;
    compare_graph("good_graph");
    compare_graph("good_losses");
    compare_graph("good_columns");
    compare_graph("good_columns_replaced");
    compare_graph("good_one_head");
    compare_graph("good_made_dims");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(settings),
                                       cmocka_unit_test(tokens), cmocka_unit_test(tree),
                                       cmocka_unit_test(graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
