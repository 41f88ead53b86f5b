/* Beam search and sampling for one sentence. */
#include "runtime/decode/search.h"

#include "base/portable_math.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double decode_length_penalty(double alpha, int32_t n)
{
    return portable_pow((5.0 + n) / 6.0, alpha);
}

void search_start(Search *search, const DecodeSettings *settings, Arena *arena)
{
    search->live = ARENA_ARRAY(arena, Live, search->width);
    if (!search->live)
        return;
    search->live[0] = (Live){.slot = search->first_slot, .token = settings->bos, .node = -1};
    search->n_live = 1;
    search->fed = search->length = 0;
    if (settings->bos < 0 && search->prompt.n)
        search->live[0].token = search->prompt.ids[search->fed++];
    search->begun = search->fed;
    if (search->longest < search->prefix.n)
        search->longest = search->prefix.n;
    search->nodes.count = search->ended.count = 0;
}

/* The prompt but for its last token, behind what is to be fed before it. */
int32_t search_unread(const Search *search) { return search->prompt.n - search->fed; }

int32_t search_read(const Search *search) { return search->fed - search->begun; }

int32_t search_unread_token(const Search *search, int32_t i)
{
    return i ? search->prompt.ids[search->fed + i - 1] : search->live[0].token;
}

void search_fed(Search *search, int32_t n)
{
    search->fed += n;
    search->live[0].token = search->prompt.ids[search->fed - 1];
}

int32_t search_known(const Search *search, const DecodeSettings *settings)
{
    const bool branches = settings->sample && decode_width(settings) > 1;
    const int32_t prefix = search->prefix.n - search->length;
    return prefix > 0 && !branches ? prefix : 0;
}

int32_t search_known_token(const Search *search, int32_t i)
{
    return search->prefix.ids[search->length + i];
}

int32_t search_candidates(const DecodeSettings *settings)
{
    /* Half of 2k may be eos; the other half still fills the beam. */
    int32_t row = settings->sample ? decode_width(settings) : 2 * settings->beam;
    if (row < settings->alternatives)
        row = settings->alternatives;
    return row < 1 ? 1 : row;
}

/* Whether a hypothesis that ends, at its limit or before, ends with eos. */
static bool has_end(const DecodeSettings *settings, bool at_limit)
{
    return settings->until_eos && !(at_limit && settings->open_end);
}

static bool is_end(const DecodeSettings *settings, int32_t token)
{
    bool is = token == settings->eos;
    for (int32_t i = 0; !is && i < settings->n_stops; i++)
        is = token == settings->stops[i];
    return is && settings->until_eos;
}

/* The hypothesis may only end now. */
static bool must_end(const Search *search) { return search->length >= search->longest; }

bool search_changes(const DecodeSettings *settings)
{
    return settings->repetition_penalty != 1 || settings->no_repeat_ngram > 0;
}

/* A place in what a hypothesis has read: a node, or -1 - i for the prompt's token i from its
 * end; so that the parent of the first node is the prompt's last token. */
static bool is_place(const Search *search, int32_t place)
{
    return place >= 0 || -1 - place < search->prompt.n;
}

static int32_t token_at(const Search *search, int32_t place)
{
    return place >= 0 ? search->nodes.data[place].token
                      : search->prompt.ids[search->prompt.n + place];
}

static int32_t place_before(const Search *search, int32_t place)
{
    return place >= 0 ? search->nodes.data[place].parent : place - 1;
}

static const float *penalise(const Search *search, int32_t live, double penalty,
                             const float *logits, int32_t vocab, float *changed)
{
    memcpy(changed, logits, sizeof(float) * (size_t)vocab);
    for (int32_t at = search->live[live].node; is_place(search, at);
         at = place_before(search, at)) {
        float logit = logits[token_at(search, at)];
        changed[token_at(search, at)] = (float)(logit > 0 ? logit / penalty : logit * penalty);
    }
    return changed;
}

/* Whether the n tokens up to two places are the same. */
static bool are_same(const Search *search, int32_t a, int32_t b, int32_t n)
{
    for (; n > 0; n--, a = place_before(search, a), b = place_before(search, b))
        if (!is_place(search, a) || !is_place(search, b) ||
            token_at(search, a) != token_at(search, b))
            return false;
    return true;
}

