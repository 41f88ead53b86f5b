/* A table of TARGET SOURCE PROBABILITY: the most probable targets of each source token, and, in a
 * vocabulary of both sides, the token itself. */
#include "driver/run/shortlist_file.h"

#include "passes/pass.h"
#include "runtime/data/lines.h"
#include "runtime/decode/decode_shortlist.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_PROBABLE = 1 + 1e-6; /* 1 as rounded by who wrote it */

typedef struct Translated {
    int32_t source, target;
    double probability;
} Translated;
typedef VEC(Translated) TranslatedList;

/* The next word of a line, from *at on; NULL: there is none. */
static const char *next_word(Arena *arena, const char **at)
{
    *at += strspn(*at, " \t");
    size_t n = strcspn(*at, " \t");
    const char *word = n ? arena_strndup(arena, *at, n) : NULL;
    *at += n;
    return word;
}

/* False: the line is not TARGET SOURCE PROBABILITY. Ids are -1 for unknown tokens. */
static bool read_pair(Arena *arena, const char *line, const Vocabulary *vocab, Translated *out)
{
    const char *target = next_word(arena, &line), *source = target ? next_word(arena, &line) : NULL;
    char *end;
    out->probability = source ? strtod(line, &end) : NAN;
    if (!source || end == line || end[strspn(end, " \t\r")] ||
        !(out->probability >= 0 && out->probability <= MOST_PROBABLE))
        return false;
    out->target = vocab_find(vocab, target);
    out->source = vocab_find(vocab_source(vocab), source);
    return true;
}

static bool read_pairs(Job *job, const char *path, const Vocabulary *vocab, TranslatedList *pairs)
{
    Lines *lines = lines_read(&job->diags, job->arena, path, NULL);
    int64_t unknown = 0;
    for (int64_t i = 0; lines && i < lines->n; i++) {
        Arena *arena = arena_new();
        Translated pair;
        const Line *line = &lines->at[i];
        bool ok = read_pair(arena, arena_strndup(arena, line->text, line->length), vocab, &pair);
        arena_free(arena);
        if (!ok)
            return job_error(job,
                             "--shortlist: line %" PRId64 " of %s is not TARGET SOURCE "
                             "PROBABILITY, from 0 to 1, as tfc align --shortlist writes it",
                             i + 1, path);
        if (pair.target < 0 || pair.source < 0)
            unknown++;
        else
            vec_push(job->arena, *pairs, pair);
    }
    if (lines && !pairs->count)
        return job_error(job, "--shortlist: %s has no pair of tokens of the vocabulary", path);
    if (lines && unknown > lines->n / 2)
        diag_warning(&job->diags, (Loc){0},
                     "--shortlist: of the %" PRId64 " lines of %s %" PRId64
                     " have a token that the vocabulary lacks",
                     lines->n, path, unknown);
    return lines != NULL;
}

/* By source, the most probable first, then by target. */
static int by_source(const void *a, const void *b)
{
    const Translated *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

/* Fills the places of each source's candidates in `ids`: itself if `copies`, then its targets. */
static void place_candidates(const TranslatedList *pairs, int32_t n_sources, int64_t size,
                             bool copies, int32_t *start, int32_t *ids)
{
    int32_t n = 0;
    for (int32_t source = 0, i = 0; source < n_sources; source++) {
        start[source] = n;
        if (copies)
            ids[n++] = source;
        const int32_t first = n;
        for (; i < (int32_t)pairs->count && pairs->data[i].source == source; i++)
            if (n - first < size)
                ids[n++] = pairs->data[i].target;
    }
    start[n_sources] = n;
}

const Shortlist *shortlist_read(Job *job, const ShortlistChoice *choice, const Vocabulary *vocab)
{
    TranslatedList pairs = {0};
    if (!read_pairs(job, choice->path, vocab, &pairs))
        return NULL;
    const int32_t n_sources = vocab_size(vocab_source(vocab));
    int32_t *start = ARENA_ARRAY(job->arena, int32_t, n_sources + 1);
    int32_t *ids = ARENA_ARRAY(job->arena, int32_t, (int64_t)pairs.count + n_sources);
    qsort(pairs.data, pairs.count, sizeof *pairs.data, by_source);
    place_candidates(&pairs, n_sources, choice->size, vocab_sides_agree(vocab), start, ids);
    Shortlist *shortlist = ARENA_NEW(job->arena, Shortlist);
    *shortlist = (Shortlist){.n_sources = n_sources,
                             .n_targets = vocab_size(vocab),
                             .first = (int32_t)choice->size,
                             .start = start,
                             .ids = ids,
                             .input = SHORTLIST_INPUT,
                             .calls = &shortlist_calls,
                             .count = ARENA_NEW(job->arena, ShortlistCount)};
    return shortlist;
}
