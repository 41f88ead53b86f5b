/* Decoding: encode, one token at a time, and whole generations. */
#include "runtime/model/columns.h"

#include "runtime/decode/stepper_exec.h"
#include "runtime/decode/stepper.h"

#include <stdlib.h>
#include <string.h>

/* SessionSteppers: what the steppers of a session's models are made of. */
typedef struct SessionSteppers {
    TfcSession *session;
    const StepperPrograms *programs;
} SessionSteppers;

static bool make_stepper(const void *context, int32_t i, Stepper *out)
{
    const SessionSteppers *of = context;
    TfcSession *session = of->session;
    const TfcLoaded *loaded = session->loaded;
    Store *store = i ? session->others[i - 1] : session->store,
          *params = i ? loaded->others[i - 1] : loaded->store;
    return (!of->programs->encode || session_add(session, store, of->programs->encode, params)) &&
           session_add(session, store, of->programs->decode_step, params) &&
           stepper_exec_new(of->programs, store, out);
}

/* The session's stepper, made at the first call. */
int session_prepare_decode(TfcSession *session)
{
    const TfcModel *model = session->loaded->model;
    if (!session_program(session, TFC_DECODE_STEP))
        return TFC_ERROR_FUNCTION;
    const TfcProgram *encode = session->loaded->variant->programs[TFC_ENCODE];
    StepperPrograms programs = {.encode = encode,
                                .feed = encode ? &session->feed : NULL,
                                .decode_step = session->loaded->variant->programs[TFC_DECODE_STEP],
                                .target = model->target,
                                .logits = model->logits,
                                .shortlist = model->shortlist};
    if (!session_refresh(session))
        return tfc_model_no_memory();
    if (session->has_stepper)
        return TFC_OK;
    if (encode)
        session->feed =
            loaded_reads_columns(session->loaded) ? columns_feed(encode) : feed_of_source(encode);
    const bool ok = stepper_mean_of((int32_t)session->loaded->n_others + 1, make_stepper,
                                    &(SessionSteppers){session, &programs}, &session->stepper);
    session->has_stepper = ok;
    return ok ? TFC_OK : tfc_model_no_memory();
}

/* n lists of ids of an input, one after the other, as arguments have them. */
typedef struct Lists {
    const char *lengths_name, *ids_name, *input;
    const int32_t *lengths, *ids;
    int64_t longest; /* of a list */
} Lists;

static int check_lists(const TfcModel *model, int32_t n, const Lists *lists)
{
    int64_t total = 0;
    if (n < 0 || (n > 0 && !lists->lengths))
        return n < 0 ? tfc_model_fail(TFC_ERROR_ARGUMENT, "n is %d; expected 0 or more", n)
                     : tfc_model_need(NULL, lists->lengths_name);
    for (int32_t i = 0; i < n; i++) {
        int32_t length = lists->lengths[i];
        if (length < 0 || (total += length) > INT32_MAX)
            return tfc_model_fail(
                TFC_ERROR_ARGUMENT, "%s[%d] is %d%s", lists->lengths_name, i, length,
                length < 0 ? "; expected 0 or more" : ": all of them together pass 2^31 - 1");
        if (length > lists->longest)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s[%d] is %d: the model takes %lld at most",
                                  lists->lengths_name, i, length, (long long)lists->longest);
    }
    if (total && !lists->ids)
        return tfc_model_need(NULL, lists->ids_name);
    return tfc_model_check_ids(model, lists->input, lists->ids, total);
}

/* Sentences for the encoder or, without one, prompts. */
static int check_sentences(const TfcSession *session, int32_t n, const int32_t *lengths,
                           const int32_t *ids)
{
    const TfcModel *model = session->loaded->model;
    bool encodes = loaded_encodes(session->loaded);
    const Lists lists = {"lengths", "ids", encodes ? model->source : model->target,
                         lengths,   ids,   model->n_lengths ? tfc_model_longest(model) : INT32_MAX};
    return check_lists(model, n, &lists);
}

