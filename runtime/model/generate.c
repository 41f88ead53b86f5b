/* Decoding: encode, one token at a time, and whole generations. */
#include "runtime/model/state.h"

#include "runtime/decode/stepper_exec.h"

#include <string.h>

/* The session's stepper, made at the first call. */
static int prepare(TfcSession *session)
{
    const TfcModel *model = session->loaded->model;
    if (!session_program(session, TFC_DECODE_STEP))
        return TFC_ERROR_FUNCTION;
    StepperPrograms programs = {.encode = session->loaded->variant->programs[TFC_ENCODE],
                                .decode_step = session->loaded->variant->programs[TFC_DECODE_STEP],
                                .target = model->target,
                                .logits = model->logits};
    if (!session_refresh(session))
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    if (session->has_stepper)
        return TFC_OK;
    bool ok = (!programs.encode || session_add(session, programs.encode)) &&
              session_add(session, programs.decode_step) &&
              stepper_exec_new(&programs, session->store, &session->stepper);
    session->has_stepper = ok;
    return ok ? TFC_OK : tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
}

static int check_sentences(int32_t n, const int32_t *lengths, const int32_t *ids)
{
    int64_t total = 0;
    if (n < 0 || (n > 0 && (!lengths || !ids)))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "no sentences");
    for (int32_t i = 0; i < n; i++)
        if (lengths[i] < 0 || (total += lengths[i]) > INT32_MAX)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "length %d is %d", i, lengths[i]);
    return TFC_OK;
}

static Tokens *cut_sentences(Arena *arena, int32_t n, const int32_t *lengths, const int32_t *ids)
{
    Tokens *tokens = ARENA_ARRAY(arena, Tokens, n + 1);
    for (int32_t i = 0; i < n; ids += lengths[i++])
        tokens[i] = (Tokens){ids, lengths[i]};
    return tokens;
}

static int begin(TfcSession *session, const Tokens *sources, int32_t n, int32_t slots)
{
    session->n_slots = -1;
    if (!session->stepper.begin(session->stepper.self, sources, n, slots))
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    session->n_sentences = n;
    session->n_slots = slots;
    return TFC_OK;
}

int tfc_model_encode(TfcSession *session, int32_t n, const int32_t *lengths, const int32_t *ids,
                 int32_t slots)
{
    int status = check_sentences(n, lengths, ids);
    if (!status && slots < 0)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "%d slots", slots);
    if (!status)
        status = prepare(session);
    if (status)
        return status;
    Arena *arena = arena_new();
    status = begin(session, cut_sentences(arena, n, lengths, ids), n, slots);
    arena_free(arena);
    return status;
}

int tfc_model_decode_begin(TfcSession *session, int32_t slots)
{
    int status = prepare(session);
    if (!status && slots < 0)
        status = tfc_model_fail(TFC_ERROR_ARGUMENT, "%d slots", slots);
    return status ? status : begin(session, NULL, slots, slots);
}

int tfc_model_decode_step(TfcSession *session, int32_t n, const int32_t *sentence, const int32_t *slot,
                      const int32_t *token, const float **logits)
{
    int64_t vocab = session->loaded->model->vocab;
    if (session->n_slots < 0 || !session_refresh(session) || session->n_slots < 0)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "decoding has not begun");
    for (int32_t r = 0; r < n; r++)
        if (slot[r] < 0 || slot[r] >= session->n_slots || token[r] < 0 || token[r] >= vocab ||
            (sentence && (sentence[r] < 0 || sentence[r] >= session->n_sentences)))
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "row %d: sentence, slot or token out of range", r);
    *logits = session->stepper.step(session->stepper.self, n, sentence ? sentence : slot, slot, token);
    return *logits ? TFC_OK : tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
}

int tfc_model_decode_copy(TfcSession *session, int32_t from, int32_t to)
{
    if (from < 0 || to < 0 || from >= session->n_slots || to >= session->n_slots)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "slot %d or %d out of range", from, to);
    session->stepper.copy(session->stepper.self, from, to);
    return TFC_OK;
}

/* ---- generation ---- */

void tfc_model_generation_defaults(TfcLoaded *loaded, TfcGeneration *out)
{
    const TfcModel *model = loaded->model;
    DecodeSettings d = decode_defaults();
    *out = (TfcGeneration){
        .beam = d.beam,
        .nbest = d.nbest,
        .length_extra = d.length_extra,
        .length_limit = model->max_length > 1 ? (int32_t)model->max_length - 1 : 0,
        .length_penalty = d.length_penalty,
        .length_factor = d.length_factor,
        .temperature = d.temperature,
        .top_p = d.top_p,
        .seed = 1,
        .bos = (int32_t)model->bos,
        .eos = (int32_t)model->eos,
        .forbidden = {(int32_t)model->pad, model->bos == model->eos ? -1 : (int32_t)model->bos,
                      (int32_t)model->unk, -1},
    };
}

static int check_settings(const TfcModel *model, const TfcGeneration *s)
{
    if (s->beam < 1 || s->nbest < 1 || (!s->sample && s->nbest > s->beam))
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "beam %d, nbest %d", s->beam, s->nbest);
    if (s->bos < 0 || s->bos >= model->vocab || s->eos < 0 || s->eos >= model->vocab)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                          "bos is %d, eos is %d: neither the model nor the settings name them", s->bos,
                          s->eos);
    return TFC_OK;
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

int tfc_model_generate(TfcSession *session, const TfcGeneration *settings, int32_t n,
                   const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    TfcGeneration defaults;
    if (!settings) {
        tfc_model_generation_defaults(session->loaded, &defaults);
        settings = &defaults;
    }
    int status = check_settings(session->loaded->model, settings);
    if (!status)
        status = check_sentences(n, lengths, ids);
    if (!status)
        status = prepare(session);
    if (status)
        return status;
    session->n_slots = -1; /* what decode_step had begun is over */
    arena_free(session->results);
    session->results = arena_new();
    DecodeSettings d = decode_settings(settings);
    Tokens *given = cut_sentences(session->results, n, lengths, ids);
    Decoded *decoded = ARENA_ARRAY(session->results, Decoded, n + 1);
    bool encodes = session->loaded->variant->programs[TFC_ENCODE] != NULL;
    if (!decode_batch(&session->stepper, &d, encodes ? given : NULL, encodes ? NULL : given, NULL, n,
                      session->results, decoded))
        return tfc_model_fail(TFC_ERROR_MEMORY, "out of memory");
    memset(out, 0, sizeof *out * (size_t)n * (size_t)settings->nbest);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < decoded[i].n; j++) {
            const Hypothesis *h = &decoded[i].best[j];
            out[(int64_t)i * settings->nbest + j] =
                (TfcResult){h->ids, h->n, h->log_probability, h->score};
        }
    return TFC_OK;
}
