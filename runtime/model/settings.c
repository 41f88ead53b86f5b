/* The settings of a generation: what they are when nobody says, which are allowed, and the
 * decoder's from them. */
#include "runtime/model/state.h"

#include "base/limits.h"
#include "runtime/decode/continue.h"

#include <stdio.h>
#include <string.h>

int64_t tfc_model_longest(const TfcModel *model)
{
    return model->max_length > 0 ? model->max_length : DECODE_LONGEST;
}

/* What ends texts of a language model; -1: nothing. */
static int32_t first_stop(const TfcModel *model)
{
    return model->rule.n_stops ? model->rule.stops[0] : -1;
}

/* Whether results are framed as translations of a source, and not as a language model's texts. */
static bool has_source(const TfcLoaded *loaded)
{
    return loaded->model->source && loaded_encodes(loaded);
}

/* Those of tfc translate; of a model without an encoder, those of tfc generate. */
static void set_defaults(const TfcLoaded *loaded, TfcGeneration *out)
{
    const TfcModel *model = loaded->model;
    DecodeSettings d = decode_defaults();
    decode_set_defaults(&d, model->defaults, model->n_defaults);
    const int32_t end = (int32_t)model->eos;
    *out = (TfcGeneration){
#define SETTING(kind, name, ...) .name = d.name,
#include "runtime/decode/settings.def"
        .bos = (int32_t)model->bos,
        .eos = end,
        .first = (int32_t)model->first,
        .forbidden = {unless_end(&model->rule, end, (int32_t)model->pad),
                      unless_end(&model->rule, end, (int32_t)model->bos),
                      unless_end(&model->rule, end, (int32_t)model->unk), -1},
    };
    out->length_limit = (int32_t)tfc_model_longest(model) - 1;
    if (has_source(loaded))
        return;
    const DecodeSetting *tokens = &setting_rows[SETTING_tokens];
    out->bos = model->rule.begin;
    out->eos = first_stop(model);
    memcpy(out->forbidden, model->rule.forbidden, sizeof out->forbidden);
    if (loaded_encodes(loaded)) {
        out->bos = out->bos < 0 ? model->rule.start : out->bos;
        out->length_extra = (int32_t)tokens->initial;
    } else {
        out->sample = 1;
        setting_put(tokens, out, (int64_t)tokens->initial, 0);
    }
}

int tfc_model_generation_defaults(TfcModelHandle *handle, TfcGeneration *out)
{
    int status = tfc_model_need(out, "settings");
    TfcLoaded *loaded = status ? NULL : model_enter(handle, USE_NONE, &status);
    if (!loaded)
        return status;
    set_defaults(loaded, out);
    model_leave(loaded, USE_NONE);
    return TFC_OK;
}

/* What settings allow each other. */
static int check_together(const TfcLoaded *loaded, const TfcGeneration *s)
{
    const TfcModel *model = loaded->model;
    const int32_t least_bos = loaded_encodes(loaded) ? 0 : -1,
                  least_eos = has_source(loaded) ? 0 : -1;
    if (s->bos < least_bos || s->bos >= model->vocab || s->eos < least_eos ||
        s->eos >= model->vocab)
        return tfc_model_fail(
            TFC_ERROR_ARGUMENT,
            "bos is %d, eos is %d: neither the model nor the settings name them, or "
            "they are not below %lld",
            s->bos, s->eos, (long long)model->vocab);
    const SettingConflict *conflict =
        settings_conflict(s->sample, s->nbest, s->best_of, s->alternatives);
    if (conflict)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s", conflict->fields);
    if (!s->sample && s->nbest > s->beam)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "nbest is %d: a search gives no more than its beam, %d", s->nbest,
                              s->beam);
    return TFC_OK;
}

static int check_settable_id(const TfcModel *model, const char *name, int32_t id)
{
    return id >= -1 && id < model->vocab
               ? TFC_OK
               : tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %d; expected an id from -1 to %lld",
                                name, id, (long long)model->vocab - 1);
}

static int check_settings(const TfcLoaded *loaded, const TfcGeneration *s)
{
    const TfcModel *model = loaded->model;
    for (const DecodeSetting *row = setting_rows; row < setting_rows + SETTINGS; row++) {
        char range[RANGE_TEXT];
        double value = setting_get(row, s);
        if (row->longest || setting_fits(row, value))
            continue;
        setting_range(row, range);
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %.10g; expected %s", row->name, value,
                              range);
    }
    int status = check_settable_id(model, "first", s->first);
    for (int i = 0; !status && i < (int)(sizeof s->forbidden / sizeof *s->forbidden); i++) {
        char name[32];
        snprintf(name, sizeof name, "forbidden[%d]", i);
        status = check_settable_id(model, name, s->forbidden[i]);
    }
    return status ? status : check_together(loaded, s);
}

static DecodeSettings decode_settings(const TfcLoaded *loaded, const TfcGeneration *s)
{
    const TfcModel *model = loaded->model;
    DecodeSettings d = decode_defaults();
#define SETTING(kind, name, ...) d.name = s->name;
#define TOKEN(name, ...) d.name = s->name;
#include "runtime/decode/settings.def"
    memcpy(d.forbidden, s->forbidden, sizeof d.forbidden);
    d.until_eos = s->eos >= 0;
    d.open_end = !loaded_encodes(loaded);
    if (s->eos >= 0 && s->eos == (has_source(loaded) ? (int32_t)model->eos : first_stop(model))) {
        d.stops = model->rule.stops;
        d.n_stops = model->rule.n_stops;
    }
    return d;
}

int session_settings(const TfcSession *session, const TfcGeneration *settings, DecodeSettings *out)
{
    TfcGeneration defaults;
    if (!settings) {
        set_defaults(session->loaded, &defaults);
        settings = &defaults;
    }
    int status = check_settings(session->loaded, settings);
    if (!status)
        *out = decode_settings(session->loaded, settings);
    return status;
}
