/* Names of a model as identifiers of other languages. */
#include "driver/compile/artifact.h"

#include <assert.h>
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* ReservedNames: a row of reserved_names.def. */
typedef enum ReservedScope { ANY, MODEL } ReservedScope;
typedef struct ReservedNames {
    ReservedScope scope;
    const char *names;
} ReservedNames;

static const ReservedNames reserved[] = {
#define RESERVED(scope, where, names) {scope, names},
#include "driver/compile/reserved_names.def"
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

static bool is_reserved(ReservedScope scope, const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (reserved[i].scope == scope && matches_one(reserved[i].names, name))
            return true;
    return false;
}

/* Whether Python's standard library has such a module. */
static bool is_module(const char *name)
{
    static const char *const modules[] = {
#define M(name) #name,
#include "driver/compile/python_modules.def"
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (!strcmp(name, modules[i]))
            return true;
    return false;
}

const char *artifact_c_name(Arena *arena, const char *name)
{
    char *copy = arena_printf(arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *p = copy; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return is_reserved(ANY, copy) ? arena_printf(arena, "%s_", copy) : copy;
}

const char *artifact_model_name(Arena *arena, const char *name)
{
    const char *plain = artifact_c_name(arena, name);
    return is_reserved(MODEL, plain) || is_module(plain) ? arena_printf(arena, "%s_", plain)
                                                         : plain;
}

/* ---- names of fields ---- */

/* CField: a field of a struct, and what it stands for, for messages. */
typedef struct CField {
    const char *c, *name;
} CField;

/* Whether no two fields have one name. */
static bool check_fields(const Artifact *a, const CField *fields, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(fields[i].c, fields[k].c))
                return job_error(a->job,
                                 "`%s` and `%s` are both called %s in C and Python: give one of "
                                 "them another name in the model",
                                 fields[k].name, fields[i].name, fields[i].c);
    return true;
}

bool compile_check_names(const Artifact *a)
{
    Arena *arena = a->job->arena;
    for (int f = 0; f < TFC_N_FUNCTIONS; f++) {
        const TfcProgram *p = a->names[f] ? a->programs[f] : NULL;
        if (!p)
            continue;
        CField *fields = ARENA_ARRAY(arena, CField, p->n_dims + p->n_inputs + p->n_outputs + 1);
        int n = 0;
        for (int32_t d = 0; d < p->n_given; d++) {
            const char *dim = artifact_c_name(arena, p->dims[d].name);
            fields[n++] =
                (CField){p->dims[d].batch < 0 ? dim : arena_printf(arena, "%s_lengths", dim),
                         p->dims[d].name};
        }
        for (int32_t i = 0; i < p->n_inputs; i++)
            fields[n++] = (CField){artifact_c_name(arena, p->inputs[i].name), p->inputs[i].name};
        if (!check_fields(a, fields, n))
            return false;
        n = 0;
        for (int32_t i = 0; i < p->n_outputs; i++)
            fields[n++] = (CField){artifact_c_name(arena, p->outputs[i].name), p->outputs[i].name};
        if (!check_fields(a, fields, n))
            return false;
    }
    return true;
}
