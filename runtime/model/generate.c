/* Decoding: encode, one token at a time, and whole generations. */
#include "runtime/model/state.h"

#include "base/limits.h"
#include "runtime/decode/stepper_exec.h"

#include <stdlib.h>
#include <string.h>

/* The session's stepper, made at the first call. */
int session_prepare_decode(TfcSession *session)
{
    const TfcModel *model = session->loaded->model;
    if (!session_program(session, TFC_DECODE_STEP))
        return TFC_ERROR_FUNCTION;
    StepperPrograms programs = {.encode = session->loaded->variant->programs[TFC_ENCODE],
                                .decode_step = session->loaded->variant->programs[TFC_DECODE_STEP],
                                .target = model->target,
                                .logits = model->logits};
    if (!session_refresh(session))
        return tfc_model_no_memory();
    if (session->has_stepper)
        return TFC_OK;
    bool ok = (!programs.encode || session_add(session, programs.encode)) &&
              session_add(session, programs.decode_step) &&
              stepper_exec_new(&programs, session->store, &session->stepper);
    session->has_stepper = ok;
    return ok ? TFC_OK : tfc_model_no_memory();
}

/* Sentences for the encoder or, without one, prompts. */
static int check_sentences(const TfcSession *session, int32_t n, const int32_t *lengths,
                           const int32_t *ids)
{
    const TfcModel *model = session->loaded->model;
    int64_t total = 0;
    if (n < 0 || (n > 0 && !lengths))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, n < 0 ? "n is %d" : "lengths is NULL", n);
    for (int32_t i = 0; i < n; i++)
        if (lengths[i] < 0 || (total += lengths[i]) > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "lengths[%d] is %d%s", i, lengths[i],
                                  lengths[i] < 0 ? "" : ": all of them together pass 2^31 - 1");
    if (total && !ids)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "ids is NULL");
    bool encodes = session->loaded->variant->programs[TFC_ENCODE] != NULL;
    return tfc_model_check_ids(model, encodes ? model->source : model->target, ids, total);
}

/* NULL: out of memory. */
static Tokens *cut_sentences(Arena *arena, int32_t n, const int32_t *lengths, const int32_t *ids)
{
    Tokens *tokens = ARENA_ARRAY(arena, Tokens, (int64_t)n + 1);
    for (int32_t i = 0; tokens && i < n; i++) {
        tokens[i] = (Tokens){ids, lengths[i]};
        ids = ids ? ids + lengths[i] : NULL;
    }
    return tokens;
}

static int begin(TfcSession *session, const Tokens *sources, int32_t n, int32_t slots)
{
    session->n_slots = -1;
    uint8_t *is_fed = realloc(session->is_fed, (size_t)slots + 1);
    if (!is_fed)
        return tfc_model_no_memory();
    session->is_fed = memset(is_fed, 0, (size_t)slots + 1);
    if (!session->stepper.begin(session->stepper.self, sources, n, slots))
        return tfc_model_no_memory();
    session->n_sentences = n;
    session->n_slots = slots;
    return TFC_OK;
}

static int check_slots(int32_t slots)
{
    return slots < 0 ? tfc_model_fail(TFC_ERROR_ARGUMENT, "slots is %d", slots) : TFC_OK;
}

static int encode(TfcSession *session, int32_t n, const int32_t *lengths, const int32_t *ids,
                  int32_t slots)
{
    int status = check_sentences(session, n, lengths, ids);
    if (!status)
        status = check_slots(slots);
    if (!status)
        status = session_prepare_decode(session);
    if (status)
        return status;
    Arena *arena = arena_try_new();
    const Tokens *sources = arena ? cut_sentences(arena, n, lengths, ids) : NULL;
    status = sources ? begin(session, sources, n, slots) : tfc_model_no_memory();
    arena_free(arena);
    return status;
}

int tfc_model_encode(TfcSessionHandle *handle, int32_t n, const int32_t *lengths,
                     const int32_t *ids, int32_t slots)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = encode(session, n, lengths, ids, slots);
    session_leave(session, USE_READ);
    return status;
}

int tfc_model_decode_begin(TfcSessionHandle *handle, int32_t slots)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = check_slots(slots);
    if (!status)
        status = session_prepare_decode(session);
    if (!status)
        status = begin(session, NULL, slots, slots);
    session_leave(session, USE_READ);
    return status;
}

/* Rows that can be fed together: in range, each slot once. */
static int check_rows(TfcSession *session, int32_t n, const int32_t *sentence, const int32_t *slot,
                      const int32_t *token)
{
    int status = TFC_OK;
    int32_t marked = 0;
    for (int32_t r = 0; !status && r < n; r++) {
        int32_t of = sentence ? sentence[r] : slot[r];
        if (slot[r] < 0 || slot[r] >= session->n_slots)
            status = tfc_model_fail(TFC_ERROR_ARGUMENT, "slot[%d] is %d of %d slots", r, slot[r],
                                    session->n_slots);
        else if (of < 0 || of >= session->n_sentences)
            status = tfc_model_fail(TFC_ERROR_ARGUMENT, "sentence[%d] is %d of %d sentences", r, of,
                                    session->n_sentences);
        else if (session->is_fed[slot[r]])
            status = tfc_model_fail(TFC_ERROR_ARGUMENT, "slot[%d] is %d, as in a row before it", r,
                                    slot[r]);
        else {
            session->is_fed[slot[r]] = 1;
            marked = r + 1;
        }
    }
    for (int32_t r = 0; r < marked; r++)
        session->is_fed[slot[r]] = 0;
    return status ? status
                  : tfc_model_check_ids(session->loaded->model, session->loaded->model->target,
                                        token, n);
}

