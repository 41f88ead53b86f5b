/* Matching dotted names part by part. */
#define _GNU_SOURCE
#include "driver/ports/patterns.h"

#include "base/arena.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A pattern ends where a type follows (patterns_keep). */
#define PATTERN_TYPE "="

static const char *next_part(const char *at)
{
    at += strcspn(at, "." PATTERN_TYPE);
    return at + (*at == '.');
}

/* Whether the first part of the pattern meets that of the name. */
static bool part_meets(const char *pattern, const char *name)
{
    char *glob = strndup(pattern, strcspn(pattern, "." PATTERN_TYPE)),
         *part = strndup(name, strcspn(name, "."));
    memory_need(glob && part);
    bool ok = *part && !fnmatch(glob, part, FNM_NOESCAPE);
    free(glob);
    free(part);
    return ok;
}

/* Each ** matches as few parts as possible. Where a part behind it does not match, the last **
 * takes one part more; an earlier ** that took more would only leave fewer parts to what
 * follows. */
static bool meets(const char *pattern, const char *name)
{
    const char *behind = NULL, *from = NULL; /* where the last ** stands */
    while (*pattern && *pattern != *PATTERN_TYPE) {
        if (!strncmp(pattern, "**.", 3)) {
            behind = pattern += 3;
            from = name;
            if (!*name)
                return false;
        } else if (part_meets(pattern, name)) {
            pattern = next_part(pattern);
            name = next_part(name);
        } else if (behind && *from && *(from = next_part(from))) {
            pattern = behind;
            name = from;
        } else {
            return false;
        }
    }
    return true; /* all that lies under it, too */
}

bool patterns_meet(const TextList *patterns, const char *name)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (meets(patterns->data[i], name))
            return true;
    return false;
}

static bool meets_any(const char *pattern, const Module *module)
{
    for (size_t i = 0; i < module->params.count; i++)
        if (meets(pattern, module->params.data[i]->name))
            return true;
    return false;
}

/* What a pattern of so many parts could have meant: names cut to as many, each once. */
static const char *suggestion(Job *job, const char *pattern, const Module *module)
{
    const char *anywhere = arena_printf(job->arena, "**.%s", pattern);
    if (meets_any(anywhere, module))
        return arena_printf(
            job->arena, "; a pattern begins at a name's first part: did you mean '%s'?", anywhere);
    int parts = 1;
    for (const char *at = pattern; *at; at++)
        parts += *at == '.';
    VEC(const char *) names = {0};
    Map seen;
    map_init(&seen, job->arena);
    for (size_t i = 0; i < module->params.count; i++) {
        const char *name = module->params.data[i]->name, *end = name;
        for (int part = 0; part < parts && *end; part++)
            end += strcspn(end, ".") + (part + 1 < parts && strchr(end, '.'));
        name = arena_strndup(job->arena, name, (size_t)(end - name));
        if (map_has(&seen, name))
            continue;
        map_set(&seen, name, job);
        vec_push(job->arena, names, name);
    }
    return text_suggest(job->arena, "'", pattern, names.data, names.count);
}

bool patterns_meet_all(const TextList *patterns, const TextList *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!patterns_meet(patterns, names->data[i]))
            return false;
    return names->count > 0;
}

bool patterns_check(Job *job, const char *option, const TextList *patterns, const Module *module)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->data[i];
        if (meets_any(pattern, module))
            continue;
        return job_error(job, "--%s %s meets no param of the model%s", option, pattern,
                         suggestion(job, pattern, module));
    }
    return true;
}

/* The shortest front of a name of `some`, "encoder.layer.1" of "encoder.layer.1.self.query", under
 * which all names are among `some`. */
static const char *shortest_front(Arena *arena, const TextList *all, const TextList *some,
                                  const char *name)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const size_t length = (size_t)(dot - name);
        bool alone = true;
        for (size_t i = 0; alone && i < all->count; i++)
            alone =
                strncmp(all->data[i], name, length + 1) != 0 || text_list_has(some, all->data[i]);
        if (alone)
            return arena_strndup(arena, name, length);
    }
    return name;
}

const char *patterns_options(Arena *arena, const char *option, const TextList *all,
                             const TextList *some)
{
    TextList fronts = {0};
    const char *text = "";
    for (size_t i = 0; i < some->count; i++) {
        const char *front = shortest_front(arena, all, some, some->data[i]);
        if (text_list_has(&fronts, front))
            continue;
        vec_push(arena, fronts, front);
        text = arena_printf(arena, "%s%s--%s '%s'", text, *text ? " " : "", option, front);
    }
    return text;
}

TextList patterns_params(Job *job, const Module *module)
{
    TextList names = {0};
    for (size_t i = 0; i < module->params.count; i++)
        vec_push(job->arena, names, module->params.data[i]->name);
    return names;
}

void patterns_freeze(const TextList *patterns, const TextList *only, Module *module)
{
    for (size_t i = 0; i < module->params.count; i++) {
        ParamInfo *param = module->params.data[i];
        bool trains = (!only->count || patterns_meet(only, param->name)) &&
                      !patterns_meet(patterns, param->name);
        if (param->role == PARAM_TRAINED && !trains)
            param->role = PARAM_FROZEN;
    }
}

bool patterns_keep(Job *job, const TextList *patterns, Module *module)
{
    for (size_t i = patterns->count; i-- > 0;) { /* the first one decides */
        const char *equals = strrchr(patterns->data[i], *PATTERN_TYPE),
                   *type = equals ? equals + 1 : NULL;
        const Quant quant = type ? quant_of_word(type) : QUANT_NONE;
        if (type && !quant && strcmp(type, "f32") != 0)
            return job_error(job, "--keep %s: the type is '%s'; expected f32|" QUANT_WORDS,
                             patterns->data[i], type);
        for (size_t k = 0; k < module->params.count; k++)
            if (meets(patterns->data[i], module->params.data[k]->name)) {
                module->params.data[k]->kept = !quant;
                module->params.data[k]->quant = quant;
            }
    }
    return true;
}
