/* The cache of compiled programs: hits, keys, damage, files and folders that are not
 * this user's alone, folders that cannot be written, several processes, the bound. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/cache_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Compiles or recalls, as a session does. */
static JitStats use_with(Case *c, const char *folder, const TargetOptions *options,
                         const char *pipeline, const Function *function)
{
    Jit *jit = jit_new(options, &c->diags);
    assert_non_null(jit);
    jit_use_cache(jit, folder);
    ProgramKey key = jit_key(jit, function, pipeline);
    const TfcProgram *program = jit_recall(jit, &key);
    if (!program)
        program = jit_compile(jit, function, &key, &c->diags);
    assert_non_null(program);
    assert_string_equal(program->name, "f");
    assert_int_equal(program->n_kernels, 1);
    assert_non_null(program->kernels[0]);
    JitStats stats = jit_stats(jit);
    assert_int_equal(stats.programs_compiled + stats.programs_cached, 1);
    if (stats.cache_note)
        stats.cache_note = arena_strdup(c->arena, stats.cache_note);
    jit_free(jit);
    return stats;
}

static JitStats use(Case *c) { return use_with(c, c->folder, NULL, "all", c->function); }

/* The folder's only file of a program; NULL if there is none. */
static const char *kept(Case *c, int *count)
{
    const char *path = NULL;
    DIR *folder = opendir(c->folder);
    *count = 0;
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (strstr(d->d_name, ".tfcc")) {
            path = arena_printf(c->arena, "%s/%s", c->folder, d->d_name);
            ++*count;
        }
    if (folder)
        closedir(folder);
    return path;
}

static const char *keep_one(Case *c)
{
    int n;
    assert_int_equal(use(c).programs_compiled, 1);
    const char *path = kept(c, &n);
    assert_int_equal(n, 1);
    return path;
}

static void kept_and_found(void **state)
{
    Case *c = *state;
    struct stat info;
    const char *path = keep_one(c);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    JitStats warm = use(c);
    assert_int_equal(warm.programs_cached, 1);
    assert_int_equal(warm.kernels_cached, 1);
    assert_int_equal(warm.kernels_compiled, 0);
    assert_null(warm.cache_note);
}

static void folders_are_made(void **state)
{
    Case *c = *state;
    struct stat info;
    const char *deep = arena_printf(c->arena, "%s/a/b", c->folder);
    umask(0);
    assert_int_equal(use_with(c, deep, NULL, "all", c->function).programs_compiled, 1);
    umask(022);
    assert_int_equal(use_with(c, deep, NULL, "all", c->function).programs_cached, 1);
    const char *made[] = {deep, arena_printf(c->arena, "%s/a", c->folder)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stat(made[i], &info), 0);
        assert_int_equal(info.st_mode & 0777, 0700);
    }
}

static void keys_hold_what_matters(void **state)
{
    Case *c = *state;
    const char *other = arena_strdup(c->arena, cache_source);
    char *width = strstr((char *)other, "24]");
    for (; width; width = strstr(width, "24]"))
        memcpy(width, "48", 2);
    TargetOptions scalar = {.scalar = true}, slow = {.opt_level = 0},
                  old = {.cpu = "x86-64", .opt_level = 2};
    assert_int_equal(use(c).kernels_compiled, 1);
    assert_int_equal(use_with(c, c->folder, &scalar, "all", c->function).kernels_compiled, 1);
    assert_int_equal(use_with(c, c->folder, &slow, "all", c->function).kernels_compiled, 1);
    assert_int_equal(use_with(c, c->folder, &old, "all", c->function).kernels_compiled, 1);
    /* Other programs of the same kernel: of another pipeline, and, as it goes over elements, of
     * another size. */
    JitStats shared[] = {use_with(c, c->folder, NULL, "none", c->function),
                         use_with(c, c->folder, NULL, "all", parse_function(c, other))};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(shared[i].programs_compiled, 1);
        assert_int_equal(shared[i].kernels_cached, 1);
        assert_int_equal(shared[i].kernels_compiled, 0);
    }
    assert_int_equal(
        use_with(c, c->folder, NULL, "all", parse_function(c, cache_source)).programs_cached, 1);
}

