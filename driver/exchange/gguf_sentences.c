/* llama.h's enum llama_pooling_type beside modules.json. */
#include "driver/exchange/gguf_sentences.h"

#include "base/file.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_sentences.h"
#include "driver/exchange/prompts.h"

#include <string.h>

static const struct {
    uint32_t number;
    const char *ours, *key;
} poolings[] = {{1, "mean", "pooling_mode_mean_tokens"},
                {2, "cls", "pooling_mode_cls_token"},
                {3, "lasttoken", "pooling_mode_lasttoken"}};
enum { N_POOLINGS = sizeof poolings / sizeof *poolings };

/* Notes of what readers of the GGUF do otherwise. */
static bool tell_unsaid(Job *job, const char *folder, int64_t context,
                        const ImportSentences *sentences)
{
    Prompts prompts;
    const JsonValue *texts, *longest;
    const char *file = import_sentences_texts(job, folder);
    if (!import_json_read(job, folder, file, JV_OBJECT, &texts) ||
        !import_json_member(job, file_in(job->arena, folder, file), texts, SENTENCES_LONGEST,
                            IS_NUMBER, &longest) ||
        !prompts_read(job, folder, &prompts))
        return false;
    if (sentences->is_normalised)
        diag_remark(&job->diags, (Loc){0},
                    "a GGUF does not say that vectors have length 1: its readers choose");
    if (longest && longest->number < (double)context)
        diag_warning(&job->diags, (Loc){0},
                     "a GGUF has no place for \"%s\" of %s: longer texts are not cut at %g there",
                     SENTENCES_LONGEST, file, longest->number);
    if (prompts.names.count)
        diag_warning(&job->diags, (Loc){0}, "a GGUF has no place for prompts: %s are left out",
                     prompts_list(job, &prompts));
    return true;
}

bool gguf_put_pooling(Job *job, const char *folder, const char *architecture, int64_t context,
                      GgufWriter *writer)
{
    ImportSentences sentences;
    if (!import_sentences_read(job, folder, &sentences) ||
        !tell_unsaid(job, folder, context, &sentences))
        return false;
    gguf_put_bool(writer, arena_printf(job->arena, "%s.attention.causal", architecture), false);
    if (sentences.finish)
        return job_error(job,
                         "%s has layers behind the pooling, and a GGUF has no place for them: "
                         "--format hf writes them",
                         folder);
    const char *way = sentences.poolings.data[0];
    for (int i = 0; i < N_POOLINGS && sentences.poolings.count == 1; i++)
        if (!strcmp(poolings[i].ours, way)) {
            gguf_put_size(writer, arena_printf(job->arena, "%s.pooling_type", architecture),
                          poolings[i].number);
            return true;
        }
    return job_error(
        job,
        "%s pools tokens by '%s'%s; a GGUF says one of mean, cls and lasttoken: --format hf writes "
        "any",
        folder, way, sentences.poolings.count > 1 ? " and others" : "");
}

static const char *key_of(Job *job, const Gguf *gguf)
{
    const GgufValue *value = gguf_own(gguf, "pooling_type");
    const double number = value ? gguf_number(value, 0) : 0;
    for (int i = 0; i < N_POOLINGS; i++)
        if (number == (double)poolings[i].number)
            return poolings[i].key;
    job_error(
        job,
        "%s: its %s.pooling_type is %s%g; 1, the mean, 2, the first token, and 3, the last, are read",
        gguf->list.path, gguf->architecture, value ? "" : "absent, or ", number);
    return NULL;
}

bool gguf_write_sentences(Job *job, const Gguf *gguf, const char *to)
{
    static const char modules[] =
        "[\n  {\"idx\": 0, \"name\": \"0\", \"path\": \"\", \"type\": "
        "\"sentence_transformers.models.Transformer\"},\n"
        "  {\"idx\": 1, \"name\": \"1\", \"path\": \"1_Pooling\", \"type\": "
        "\"sentence_transformers.models.Pooling\"}\n]\n";
    const char *key = key_of(job, gguf), *folder = file_in(job->arena, to, "1_Pooling");
    if (!key || !file_make_folder(&job->diags, folder))
        return false;
    const char *pooling = arena_printf(job->arena, "{\"%s\": true}\n", key);
    return file_write_all(&job->diags, file_in(job->arena, to, "modules.json"), modules,
                          strlen(modules)) &&
           file_write_all(&job->diags, file_in(job->arena, folder, "config.json"), pooling,
                          strlen(pooling));
}
