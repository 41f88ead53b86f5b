/* dlopen and dlsym; see library.h. */
#define _GNU_SOURCE
#include "base/library.h"

#include "base/file.h"
#include "base/float_state.h"
#include "base/unanswered.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

const char *library_beside(Arena *arena, const char *const places[], size_t n)
{
    static const char link[] = "/proc/self/exe";
    char program[PATH_MAX];
    const ssize_t length = readlink(link, program, sizeof program - 1);
    if (length < 0)
        unanswered_note("read", link, errno);
    program[length > 0 ? length : 0] = 0;
    for (size_t i = 0; length > 0 && i < n; i++) {
        const char *path = file_beside(arena, program, places[i]);
        if (file_exists(path))
            return path;
    }
    return NULL;
}

const char *library_module(Arena *arena, const char *name)
{
    /* Tests' programs lie in a folder beside the modules. */
    static const char *const folders[] = {"", "../" TFC_LIBDIR "/tfc/", "../"};
    enum { N_FOLDERS = sizeof folders / sizeof *folders };
    const char *places[N_FOLDERS];
    for (int i = 0; i < N_FOLDERS; i++)
        places[i] = arena_printf(arena, "%s%s", folders[i], name);
    return library_beside(arena, places, N_FOLDERS);
}

static bool fill_library(Library *library, void *handle, Diagnostics *diags)
{
    for (int i = 0; i < library->n_functions; i++) {
        const LibraryFunction *f = &library->functions[i];
        *f->address = dlsym(handle, f->name);
        if (!*f->address) {
            diag_error(diags, (Loc){0},
                       "%s has no function %s: it is not the library that tfc was built for",
                       library->name, f->name);
            diag_note(diags, (Loc){0}, "install the package %s again", library->package);
            return false;
        }
    }
    return true;
}

static bool load(Library *library, Diagnostics *diags)
{
    void *handle = dlopen(library->path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        handle = dlopen(library->name, RTLD_LAZY | RTLD_LOCAL);
    float_state_set();
    if (handle)
        return fill_library(library, handle, diags);
    const char *why = dlerror();
    diag_error(diags, (Loc){0}, "cannot load %s: %s", library->name,
               why ? why : "no reason is known");
    diag_note(diags, (Loc){0}, "install the package %s, which has it", library->package);
    return false;
}

bool library_load(Library *library, Diagnostics *diags)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!library->loaded)
        library->loaded = load(library, diags);
    pthread_mutex_unlock(&lock);
    return library->loaded;
}
