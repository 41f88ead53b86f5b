/* Links between words by the greatest weight. */
#include "driver/analysis/word_alignment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool align_check(const Attender *attender, const AlignBy *by)
{
    Job *job = attender->inference->job;
    if (by->layer >= (int64_t)attender->n)
        return attention_refuse(
            job, "--layer", by->layer, (int64_t)attender->n, "the model", "layer",
            attender->n == 1 ? " that attends to its source" : " that attend to its source");
    int64_t heads = by->layer < 0 ? INT64_MAX : attender->outputs[by->layer].heads;
    return by->head < heads ||
           attention_refuse(job, "--head", by->head, heads, "the layer", "head", "");
}

static const int32_t *target_ids(const Corpus *corpus, int64_t row)
{
    return corpus->target.ids.data + corpus->target.start[row];
}

static bool run_row(Attender *attender, const Corpus *corpus, int64_t row, Arena *arena,
                    AttentionMaps *maps)
{
    return attender_run(attender, corpus, row, target_ids(corpus, row),
                        rows_length(&corpus->target, row), arena, maps);
}

/* Weight of query i on key j, of a head or in the mean of all. */
static double weight_at(const AttentionOutput *output, const AttentionMaps *maps,
                        const float *weights, int64_t head, int64_t i, int64_t j)
{
    int64_t keys = maps->pair.n_source, area = maps->pair.n_target * keys;
    if (head >= 0)
        return weights[head * area + i * keys + j];
    double sum = 0;
    for (int64_t h = 0; h < output->heads; h++)
        sum += weights[h * area + i * keys + j];
    return sum / (double)output->heads;
}

/* The step that a token of the target is seen in. */
static int64_t step_of(const AttentionMaps *maps, int64_t token, bool is_read)
{
    int64_t step = token + is_read; /* behind the begin */
    return step < maps->pair.n_target ? step : maps->pair.n_target - 1;
}

/* Sums over the target's tokens of the greatest weight, nothing where that is the source's end. */
static double confident(const AttentionOutput *output, const AttentionMaps *maps,
                        const float *weights, int64_t tokens, int64_t end, bool is_read)
{
    double sum = 0;
    for (int64_t t = 0; t < tokens; t++) {
        int64_t step = step_of(maps, t, is_read), best = 0;
        double most = -1;
        for (int64_t j = 0; j < maps->pair.n_source; j++) {
            double weight = weight_at(output, maps, weights, MEAN_OF_HEADS, step, j);
            if (weight > most) {
                most = weight;
                best = j;
            }
        }
        sum += best == end ? 0 : most;
    }
    return sum;
}

int64_t align_best_layer(Attender *attender, const Corpus *corpus, bool is_read, double *confidence)
{
    Arena *kept = arena_new();
    double *sums = ARENA_ARRAY(kept, double, attender->n);
    int64_t tokens = 0, pairs = 0;
    bool ok = true;
    memset(sums, 0, attender->n * sizeof *sums);
    for (int64_t row = 0; ok && row < corpus->n && pairs < ALIGN_SAMPLE; row++) {
        int64_t n = rows_length(&corpus->target, row);
        if (!n || !rows_length(&corpus->source, row))
            continue;
        Arena *arena = arena_new();
        AttentionMaps maps;
        ok = run_row(attender, corpus, row, arena, &maps);
        int64_t end = corpus_source_ends(corpus, row).after >= 0 ? maps.pair.n_source - 1 : -1;
        for (size_t i = 0; ok && i < attender->n; i++)
            sums[i] += confident(&attender->outputs[i], &maps, maps.weights[i], n, end, is_read);
        tokens += n;
        pairs++;
        arena_free(arena);
    }
    int64_t best = 0;
    for (int64_t i = 1; i < (int64_t)attender->n; i++)
        if (sums[i] > sums[best])
            best = i;
    *confidence = tokens ? sums[best] / (double)tokens : 0;
    arena_free(kept);
    return ok ? best : -1;
}