/* Tokens that would end a run of n tokens which is there already get no probability. */
static const float *forbid_repeats(const Search *search, int32_t live,
                                   const DecodeSettings *settings, const float *logits,
                                   int32_t vocab, float *changed)
{
    if (changed != logits)
        memcpy(changed, logits, sizeof(float) * (size_t)vocab);
    int32_t last = search->live[live].node;
    for (int32_t at = last; is_place(search, at); at = place_before(search, at))
        if (are_same(search, place_before(search, at), last, settings->no_repeat_ngram - 1))
            changed[token_at(search, at)] = -INFINITY;
    return changed;
}

/* The one token that a prefix allows; of samples, for each of them. */
static int32_t examine_forced(const Search *search, const DecodeSettings *settings, int32_t token,
                              double log_probability, Candidate *out)
{
    int32_t n = settings->sample && !search->length ? decode_width(settings) : 1;
    for (int32_t i = 0; i < n; i++)
        out[i] = (Candidate){token, log_probability};
    return n;
}

/* The one token that an alternative takes after the prefix. */
static bool is_alternative(const Search *search)
{
    return search->rank >= 0 && search->length == search->prefix.n;
}

static int32_t examine_alternative(const Search *search, const DecodeSettings *settings,
                                   const float *logits, int32_t vocab, Candidate *out)
{
    int32_t n = pick_best(logits, vocab, settings->forbidden, search->rank + 1, out);
    out[0] = out[search->rank];
    return n > search->rank;
}

static int32_t examine_row(const Search *search, int32_t live, const DecodeSettings *settings,
                           const float *logits, int32_t vocab, Candidate *out, Candidate *scratch)
{
    if (is_alternative(search))
        return examine_alternative(search, settings, logits, vocab, out);
    if (!settings->sample)
        return pick_best(logits, vocab, settings->forbidden, search_candidates(settings), out);
    /* The first row after the prompt serves every sample. */
    int32_t first = search->length ? search->live[live].sample : 0;
    int32_t n = search->length ? 1 : decode_width(settings);
    for (int32_t i = 0; i < n; i++) {
        const uint32_t counter[4] = {(uint32_t)search->number, (uint32_t)(search->number >> 32),
                                     (uint32_t)(first + i), (uint32_t)search->length};
        out[i] = pick_sample(logits, vocab, settings, counter, scratch);
        if (out[i].token < 0 && !settings->until_eos)
            return i;
        if (out[i].token < 0)
            out[i] = (Candidate){settings->eos, NAN};
    }
    return n;
}

int32_t search_examine(const Search *search, int32_t live, const DecodeSettings *settings,
                       const float *logits, int32_t vocab, float *changed, Candidate *out,
                       Candidate *scratch)
{
    if (settings->repetition_penalty != 1)
        logits = penalise(search, live, settings->repetition_penalty, logits, vocab, changed);
    if (search->length < search->prefix.n) {
        int32_t token = search->prefix.ids[search->length];
        return examine_forced(search, settings, token,
                              logits[token] - pick_logsumexp(logits, vocab), out);
    }
    if (must_end(search)) {
        if (is_alternative(search) && search->rank > 0)
            return 0;
        double end =
            has_end(settings, true) ? logits[settings->eos] - pick_logsumexp(logits, vocab) : 0;
        out[0] = (Candidate){settings->eos, end};
        return 1;
    }
    if (settings->no_repeat_ngram) {
        double total = pick_logsumexp(logits, vocab);
        logits = forbid_repeats(search, live, settings, logits, vocab, changed);
        int32_t n = examine_row(search, live, settings, logits, vocab, out, scratch);
        double lost = pick_logsumexp(logits, vocab) - total;
        int32_t kept = 0;
        for (; kept < n && out[kept].log_probability > -INFINITY; kept++)
            out[kept].log_probability += lost;
        bool is_stuck = !kept && isfinite(total) && !(is_alternative(search) && search->rank > 0);
        return is_stuck ? SEARCH_STUCK : kept;
    }
    return examine_row(search, live, settings, logits, vocab, out, scratch);
}

typedef struct SearchStep {
    int32_t parent; /* index into live */
    int32_t token;
    int32_t sample;
    double part; /* log-probability of the token alone … */
    double log_probability;
} SearchStep;

