/* From generation_config.json to settings of tfc generate; see import_config.h. */
#include "driver/exchange/import_config.h"

#include "base/limits.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/published_sampling.h"
#include "driver/run/generation.h"

/* Whether the value is one of the setting's; says what is wrong. */
static bool check_value(Job *job, const char *key, const DecodeSetting *setting,
                        const JsonValue *value)
{
    char range[RANGE_TEXT];
    const bool is_kind =
        setting->kind == SETTING_NUMBER ? import_json_is_number(value) : value->kind == JV_INTEGER;
    if (is_kind && setting_fits(setting, value->number))
        return true;
    setting_range(setting, range);
    diag_warning(&job->diags, (Loc){0},
                 PUBLISHED_GENERATION ": \"%s\" is %s, and is left out: tfc takes %s", key,
                 import_json_text(job, value), range);
    return false;
}

/* Whether the only word is the padding token, which no run chooses. */
static bool is_padding(const JsonValue *generation, const JsonValue *words)
{
    const JsonValue *pad = json_member(generation, "pad_token_id"),
                    *word = words->kind == JV_LIST && words->n == 1 ? words->items : NULL;
    return pad && pad->kind == JV_INTEGER && word && word->kind == JV_LIST && word->n == 1 &&
           word->items[0].kind == JV_INTEGER && word->items[0].integer == pad->integer;
}

/* Names the settings that decide what is generated there, and that no run has as a default. */
static void warn_of_settings(Job *job, const JsonValue *generation)
{
    static const struct {
        const char *key, *instead;
    } rows[] = {
        /* clang-format off */
        {"min_p",                NULL},
        {"max_length",           "--max-tokens"},
        {"max_new_tokens",       "--max-tokens"},
        {"stop_strings",         "--stop"},
        {"bad_words_ids",        NULL},
        {"suppress_tokens",      NULL},
        {"begin_suppress_tokens", NULL},
        {"min_length",           NULL},
        {"min_new_tokens",       NULL},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const JsonValue *value = json_member(generation, rows[i].key);
        if (!value || value->kind == JV_NULL || value->kind == JV_FALSE ||
            (value->kind == JV_LIST && !value->n) ||
            (import_json_is_number(value) && value->number <= 0) || is_padding(generation, value))
            continue;
        diag_warning(&job->diags, (Loc){0}, PUBLISHED_GENERATION ": \"%s\" is left out%s%s",
                     rows[i].key,
                     rows[i].instead ? ": give it as " : ", and tfc has no option for it",
                     rows[i].instead ? rows[i].instead : "");
    }
}

/* Whether the model generates from a source, by a search. */
static bool import_translates(const ImportConfig *config)
{
    const JsonValue *is = json_member(config->json, "is_encoder_decoder");
    return is ? is->kind == JV_TRUE
              : json_member(config->json, "decoder_layers") ||
                    json_member(config->json, "num_decoder_layers");
}

void import_generation(Job *job, const ImportConfig *config, TextList *settings)
{
    if (config->generation)
        warn_of_settings(job, config->generation);
    const JsonValue *samples =
        config->generation ? json_member(config->generation, PUBLISHED_SAMPLES) : NULL;
    const bool is_drawn = !samples || samples->kind != JV_FALSE;
    if (!config->generation)
        return;
    if (samples && is_drawn && samples->kind != JV_TRUE && samples->kind != JV_NULL)
        diag_warning(&job->diags, (Loc){0},
                     PUBLISHED_GENERATION ": \"%s\" is %s, and is left out: expected true or false",
                     PUBLISHED_SAMPLES, import_json_text(job, samples));
    for (const PublishedSampling *of = published_sampling; of->key; of++) {
        const JsonValue *value = json_member(config->generation, of->key);
        const DecodeSetting *setting = &setting_rows[setting_default_row(of->name)];
        const bool is_search = of->when == WHEN_TRANSLATES && !import_translates(config);
        if (is_search && value && import_json_is_number(value) && value->number != 1)
            diag_warning(&job->diags, (Loc){0},
                         PUBLISHED_GENERATION
                         ": \"%s\" is left out: tfc searches for translations alone",
                         of->key);
        if (is_search || (of->when == WHEN_SAMPLES && !is_drawn))
            continue;
        if (value && value->kind != JV_NULL && check_value(job, of->key, setting, value) &&
            value->number != setting->initial)
            vec_push(job->arena, *settings,
                     generation_default_text(job->arena, of->name, value->number));
    }
    if (settings->count)
        diag_remark(&job->diags, (Loc){0},
                    PUBLISHED_GENERATION ": where no option says, the run generates with %s",
                    text_join(job->arena, settings->data, settings->count));
}
