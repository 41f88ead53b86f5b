/* Matching dotted names part by part. */
#include "driver/patterns.h"

#include <string.h>

static bool meets(const char *pattern, const char *name)
{
    for (;;) {
        size_t p = strcspn(pattern, "."), n = strcspn(name, ".");
        bool star = p == 1 && *pattern == '*';
        if (!n || (!star && (p != n || memcmp(pattern, name, n))))
            return false;
        if (!pattern[p]) /* all that lies under it, too */
            return true;
        pattern += p + 1;
        name += n + (name[n] == '.');
    }
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

void patterns_freeze(const TextList *patterns, Module *module)
{
    for (size_t i = 0; i < module->params.count; i++) {
        ParamInfo *param = module->params.data[i];
        if (param->role == PARAM_TRAINED && patterns_meet(patterns, param->name))
            param->role = PARAM_FROZEN;
    }
}