static int step(TfcSession *session, int32_t n, const int32_t *sentence, const int32_t *slot,
                const int32_t *token, const float **logits)
{
    bool refreshed = session_refresh(session);
    if (!refreshed)
        return tfc_model_no_memory();
    if (session->n_slots < 0)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "decoding has not begun, or what it began with is over");
    if (n < 0)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "n is %d", n);
    int status = n ? tfc_model_need(slot, "slot") : TFC_OK;
    if (!status && n)
        status = tfc_model_need(token, "token");
    if (!status && n)
        status = check_rows(session, n, sentence, slot, token);
    if (status)
        return status;
    *logits =
        session->stepper.step(session->stepper.self, n, sentence ? sentence : slot, slot, token);
    return *logits ? TFC_OK : tfc_model_no_memory();
}

int tfc_model_decode_step(TfcSessionHandle *handle, int32_t n, const int32_t *sentence,
                          const int32_t *slot, const int32_t *token, const float **logits)
{
    int status = tfc_model_need(logits, "logits");
    if (status)
        return status;
    *logits = NULL;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = step(session, n, sentence, slot, token, logits);
    session_leave(session, USE_READ);
    return status;
}

static int copy(TfcSession *session, int32_t from, int32_t to)
{
    if (session->n_slots < 0)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "decoding has not begun, or what it began with is over");
    if (from < 0 || to < 0 || from >= session->n_slots || to >= session->n_slots)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "from slot %d to slot %d of %d slots", from, to,
                              session->n_slots);
    if (from != to)
        session->stepper.copy(session->stepper.self, from, to);
    return TFC_OK;
}

int tfc_model_decode_copy(TfcSessionHandle *handle, int32_t from, int32_t to)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = copy(session, from, to);
    session_leave(session, USE_READ);
    return status;
}

/* ---- generation ---- */

int64_t tfc_model_longest(const TfcModel *model)
{
    return model->max_length > 0 ? model->max_length : DECODE_LONGEST;
}

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
        .forbidden = {pad_ends ? -1 : (int32_t)model->pad, bos_ends ? -1 : (int32_t)model->bos,
                      (int32_t)model->unk, -1},
    };
    if (!loaded->variant->programs[TFC_ENCODE]) {
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

static int check_settings(const TfcModel *model, const TfcGeneration *s)
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
        {"forbidden[0]", s->forbidden[0], -1, vocab - 1},
        {"forbidden[1]", s->forbidden[1], -1, vocab - 1},
        {"forbidden[2]", s->forbidden[2], -1, vocab - 1},
        {"forbidden[3]", s->forbidden[3], -1, vocab - 1},
    };
    int status = check_ranges(ranges, sizeof ranges / sizeof ranges[0]);
    if (!status && (s->bos < 0 || s->bos >= model->vocab || s->eos < 0 || s->eos >= model->vocab))
        status =
            tfc_model_fail(TFC_ERROR_ARGUMENT,
                           "bos is %d, eos is %d: neither the model nor the settings name them, or "
                           "they are not below %lld",
                           s->bos, s->eos, (long long)model->vocab);
    return status;
}

static DecodeSettings decode_settings(const TfcGeneration *s)
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
    memcpy(d.forbidden, s->forbidden, sizeof d.forbidden);
    return d;
}

/* The hypotheses as the caller sees them, nbest places a sentence. */
static void put_results(const Decoded *decoded, int32_t n, int32_t nbest, TfcResult *out)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < nbest; j++) {
            const Hypothesis *h = j < decoded[i].n ? &decoded[i].best[j] : NULL;
            out[(int64_t)i * nbest + j] =
                h ? (TfcResult){h->ids, h->n, h->log_probability, h->score} : (TfcResult){0};
        }
}

static int decode(TfcSession *session, const DecodeSettings *settings, int32_t n,
                  const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    session->n_slots = -1; /* what decode_step had begun is over */
    arena_free(session->results);
    session->results = arena_try_new();
    if (!session->results)
        return tfc_model_no_memory();
    Tokens *given = cut_sentences(session->results, n, lengths, ids);
    Decoded *decoded = ARENA_ARRAY(session->results, Decoded, (int64_t)n + 1);
    bool encodes = session->loaded->variant->programs[TFC_ENCODE] != NULL;
    if (!given || !decoded ||
        !decode_batch(&session->stepper, settings, encodes ? given : NULL, encodes ? NULL : given, NULL,
                      n, session->results, decoded))
        return tfc_model_no_memory();
    put_results(decoded, n, settings->nbest, out);
    return TFC_OK;
}

int session_settings(const TfcSession *session, const TfcGeneration *settings, DecodeSettings *out)
{
    TfcGeneration defaults;
    if (!settings) {
        set_defaults(session->loaded, &defaults);
        settings = &defaults;
    }
    int status = check_settings(session->loaded->model, settings);
    if (!status)
        *out = decode_settings(settings);
    return status;
}

static int generate(TfcSession *session, const TfcGeneration *settings, int32_t n,
                    const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    DecodeSettings decoding;
    int status = session_settings(session, settings, &decoding);
    if (!status)
        status = check_sentences(session, n, lengths, ids);
    if (!status && n)
        status = tfc_model_need(out, "results");
    if (!status)
        status = session_prepare_decode(session);
    return status ? status : decode(session, &decoding, n, lengths, ids, out);
}

int tfc_model_generate(TfcSessionHandle *handle, const TfcGeneration *settings, int32_t n,
                       const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    status = generate(session, settings, n, lengths, ids, out);
    session_leave(session, USE_READ);
    return status;
}