static Sources sources_of(int32_t n, const int32_t *lengths, const int32_t *ids)
{
    return (Sources){.n = n, .lengths = {[SIDE_SOURCE] = lengths}, .tokens = ids};
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

static int begin_decoding(TfcSession *session, const Sources *sources, int32_t n, int32_t slots)
{
    session->n_slots = -1;
    free(session->is_fed);
    session->is_fed = calloc((size_t)slots + 1, 1);
    if (!session->is_fed || !session->stepper.begin(session->stepper.self, sources, slots))
        return tfc_model_no_memory();
    session->n_sentences = n;
    session->n_slots = slots;
    return TFC_OK;
}

static int check_slots(int32_t slots)
{
    return slots < 0 ? tfc_model_fail(TFC_ERROR_ARGUMENT, "slots is %d; expected 0 or more", slots)
                     : TFC_OK;
}

static int encode_all(TfcSession *session, int32_t n, const int32_t *lengths, const int32_t *ids,
                      int32_t slots)
{
    int status = check_sentences(session, n, lengths, ids);
    if (!status)
        status = check_slots(slots);
    if (!status)
        status = session_prepare_decode(session);
    if (status)
        return status;
    const Sources sources = sources_of(n, lengths, ids);
    return begin_decoding(session, &sources, n, slots);
}

static int encode_columns(TfcSession *session, const TfcWord *in, int32_t slots, Arena *arena)
{
    Sources sources;
    int status = columns_rows(session, in, arena, &sources);
    if (!status)
        status = check_slots(slots);
    if (!status)
        status = session_prepare_decode(session);
    return status ? status : begin_decoding(session, &sources, sources.n, slots);
}

int tfc_model_encode_columns(TfcSessionHandle *handle, const TfcWord *in, int32_t slots)
{
    int status = tfc_model_need(in, "in");
    TfcSession *session = status ? NULL : session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    Arena *arena = arena_try_new();
    status = arena ? encode_columns(session, in, slots, arena) : tfc_model_no_memory();
    arena_free(arena);
    return session_leave(session, USE_READ, status);
}

int tfc_model_encode(TfcSessionHandle *handle, int32_t n, const int32_t *lengths,
                     const int32_t *ids, int32_t slots)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    return session ? session_leave(session, USE_READ, encode_all(session, n, lengths, ids, slots))
                   : status;
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
        status = begin_decoding(session, NULL, slots, slots);
    return session_leave(session, USE_READ, status);
}

static int fail_no_decoding(void)
{
    return tfc_model_fail(
        TFC_ERROR_ARGUMENT,
        "no decoding is in progress: call encode, or decode_begin if the model has "
        "no encoder, first");
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
            status = tfc_model_fail(TFC_ERROR_ARGUMENT,
                                    "slot[%d] is %d: slots go from 0, and the session has %d", r,
                                    slot[r], session->n_slots);
        else if (of < 0 || of >= session->n_sentences)
            status =
                tfc_model_fail(TFC_ERROR_ARGUMENT,
                               "sentence[%d] is %d: sentences go from 0, and the session has %d", r,
                               of, session->n_sentences);
        else if (session->is_fed[slot[r]])
            status = tfc_model_fail(
                TFC_ERROR_ARGUMENT,
                "slot[%d] is %d, as in a row before it: a slot takes one token a step", r, slot[r]);
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

static int feed_tokens(TfcSession *session, int32_t n, const int32_t *sentence, const int32_t *slot,
                       const int32_t *token, const float **logits)
{
    bool refreshed = session_refresh(session);
    if (!refreshed)
        return tfc_model_no_memory();
    if (session->n_slots < 0)
        return fail_no_decoding();
    if (n < 0)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "n is %d; expected 0 or more", n);
    int status = n ? tfc_model_need(slot, "slot") : TFC_OK;
    if (!status && n)
        status = tfc_model_need(token, "token");
    if (!status && n)
        status = check_rows(session, n, sentence, slot, token);
    if (status)
        return status;
    *logits = session->stepper.step(session->stepper.self, n, sentence ? sentence : slot, slot,
                                    NULL, token);
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
    return session ? session_leave(session, USE_READ,
                                   feed_tokens(session, n, sentence, slot, token, logits))
                   : status;
}

