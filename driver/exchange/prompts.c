/* Reading and choosing prompts; see prompts.h. */
#include "driver/exchange/prompts.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_sentences.h"

#include <string.h>

static const char default_key[] = "default_prompt_name", prompts_key[] = "prompts";

static int find_prompt(const Prompts *prompts, const char *name)
{
    for (size_t i = 0; i < prompts->names.count; i++)
        if (!strcmp(prompts->names.data[i], name))
            return (int)i;
    return -1;
}

const char *prompts_list(Job *job, const Prompts *prompts)
{
    const char *list = "";
    for (size_t i = 0; i < prompts->names.count; i++)
        list = arena_printf(job->arena, "%s%s%s", list, i ? ", " : "",
                            text_visible_name(job->arena, prompts->names.data[i]));
    return list;
}

static bool add_prompts(Job *job, const char *path, const JsonValue *json, Prompts *prompts)
{
    const JsonValue *all = json_member(json, prompts_key);
    if (!all || all->kind == JV_NULL)
        return true;
    bool ok = all->kind == JV_OBJECT;
    for (size_t i = 0; ok && i < all->n; i++) {
        ok = all->items[i].kind == JV_STRING;
        vec_push(job->arena, prompts->names, all->keys[i]);
        vec_push(job->arena, prompts->texts, ok ? all->items[i].text : "");
    }
    return ok || job_error(job, "%s: \"%s\": expected an object with a text for each name", path,
                           prompts_key);
}

bool prompts_read(Job *job, const char *folder, Prompts *prompts)
{
    const char *path = file_in(job->arena, folder, SENTENCES_SETTINGS);
    const JsonValue *json, *name;
    *prompts = (Prompts){.chosen = -1};
    if (!import_json_read(job, folder, SENTENCES_SETTINGS, JV_OBJECT, &json))
        return false;
    if (!json)
        return true;
    if (!add_prompts(job, path, json, prompts) ||
        !import_json_member(job, path, json, default_key, IS_TEXT, &name))
        return false;
    prompts->chosen = name ? find_prompt(prompts, name->text) : -1;
    if (name && prompts->chosen < 0)
        return job_error(job, "%s: \"%s\" is \"%s\", which is none of its prompts (%s)", path,
                         default_key, text_visible_name(job->arena, name->text),
                         prompts_list(job, prompts));
    ImportSentences sentences;
    if (prompts->names.count && import_sentences_is(job, folder)) {
        if (!import_sentences_read(job, folder, &sentences))
            return false;
        prompts->leaves_out = sentences.leaves_prompt;
    }
    return true;
}

/* A prompt of no text changes nothing. */
static bool take_prompt(Job *job, const char *run, const Prompts *prompts, int i, const char **text)
{
    const char *is = i < 0 ? "" : prompts->texts.data[i];
    *text = *is ? is : NULL;
    return !*is || !prompts->leaves_out ||
           job_error(job,
                     "%s: the prompt '%s' is not to be pooled (include_prompt is false in the "
                     "folder's 1_Pooling), which is not done here",
                     run, text_visible_name(job->arena, prompts->names.data[i]));
}

bool prompts_of_run(Job *job, const char *run, const char *name, const char **text)
{
    Prompts prompts;
    const char *folder = run ? file_in(job->arena, run, "published") : NULL;
    *text = NULL;
    if (name && !*name)
        return true;
    if (!folder || !file_is_folder(folder))
        return !name || job_error(job,
                                  "--prompt %s: the run has no prompts, since it was not imported "
                                  "from a folder of sentence-transformers",
                                  name);
    if (!prompts_read(job, folder, &prompts))
        return false;
    const int i = name ? find_prompt(&prompts, name) : prompts.chosen;
    if (!name || i >= 0)
        return take_prompt(job, run, &prompts, i, text);
    return job_error(job, "--prompt %s: %s has no prompt of that name%s", name, run,
                     prompts.names.count ? text_known(job->arena, "'", name, prompts.names.data,
                                                      prompts.names.count)
                                         : ", and no others");
}
