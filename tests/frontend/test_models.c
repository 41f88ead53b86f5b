/* Every model in models/ loads, and its params have the names they promise. */
#include "frontend/frontend.h"
#include "ir/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static Model *load(Arena *arena, const char *path, const FrontendOptions *options)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    Model *model = model_load(arena, &diags, path, options);
    if (diags.list.count) {
        Text text = {0};
        diag_render(&diags, &text);
        fputs(text.data, stderr);
        text_free(&text);
    }
    return model;
}

static void load_all(void **state)
{
    (void)state;
    DIR *folder = opendir("models");
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".tfg"))
            continue;
        for (int type = DT_F32; type <= DT_F64; type++) {
            Arena *arena = arena_new();
            FrontendOptions options = {.float_type = (DType)type};
            Model *model = load(arena, arena_printf(arena, "models/%s", entry->d_name), &options);
            if (!model)
                print_message("%s does not load\n", entry->d_name);
            assert_non_null(model);
            assert_true(model->has_loss && model->has_train);
            assert_true(ir_verify(model->module, model->module->diags));
            n++;
            arena_free(arena);
        }
    }
    closedir(folder);
    assert_true(n >= 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(load_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