static int copy_slot(TfcSession *session, int32_t from, int32_t to)
{
    if (session->n_slots < 0)
        return fail_no_decoding();
    if (from < 0 || to < 0 || from >= session->n_slots || to >= session->n_slots)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "from is %d and to is %d: slots go from 0, and the session has %d",
                              from, to, session->n_slots);
    if (from != to)
        session->stepper.copy(session->stepper.self, from, to);
    return TFC_OK;
}

int tfc_model_decode_copy(TfcSessionHandle *handle, int32_t from, int32_t to)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    return session ? session_leave(session, USE_READ, copy_slot(session, from, to)) : status;
}

/* ---- generation ---- */

int32_t session_places(const DecodeSettings *settings)
{
    return settings->alternatives ? settings->alternatives : settings->nbest;
}

TfcResult session_result(const Hypothesis *h)
{
    return (TfcResult){h->ids, h->n, h->log_probability, h->score, h->each, h->n_each};
}

/* The hypotheses as the caller sees them, as many places a sentence. */
static void put_results(const Decoded *decoded, int32_t n, int32_t places, TfcResult *out)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < places; j++)
            out[(int64_t)i * places + j] =
                j < decoded[i].n ? session_result(&decoded[i].best[j]) : (TfcResult){0};
}

/* The longest results behind prompts, of a model with a table of positions; NULL: out of memory. */
static int32_t *limit_results(const TfcModel *model, const DecodeSettings *settings, int32_t n,
                              const int32_t *lengths, Arena *arena)
{
    int32_t *limits = ARENA_ARRAY(arena, int32_t, (int64_t)n + 1);
    for (int32_t i = 0; limits && i < n; i++) {
        double wanted = settings->length_extra;
        int64_t room = tfc_model_longest(model) + 1 - (settings->bos >= 0) - lengths[i];
        if (settings->length_limit > 0 && wanted > settings->length_limit)
            wanted = settings->length_limit;
        limits[i] = (int32_t)(wanted < (double)room ? wanted : (double)(room > 0 ? room : 0));
    }
    return limits;
}

/* Decodes n sentences from sources or, where these are NULL, from prompts. The old results may be
 * what is given: they stay until the new ones are there. */
static int decode_all(TfcSession *session, DecodeSettings *settings, const Lists *prefixes,
                      int32_t n, const Sources *sources, const int32_t *lengths, const int32_t *ids,
                      TfcResult *out)
{
    session->n_slots = -1; /* what decode_step had begun is over */
    Arena *arena = arena_try_new();
    if (!arena)
        return tfc_model_no_memory();
    const Tokens *prompts = sources ? NULL : cut_sentences(arena, n, lengths, ids);
    Decoded *decoded = ARENA_ARRAY(arena, Decoded, (int64_t)n + 1);
    if (prefixes->lengths)
        settings->prefixes = cut_sentences(arena, n, prefixes->lengths, prefixes->ids);
    if (!sources && session->loaded->model->n_lengths)
        settings->limits = limit_results(session->loaded->model, settings, n, lengths, arena);
    if (arena_failed(arena) ||
        !decode_batch(&session->stepper, settings, sources, prompts, NULL, n, arena, decoded)) {
        arena_free(arena);
        return tfc_model_no_memory();
    }
    for (int32_t i = 0; i < n; i++)
        if (!decoded_has_numbers(&decoded[i])) {
            arena_free(arena);
            return tfc_model_fail(TFC_ERROR_NUMBER, "sentence %d: the model gives no numbers", i);
        }
    put_results(decoded, n, session_places(settings), out);
    arena_free(session->results);
    session->results = arena;
    return TFC_OK;
}