/* Every change of a byte, and every cut, is found out and mended. */
static void damage_is_mended(void **state)
{
    Case *c = *state;
    const char *path = keep_one(c);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    const int64_t places[] = {
        0, 9, 13, 17, 25, 33, 70, 100, 130, 400, info.st_size / 2, info.st_size - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char byte;
        int file = open(path, O_RDWR);
        assert_int_equal(pread(file, &byte, 1, places[i]), 1);
        byte ^= 0x41;
        assert_int_equal(pwrite(file, &byte, 1, places[i]), 1);
        close(file);
        assert_int_equal(use(c).programs_compiled, 1);
        assert_int_equal(use(c).programs_cached, 1);
    }
    const int64_t lengths[] = {0, 7, 60, 200, info.st_size - 16, info.st_size + 64};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_int_equal(truncate(path, lengths[i]), 0);
        assert_int_equal(use(c).programs_compiled, 1);
        assert_int_equal(use(c).programs_cached, 1);
    }
}

/* A whole, valid file behind a symlink is not loaded, nor written through. */
static void symlinks_are_not_followed(void **state)
{
    Case *c = *state;
    struct stat info;
    const char *path = keep_one(c), *aside = arena_printf(c->arena, "%s/aside", c->folder);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0);
    assert_int_equal(use(c).programs_compiled, 1);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode)); /* a file of its own took the link's place */
    assert_int_equal(use(c).programs_cached, 1);
}

static void others_files_are_not_loaded(void **state)
{
    Case *c = *state;
    const char *path = keep_one(c);
    const mode_t modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(use(c).programs_compiled, 1);
        assert_int_equal(use(c).programs_cached, 1); /* written anew */
    }
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(use(c).programs_compiled, 1);
        assert_int_equal(use(c).programs_cached, 1);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* does not hang either */
    assert_int_equal(use(c).programs_compiled, 1);
    assert_int_equal(use(c).programs_cached, 1);
}

static void others_folders_are_not_used(void **state)
{
    Case *c = *state;
    int n;
    const mode_t modes[] = {0770, 0707, 0777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(c->folder, modes[i]), 0);
        JitStats stats = use(c);
        assert_int_equal(stats.programs_compiled, 1);
        assert_non_null(strstr(stats.cache_note, "others than this user"));
        assert_null(kept(c, &n));
    }
    assert_int_equal(chmod(c->folder, 0700), 0);
}

/* A folder that is a file, and one without room or permission, only mean no cache. */
static void unwritable_folders_are_no_error(void **state)
{
    Case *c = *state;
    JitStats stats = use_with(c, "/proc/self", NULL, "all", c->function);
    assert_int_equal(stats.programs_compiled, 1);
    assert_non_null(stats.cache_note);
    const char *file = arena_printf(c->arena, "%s/file", c->folder);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    stats = use_with(c, file, NULL, "all", c->function);
    assert_non_null(strstr(stats.cache_note, "Not a directory"));
    assert_int_equal(c->diags.errors, 0);
    if (geteuid() == 0)
        return; /* may write everywhere */
    assert_int_equal(chmod(c->folder, 0500), 0);
    stats = use(c);
    assert_int_equal(stats.programs_compiled, 1);
    assert_non_null(strstr(stats.cache_note, "Permission denied"));
}

/* Processes that start on an empty folder at once: each gets its program. */
static void processes_share_a_folder(void **state)
{
    Case *c = *state;
    enum { PROCESSES = 4 };
    int n;
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            execl("/proc/self/exe", "test_cache", c->folder, (char *)NULL);
            _exit(127);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    kept(c, &n);
    assert_int_equal(n, 1);
    assert_int_equal(use(c).programs_cached, 1);
}

static int run_as_process(const char *folder)
{
    Case c = {.arena = arena_new()};
    diag_init(&c.diags, c.arena);
    c.function = parse_function(&c, cache_source);
    JitStats stats = use_with(&c, folder, NULL, "all", c.function);
    arena_free(c.arena);
    return stats.cache_note ? 1 : 0;
}

/* ---- the bound, without a compiler ---- */

static bool has(Case *c, Cache *cache, int i)
{
    ObjectSet set;
    ProgramKey key = key_number(i);
    return cache_get(cache, &key, c->arena, &set);
}

static void used_longest_ago_go(void **state)
{
    Case *c = *state;
    enum { SIZE = 4096 };
    static const unsigned char bytes[SIZE];
    ObjectFile file = {bytes, SIZE};
    const char *symbol = "f";
    ObjectSet set = {
        .n_files = 1, .files = &file, .n_programs = 1, .n_kernels = 1, .symbols = &symbol};
    /* room for three with their headers */
    Cache *cache = cache_open(c->arena, c->folder, 4 * SIZE);
    for (int i = 0; i < 3; i++) {
        ProgramKey key = key_number(i);
        cache_put(cache, &key, &set);
        usleep(20000);
    }
    assert_true(has(c, cache, 0)); /* used again */
    usleep(20000);
    ProgramKey key = key_number(3);
    cache_put(cache, &key, &set);
    assert_true(has(c, cache, 0));
    assert_false(has(c, cache, 1)); /* the oldest */
    assert_true(has(c, cache, 2));
    assert_true(has(c, cache, 3));
    assert_null(cache_note(cache));
    cache_close(cache);
}

