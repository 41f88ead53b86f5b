/* dlopen and dlsym; see library.h. */
#define _GNU_SOURCE /* memrchr */
#include "base/library.h"

#include "base/file.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

const char *library_module(Arena *arena, const char *name)
{
    /* Tests' programs lie in a folder beside the modules. */
    static const char *const places[] = {"", "../" TFC_LIBDIR "/tfc/", "../"};
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program);
    const char *slash = n > 0 ? memrchr(program, '/', (size_t)n) : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        const char *path =
            arena_printf(arena, "%.*s/%s%s", (int)(slash - program), program, places[i], name);
        if (file_exists(path))
            return path;
    }
    return NULL;
}

static bool fill(Library *library, void *handle, Diagnostics *diags)
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
    if (handle)
        return fill(library, handle, diags);
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
