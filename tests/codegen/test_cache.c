/* The cache of compiled programs: hits, keys, damage, files and folders that are not
 * this user's alone, folders that cannot be written, several processes, the bound. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/cache_state.h"
#include "ir/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] = "module \"test\"\ndim N\n"
                             "func f {\n"
                             "  %0 = input {name = \"x\"} : f32[N, 24]\n"
                             "  %1 = relu %0 : f32[N, 24]\n"
                             "  output %1 {name = \"y\"}\n"
                             "}\n";

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    Function *function;
    char folder[64];
} Case;

static Function *parse(Case *c, const char *text)
{
    Module *module =
        ir_parse(c->arena, &c->diags, diag_source(c->arena, "t.tir", text, strlen(text)));
    assert_non_null(module);
    return module->functions.data[0];
}

static int open_case(void **state)
{
    Case *c = calloc(1, sizeof *c);
    c->arena = arena_new();
    diag_init(&c->diags, c->arena);
    c->function = parse(c, source);
    strcpy(c->folder, "/tmp/tfc-cache-XXXXXX");
    *state = c;
    return mkdtemp(c->folder) ? 0 : -1;
}

static int close_case(void **state)
{
    Case *c = *state;
    const char *command =
        arena_printf(c->arena, "chmod -R u+w %s; rm -rf %s", c->folder, c->folder);
    int status = system(command);
    arena_free(c->arena);
    free(c);
    return status;
}

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
    const char *other = arena_strdup(c->arena, source);
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
                         use_with(c, c->folder, NULL, "all", parse(c, other))};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(shared[i].programs_compiled, 1);
        assert_int_equal(shared[i].kernels_cached, 1);
        assert_int_equal(shared[i].kernels_compiled, 0);
    }
    assert_int_equal(use_with(c, c->folder, NULL, "all", parse(c, source)).programs_cached, 1);
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
    c.function = parse(&c, source);
    JitStats stats = use_with(&c, folder, NULL, "all", c.function);
    arena_free(c.arena);
    return stats.cache_note ? 1 : 0;
}

/* ---- the bound, without a compiler ---- */

static ProgramKey key_number(int i)
{
    ProgramKey key = {{0}};
    key.hash[0] = (unsigned char)i;
    return key;
}

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

#define CACHE_TEST(f) cmocka_unit_test_setup_teardown(f, open_case, close_case)

enum { BYTES = 300 * 4096 + 100 }; /* of a block */

static const char *block_bytes(Case *c)
{
    char *bytes = arena_alloc(c->arena, BYTES);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)(i * 7 + i / 4096);
    return bytes;
}

/* A file of the block key_number(1), open to be written. */
static int open_block(Case *c, const char *suffix)
{
    const int file = open(arena_printf(c->arena, "%s/01%062d%s", c->folder, 0, suffix), O_RDWR);
    assert_true(file >= 0);
    return file;
}

/* Whether the block is there, and then what was put. */
static bool has_block(Cache *cache, const char *bytes)
{
    const ProgramKey key = key_number(1);
    char *map = cache_map(cache, &key, BYTES);
    if (!map)
        return false;
    assert_memory_equal(map, bytes, BYTES);
    cache_unmap(map, BYTES);
    return true;
}

/* Whether an unchanged block is hashed whole: then its stamp is written anew. */
static bool hashes_whole(Case *c, Cache *cache, const char *bytes)
{
    const char *path = arena_printf(c->arena, "%s/01%062d.tfcs", c->folder, 0);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_true(has_block(cache, bytes));
    assert_int_equal(stat(path, &after), 0);
    return before.st_ino != after.st_ino;
}

static void set_time(int file, time_t seconds)
{
    assert_int_equal(futimens(file, (struct timespec[]){{.tv_sec = seconds}, {.tv_sec = seconds}}),
                     0);
}

/* Blocks are mapped as they were put: what is written stays in the process. */
static void blocks_are_mapped(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1), other = key_number(2);
    assert_null(cache_map(cache, &key, BYTES));
    cache_put_block(cache, &key, bytes, BYTES);
    assert_null(cache_map(cache, &other, BYTES));
    assert_null(cache_map(cache, &key, BYTES - 1));
    for (int turn = 0; turn < 2; turn++) {
        char *map = cache_map(cache, &key, BYTES);
        assert_non_null(map);
        assert_int_equal((uintptr_t)map % 64, 0);
        assert_memory_equal(map, bytes, BYTES);
        memset(map, 0, BYTES);
        cache_unmap(map, BYTES);
    }
    /* What others may write to is none of ours. */
    const int file = open_block(c, ".tfcw");
    assert_int_equal(fchmod(file, 0666), 0);
    assert_null(cache_map(cache, &key, BYTES));
    close(file);
    cache_close(cache);
}

