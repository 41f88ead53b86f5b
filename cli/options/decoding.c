/* From the options of decoding to its settings. */
#include "cli/options/decoding.h"

#include <string.h>

void decoding_note_given(Decoding *decoding, const Arguments *arguments)
{
    for (int row = 0; row < SETTINGS; row++)
        for (size_t i = 0; setting_help(row)->option && i < arguments->given.count; i++)
            decoding->given[row] =
                decoding->given[row] ||
                !strcmp(arguments->given.data[i].option->name, setting_help(row)->option);
}

const char *decoding_mistake(Arena *arena, const Decoding *decoding)
{
    char *text = arena_alloc(arena, SETTINGS_TEXT);
    if (settings_given_conflict(decoding->given, decoding->sample, decoding->nbest, decoding->beam,
                                text))
        return text;
    const SettingConflict *conflict = settings_conflict(decoding->sample, decoding->nbest,
                                                        decoding->best_of, decoding->alternatives);
    return conflict ? conflict->options : NULL;
}

#define COPY(kind, name, ...) settings->name = (SETTING_TYPE_##kind)decoding->name;

void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings)
{
#define ANY(kind, name, ...)             \
    if (decoding->given[SETTING_##name]) \
    COPY(kind, name)
#include "runtime/decode/settings.def"
}

/* What is given, or set by the command; the run may bring along the rest. */
static void set_search(const Decoding *decoding, DecodeSettings *settings)
{
#define SEARCH(kind, name, initial, ...)                              \
    if (decoding->given[SETTING_##name] || decoding->name != initial) \
    COPY(kind, name)
#define LIST COPY
#include "runtime/decode/settings.def"
}

void decoding_tell_stuck(Job *job, int64_t n)
{
    if (n)
        diag_remark(&job->diags, (Loc){0},
                    "%lld answer%s early: --no-repeat-ngram left no token to go on with",
                    (long long)n, text_plural(n, " ends", "s end"));
}

DecodeSettings decoding_settings(const Decoding *decoding, const Inference *inference)
{
    DecodeSettings s = inference_decode_settings(inference);
    set_search(decoding, &s);
    decoding_set_draw(decoding, &s);
    s.nbest = s.nbest > 0 ? s.nbest : 1;
    s.beam = settings_beam(s.beam, s.nbest);
    if (decoding->max_tokens) {
        s.length_factor = 0;
        s.length_extra = (int32_t)decoding->max_tokens;
    }
    return s;
}