static int compare_steps(const void *a, const void *b)
{
    const SearchStep *x = a, *y = b;
    if (x->log_probability != y->log_probability)
        return x->log_probability > y->log_probability ? -1 : 1;
    if (x->parent != y->parent)
        return x->parent - y->parent;
    return x->token - y->token;
}

/* `ended` but for its length and score. */
static void end_hypothesis(Search *search, const DecodeSettings *settings, Ended ended,
                           Arena *arena)
{
    ended.length = search->length;
    int32_t counted = search->length + (ended.has_eos ? 1 : 0);
    ended.score = ended.log_probability / decode_length_penalty(settings->length_penalty, counted);
    vec_push(arena, search->ended, ended);
}

/* With the step that ends it. */
static void end_by_step(Search *search, const DecodeSettings *settings, const SearchStep *step,
                        Arena *arena)
{
    const Ended ended = {.node = search->live[step->parent].node,
                         .has_eos = has_end(settings, must_end(search)),
                         .end = step->part,
                         .log_probability = step->log_probability};
    end_hypothesis(search, settings, ended, arena);
}

/* All that live, without an end: nothing more of them is asked. */
static void end_open(Search *search, const DecodeSettings *settings, Arena *arena)
{
    for (int32_t i = 0; i < search->n_live; i++) {
        const Live *live = &search->live[i];
        end_hypothesis(search, settings,
                       (Ended){.node = live->node, .log_probability = live->log_probability},
                       arena);
    }
    search->n_live = 0;
}

/* The first child of a hypothesis stays in its slot, others get a copy in a slot
 * that no child needs. */
static void assign_slots(Search *search, const SearchStep *steps, const int32_t *chosen, int32_t n,
                         Live *next, Arena *arena, SlotCopies *copies)
{
    bool *taken = ARENA_ARRAY(arena, bool, search->width);
    bool *is_first = ARENA_ARRAY(arena, bool, n);
    if (!taken || !is_first)
        return;
    for (int32_t i = 0; i < n; i++) {
        int32_t slot = search->live[steps[chosen[i]].parent].slot;
        is_first[i] = !taken[slot - search->first_slot];
        taken[slot - search->first_slot] = true;
    }
    int32_t spare = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t slot = search->live[steps[chosen[i]].parent].slot;
        next[i].slot = slot;
        if (is_first[i])
            continue;
        while (taken[spare])
            spare++;
        taken[spare] = true;
        next[i].slot = search->first_slot + spare;
        SlotCopy copy = {slot, next[i].slot};
        vec_push(arena, *copies, copy);
    }
}

static int compare_ended(const void *a, const void *b)
{
    const Ended *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->node - y->node; /* found earlier */
}

/* Enough have ended and no live one is ahead of the worst of them. */
static bool is_decided(Search *search, const DecodeSettings *settings)
{
    if (settings->sample || (int32_t)search->ended.count < settings->beam)
        return false;
    qsort(search->ended.data, search->ended.count, sizeof(Ended), compare_ended);
    search->ended.count = (size_t)settings->beam;
    double ahead = search->live[0].log_probability /
                   decode_length_penalty(settings->length_penalty, search->length);
    return ahead <= vec_last(search->ended).score;
}

/* Every candidate of every live hypothesis; the best first, but samples as they come. NULL:
 * memory cannot be had. */
static SearchStep *list_steps(const Search *search, const DecodeSettings *settings,
                              const Candidate *candidates, const int32_t *counts, int32_t stride,
                              Arena *arena, int32_t *n)
{
    SearchStep *steps = ARENA_ARRAY(arena, SearchStep, (int64_t)search->n_live * stride);
    *n = 0;
    for (int32_t i = 0; steps && i < search->n_live; i++)
        for (int32_t j = 0; j < counts[i]; j++) {
            const Candidate *candidate = &candidates[(int64_t)i * stride + j];
            int32_t sample = search->length ? search->live[i].sample : j;
            steps[(*n)++] =
                (SearchStep){i, candidate->token, sample, candidate->log_probability,
                             search->live[i].log_probability + candidate->log_probability};
        }
    if (steps && !settings->sample)
        qsort(steps, (size_t)*n, sizeof *steps, compare_steps);
    return steps;
}

/* Ends the hypotheses that end, and gives the places of the steps that go on, as many as the
 * search has slots; how many. */
