/* The settings of a generation: what they are when nobody says, which are allowed, and the
 * decoder's from them. */
#include "runtime/model/state.h"

#include "base/limits.h"

#include <string.h>

int64_t tfc_model_longest(const TfcModel *model)
{
    return model->max_length > 0 ? model->max_length : DECODE_LONGEST;
}

/* What ends texts of a language model; -1: nothing. */
static int32_t first_stop(const TfcModel *model) { return model->rule.n_stops ? model->rule.stops[0] : -1; }

/* Those of tfc translate; of a model without an encoder, those of tfc generate. */
static void set_defaults(const TfcLoaded *loaded, TfcGeneration *out)
{
    const TfcModel *model = loaded->model;
    DecodeSettings d = decode_defaults();
    bool pad_ends = model->pad == model->eos, bos_ends = model->bos == model->eos;
    *out = (TfcGeneration){
        .beam = d.beam,
        .nbest = d.nbest,
        .length_extra = d.length_extra,
        .length_limit = (int32_t)tfc_model_longest(model) - 1,
        .length_penalty = d.length_penalty,
        .length_factor = d.length_factor,
        .temperature = d.temperature,
        .top_p = d.top_p,
        .seed = 1,
        .bos = (int32_t)model->bos,
        .eos = (int32_t)model->eos,
        .first = (int32_t)model->first,
        .repetition_penalty = d.repetition_penalty,
        .forbidden = {pad_ends ? -1 : (int32_t)model->pad, bos_ends ? -1 : (int32_t)model->bos,
                      (int32_t)model->unk, -1},
    };
    if (!loaded->variant->programs[TFC_ENCODE]) {
        out->bos = model->rule.begin;
        out->eos = first_stop(model);
        memcpy(out->forbidden, model->rule.forbidden, sizeof out->forbidden);
        out->sample = 1;
        out->length_factor = 0;
        out->length_extra = DECODE_GENERATED;
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

/* One row a number of the settings: least and largest. */
typedef struct Range {
    const char *name;
    double value, least, most;
} Range;

static int check_ranges(const Range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most))
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %.9g: from %.9g to %.9g is allowed",
                                  ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
    return TFC_OK;
}

/* What settings allow each other. */
static int check_together(const TfcModel *model, const TfcGeneration *s, bool encodes)
{
    const int32_t least = encodes ? 0 : -1;
    if (s->bos < least || s->bos >= model->vocab || s->eos < least || s->eos >= model->vocab)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "bos is %d, eos is %d: neither the model nor the settings name them, or "
                              "they are not below %lld",
                              s->bos, s->eos, (long long)model->vocab);
    if (s->best_of && (!s->sample || s->best_of < s->nbest))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "best_of is %d: %s", s->best_of,
                              s->sample ? "fewer than nbest" : "it is for samples");
    if (s->alternatives && (s->sample || s->nbest > 1))
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "alternatives is %d: they are searched for, one each: %s is %d",
                              s->alternatives, s->sample ? "sample" : "nbest",
                              s->sample ? s->sample : s->nbest);
    return TFC_OK;
}

static int check_settings(const TfcModel *model, const TfcGeneration *s, bool encodes)
{
    const double vocab = (double)model->vocab;
    const Range ranges[] = {
        {"beam", s->beam, 1, LIMIT_beam},
        {"nbest", s->nbest, 1, s->sample ? LIMIT_nbest : s->beam},
        {"length_extra", s->length_extra, 0, INT32_MAX},
        {"length_limit", s->length_limit, 0, INT32_MAX},
        {"sample", s->sample, 0, 1},
        {"top_k", s->top_k, 0, LIMIT_top_k},
        {"length_penalty", s->length_penalty, -LIMIT_length_penalty, LIMIT_length_penalty},
        {"length_factor", s->length_factor, 0, INT32_MAX},
        {"temperature", s->temperature, 0, LIMIT_temperature},
        {"top_p", s->top_p, 0, 1},
        {"refuse_long", s->refuse_long, 0, 1},
        {"best_of", s->best_of, 0, LIMIT_best_of},
        {"alternatives", s->alternatives, 0, LIMIT_alternatives},
        {"no_repeat_ngram", s->no_repeat_ngram, 0, LIMIT_no_repeat_ngram},
        {"repetition_penalty", s->repetition_penalty, 1, LIMIT_repetition_penalty},
        {"first", s->first, -1, vocab - 1},
        {"forbidden[0]", s->forbidden[0], -1, vocab - 1},
        {"forbidden[1]", s->forbidden[1], -1, vocab - 1},
        {"forbidden[2]", s->forbidden[2], -1, vocab - 1},
        {"forbidden[3]", s->forbidden[3], -1, vocab - 1},
    };
    int status = check_ranges(ranges, sizeof ranges / sizeof ranges[0]);
    return status ? status : check_together(model, s, encodes);
}

static DecodeSettings decode_settings(const TfcModel *model, const TfcGeneration *s, bool encodes)
{
    DecodeSettings d = decode_defaults();
    d.beam = s->beam;
    d.nbest = s->nbest;
    d.length_penalty = s->length_penalty;
    d.length_factor = s->length_factor;
    d.length_extra = s->length_extra;
    d.length_limit = s->length_limit;
    d.sample = s->sample != 0;
    d.temperature = s->temperature;
    d.top_k = s->top_k;
    d.top_p = s->top_p;
    d.seed = s->seed;
    d.bos = s->bos;
    d.eos = s->eos;
    d.first = s->first;
    d.best_of = s->best_of;
    d.alternatives = s->alternatives;
    d.no_repeat_ngram = s->no_repeat_ngram;
    d.repetition_penalty = s->repetition_penalty;
    memcpy(d.forbidden, s->forbidden, sizeof d.forbidden);
    d.until_eos = s->eos >= 0;
    d.open_end = !encodes;
    if (!encodes && s->eos >= 0 && s->eos == first_stop(model)) {
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
    const TfcModel *model = session->loaded->model;
    bool encodes = session->loaded->variant->programs[TFC_ENCODE] != NULL;
    int status = check_settings(model, settings, encodes);
    if (!status)
        *out = decode_settings(model, settings, encodes);
    return status;
}
