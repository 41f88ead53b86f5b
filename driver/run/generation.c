/* Reading and writing the settings of generation of run.json. */
#include "driver/run/generation.h"

#include "base/limits.h"

#include <string.h>

static bool read_default(Job *job, const char *folder, const char *text, DecodeDefault *out)
{
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    char range[RANGE_TEXT];
    *out = (DecodeDefault){.name = arena_strndup(job->arena, text, length)};
    const int row = setting_default_row(out->name);
    if (row < 0)
        return job_error(job, "%s: \"generation\": no run brings along '%s'",
                         run_record_file(job, folder), text_visible_name(job->arena, text));
    if (equals && text_real(equals + 1, &out->value) &&
        setting_fits(&setting_rows[row], out->value))
        return true;
    setting_range(&setting_rows[row], range);
    return job_error(job, "%s: \"generation\": '%s': expected %s", run_record_file(job, folder),
                     text_visible_name(job->arena, text), range);
}

bool generation_defaults_read(Job *job, const char *folder, const RunRecord *record,
                              GenerationDefaults *defaults)
{
    *defaults = (GenerationDefaults){0};
    for (size_t i = 0; i < record->generation.count; i++) {
        DecodeDefault is;
        if (!read_default(job, folder, record->generation.data[i], &is))
            return false;
        vec_push(job->arena, *defaults, is);
    }
    return true;
}

const char *generation_default_text(Arena *arena, const char *name, double value)
{
    return arena_printf(arena, "%s=%.15g", name, value);
}