/* A byte between the pages that are looked at is found at once, also where the time of the file is
 * set back, and where another file takes its place. */
static void blocks_are_whole(void **state)
{
    Case *c = *state;
    enum { AT = 3 * 4096 + 10, AT_FILE = 4096 + AT };
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1);
    cache_put_block(cache, &key, bytes, BYTES);
    const int file = open_block(c, ".tfcw");
    struct stat info;
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(pwrite(file, "\x55", 1, AT_FILE), 1); /* in the tick in which it was put */
    assert_false(has_block(cache, bytes));
    assert_int_equal(pwrite(file, bytes + AT, 1, AT_FILE), 1);
    assert_true(has_block(cache, bytes));
    usleep(20000);
    assert_int_equal(pwrite(file, "\x55", 1, AT_FILE), 1);
    assert_int_equal(futimens(file, (struct timespec[]){info.st_atim, info.st_mtim}), 0);
    assert_false(has_block(cache, bytes));
    assert_int_equal(pwrite(file, bytes + AT, 1, AT_FILE), 1);
    close(file);
    assert_true(has_block(cache, bytes));
    const char *path = arena_printf(c->arena, "%s/01%062d.tfcw", c->folder, 0);
    assert_int_equal(system(arena_printf(c->arena,
                                         "cp -p %s %s/copy && printf U | dd of=%s/copy "
                                         "bs=1 seek=%d conv=notrunc status=none && mv %s/copy %s",
                                         path, c->folder, c->folder, AT_FILE, c->folder, path)),
                     0);
    assert_false(has_block(cache, bytes));
    cache_close(cache);
}

/* All bytes are hashed when something may have changed, and not again at the next start. */
static void blocks_are_hashed_once(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1);
    cache_put_block(cache, &key, bytes, BYTES);
    assert_false(hashes_whole(c, cache, bytes));
    const int file = open_block(c, ".tfcw");
    assert_int_equal(futimens(file, NULL), 0);
    assert_true(hashes_whole(c, cache, bytes));
    assert_false(hashes_whole(c, cache, bytes));
    usleep(20000);
    assert_int_equal(fchmod(file, 0600), 0); /* its ctime alone */
    assert_true(hashes_whole(c, cache, bytes));
    close(file);
    int stamp = open_block(c, ".tfcs");
    set_time(stamp, 1); /* the system has started since */
    close(stamp);
    assert_true(hashes_whole(c, cache, bytes));
    assert_false(hashes_whole(c, cache, bytes));
    stamp = open_block(c, ".tfcs");
    assert_int_equal(pwrite(stamp, "x", 1, 9), 1);
    close(stamp);
    assert_true(hashes_whole(c, cache, bytes));
    cache_close(cache);
}

/* A block that makes room takes its stamp along; a stamp alone goes, too. */
static void stamps_go_with_their_blocks(void **state)
{
    Case *c = *state;
    const char *bytes = block_bytes(c);
    Cache *cache = cache_open(c->arena, c->folder, CACHE_BYTES);
    const ProgramKey key = key_number(1), other = key_number(2);
    cache_put_block(cache, &key, bytes, BYTES);
    const int stamp = open_block(c, ".tfcs");
    set_time(stamp, 1); /* used longest ago, though its block is the younger one */
    close(stamp);
    cache_put_block(cache, &other, bytes, BYTES);
    cache_make_room(cache, ".tfcw", ".tfcs", BYTES + 4096);
    assert_null(cache_map(cache, &key, BYTES));
    char *map = cache_map(cache, &other, BYTES);
    assert_non_null(map);
    cache_unmap(map, BYTES);
    const char *count = arena_printf(c->arena, "[ $(ls %s | wc -l) = 2 ]", c->folder);
    assert_int_equal(system(count), 0);
    assert_int_equal(
        system(arena_printf(c->arena, "cp %s/02*.tfcs %s/03%062d.tfcs", c->folder, c->folder, 0)),
        0);
    cache_make_room(cache, ".tfcw", ".tfcs", BYTES + 4096);
    assert_int_equal(system(count), 0);
    cache_close(cache);
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
        CACHE_TEST(blocks_are_mapped),
        CACHE_TEST(blocks_are_whole),
        CACHE_TEST(blocks_are_hashed_once),
        CACHE_TEST(stamps_go_with_their_blocks),
        CACHE_TEST(objects_come_back),
        CACHE_TEST(the_variable_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