const float *align_tokens(Attender *attender, const AlignBy *by, const Corpus *corpus, int64_t row,
                          Arena *arena)
{
    AttentionMaps maps;
    if (!run_row(attender, corpus, row, arena, &maps))
        return NULL;
    int64_t n = rows_length(&corpus->target, row), m = rows_length(&corpus->source, row);
    int64_t begin = corpus_source_ends(corpus, row).before >= 0;
    float *weights = ARENA_ARRAY(arena, float, n *m + 1);
    for (int64_t t = 0; t < n; t++)
        for (int64_t s = 0; s < m; s++)
            weights[t * m + s] =
                (float)weight_at(&attender->outputs[by->layer], &maps, maps.weights[by->layer],
                                 by->head, step_of(&maps, t, by->is_read), begin + s);
    return weights;
}

void align_words(const Corpus *corpus, int64_t row, const float *weights, const Line *source,
                 const Line *target, Arena *arena, Text *out)
{
    int64_t n = rows_length(&corpus->target, row), m = rows_length(&corpus->source, row);
    int64_t *from = ARENA_ARRAY(arena, int64_t, m + 1), *to = ARENA_ARRAY(arena, int64_t, n + 1);
    int64_t n_from =
        vocab_token_words(vocab_source(corpus->vocab), source,
                          corpus->source.ids.data + corpus->source.start[row], m, from);
    int64_t n_to = vocab_token_words(corpus->vocab, target, target_ids(corpus, row), n, to);
    double *sums = ARENA_ARRAY(arena, double, n_from + 1);
    const char *blank = "";
    for (int64_t word = 0; word < n_to && m; word++) {
        bool has_tokens = false;
        memset(sums, 0, (size_t)(n_from + 1) * sizeof *sums);
        for (int64_t t = 0; t < n; t++) {
            has_tokens |= to[t] == word;
            for (int64_t s = 0; s < m && to[t] == word; s++)
                sums[from[s]] += weights[t * m + s];
        }
        int64_t best = 0;
        for (int64_t s = 1; s < n_from; s++)
            if (sums[s] > sums[best])
                best = s;
        if (has_tokens) {
            text_add(out, "%s%" PRId64 "-%" PRId64, blank, best, word);
            blank = " ";
        }
    }
}

void lexicon_init(Lexicon *lexicon, Arena *arena)
{
    *lexicon = (Lexicon){.arena = arena};
    map_init(&lexicon->index, arena);
}

void lexicon_add(Lexicon *lexicon, const Corpus *corpus, int64_t row, const float *weights)
{
    int64_t n = rows_length(&corpus->target, row), m = rows_length(&corpus->source, row);
    const int32_t *source = corpus->source.ids.data + corpus->source.start[row];
    for (int64_t t = 0; t < n && m; t++) {
        int64_t best = 0;
        for (int64_t s = 1; s < m; s++)
            if (weights[t * m + s] > weights[t * m + best])
                best = s;
        char key[32];
        snprintf(key, sizeof key, "%d %d", source[best], target_ids(corpus, row)[t]);
        LexicalPair *pair = map_get(&lexicon->index, key);
        if (!pair) {
            pair = ARENA_ARRAY(lexicon->arena, LexicalPair, 1);
            *pair = (LexicalPair){.source = source[best], .target = target_ids(corpus, row)[t]};
            map_set(&lexicon->index, arena_strndup(lexicon->arena, key, strlen(key)), pair);
            vec_push(lexicon->arena, lexicon->pairs, pair);
        }
        pair->count++;
    }
}

static int by_source(const void *a, const void *b)
{
    const LexicalPair *x = *(LexicalPair *const *)a, *y = *(LexicalPair *const *)b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

void lexicon_put(Lexicon *lexicon, const Vocabulary *vocab, Text *out)
{
    size_t n = lexicon->pairs.count;
    LexicalPair **pairs = lexicon->pairs.data;
    if (n)
        qsort(pairs, n, sizeof *pairs, by_source);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        int64_t total = 0;
        for (; end < n && pairs[end]->source == pairs[i]->source; end++)
            total += pairs[end]->count;
        for (; i < end; i++) {
            const char *source = vocab_token(vocab_source(vocab), pairs[i]->source),
                       *target = vocab_token(vocab, pairs[i]->target);
            if (!strpbrk(source, " \t\n\r") && !strpbrk(target, " \t\n\r"))
                text_add(out, "%s %s %.7f\n", target, source,
                         (double)pairs[i]->count / (double)total);
        }
    }
}
