/* Whether generation_config.json recommends what the run generates with. */
#include "driver/exchange/import_config.h"
#include "driver/exchange/published_sampling.h"
#include "driver/exchange/revise_parts.h"
#include "driver/run/generation.h"

#include <string.h>

static const DecodeSetting *setting_of(const PublishedSampling *sampling)
{
    return &setting_rows[setting_default_row(sampling->name)];
}

/* The value where no option says. */
static double default_of(const GenerationDefaults *defaults, const PublishedSampling *sampling)
{
    for (size_t i = 0; i < defaults->count; i++)
        if (!strcmp(defaults->data[i].name, sampling->name))
            return defaults->data[i].value;
    return setting_of(sampling)->initial;
}

static JsonValue value_of(const PublishedSampling *sampling, double value)
{
    return setting_of(sampling)->kind == SETTING_NUMBER
               ? (JsonValue){.kind = JV_NUMBER, .number = value}
               : json_of_integer((int64_t)value);
}

/* All of them, since do_sample false says that draws of the file hold nothing. */
static void set_sampling(Revise *r, const GenerationDefaults *is)
{
    bool samples = false;
    revise_make_generation(r);
    for (const PublishedSampling *sampling = published_sampling; sampling->key; sampling++) {
        const double value = default_of(is, sampling);
        const bool is_own = value != setting_of(sampling)->initial,
                   is_said =
                       r->config.generation && json_member(r->config.generation, sampling->key);
        if (is_own || is_said)
            revise_set(r, PUBLISHED_GENERATION, sampling->key, value_of(sampling, value));
        samples = samples || (is_own && sampling->when == WHEN_SAMPLES);
    }
    if (samples)
        revise_set(r, PUBLISHED_GENERATION, PUBLISHED_SAMPLES, json_of_truth(true));
}

/* A file of Marian's has no place for them, and computes the same without. */
static bool leave_sampling_out(Revise *r, const GenerationDefaults *is)
{
    const RunRecord *record = &r->record;
    if (strcmp(r->options->format, "marian") != 0)
        return false;
    for (size_t i = 0; i < is->count; i++)
        diag_warning(&r->job->diags, (Loc){0},
                     "%s generates with %s where no option says, which is left out: Marian's "
                     "settings have no place for it",
                     r->run, record->generation.data[i]);
    return true;
}

bool revise_generation(Revise *r)
{
    RunRecord published = {0};
    GenerationDefaults is, says;
    bool differs = false;
    if (!r->record.knows_generation) /* of the tfc that imported it: they are not the run's */
        return true;
    import_generation(&r->quiet, &r->config, &published.generation);
    if (!generation_defaults_read(r->job, r->run, &r->record, &is) ||
        !generation_defaults_read(r->job, r->run, &published, &says))
        return false;
    if (leave_sampling_out(r, &is))
        return true;
    for (const PublishedSampling *sampling = published_sampling; sampling->key; sampling++) {
        const double a = default_of(&is, sampling), b = default_of(&says, sampling);
        if (a == b)
            continue;
        differs = true;
        revise_differs(r, sampling->name, arena_printf(r->job->arena, "%g", a),
                       arena_printf(r->job->arena, "%g", b));
    }
    if (differs)
        set_sampling(r, &is);
    return true;
}
