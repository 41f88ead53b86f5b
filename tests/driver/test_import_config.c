/* A config.json as transformers 5 writes it (tests/fixtures/published/transformers-5, whose keys
 * are those of its save_pretrained) means the model that the older one beside it means. */
#define _GNU_SOURCE
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_ranges.h"
#include "driver/exchange/npz_marian.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    char folder[32], config[48], words[48];
    Job job;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/config-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->config, sizeof f->config, "%s/config.json", f->folder);
    snprintf(f->words, sizeof f->words, "%s/words.txt", f->folder);
    f->job.arena = arena_new();
    diag_init(&f->job.diags, f->job.arena);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    unlink(f->config);
    unlink(f->words);
    rmdir(f->folder);
    arena_free(f->job.arena);
    free(f);
    return 0;
}

/* The lines of model.tfg, and the rules of the vocabulary; without what newer files say of all
 * models. */
static const char *lines_of(Fixture *f, const Vocabulary *vocab, const char *path)
{
    Job *job = &f->job;
    const Source *json = file_read(&job->diags, job->arena, path, 1 << 20);
    assert_non_null(json);
    assert_true(file_write_all(&job->diags, f->config, json->text, json->length));
    ImportConfig config;
    Text text = {0};
    TextList tokens = {0};
    const bool ok = import_config_read(job, f->folder, NULL, &config) &&
                    import_config_model(job, f->folder, &config, vocab, &text) &&
                    import_config_tokens(job, &config, vocab, &tokens);
    if (!ok)
        fail_msg("%s: %s", path, job->diags.list.data[0].message);
    for (size_t i = 0; i < tokens.count; i++)
        text_add(&text, "%s\n", tokens.data[i]);
    static const char always[] = "const rope_type = \"default\"\n";
    char *lines = arena_strdup(job->arena, text.data), *said = strstr(lines, always);
    if (said)
        memmove(said, said + strlen(always), strlen(said + strlen(always)) + 1);
    text_free(&text);
    return lines;
}

static void test_newer_files(void **state)
{
    static const char *const models[] = {"gemma2",  "gemma3", "modernbert", "phi3",
                                         "llama31", "yarn",   "t5",         "marian"};
    Fixture *f = *state;
    Job *job = &f->job;
    Text words = {0};
    for (int i = 0; i < 40; i++)
        text_add(&words, i == 7 ? "[MASK]\n" : "t%d\n", i);
    assert_true(file_write_all(&job->diags, f->words, words.data, words.length));
    text_free(&words);
    const Vocabulary *vocab = vocab_load(&job->diags, job->arena, f->words);
    assert_non_null(vocab);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        static const char fixtures[] = "tests/fixtures/published";
        const char *older = arena_printf(job->arena, "%s/%s.json", fixtures, models[i]);
        const char *newer =
            arena_printf(job->arena, "%s/transformers-5/%s.json", fixtures, models[i]);
        assert_string_equal(lines_of(f, vocab, newer), lines_of(f, vocab, older));
    }
}

/* Every const that a config.json sets has a range. */
static void test_ranges(void **state)
{
    (void)state;
    int n = 0;
    for (int i = 0; import_model_at(i); i++)
        for (const ImportRow *row = import_model_at(i)->rows; row->key; row++)
            if (row->kind == IMPORT_CONST) {
                n++;
                if (!import_range_is_known(row->to))
                    fail_msg("%s: the const %s has no range", import_model_at(i)->type, row->to);
            }
    assert_true(n > 300);
}

/* Marian's own settings, whose consts become keys and have no ranges. */
static void test_marian_settings(void **state)
{
    static const char text[] =
        "{\"type\": \"transformer\", \"dim-emb\": 16, \"enc-depth\": 1, \"dec-depth\": 1, "
        "\"transformer-dim-ffn\": 24, \"transformer-heads\": 2, \"tied-embeddings-all\": true, "
        "\"transformer-postprocess\": \"dan\"}";
    Fixture *f = *state;
    Job *job = &f->job;
    const char *problem = NULL;
    const ImportConfig config = {.source = diag_source(job->arena, "m.npz", text, strlen(text)),
                                 .json = json_read(job->arena, text, strlen(text), &problem),
                                 .model = &marian_settings};
    assert_non_null(config.json);
    if (!import_config_check(job, &config))
        fail_msg("%s", job->diags.list.data[0].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test_setup_teardown(test_newer_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_marian_settings, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
