/* dlopen and dlsym; see library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>

static bool fill(Library *library, void *handle, Diagnostics *diags)
{
    for (int i = 0; i < library->n_functions; i++) {
        const LibraryFunction *f = &library->functions[i];
        *f->address = dlsym(handle, f->name);
        if (!*f->address) {
            diag_error(diags, (Loc){0}, "%s has no function %s: it is not the library that tfc was built for",
                       library->name, f->name);
            diag_note(diags, (Loc){0}, "the package is %s", library->package);
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
    diag_error(diags, (Loc){0}, "cannot load %s: %s", library->name, why ? why : "no reason is known");
    diag_note(diags, (Loc){0}, "the package %s has it", library->package);
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
