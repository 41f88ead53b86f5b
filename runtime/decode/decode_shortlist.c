/* Decoding with a shortlist: tokens are numbered by their places in a list of ids
 * (Stepper.choose). */
#include "runtime/decode/decode_shortlist.h"

#include <assert.h>

/* A batch's tokens, and the caller's settings with every token numbered by their list; a forbidden
 * one that is not in the list is -1. */
typedef struct Narrowed {
    ChosenTokens tokens;
    DecodeSettings settings;
} Narrowed;

static int32_t place_of(const Narrowed *narrowed, int32_t id)
{
    return shortlist_place(narrowed->tokens.list, narrowed->tokens.n, id);
}

/* The ids that begin and end every result, in the arena; no array where memory ran out. */
static int32_t *common_ids(const DecodeSettings *settings, Arena *arena, int32_t *n)
{
    const int32_t own[] = {settings->bos, settings->eos, settings->first};
    const int32_t n_own = (int32_t)(sizeof own / sizeof *own);
    *n = n_own + settings->n_stops;
    int32_t *ids = ARENA_ARRAY(arena, int32_t, *n);
    for (int32_t i = 0; ids && i < *n; i++)
        ids[i] = i < n_own ? own[i] : settings->stops[i - n_own];
    return ids;
}

/* The ids' places, in the arena; no array where memory ran out. */
static const int32_t *places_of(const Narrowed *narrowed, const int32_t *ids, int32_t n,
                                Arena *arena)
{
    int32_t *places = ARENA_ARRAY(arena, int32_t, n + 1);
    for (int32_t i = 0; places && i < n; i++)
        places[i] = place_of(narrowed, ids[i]);
    return places;
}

static void narrow_settings(Narrowed *narrowed, int32_t n, Arena *arena)
{
    DecodeSettings *s = &narrowed->settings;
    int32_t *const own[] = {&s->bos, &s->eos, &s->first};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        *own[i] = place_of(narrowed, *own[i]);
    for (size_t i = 0; i < sizeof s->forbidden / sizeof *s->forbidden; i++)
        s->forbidden[i] = place_of(narrowed, s->forbidden[i]);
    s->stops = places_of(narrowed, s->stops, s->n_stops, arena);
    Tokens *prefixes = s->prefixes ? ARENA_ARRAY(arena, Tokens, n) : NULL;
    for (int32_t i = 0; prefixes && i < n; i++)
        prefixes[i] = (Tokens){places_of(narrowed, s->prefixes[i].ids, s->prefixes[i].n, arena),
                               s->prefixes[i].n};
    s->prefixes = prefixes;
}

/* Of each sentence; NULL: memory ran out. */
static const Tokens *source_tokens(const Sources *sources, Arena *arena)
{
    Tokens *tokens = ARENA_ARRAY(arena, Tokens, (int64_t)sources->n + 1);
    const int32_t *ids = sources->tokens;
    for (int32_t i = 0; tokens && i < sources->n; ids += tokens[i++].n)
        tokens[i] = (Tokens){ids, sources->lengths[SIDE_SOURCE][i]};
    return tokens;
}

/* Chooses the tokens for all sentences: candidates of their sources, and what the settings name,
 * which are the tokens that begin or end results, and prefixes. False: memory ran out. */
static bool narrow_batch(Stepper *stepper, const DecodeSettings *settings, const Sources *sources,
                         Arena *arena, Narrowed *out)
{
    TokenNeeds needs = {
        .n = sources->n, .sources = source_tokens(sources, arena), .prefixes = settings->prefixes};
    needs.common = common_ids(settings, arena, &needs.n_common);
    *out = (Narrowed){.settings = *settings};
    assert(!settings->go_on); /* of language models alone */
    if (!needs.sources || !needs.common || !stepper->choose(stepper->self, &needs, &out->tokens))
        return false;
    narrow_settings(out, needs.n, arena);
    return !arena_failed(arena);
}

/* Replaces the places in the results by ids. */
static void widen_results(const Narrowed *narrowed, Decoded *results, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < results[i].n; k++) {
            int32_t *ids = (int32_t *)(uintptr_t)results[i].best[k].ids; /* the result's own */
            for (int32_t t = 0; t < results[i].best[k].n; t++)
                ids[t] = narrowed->tokens.list[ids[t]];
        }
}

static bool decode_shortlisted(Stepper *stepper, const DecodeSettings *settings,
                               const Sources *sources, const int64_t *numbers, int32_t n,
                               Arena *arena, Decoded *results)
{
    Stepper over = *stepper;
    Narrowed narrowed;
    Arena *scratch = arena_try_new();
    bool ok = scratch && narrow_batch(stepper, settings, sources, scratch, &narrowed);
    if (ok) {
        over.vocab = narrowed.tokens.n;
        ok = decode_over(&over, &narrowed.settings, narrowed.tokens.may, sources, NULL, numbers, n,
                         arena, results);
    }
    if (ok)
        widen_results(&narrowed, results, n);
    arena_free(scratch);
    return ok;
}

const ShortlistCalls shortlist_calls = {shortlist_choose, decode_shortlisted};