static int32_t choose_steps(Search *search, const DecodeSettings *settings, const SearchStep *steps,
                            int32_t n, Arena *arena, int32_t *chosen)
{
    bool last = must_end(search);
    int32_t n_chosen = 0;
    for (int32_t i = 0; i < n && n_chosen < search->width; i++) {
        bool ends = last || is_end(settings, steps[i].token);
        if (!ends)
            chosen[n_chosen++] = i;
        else if (settings->sample || i < settings->beam)
            end_by_step(search, settings, &steps[i], arena);
    }
    return n_chosen;
}

/* The live hypothesis that a step makes, but for its slot. */
static void take_step(Search *search, const SearchStep *step, Live *next, Arena *arena)
{
    SearchNode node = {step->token, search->live[step->parent].node, step->part};
    vec_push(arena, search->nodes, node);
    next->token = step->token;
    next->node = (int32_t)search->nodes.count - 1;
    next->sample = step->sample;
    next->log_probability = step->log_probability;
}

/* Hypotheses that have no token left end where they are: each sample; of a beam only if nothing
 * else is there to show, as what others ended with may be better. */
static void end_stuck(Search *search, const DecodeSettings *settings, const int32_t *counts,
                      Arena *arena)
{
    for (int32_t i = 0; i < search->n_live; i++) {
        if (counts[i] != SEARCH_STUCK)
            continue;
        const Ended ended = {.node = search->live[i].node,
                             .is_stuck = true,
                             .log_probability = search->live[i].log_probability};
        end_hypothesis(search, settings, ended, arena);
    }
}

void search_choose(Search *search, const DecodeSettings *settings, const Candidate *candidates,
                   const int32_t *counts, int32_t stride, Arena *arena, SlotCopies *copies)
{
    int32_t n;
    SearchStep *steps = list_steps(search, settings, candidates, counts, stride, arena, &n);
    int32_t *chosen = ARENA_ARRAY(arena, int32_t, search->width);
    Live *next = ARENA_ARRAY(arena, Live, search->width);
    if (!steps || !chosen || !next)
        return;
    int32_t n_chosen = choose_steps(search, settings, steps, n, arena, chosen);
    if (settings->sample || (!n_chosen && !search->ended.count))
        end_stuck(search, settings, counts, arena);
    assign_slots(search, steps, chosen, n_chosen, next, arena, copies);
    for (int32_t i = 0; i < n_chosen; i++)
        take_step(search, &steps[chosen[i]], &next[i], arena);
    search->live = next;
    search->n_live = n_chosen;
    search->length++;
    bool goes_on = !settings->go_on || search->width > 1 || !n_chosen ||
                   settings->go_on(settings->context, search->number, next[0].token);
    if (!goes_on || (settings->open_end && must_end(search)))
        end_open(search, settings, arena);
    if (search->n_live && is_decided(search, settings))
        search->n_live = 0;
}

int32_t search_count(const Search *search, const DecodeSettings *settings)
{
    int32_t n = (int32_t)search->ended.count;
    return n < settings->nbest ? n : settings->nbest;
}

bool search_results(Search *search, const DecodeSettings *settings, Arena *arena, Decoded *out)
{
    if (search->ended.count)
        qsort(search->ended.data, search->ended.count, sizeof(Ended), compare_ended);
    int32_t n = search_count(search, settings);
    for (int32_t i = 0; i < n; i++) {
        const Ended *ended = &search->ended.data[i];
        int32_t *ids = ARENA_ARRAY(arena, int32_t, ended->length + 1);
        double *each = ARENA_ARRAY(arena, double, ended->length + 1);
        int32_t node = ended->node, at = ended->length;
        if (!ids || !each)
            return false;
        each[at] = ended->end;
        while (at-- > 0) {
            ids[at] = search->nodes.data[node].token;
            each[at] = search->nodes.data[node].log_probability;
            node = search->nodes.data[node].parent;
        }
        out->best[out->n++] = (Hypothesis){.ids = ids,
                                           .n = ended->length,
                                           .log_probability = ended->log_probability,
                                           .each = each,
                                           .n_each = ended->length + ended->has_eos,
                                           .is_stuck = ended->is_stuck,
                                           .score = ended->score};
    }
    return true;
}
