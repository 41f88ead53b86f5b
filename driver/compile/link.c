/* Linking: objects, glue and the runtime through the target's C compiler, in a folder
 * beside the output; the finished file is renamed into its place. The runtime is an
 * archive for this system; for others its C files are compiled, as one file with the glue. */
#define _GNU_SOURCE
#include "driver/compile/artifact.h"

#include "base/file.h"
#include "base/library.h"
#include "base/temporary.h"
#include "base/unanswered.h"
#include "driver/run/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef VEC(const char *) Words;

typedef struct Link {
    const Artifact *artifact;
    Job *job;
    const char *folder; /* where everything is made */
    Words files;        /* in it, to be removed */
    Words command;
} Link;

/* The path of a new file in the folder. */
static const char *new_file(Link *l, const char *name)
{
    const char *path = file_in(l->job->arena, l->folder, name);
    vec_push(l->job->arena, l->files, path);
    return path;
}

static bool write_text(Link *l, const char *name, const Text *text)
{
    return file_write_all(&l->job->diags, new_file(l, name), text->data, text->length);
}

static void add_word(Link *l, const char *word) { vec_push(l->job->arena, l->command, word); }

static void add_words(Link *l, const char *const *words)
{
    for (; *words; words++)
        add_word(l, *words);
}

/* ---- what is found beside the program ---- */

static bool add_path(Link *l, const char *option, const char *path)
{
    char *absolute = realpath(path, NULL);
    if (!absolute)
        return diag_errno(&l->job->diags, "read", path, errno), false;
    add_word(l, arena_printf(l->job->arena, "%s%s", option, absolute));
    free(absolute);
    return true;
}

static bool add_archive(Link *l, const char *name, const char *variable)
{
    static const char *const folders[] = {"", "../" TFC_LIBDIR "/", "../"};
    enum { N_FOLDERS = sizeof folders / sizeof *folders };
    const char *places[N_FOLDERS];
    for (int i = 0; i < N_FOLDERS; i++)
        places[i] = arena_printf(l->job->arena, "%s%s", folders[i], name);
    const char *told = getenv(variable);
    const char *path = told ? told : library_beside(l->job->arena, places, N_FOLDERS);
    return path ? add_path(l, "", path)
                : job_error(l->job, "%s is not beside the program; the variable %s can name it",
                            name, variable);
}

const char *compile_runtime_folder(Job *job)
{
    static const char *const places[] = {"runtime", "../share/tfc/runtime", "../runtime"};
    const char *folder = library_beside(job->arena, places, sizeof places / sizeof *places);
    if (!folder)
        job_error(
            job,
            "the runtime's C files (share/tfc/runtime) are not beside the program: install all of tfc (cmake --install, or its Debian package)");
    return folder;
}

static bool add_runtime(Link *l)
{
    static const char *const options[] = {"-ffunction-sections", "-fdata-sections", NULL};
    if (artifact_is_joined(l->artifact)) {
        add_words(l, options);
        return true;
    }
    return (!l->artifact->has_json ||
            add_archive(l, "libtfc_runtime_json.a", "TFC_RUNTIME_JSON")) &&
           add_archive(l, "libtfc_runtime.a", "TFC_RUNTIME");
}

/* ---- the files ---- */

static const char *new_blob(void *context, const char *name) { return new_file(context, name); }

static bool write_glue(Link *l, Text *out)
{
    if (!artifact_is_joined(l->artifact)) {
        compile_glue(l->artifact, out);
        return true;
    }
    if (compile_joined_glue(l->artifact, out))
        return true;
    diag_note(&l->job->diags, (Loc){0}, "the variable TFC_RUNTIME can name an archive of them");
    return false;
}

static bool write_inputs(Link *l, const char *header)
{
    const Artifact *a = l->artifact;
    Text text = {0};
    text_add(&text, "%s", header);
    bool ok = write_text(l, arena_printf(l->job->arena, "%s.h", a->name), &text);
    text.length = 0;
    compile_python(a, &text);
    ok = ok && write_text(l, arena_printf(l->job->arena, "%s.py", a->name), &text);
    text.length = 0;
    ok = ok && write_glue(l, &text) && write_text(l, "glue.c", &text);
    text.length = 0;
    text_add(&text, "{ global: %s_*; local: *; };\n", a->name);
    ok = ok && write_text(l, "exports", &text);
    text_free(&text);
    ok = ok && compile_blobs(a, new_blob, l);
    add_word(l, "glue.c");
    for (int c = 0; ok && c < a->n_cpus; c++)
        for (int i = 0; ok && i < a->cpus[c].objects.n_files; i++) {
            const ObjectFile *object = &a->cpus[c].objects.files[i];
            const char *name = arena_printf(l->job->arena, "%d.%d.o", c, i);
            ok = file_write_all(&l->job->diags, new_file(l, name), object->bytes, object->size);
            add_word(l, name);
        }
    return ok;
}