/* Forced beginnings of n results; out->lengths NULL: there are none. */
static int check_prefixes(const TfcModel *model, const TfcGeneration *settings, int32_t n,
                          Lists *out)
{
    *out = (Lists){
        "prefix_lengths", "prefixes", model->target, NULL, NULL, tfc_model_longest(model) - 1};
    if (settings && settings->prefix_text)
        return tfc_model_fail(TFC_ERROR_ARGUMENT,
                              "prefix_text is for texts: ids begin with prefixes");
    if (!settings || !settings->prefix_lengths)
        return TFC_OK;
    out->lengths = settings->prefix_lengths;
    out->ids = settings->prefixes;
    return check_lists(model, n, out);
}

static int generate(TfcSession *session, const TfcGeneration *settings, int32_t n,
                    const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    DecodeSettings decoding;
    Lists prefixes;
    int status = session_settings(session, settings, &decoding);
    if (!status)
        status = check_sentences(session, n, lengths, ids);
    if (!status)
        status = check_prefixes(session->loaded->model, settings, n, &prefixes);
    const TfcModel *model = session->loaded->model;
    bool continues = !loaded_encodes(session->loaded) && model->n_lengths;
    for (int32_t i = 0; !status && continues && decoding.bos >= 0 && i < n; i++)
        if (lengths[i] >= tfc_model_longest(model))
            status =
                tfc_model_fail(TFC_ERROR_ARGUMENT,
                               "lengths[%d] is %d, and bos stands before it: the model takes %lld",
                               i, lengths[i], (long long)tfc_model_longest(model));
    for (int32_t i = 0; !status && decoding.bos < 0 && i < n; i++)
        if (!lengths[i])
            status = tfc_model_fail(TFC_ERROR_ARGUMENT,
                                    "lengths[%d] is 0, and bos is -1: nothing begins the text", i);
    if (!status && n)
        status = tfc_model_need(out, "results");
    if (!status)
        status = session_prepare_decode(session);
    const Sources sources = sources_of(n, lengths, ids);
    return status
               ? status
               : decode_all(session, &decoding, &prefixes, n,
                            loaded_encodes(session->loaded) ? &sources : NULL, lengths, ids, out);
}

static int generate_columns(TfcSession *session, const TfcGeneration *settings, const TfcWord *in,
                            Arena *arena, TfcResult *out)
{
    DecodeSettings decoding;
    Lists prefixes;
    Sources sources;
    int status = session_settings(session, settings, &decoding);
    if (!status)
        status = columns_rows(session, in, arena, &sources);
    if (!status)
        status = check_prefixes(session->loaded->model, settings, sources.n, &prefixes);
    if (!status && sources.n)
        status = tfc_model_need(out, "results");
    if (!status)
        status = session_prepare_decode(session);
    return status ? status
                  : decode_all(session, &decoding, &prefixes, sources.n, &sources, NULL, NULL, out);
}

int tfc_model_generate_columns(TfcSessionHandle *handle, const TfcGeneration *settings,
                               const TfcWord *in, TfcResult *out)
{
    int status = tfc_model_need(in, "in");
    TfcSession *session = status ? NULL : session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    Arena *arena = arena_try_new();
    status = arena ? generate_columns(session, settings, in, arena, out) : tfc_model_no_memory();
    arena_free(arena);
    return session_leave(session, USE_READ, status);
}

int tfc_model_generate(TfcSessionHandle *handle, const TfcGeneration *settings, int32_t n,
                       const int32_t *lengths, const int32_t *ids, TfcResult *out)
{
    int status;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    return session
               ? session_leave(session, USE_READ, generate(session, settings, n, lengths, ids, out))
               : status;
}
