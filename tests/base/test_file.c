/* Files: what is replaced, what is written through, and what is left as it was. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/temporary.h"
#include "tests/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    char folder[32];
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    strcpy(f->folder, "/tmp/tfc-file-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    assert_int_equal(system(arena_printf(f->arena, "rm -r %s", f->folder)), 0);
    arena_free(f->arena);
    free(f);
    return 0;
}

static const char *in(Fixture *f, const char *name)
{
    return arena_printf(f->arena, "%s/%s", f->folder, name);
}

static bool put(Fixture *f, const char *path, const char *text)
{
    return file_write_all(&f->diags, path, text, strlen(text));
}

static void expect_text(Fixture *f, const char *path, const char *text)
{
    const Source *source = file_read(&f->diags, f->arena, path, 1000);
    assert_non_null(source);
    assert_string_equal(source->text, text);
}

static void expect_kind(const char *path, mode_t kind)
{
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_int_equal(info.st_mode & S_IFMT, kind);
}

/* A link stays a link, and what it leads to is replaced: through several, and where the
 * last is not there yet. */
static void test_links(void **state)
{
    Fixture *f = *state;
    const char *first = in(f, "first"), *second = in(f, "second"), *real = in(f, "sub/real");
    assert_true(file_make_folder(&f->diags, in(f, "sub")));
    assert_int_equal(symlink("second", first), 0);
    assert_int_equal(symlink(real, second), 0);
    assert_true(put(f, first, "new"));
    expect_kind(first, S_IFLNK);
    expect_kind(second, S_IFLNK);
    expect_kind(real, S_IFREG);
    expect_text(f, real, "new");
    assert_true(put(f, first, "newer"));
    expect_kind(first, S_IFLNK);
    expect_text(f, real, "newer");
    assert_string_equal(file_target(f->arena, first), real);
    const char *loop = in(f, "loop");
    assert_int_equal(symlink(loop, loop), 0);
    assert_false(put(f, loop, "never"));
    expect_message(&f->diags, "cannot write");
}

/* Who may read a file is not changed by replacing it. */
static void test_mode(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "private");
    struct stat info;
    assert_true(put(f, path, "old"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(put(f, path, "new"));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

/* A named pipe stays one, and its reader has the text before the writer is done. */
static void test_pipe(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(file_can_write(&f->diags, path)); /* waits for no reader */
    pid_t child = fork();
    if (child == 0) {
        FileWriter *file = file_create(&f->diags, path);
        file_write(file, "one\n", 4);
        file_flush(file);
        pause(); /* the file is never committed */
        _exit(1);
    }
    int fd = open(path, O_RDONLY);
    char text[8] = "";
    assert_int_equal(read(fd, text, sizeof text), 4);
    assert_string_equal(text, "one\n");
    close(fd);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    expect_kind(path, S_IFIFO);
}

/* A device that lives where nothing can be put in its place, should this fail: a terminal. */
static void test_device(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "terminal");
    char text[8] = "";
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(grantpt(terminal) | unlockpt(terminal), 0);
    const char *device = arena_strdup(f->arena, ptsname(terminal));
    int held = open(device, O_RDWR | O_NOCTTY);
    assert_int_equal(symlink(device, path), 0);
    assert_true(file_can_write(&f->diags, path));
    assert_true(put(f, path, "hello"));
    expect_kind(path, S_IFLNK);
    expect_kind(device, S_IFCHR);
    assert_int_equal(read(terminal, text, sizeof text), 5);
    assert_string_equal(text, "hello");
    FileWriter *file = file_create(&f->diags, path);
    close(held);
    close(terminal);
    file_write(file, "nobody", 6);
    assert_false(file_commit(file, &f->diags));
    expect_message(&f->diags, "terminal: Input/output error");
    assert_false(put(f, f->folder, "a folder"));
    expect_message(&f->diags, "it is a folder, not a file");
}

/* /dev/fd/N goes on where the open file is: what was there before stays. */
static void test_open_file(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "log");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "before ", 7), 7);
    assert_true(put(f, arena_printf(f->arena, "/dev/fd/%d", fd), "now "));
    assert_true(put(f, arena_printf(f->arena, "/proc/self/fd/%d", fd), "later"));
    assert_int_equal(close(fd), 0);
    expect_text(f, path, "before now later");
    assert_false(put(f, "/dev/fd/987", "closed"));
    expect_message(&f->diags, "cannot write /dev/fd/987: Bad file descriptor");
}

