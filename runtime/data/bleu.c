/* Counting n-grams and scoring. Tokenisation is in bleu_tokenize.c. */
#include "runtime/data/bleu.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/portable_math.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A sentence as numbers: equal tokens have equal ones within a Map. */
typedef struct Words {
    int64_t n;
    int32_t *at;
} Words;

static Words number_words(Arena *arena, Map *numbers, BleuTokenize tokenize, const char *line)
{
    Text text = {0};
    bleu_tokenize(tokenize, line, strlen(line), &text);
    Words words = {0, ARENA_ARRAY(arena, int32_t, text.length / 2 + 2)};
    for (char *rest = text.data, *word = rest; word && *word; word = rest) {
        rest = strchr(word, ' ');
        if (rest)
            *rest++ = 0;
        uintptr_t number = (uintptr_t)map_get(numbers, word);
        if (!number) {
            number = numbers->count + 1;
            map_set(numbers, word, (void *)number);
        }
        words.at[words.n++] = (int32_t)number;
    }
    text_free(&text);
    return words;
}

/* An n-gram by its first word; `order` makes the comparison know n. */
typedef struct Gram {
    const int32_t *words;
    int order;
} Gram;

static int by_words(const void *a, const void *b)
{
    const Gram *x = a, *y = b;
    for (int i = 0; i < x->order; i++)
        if (x->words[i] != y->words[i])
            return x->words[i] < y->words[i] ? -1 : 1;
    return 0;
}

static int64_t list_grams(Arena *arena, const Words *words, int order, Gram **grams)
{
    int64_t n = words->n - order + 1;
    *grams = ARENA_ARRAY(arena, Gram, n > 0 ? n : 1);
    for (int64_t i = 0; i < n; i++)
        (*grams)[i] = (Gram){words->at + i, order};
    if (n > 1)
        qsort(*grams, (size_t)n, sizeof **grams, by_words);
    return n > 0 ? n : 0;
}

/* How many of the sorted grams from *i on equal `gram`; *i moves past them and past
 * all smaller ones. */
static int64_t count_equal(const Gram *grams, int64_t n, const Gram *gram, int64_t *i)
{
    while (*i < n && by_words(&grams[*i], gram) < 0)
        ++*i;
    int64_t first = *i;
    while (*i < n && by_words(&grams[*i], gram) == 0)
        ++*i;
    return *i - first;
}

/* n-grams of the output that are in the references, each as often as in the reference
 * that has it most often. */
static int64_t count_correct(Arena *arena, const Words *output, const Words *references,
                             int n_references, int order)
{
    Gram *grams;
    int64_t n = list_grams(arena, output, order, &grams), correct = 0;
    Gram **theirs = ARENA_ARRAY(arena, Gram *, n_references);
    int64_t *n_theirs = ARENA_ARRAY(arena, int64_t, n_references);
    int64_t *place = ARENA_ARRAY(arena, int64_t, n_references);
    for (int r = 0; r < n_references; r++)
        n_theirs[r] = list_grams(arena, &references[r], order, &theirs[r]);
    for (int64_t i = 0; i < n;) {
        const Gram *gram = &grams[i];
        int64_t times = count_equal(grams, n, gram, &i), most = 0;
        for (int r = 0; r < n_references; r++) {
            int64_t there = count_equal(theirs[r], n_theirs[r], gram, &place[r]);
            most = there > most ? there : most;
        }
        correct += times < most ? times : most;
    }
    return correct;
}

/* The reference length nearest to the output's; of two as near, the shorter. */
static int64_t closest_length(int64_t length, const Words *references, int n_references)
{
    int64_t best = references[0].n;
    for (int r = 1; r < n_references; r++) {
        int64_t now = llabs(references[r].n - length), before = llabs(best - length);
        if (now < before || (now == before && references[r].n < best))
            best = references[r].n;
    }
    return best;
}

void bleu_add(Bleu *bleu, BleuTokenize tokenize, const char *output, const char *const *references,
              int n_references)
{
    assert(n_references > 0);
    Arena *arena = arena_new();
    Map numbers;
    map_init(&numbers, arena);
    Words words = number_words(arena, &numbers, tokenize, output);
    Words *theirs = ARENA_ARRAY(arena, Words, n_references);
    for (int r = 0; r < n_references; r++)
        theirs[r] = number_words(arena, &numbers, tokenize, references[r]);
    for (int order = 1; order <= BLEU_ORDER; order++) {
        bleu->correct[order - 1] += count_correct(arena, &words, theirs, n_references, order);
        bleu->total[order - 1] += words.n >= order ? words.n - order + 1 : 0;
    }
    bleu->output_length += words.n;
    bleu->reference_length += closest_length(words.n, theirs, n_references);
    arena_free(arena);
}

double bleu_brevity_penalty(const Bleu *bleu)
{
    if (bleu->output_length >= bleu->reference_length)
        return 1;
    return bleu->output_length
               ? portable_exp(1 - (double)bleu->reference_length / (double)bleu->output_length)
               : 0;
}

/* An order without a match counts as 1/2, 1/4, … of one (smoothing method 3 of Chen and
 * Cherry 2014). Outputs all shorter than BLEU_ORDER tokens score 0. */
double bleu_score(const Bleu *bleu)
{
    double logs = 0, smooth = 1;
    bool any = false;
    for (int i = 0; i < BLEU_ORDER; i++) {
        if (bleu->total[i] == 0)
            return 0;
        any |= bleu->correct[i] > 0;
        if (bleu->correct[i] == 0)
            smooth *= 2;
        double correct = bleu->correct[i] ? (double)bleu->correct[i] : 1 / smooth;
        logs += portable_log(100 * correct / (double)bleu->total[i]);
    }
    return any ? bleu_brevity_penalty(bleu) * portable_exp(logs / BLEU_ORDER) : 0;
}

bool bleu_parse_tokenize(const char *name, BleuTokenize *tokenize)
{
    *tokenize = !strcmp(name, "none") ? BLEU_NONE : BLEU_13A;
    return *tokenize == BLEU_NONE || !strcmp(name, "13a");
}

const char *bleu_signature(Arena *arena, BleuTokenize tokenize, int n_references,
                           const char *version)
{
    return arena_printf(arena, "nrefs:%d|case:mixed|eff:no|tok:%s|smooth:exp|version:tfc.%s",
                        n_references, tokenize == BLEU_NONE ? "none" : "13a", version);
}
