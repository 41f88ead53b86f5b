/* Every model shown in the pages of docs that `examples` lists (fenced as tfg) loads. */
#include "base/file.h"
#include "frontend/frontend.h"
#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void load_example(Arena *arena, const char *path, const char *text, size_t length)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    FrontendOptions options = {.library = "models/lib"};
    const Source *source = diag_source(arena, path, text, length);
    Model *model = model_parse(arena, &diags, source, &options);
    if (diags.list.count) {
        Text shown = {0};
        diag_render(&diags, &shown);
        print_message("%s", shown.data);
        text_free(&shown);
    }
    assert_non_null(model);
    assert_int_equal(diags.list.count, 0);
    assert_true(ir_verify(model->module, &diags));
}

/* The page has at least this many. */
static void load_examples(const char *path, int least)
{
    static const char fence[] = "```tfg\n";
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *page = file_read(&diags, arena, path, 1 << 20);
    int n = 0;
    assert_non_null(page);
    for (const char *at = page->text; (at = strstr(at, fence)); n++) {
        at += strlen(fence);
        const char *end = strstr(at, "```");
        assert_non_null(end);
        load_example(arena, path, at, (size_t)(end - at));
        at = end + 3;
    }
    assert_true(n >= least);
    arena_free(arena);
}

static void examples(void **state)
{
    (void)state;
    load_examples("docs/language.md", 9);
    load_examples("docs/papers.md", 9);
    load_examples("docs/data-columns.md", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
