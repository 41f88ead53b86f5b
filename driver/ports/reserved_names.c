/* The names that languages, their headers and the runtime take. */
#include "driver/ports/ports.h"

#include <assert.h>
#include <fnmatch.h>
#include <string.h>

/* ReservedNames: a row of reserved_names.def. */
typedef enum ReservedScope { ANY, MODEL } ReservedScope;
typedef struct ReservedNames {
    ReservedScope scope;
    const char *owner, *names;
} ReservedNames;

static const ReservedNames reserved[] = {
#define RESERVED(scope, owner, names) {scope, owner, names},
#include "driver/ports/reserved_names.def"
};

/* Whether one of the patterns, with blanks between, is of the name. */
static bool matches_one(const char *patterns, const char *name)
{
    enum { LONGEST = 64 };
    char pattern[LONGEST];
    bool found = false;
    for (const char *at = patterns; !found && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        assert(n < LONGEST);
        memcpy(pattern, at, n);
        pattern[n] = 0;
        found = !fnmatch(pattern, name, 0);
        at += n;
    }
    return found;
}

/* Whether Python's standard library has such a module. */
static bool is_module(const char *name)
{
    static const char *const modules[] = {
#define M(name) #name,
#include "driver/ports/python_modules.def"
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strcmp(name, modules[i]))
            return true;
    return false;
}

const char *ports_name_owner(const char *name, bool of_model)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if ((reserved[i].scope == ANY || of_model) && matches_one(reserved[i].names, name))
            return reserved[i].owner;
    return of_model && is_module(name) ? "a module of Python" : NULL;
}
