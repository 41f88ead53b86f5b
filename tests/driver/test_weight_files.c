/* Where a checkpoint's params are: under own names or published ones, and in which shard. */
#define _GNU_SOURCE
#include "driver/formats/shards.h"

#include "base/file.h"
#include "tests/driver/weights_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

/* ---- own names or published ones ---- */

/* `part` is square and has the published name of its transpose, `shared` that of another param. */
static const char TWICE[] = "weights {\n"
                            "  part   = transpose(\"part\")\n"
                            "  shared = \"again\"\n"
                            "  again  = \"third\"\n"
                            "}\n";
static const char PART[] = "weights {\n  part = transpose(\"part\")\n}\n";

/* The params under their own names, or under those of TWICE. */
static const char *write_named(Fixture *f, bool own, const char *mark, const char *file)
{
    const StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                                numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                                numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                                numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                                numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                                numbers(f, "scaled", 600, 1, (int64_t[]){4}),
                                numbers(f, own ? "shared" : "again", 700, 1, (int64_t[]){4}),
                                numbers(f, own ? "again" : "third", 800, 1, (int64_t[]){4}),
                                numbers(f, "plain", 900, 1, (int64_t[]){4})};
    const StMeta meta = {ST_FORMAT, mark};
    const char *path = in_folder(f, file);
    assert_true(st_write(&f->job.diags, path, tensors, sizeof tensors / sizeof *tensors, &meta,
                         mark != NULL));
    return path;
}

static void check_named(Fixture *f, const char *path, bool transposed)
{
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(element(f, "part", 1 * 4 + 2) == 300 + (transposed ? 2 * 4 + 1 : 1 * 4 + 2));
    assert_true(element(f, "shared", 1) == 701 && element(f, "again", 1) == 801);
    WeightsFile file; /* one by one, as deferred params are read */
    assert_true(weights_open(&f->job, f->session.model, path, &file));
    for (int64_t i = 0; i < store_count(f->store); i++) {
        StoreTensor *param = store_at(f->store, i);
        const size_t bytes = sizeof(float) * (size_t)param->count;
        void *loaded = arena_array(f->job.arena, (size_t)param->count, sizeof(float));
        memcpy(loaded, param->data, bytes);
        memset(param->data, 0, bytes);
        assert_true(weights_read(&file, param));
        assert_memory_equal(param->data, loaded, bytes);
    }
    weights_close(&file);
    TextList unused;
    assert_true(weights_unused(&f->job, f->session.model, path, &unused));
    assert_int_equal(unused.count, 0);
}

/* A file's other names tell which of both a tensor is. */
static void own_or_published(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, TWICE));
    check_named(f, write_named(f, true, NULL, "own.safetensors"), false);
    check_named(f, write_named(f, false, NULL, "theirs.safetensors"), true);
    check_named(f, write_named(f, true, ST_FORMAT_OWN, "last.safetensors"), false);
}

/* Where names do not tell, the mark of what tfc writes does. */
static void own_by_mark(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, PART));
    check_named(f, write_named(f, true, NULL, "theirs.safetensors"), true);
    check_named(f, write_named(f, true, "pt", "theirs.safetensors"), true);
    check_named(f, write_named(f, true, ST_FORMAT_OWN, "last.safetensors"), false);
}

/* A run's checkpoint of other shapes is what a weights block may be made for. */
static void slice_of_marked(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n  scaled = slice(\"scaled\", 0, 1, 4)\n}\n"));
    StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                          numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                          numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                          numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                          numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                          numbers(f, "scaled", 600, 1, (int64_t[]){7}),
                          numbers(f, "shared", 700, 1, (int64_t[]){4}),
                          numbers(f, "again", 800, 1, (int64_t[]){4}),
                          numbers(f, "plain", 900, 1, (int64_t[]){4})};
    const StMeta meta = {ST_FORMAT, ST_FORMAT_OWN};
    const char *path = in_folder(f, "last.safetensors");
    assert_true(st_write(&f->job.diags, path, tensors, 9, &meta, 1));
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(element(f, "scaled", 0) == 601);
}