/* $CC may hold options, too. */
static void add_compiler(Link *l)
{
    const char *cc = getenv("CC");
    char *words = arena_strdup(l->job->arena, cc && *cc ? cc : artifact_compiler(l->artifact));
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        add_word(l, word);
}

static bool add_options(Link *l)
{
    const Artifact *a = l->artifact;
    static const char *const always[] = {
        "-std=c17", "-O2", "-ffp-contract=off", "-fvisibility=hidden", "-o", "output", NULL};
    static const char *const object[] = {"-r", "-nostdlib", NULL};
    const char *runtime = compile_runtime_folder(l->job);
    add_words(l, always);
    add_words(l, a->target->options);
    if (!runtime || !add_path(l, "-I", runtime))
        return false;
    if (a->makes == ARTIFACT_OBJ) {
        add_words(l, object);
        return true;
    }
    if (!add_runtime(l))
        return false;
    if (a->makes == ARTIFACT_SO) {
        add_word(l, "-shared");
        add_word(l, "-Wl,--version-script=exports,--exclude-libs,ALL");
        /* Threads keep memory of the library's for their life, so it stays when it is unloaded. */
        add_word(l, "-Wl,-z,nodelete");
        /* may have commas */
        const char *const soname[] = {"-Xlinker", "-soname", "-Xlinker", file_name(a->output),
                                      NULL};
        add_words(l, soname);
    }
    static const char *const script[] = {"-mexec-model=reactor",
                                         "-Wl,--export=malloc,--export=free", NULL};
    add_words(l, a->target->link);
    if (artifact_is_script(a))
        add_words(l, script);
    add_word(l, "-s");
    if (a->gemm != GEMM_NATIVE)
        add_word(l, TFC_OPENBLAS);
    add_word(l, "-lm");
    return true;
}

/* ---- the compiler ---- */

static const char *read_messages(Link *l, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[2000];
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    return arena_strndup(l->job->arena, text, n > 0 ? (size_t)n : 0);
}

static void run_child(const Link *l, const char *messages)
{
    int fd = open(messages, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        dup2(fd, 1);
        dup2(fd, 2);
    }
    if (chdir(l->folder)) {
        dprintf(2, "cannot enter %s: %s\n", l->folder, strerror(errno));
        _exit(1);
    }
    execvp(l->command.data[0], (char *const *)l->command.data);
    _exit(127);
}