static void objects_come_back(void **state)
{
    Case *c = *state;
    const ObjectFile files[] = {{"abc", 3}, {"", 0}, {"0123456789abcdefg", 17}};
    const char *symbol = "train_step";
    ObjectSet set = {.n_files = 3,
                     .files = files,
                     .n_programs = 1,
                     .n_kernels = 7,
                     .symbols = &symbol},
              out;
    ProgramKey key = key_number(9);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    cache_put(cache, &key, &set);
    assert_true(cache_get(cache, &key, c->arena, &out));
    assert_int_equal(out.n_files, 3);
    assert_int_equal(out.n_programs, 1);
    assert_int_equal(out.n_kernels, 7);
    assert_string_equal(out.symbols[0], "train_step");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(out.files[i].size, files[i].size);
        assert_memory_equal(out.files[i].bytes, files[i].bytes, files[i].size);
        assert_int_equal((uintptr_t)out.files[i].bytes % 16, 0);
    }
    cache_close(cache);
}

static void the_variable_is_heard(void **state)
{
    Case *c = *state;
    setenv("TFC_CACHE", "off", 1);
    assert_null(cache_open(c->arena, NULL, CACHE_BYTES));
    setenv("TFC_CACHE", c->folder, 1);
    assert_int_equal(use_with(c, NULL, NULL, "all", c->function).programs_compiled, 1);
    assert_int_equal(use(c).programs_cached, 1); /* the same folder by name */
    unsetenv("TFC_CACHE");
    setenv("XDG_CACHE_HOME", c->folder, 1);
    assert_int_equal(use_with(c, NULL, NULL, "all", c->function).programs_compiled, 1);
    const char *below = arena_printf(c->arena, "%s/tfc", c->folder);
    assert_int_equal(use_with(c, below, NULL, "all", c->function).programs_cached, 1);
}

/* What tfc compile links: functions after the passes, kept by target, triple and prefix. */
static void objects_are_kept_by_what_they_are(void **state)
{
    Case *c = *state;
    const Function *function = c->function;
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const TargetOptions here = {.opt_level = 2},
                        there = {.opt_level = 2, .triple = "aarch64-linux-gnu"};
    const TargetOptions *const targets[] = {&here, &here, &there};
    static const char *const prefixes[] = {"a_", "b_", "b_"};
    for (int i = 0; i < 3; i++) {
        ObjectSet cold, warm;
        assert_true(object_compile(&function, 1, targets[i], prefixes[i], cache, NULL, c->arena,
                                   &cold, &c->diags));
        assert_true(object_compile(&function, 1, targets[i], prefixes[i], cache, NULL, c->arena,
                                   &warm, &c->diags));
        assert_false(cold.is_kept);
        assert_true(warm.is_kept);
        assert_string_equal(warm.symbols[0], arena_printf(c->arena, "%sf", prefixes[i]));
        assert_string_equal(warm.programs[0]->name, "f");
        assert_int_equal(warm.n_kernels, 1);
        assert_int_equal(warm.n_files, cold.n_files);
        for (int k = 0; k < cold.n_files; k++) {
            assert_int_equal(warm.files[k].size, cold.files[k].size);
            assert_memory_equal(warm.files[k].bytes, cold.files[k].bytes, cold.files[k].size);
        }
    }
    cache_close(cache);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return run_as_process(argv[1]);
    const struct CMUnitTest tests[] = {
        CACHE_TEST(kept_and_found),
        CACHE_TEST(folders_are_made),
        CACHE_TEST(keys_hold_what_matters),
        CACHE_TEST(damage_is_mended),
        CACHE_TEST(symlinks_are_not_followed),
        CACHE_TEST(others_files_are_not_loaded),
        CACHE_TEST(others_folders_are_not_used),
        CACHE_TEST(unwritable_folders_are_no_error),
        CACHE_TEST(processes_share_a_folder),
        CACHE_TEST(used_longest_ago_go),
        CACHE_TEST(objects_are_kept_by_what_they_are),
        CACHE_TEST(objects_come_back),
        CACHE_TEST(the_variable_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