static void names_of_two_kinds(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n"
                              "  part   = transpose(\"part\")\n"
                              "  shared = \"first\"\n"
                              "  again  = \"second\"\n"
                              "}\n"));
    enum { COMMON = 7 };
    const StTensor tensors[] = {numbers(f, "joined", 100, 2, (int64_t[]){6, 4}),
                                numbers(f, "turned", 200, 2, (int64_t[]){4, 3}),
                                numbers(f, "part", 300, 2, (int64_t[]){4, 4}),
                                numbers(f, "other", 400, 2, (int64_t[]){4, 4}),
                                numbers(f, "cube", 500, 3, (int64_t[]){2, 3, 4}),
                                numbers(f, "scaled", 600, 1, (int64_t[]){4}),
                                numbers(f, "plain", 900, 1, (int64_t[]){4}),
                                numbers(f, "first", 700, 1, (int64_t[]){4}),
                                numbers(f, "again", 800, 1, (int64_t[]){4})};
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, COMMON + 2), NULL));
    assert_non_null(strstr(told(f),
                           "names of two kinds: 'again' is the model's own name of a param, "
                           "which its weights block calls 'second'; 'first' is what the "
                           "weights block calls 'shared'"));
    /* Two files, each of its own kind. */
    const char *head = in_folder(f, "head.safetensors");
    assert_true(st_write(&f->job.diags, head, tensors + COMMON + 1, 1, NULL, 0));
    const char *both =
        arena_printf(f->job.arena, "%s,%s", write_checkpoint(f, tensors, COMMON + 1), head);
    assert_true(weights_load(&f->job, f->session.model, f->store, both, NULL));
    assert_true(element(f, "part", 1 * 4 + 2) == 300 + 2 * 4 + 1);
    assert_true(element(f, "shared", 1) == 701 && element(f, "again", 1) == 801);
    /* A param in both, by either name: that of the last file. */
    StTensor twice[] = {numbers(f, "shared", 30, 1, (int64_t[]){4}), tensors[COMMON + 1]};
    assert_true(st_write(&f->job.diags, head, twice, 2, NULL, 0));
    assert_true(weights_load(&f->job, f->session.model, f->store, both, NULL));
    assert_true(element(f, "shared", 1) == 31 && element(f, "again", 1) == 801);
    const char *turned =
        arena_printf(f->job.arena, "%s,%s", head, in_folder(f, "theirs.safetensors"));
    assert_true(weights_load(&f->job, f->session.model, f->store, turned, NULL));
    assert_true(element(f, "shared", 1) == 701);
}

/* ---- shards ---- */

static void in_shards(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    Diagnostics *diags = &f->job.diags;
    assert_true(st_write(diags, in_folder(f, "a.safetensors"), tensors, 3, NULL, 0));
    assert_true(st_write(diags, in_folder(f, "b.safetensors"), tensors + 3, TENSORS - 3, NULL, 0));
    const char index[] =
        "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {\"u\": \"a.safetensors\", "
        "\"merged\": \"b.safetensors\"}}";
    const char *path = in_folder(f, "model.safetensors.index.json");
    assert_true(file_write_all(diags, path, index, strlen(index)));
    assert_true(open_model(f, weights_map));
    assert_true(weights_load(&f->job, f->session.model, f->store, path, NULL));
    assert_true(weights_load(&f->job, f->session.model, f->store, f->folder, NULL));
    assert_true(element(f, "other", 1 * 4 + 2) == 400 + (4 + 2) * 4 + 1);
}