static bool run_compiler(Link *l)
{
    add_word(l, NULL);
    const char *messages = new_file(l, "messages");
    pid_t child = fork();
    if (child == 0)
        run_child(l, messages);
    int status = 0;
    if (child < 0)
        return job_error(l->job, "cannot start %s: %s", l->command.data[0], strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return job_error(
            l->job,
            "there is no C compiler '%s' to link with; install one (Debian: %s) or name "
            "it in CC",
            l->command.data[0], artifact_packages(l->artifact));
    return job_error(l->job, "%s could not link %s:\n%s", l->command.data[0], l->artifact->output,
                     read_messages(l, messages));
}

static bool move(const Link *l, const char *from, const char *to)
{
    const char *target = file_target(l->job->arena, to);
    if (!rename(from, target))
        return true;
    diag_errno(&l->job->diags, "write", to, errno);
    return false;
}

static bool can_be_file(Job *job, const char *path)
{
    struct stat info;
    if (!file_stat(path, &info) || S_ISREG(info.st_mode))
        return true;
    if (S_ISDIR(info.st_mode))
        diag_errno(&job->diags, "write", path, EISDIR);
    else
        diag_file(&job->diags, "write", path, "not a regular file");
    return false;
}

/* Files that lie beside the output: how many of NAME.h and NAME.py. */
static int files_beside(const Artifact *a, const char *names[2])
{
    names[0] = arena_printf(a->job->arena, "%s.h", a->name);
    names[1] = arena_printf(a->job->arena, "%s.py", a->name);
    return a->makes == ARTIFACT_SO ? 2 : a->makes == ARTIFACT_OBJ || artifact_is_c(a) ? 1 : 0;
}

/* Of a model as C: an assembler reads the name of the file, and cannot be given every one. */
static bool check_file_name(const Artifact *a)
{
    const char *name = file_name(a->output);
    return !artifact_is_c(a) || !strpbrk(name, "\"\\\n\r") ||
           job_error(a->job,
                     "-o %s: a C file whose name has quotes, backslashes or line breaks cannot be "
                     "compiled: choose another name",
                     text_visible_name(a->job->arena, a->output));
}

bool compile_check_files(const Artifact *a)
{
    const char *names[2];
    bool ok = check_file_name(a) &&
              (a->makes != ARTIFACT_JS || ownership_check_folder(a->job, OWN_PACKAGE, a->output));
    for (int i = files_beside(a, names) - 1; i >= 0; i--)
        ok = ownership_check_file(a->job, OWN_COMPILED,
                                  file_beside(a->job->arena, a->output, names[i])) &&
             ok;
    return ok;
}

/* The output and what lies beside it, all or none. */
static bool put_in_place(Link *l)
{
    const Artifact *a = l->artifact;
    const char *names[2], *places[2];
    int n = files_beside(a, names);
    bool ok = unanswered_check(&l->job->diags) && can_be_file(l->job, a->output);
    for (int i = 0; ok && i < n; i++) {
        places[i] = file_beside(l->job->arena, a->output, names[i]);
        ok = can_be_file(l->job, places[i]);
    }
    for (int i = 0; ok && i < n; i++)
        ok = move(l, new_file(l, names[i]), places[i]);
    return ok && move(l, new_file(l, "output"), a->output);
}

/* ---- signals ---- */

static volatile sig_atomic_t ended_by; /* the signal that came while linking */

static void remember(int number) { ended_by = number; }

enum { ENDING = 3 };
static const int ending[ENDING] = {SIGINT, SIGTERM, SIGHUP};

/* What would end the program waits until the folder is removed; the compiler, a process
 * that a terminal's signals reach too, ends at once. */
static void put_off_signals(struct sigaction before[ENDING])
{
    struct sigaction action = {.sa_handler = remember};
    for (int i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

static void take_signals(const struct sigaction before[ENDING])
{
    for (int i = 0; i < ENDING; i++)
        sigaction(ending[i], &before[i], NULL);
    if (ended_by)
        raise(ended_by);
}

static bool make(Link *l, const char *header)
{
    add_compiler(l);
    new_file(l, "output");
    return write_inputs(l, header) && add_options(l) && run_compiler(l) && put_in_place(l);
}

/* Python looks for NAME.so before NAME.py. */
static void tell_hidden_module(const Artifact *a)
{
    const char *file = file_name(a->output);
    size_t n = strlen(a->name);
    if (a->makes == ARTIFACT_SO && !strncmp(file, a->name, n) && !strcmp(file + n, ".so"))
        diag_remark(
            &a->job->diags, (Loc){0},
            "Python imports %s rather than %s.py beside it, which it hides: for Python write it as lib%s",
            file, a->name, file);
}

static const Source *read_beside(const Artifact *a, const char *name)
{
    enum { MOST = 1 << 20 };
    Diagnostics unseen;
    diag_init(&unseen, a->job->arena);
    const char *path = file_beside(a->job->arena, a->output, name);
    return file_exists(path) ? file_read(&unseen, a->job->arena, path, MOST) : NULL;
}

const char *compile_other_library(const Artifact *a, const char *header)
{
    static const char before[] = "_NAME, _LIBRARY, _HEADER = \"";
    const char *names[2];
    const int n = files_beside(a, names);
    const Source *module = n ? read_beside(a, names[1]) : NULL;
    const Source *old = n == 1 ? read_beside(a, names[0]) : NULL;
    const char *at = module ? strstr(module->text, before) : NULL;
    at = at ? strstr(at + sizeof before - 1, "\", \"") : NULL;
    if (!at || (old && !strcmp(old->text, header)))
        return NULL;
    at += strlen("\", \"");
    const char *library = arena_strndup(a->job->arena, at, strcspn(at, "\"\n"));
    const bool is_there = file_exists(file_beside(a->job->arena, a->output, library));
    return is_there && strcmp(library, file_name(a->output)) ? library : NULL;
}

void compile_tell_replaced(const Artifact *a, const char *library)
{
    const char *names[2];
    if (library && files_beside(a, names) == 2)
        diag_remark(&a->job->diags, (Loc){0},
                    "%s and %s, of %s, now belong to %s: --name NAME gives each its own", names[0],
                    names[1], library, file_name(a->output));
    else if (library)
        diag_remark(&a->job->diags, (Loc){0},
                    "%s, of %s, now belongs to %s: give each a folder, or a name with --name",
                    names[0], library, file_name(a->output));
}

bool compile_link(const Artifact *artifact, const char *header)
{
    Job *job = artifact->job;
    char *folder;
    if (!temporary_folder(artifact->output, 0700, &folder))
        return diag_errno(&job->diags, "write", artifact->output, errno), false;
    struct sigaction before[ENDING];
    put_off_signals(before);
    Link l = {.artifact = artifact, .job = job, .folder = folder};
    bool ok = make(&l, header);
    for (size_t i = 0; i < l.files.count; i++)
        unlink(l.files.data[i]);
    rmdir(folder);
    free(folder);
    take_signals(before);
    if (ok)
        tell_hidden_module(artifact);
    return ok;
}