/* What is written in place is no link's target, and neither a pipe nor a folder. */
static void test_own(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "own"), *link = in(f, "own-link"), *pipe = in(f, "own-pipe");
    int fd = file_open_own(path, O_WRONLY | O_CREAT);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(symlink(in(f, "elsewhere"), link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(file_open_own(link, O_WRONLY | O_CREAT), -1);
    assert_int_equal(errno, ELOOP);
    assert_false(file_exists(in(f, "elsewhere")));
    assert_int_equal(file_open_own(pipe, O_RDWR), -1);
    assert_string_equal(file_own_error(errno), "not a regular file");
    uint64_t size;
    assert_int_equal(file_open_regular(&f->diags, pipe, &size), -1);
    expect_message(&f->diags, "not a regular file");
}

/* Names differ each time, tell the process, and fit where the target's is as long as can be. */
static void test_temporary(void **state)
{
    Fixture *f = *state;
    char name[256] = "", *paths[2];
    memset(name, 'n', 255);
    const char *target = in(f, name);
    for (int i = 0; i < 2; i++) {
        int fd = temporary_file(AT_FDCWD, target, 0600, &paths[i]);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(temporary_process(file_name(paths[i])), getpid());
    }
    assert_string_not_equal(paths[0], paths[1]);
    for (int i = 0; i < 2; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    assert_int_equal(temporary_process("model.tmp-42"), 42);
    assert_int_equal(temporary_process("a.tmp-b.tmp-42-abc123"), 42);
    assert_int_equal(temporary_process("model.tmp-notes"), 0);
    assert_int_equal(temporary_process("model.tmp-42-ABC"), 0);
    assert_int_equal(temporary_process(".tmp-42-abc"), 0);
    assert_true(put(f, target, "long"));
    expect_text(f, target, "long");
}

static void test_failure_keeps(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "kept");
    assert_true(put(f, path, "old"));
    FileWriter *file = file_create(&f->diags, path);
    file_write(file, "half", 4);
    assert_true(file_flush(file));
    expect_text(f, path, "old");
    file_discard(file);
    expect_text(f, path, "old");
    assert_int_equal(system(arena_printf(f->arena, "[ $(ls %s | wc -l) = 1 ]", f->folder)), 0);
}

/* A file of a folder of ours: what a link, a pipe or a device of its name leads to is let alone. */
static void test_replaced(void **state)
{
    Fixture *f = *state;
    const char *target = in(f, "theirs"), *link = in(f, "ours"), *pipe = in(f, "pipe");
    assert_true(put(f, target, "theirs"));
    assert_int_equal(symlink("theirs", link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_true(file_write_own(&f->diags, link, "new", 3));
    assert_true(file_write_own(&f->diags, pipe, "new", 3));
    expect_text(f, target, "theirs");
    expect_text(f, link, "new");
    expect_text(f, pipe, "new");
    assert_int_equal(chmod(link, 0600), 0);
    assert_true(file_write_own(&f->diags, link, "newer", 5));
    struct stat info;
    assert_int_equal(stat(link, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_false(file_write_own(&f->diags, f->folder, "x", 1));
}

/* Several write one file beside, each its own bytes, whatever was left there before. */
static void test_joined(void **state)
{
    Fixture *f = *state;
    const char *path = in(f, "whole");
    assert_true(put(f, path, "old"));
    FileWriter *first = file_create_own(&f->diags, path);
    const char *name = arena_strdup(f->arena, file_temporary(first));
    FileWriter *second = file_join(path, name), *third = file_join(path, name);
    assert_non_null(second);
    assert_non_null(third);
    assert_null(file_join(path, "whole.tmp-none"));
    assert_int_equal(errno, ENOENT);
    file_write(first, "one ", 4);
    file_skip(first, 4);
    file_write(first, "three", 5);
    assert_true(file_sync(first));
    assert_null(file_join(path, name)); /* not what was begun a moment ago */
    assert_int_equal(errno, EEXIST);
    file_skip(second, 4);
    file_write(second, "two ", 4);
    assert_true(file_commit(second, &f->diags));
    file_discard(third);
    expect_text(f, path, "old");
    assert_true(file_commit(first, &f->diags));
    expect_text(f, path, "one two three");
    assert_int_equal(system(arena_printf(f->arena, "[ $(ls %s | wc -l) = 1 ]", f->folder)), 0);
}

/* ---- files that a folder names ---- */

/* Whether FOLDER/path is read, of a folder of the fixture. */
static bool is_within(Fixture *f, const char *folder, const char *path)
{
    const FileReach reach = {.folder = in(f, folder)};
    const char *whole = *path == '/' ? path : file_in(f->arena, reach.folder, path);
    FileReach rooted = reach;
    rooted.root = file_root(f->arena, reach.folder);
    f->diags.list.count = 0;
    const bool is = file_read_within(&f->diags, f->arena, rooted, whole, 100) != NULL;
    f->diags.list.count = 0;
    const Source *source = file_read_within(&f->diags, f->arena, reach, whole, 100);
    assert_true(is == (source != NULL) && (source || f->diags.list.count));
    return source != NULL;
}

static void make(Fixture *f, const char *path)
{
    assert_true(file_make_folder(&f->diags, file_folder(f->arena, in(f, path))));
    assert_true(put(f, in(f, path), "text"));
}

static void link_to(Fixture *f, const char *path, const char *target)
{
    assert_true(file_make_folder(&f->diags, file_folder(f->arena, in(f, path))));
    assert_int_equal(symlink(target, in(f, path)), 0);
}

/* A file lies in the folder that names it, wherever its name and its links lead before. */
static void test_within(void **state)
{
    Fixture *f = *state;
    make(f, "run/file");
    make(f, "run/sub/deep");
    make(f, "runner/theirs");
    make(f, "secret");
    link_to(f, "run/inner", "sub/deep");
    link_to(f, "run/out", "../secret");
    link_to(f, "run/twice", "out");
    link_to(f, "run/whole", in(f, "secret"));
    link_to(f, "run/up", "..");
    link_to(f, "run/back", "up/run/file");
    link_to(f, "other", "run");
    assert_true(is_within(f, "run", "file"));
    assert_true(is_within(f, "run/", "sub/../file"));
    assert_true(is_within(f, "run", "inner"));
    assert_true(is_within(f, "run", "back"));
    assert_true(is_within(f, "run", "../run/file"));
    assert_true(is_within(f, "run", in(f, "run/file")));
    assert_true(is_within(f, "other", "file"));
    assert_true(is_within(f, "run", in(f, "other/file")));
    assert_true(is_within(f, "", "secret"));
    const char *const outside[] = {
        "../secret", "out", "twice", "whole", "up/secret", "sub/../../secret", "../runner/theirs"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_false(is_within(f, "run", outside[i]));
        expect_message(&f->diags, i < 6 ? "/secret, outside the folder" : "/theirs, outside");
        expect_message(&f->diags, "--allow-outside");
    }
    assert_false(is_within(f, "run/sub", "../file"));
    assert_false(is_within(f, "run", in(f, "secret")));
    assert_false(is_within(f, "run", "/dev/null"));
    assert_false(is_within(f, "absent", "file"));
    const FileReach open = {.folder = in(f, "run"), .outside = true};
    assert_non_null(file_read_within(&f->diags, f->arena, open, in(f, "run/out"), 100));
    assert_non_null(file_read_within(&f->diags, f->arena, FILE_ANYWHERE, in(f, "run/out"), 100));
    uint64_t size;
    const FileReach shut = {.folder = in(f, "run")};
    assert_null(file_map_within(&f->diags, shut, in(f, "run/out"), &size));
    const void *map = file_map_within(&f->diags, shut, in(f, "run/file"), &size);
    assert_non_null(map);
    assert_int_equal(size, 4);
    file_unmap(map, size);
}

/* Only a file within the limit of bytes is read, and nothing waits. */
static void test_within_regular(void **state)
{
    Fixture *f = *state;
    make(f, "run/file");
    assert_int_equal(mkfifo(in(f, "run/pipe"), 0600), 0);
    link_to(f, "run/pipe-link", "pipe");
    assert_false(is_within(f, "run", "pipe"));
    expect_message(&f->diags, "not a regular file");
    assert_false(is_within(f, "run", "pipe-link"));
    expect_message(&f->diags, "not a regular file");
    assert_false(is_within(f, "run", "."));
    expect_message(&f->diags, "it is a folder, not a file");
    const FileReach reach = {.folder = in(f, "run")};
    uint64_t size;
    f->diags.list.count = 0;
    assert_null(file_read_within(&f->diags, f->arena, reach, in(f, "run/file"), 3));
    expect_message(&f->diags, "the file is too large");
    assert_int_equal(file_open_within(&f->diags, reach, in(f, "run/file"), 3, &size), -1);
    const int fd = file_open_within(&f->diags, reach, in(f, "run/file"), 4, &size);
    assert_true(fd >= 0);
    close(fd);
}

/* A snapshot of a hub has links to the blobs of its model, and to no others. */
static void test_within_hub(void **state)
{
    Fixture *f = *state;
    make(f, "hub/m/blobs/1");
    make(f, "hub/n/blobs/1");
    make(f, "hub/m/other");
    make(f, "blobs/1");
    link_to(f, "hub/m/snapshots/c/file", "../../blobs/1");
    link_to(f, "hub/m/snapshots/c/pool/file", "../../../blobs/1");
    link_to(f, "hub/m/snapshots/c/theirs", "../../../n/blobs/1");
    link_to(f, "hub/m/snapshots/c/above", "../../other");
    link_to(f, "hub/m/plain/file", "../blobs/1");
    link_to(f, "hub/m/plain/c/file", "../../blobs/1");
    link_to(f, "run/file", "../blobs/1");
    assert_true(is_within(f, "hub/m/snapshots/c", "file"));
    assert_true(is_within(f, "hub/m/snapshots/c", "pool/file"));
    assert_true(is_within(f, "hub/m/snapshots/c/pool", "file"));
    assert_false(is_within(f, "hub/m/snapshots/c", "theirs"));
    assert_false(is_within(f, "hub/m/snapshots/c", "above"));
    assert_false(is_within(f, "hub/m/plain", "file"));
    assert_false(is_within(f, "hub/m/plain/c", "file"));
    assert_false(is_within(f, "run", "file"));
}

/* Folders that are made are closed to others; those that were there stay as they are. */
static void test_private_folder(void **state)
{
    Fixture *f = *state;
    struct stat info;
    assert_int_equal(mkdir(in(f, "was"), 0755), 0);
    const mode_t mask = umask(0);
    assert_true(file_make_private_folder(&f->diags, in(f, "was/a/b")));
    umask(mask);
    assert_int_equal(stat(in(f, "was/a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(in(f, "was/a/b"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(in(f, "was"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755);
    assert_string_equal(file_folder(f->arena, "a/b/c"), "a/b");
    assert_string_equal(file_folder(f->arena, "/c"), "/");
    assert_string_equal(file_folder(f->arena, "c"), ".");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mode, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_device, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_temporary, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_keeps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined, setup, teardown),
        cmocka_unit_test_setup_teardown(test_within, setup, teardown),
        cmocka_unit_test_setup_teardown(test_within_regular, setup, teardown),
        cmocka_unit_test_setup_teardown(test_within_hub, setup, teardown),
        cmocka_unit_test_setup_teardown(test_private_folder, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