static void bad_index(void **state)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"{", "at byte"},
        {"[]", "no \"weight_map\""},
        {"{\"weight_map\": {\"u\": \"../a.safetensors\"}}",
         "the file of \"u\" is ../a.safetensors, which does not lie beside the index"},
        {"{\"weight_map\": {\"u\": 7}}", "no file is named for \"u\""},
        {"{\"weight_map\": {\"u\": \"a.safetensors\", \"nix\": \"a.safetensors\"}}",
         "'nix' is not in"},
        {"{\"weight_map\": {\"u\": \"absent.safetensors\"}}", "absent.safetensors"},
        {"{\"weight_map\": {\"u\": \"a.safetensors\", \"w\": \"b.safetensors\"}}",
         "is in another file"},
        {"{\"weight_map\": {\"u\": \"c.safetensors\", \"v\": \"a.safetensors\"}}",
         "the tensor 'u' is not in c.safetensors, as it says"},
    };
    Fixture *f = *state;
    StTensor u = numbers(f, "u", 0, 1, (int64_t[]){4});
    assert_true(st_write(&f->job.diags, in_folder(f, "a.safetensors"), &u, 1, NULL, 0));
    assert_true(st_write(&f->job.diags, in_folder(f, "b.safetensors"), &u, 1, NULL, 0));
    StTensor v = numbers(f, "v", 0, 1, (int64_t[]){4});
    assert_true(st_write(&f->job.diags, in_folder(f, "c.safetensors"), &v, 1, NULL, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = in_folder(f, "index.json");
        assert_true(file_write_all(&f->job.diags, path, cases[i].text, strlen(cases[i].text)));
        assert_null(shards_open(&f->job.diags, f->job.arena, path));
        const char *text = told(f);
        if (!strstr(text, cases[i].told))
            fail_msg("case %zu: %s", i, text);
        diag_init(&f->job.diags, f->job.arena);
    }
    assert_null(shards_open(&f->job.diags, f->job.arena, f->folder));
    assert_non_null(strstr(told(f), "the folder has no weights: none of model.safetensors, "));
}

/* The files of an index lie in its folder, unless they may lie elsewhere. */
static void index_outside(void **state)
{
    Fixture *f = *state;
    Arena *arena = f->job.arena;
    Diagnostics *diags = &f->job.diags;
    StTensor u = numbers(f, "u", 0, 1, (int64_t[]){4});
    const char *folder = in_folder(f, "model"), *path = file_in(arena, folder, "index.json"),
               *away = in_folder(f, "away.safetensors");
    const char *const names[] = {"../away.safetensors", away, "link.safetensors"};
    assert_true(file_make_folder(diags, folder) && st_write(diags, away, &u, 1, NULL, 0));
    assert_int_equal(symlink("../away.safetensors", file_in(arena, folder, names[2])), 0);
    for (int i = 0; i < 3; i++) {
        const char *text = arena_printf(arena, "{\"weight_map\": {\"u\": \"%s\"}}", names[i]);
        assert_true(file_write_all(diags, path, text, strlen(text)));
        assert_null(shards_open(diags, arena, path));
        assert_non_null(strstr(told(f), "away.safetensors"));
        assert_non_null(strstr(told(f), "--allow-outside"));
        diag_init(diags, arena);
        Shards *shards = shards_open_within(diags, arena, (FileReach){.outside = true}, path);
        assert_non_null(shards);
        assert_non_null(shards_find(shards, "u"));
        shards_close(shards);
    }
    /* Weights that the user names may be a link. */
    shards_close(shards_open(diags, arena, file_in(arena, folder, names[2])));
    assert_int_equal(diags->errors, 0);
    /* Those that a folder names may not. */
    assert_null(shards_open_within(diags, arena, (FileReach){.folder = folder},
                                   file_in(arena, folder, names[2])));
    assert_int_equal(diags->errors, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_weights_case, close_weights_case)
    const struct CMUnitTest tests[] = {
        CASE(in_shards),   CASE(bad_index),       CASE(index_outside),     CASE(own_or_published),
        CASE(own_by_mark), CASE(slice_of_marked), CASE(names_of_two_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
