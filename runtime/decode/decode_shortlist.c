/* decode_shortlisted: tokens are numbered by their places in a list of ids (Stepper.choose). */
#include "runtime/decode/decode.h"

#include "runtime/decode/shortlist.h"

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

/* Ids that the list has to have. Returns how many; `out` NULL only counts. */
static int32_t needed_ids(const DecodeSettings *settings, int32_t n, int32_t *out)
{
    const int32_t own[] = {settings->bos, settings->eos, settings->first};
    const int32_t n_own = (int32_t)(sizeof own / sizeof *own);
    int32_t count = 0;
    for (int32_t i = 0; i < n_own + settings->n_stops; i++, count++)
        if (out)
            out[count] = i < n_own ? own[i] : settings->stops[i - n_own];
    for (int32_t i = 0; settings->prefixes && i < n; i++)
        for (int32_t k = 0; k < settings->prefixes[i].n; k++, count++)
            if (out)
                out[count] = settings->prefixes[i].ids[k];
    return count;
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

/* Chooses the tokens for n sentences: candidates of their sources, and what the settings name: the
 * tokens that begin or end results, and prefixes. False: memory ran out. */
static bool narrow_batch(Stepper *stepper, const DecodeSettings *settings, const Tokens *sources,
                         int32_t n, Arena *arena, Narrowed *out)
{
    const int32_t n_needed = needed_ids(settings, n, NULL);
    int32_t *needed = ARENA_ARRAY(arena, int32_t, n_needed + 1);
    *out = (Narrowed){.settings = *settings};
    assert(!settings->go_on); /* of language models alone */
    if (!needed)
        return false;
    needed_ids(settings, n, needed);
    if (!stepper->choose(stepper->self, sources, n, needed, n_needed, &out->tokens))
        return false;
    narrow_settings(out, n, arena);
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

bool decode_shortlisted(Stepper *stepper, const DecodeSettings *settings, const Tokens *sources,
                        const int64_t *numbers, int32_t n, Arena *arena, Decoded *results)
{
    Stepper over = *stepper;
    Narrowed narrowed;
    Arena *scratch = arena_try_new();
    bool ok = scratch && narrow_batch(stepper, settings, sources, n, scratch, &narrowed);
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
