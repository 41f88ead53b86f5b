/* Names of a model as identifiers of other languages. */
#include "driver/compile/artifact.h"

#include <ctype.h>
#include <string.h>

/* The characters of an identifier: others become `_`, and a digit gets one before it. */
static char *identifier_of(Arena *arena, const char *name)
{
    char *copy = arena_printf(arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *p = copy; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return copy;
}

static const char *free_name(Arena *arena, const char *name, bool of_model)
{
    const char *plain = identifier_of(arena, name);
    return ports_name_owner(plain, of_model) ? arena_printf(arena, "%s_", plain) : plain;
}

const char *artifact_c_name(Arena *arena, const char *name)
{
    return free_name(arena, name, false);
}

/* ---- the model's name ---- */

/* What begins with it: the functions of the library beside those of the model. */
static const char of_runtime[] = "tfc_";

static bool is_of_runtime(const char *name)
{
    return !strncmp(name, of_runtime, sizeof of_runtime - 1);
}

const char *compile_name_problem(Arena *arena, const char *name)
{
    const size_t n =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (!isalpha((unsigned char)*name) || name[n])
        return "expected a letter, and behind it letters, digits and _";
    if (is_of_runtime(name))
        return "names that begin with tfc_ are the runtime's";
    const char *owner = ports_name_owner(name, true);
    return owner ? arena_printf(arena, "%s has that name: choose another", owner) : NULL;
}

bool compile_choose_name(Artifact *a, const char *given)
{
    const char *own = identifier_of(a->job->arena, a->session.model->module->name);
    a->name = given ? given : free_name(a->job->arena, own, true);
    if (is_of_runtime(a->name))
        return job_error(a->job,
                         "the model is called %s: names that begin with tfc_ are the runtime's",
                         a->name);
    if (!given && strcmp(a->name, own) && artifact_shows_name(a))
        diag_remark(
            &a->job->diags, (Loc){0},
            "the names in C and Python begin with %s, since %s has the name %s: --name NAME "
            "gives others",
            a->name, ports_name_owner(own, true), own);
    return true;
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
