/* From generation_config.json to settings of tfc generate; see import_config.h. */
#include "driver/exchange/import_config.h"

#include "base/limits.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/published_sampling.h"
#include "driver/run/generation.h"

/* Whether the value is one of the setting's; says what is wrong. */
static bool check_value(Job *job, const DecodeSetting *setting, const JsonValue *value)
{
    char range[RANGE_TEXT];
    const bool is_kind =
        setting->kind == SETTING_NUMBER ? import_json_is_number(value) : value->kind == JV_INTEGER;
    if (is_kind && setting_fits(setting, value->number))
        return true;
    setting_range(setting, range);
    diag_warning(&job->diags, (Loc){0},
                 PUBLISHED_GENERATION ": \"%s\" is %s, and is left out: tfc takes %s",
                 setting->name, import_json_text(job, value), range);
    return false;
}

void import_generation(Job *job, const ImportConfig *config, TextList *settings)
{
    const JsonValue *samples =
        config->generation ? json_member(config->generation, PUBLISHED_SAMPLES) : NULL;
    if (!config->generation || (samples && samples->kind == JV_FALSE))
        return;
    if (samples && samples->kind != JV_TRUE && samples->kind != JV_NULL)
        diag_warning(&job->diags, (Loc){0},
                     PUBLISHED_GENERATION ": \"%s\" is %s, and is left out: expected true or false",
                     PUBLISHED_SAMPLES, import_json_text(job, samples));
    for (const PublishedSampling *of = published_sampling; of->key; of++) {
        const JsonValue *value = json_member(config->generation, of->key);
        const DecodeSetting *setting = &setting_rows[setting_default_row(of->key)];
        if (value && value->kind != JV_NULL && check_value(job, setting, value) &&
            value->number != setting->initial)
            vec_push(job->arena, *settings,
                     generation_default_text(job->arena, of->key, value->number));
    }
    if (settings->count)
        diag_remark(&job->diags, (Loc){0},
                    PUBLISHED_GENERATION ": where no option says, the run generates with %s",
                    text_join(job->arena, settings->data, settings->count));
}
