/* The tables of a study. */
#define _GNU_SOURCE
#include "inspect/study/cells.h"
#include "inspect/study/study.h"

#include "base/map.h"
#include "ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONFUSIONS = 20, MOST_EXTREMES = 8, MOST_TOKENS = 40 };

/* A range of whole numbers from `least` to that of the next; the last has no end. */
static const char *range_text(Job *job, const int64_t *least, int i, int n)
{
    if (i + 1 == n)
        return arena_printf(job->arena, "%" PRId64 " and more", least[i]);
    if (least[i] + 1 == least[i + 1])
        return arena_printf(job->arena, "%" PRId64, least[i]);
    return arena_printf(job->arena, "%" PRId64 "–%" PRId64, least[i], least[i + 1] - 1);
}

static int find_range(const int64_t *least, int n, int64_t value)
{
    int i = n - 1;
    while (i > 0 && value < least[i])
        i--;
    return i;
}

/* ---- by length ---- */

typedef struct LengthBucket {
    int64_t n, exact, tokens;
    double loss;
    Bleu bleu;
} LengthBucket;

void study_by_length(Job *job, const StudyRow *rows, int64_t n, BleuTokenize tokenize,
                     RunTable *table)
{
    static const int64_t least[] = {1, 6, 11, 16, 21, 31, 51};
    enum { RANGES = sizeof least / sizeof least[0] };
    LengthBucket buckets[RANGES] = {0};
    for (int64_t i = 0; i < n; i++) {
        LengthBucket *b = &buckets[find_range(least, RANGES, rows[i].tokens)];
        b->n++;
        b->exact += rows[i].exact;
        b->tokens += rows[i].tokens + 1;
        b->loss += rows[i].loss * (double)(rows[i].tokens + 1);
        bleu_add(&b->bleu, tokenize, rows[i].output, &rows[i].target, 1);
    }
    REPORT_HEADS(job, table, "Quality by length of the reference", "Loss in nats a token.",
                 "tokens", "sentences", "BLEU", "exactly right", "loss");
    for (int i = 0; i < RANGES; i++) {
        const LengthBucket *b = &buckets[i];
        if (!b->n)
            continue;
        report_cell(job, table, range_text(job, least, i, RANGES));
        report_count(job, table, b->n);
        report_number(job, table, bleu_score(&b->bleu), 1);
        report_percent(job, table, b->exact, b->n);
        report_number(job, table, b->loss / (double)b->tokens, 3);
    }
}

/* ---- by rarity ---- */

/* Words of a text, split as BLEU splits it, each counted in the map. */
static void count_words(Map *counts, Arena *arena, BleuTokenize tokenize, const char *text,
                        size_t length)
{
    Text split = {0};
    bleu_tokenize(tokenize, text, length, &split);
    for (char *at = split.data; at && *at;) {
        size_t word = strcspn(at, " ");
        bool last = !at[word];
        at[word] = 0;
        int64_t *count = map_get(counts, at);
        if (!count && word)
            map_set(counts, at, count = ARENA_ARRAY(arena, int64_t, 1));
        if (count)
            ++*count;
        at += word + !last;
    }
    text_free(&split);
}

typedef struct RarityBucket {
    int64_t words, found;
} RarityBucket;

/* A word that the output has less often than the reference is found so often (clipped counts). */
static void add_rarity(Map *train, const StudyRow *row, BleuTokenize tokenize, const int64_t *least,
                       int ranges, RarityBucket *buckets)
{
    Arena *arena = arena_new();
    Map wanted, given;
    map_init(&wanted, arena);
    map_init(&given, arena);
    count_words(&wanted, arena, tokenize, row->target, strlen(row->target));
    count_words(&given, arena, tokenize, row->output, strlen(row->output));
    for (size_t i = 0; i < wanted.count; i++) {
        const int64_t *in_train = map_get(train, wanted.entries[i].key),
                      *in_output = map_get(&given, wanted.entries[i].key);
        int64_t count = *(int64_t *)wanted.entries[i].value, found = in_output ? *in_output : 0;
        RarityBucket *b = &buckets[find_range(least, ranges, in_train ? *in_train : 0)];
        b->words += count;
        b->found += found < count ? found : count;
    }
    arena_free(arena);
}

void study_by_rarity(Job *job, const StudyRow *rows, int64_t n, const Lines *train,
                     BleuTokenize tokenize, RunTable *table)
{
    static const int64_t least[] = {0, 1, 2, 5, 20, 100, 1000};
    enum { RANGES = sizeof least / sizeof least[0] };
    RarityBucket buckets[RANGES] = {0};
    Arena *arena = arena_new();
    Map counts;
    map_init(&counts, arena);
    for (int64_t i = 0; i < train->n; i++)
        count_words(&counts, arena, tokenize, train->at[i].text, train->at[i].length);
    for (int64_t i = 0; i < n; i++)
        add_rarity(&counts, &rows[i], tokenize, least, RANGES, buckets);
    arena_free(arena);
    REPORT_HEADS(
        job, table, "Rare words",
        "Words of the references, and how many of them stand in the translation of their line.",
        "times in training", "words", "found");
    for (int i = 0; i < RANGES; i++) {
        if (!buckets[i].words)
            continue;
        report_cell(job, table, range_text(job, least, i, RANGES));
        report_count(job, table, buckets[i].words);
        report_percent(job, table, buckets[i].found, buckets[i].words);
    }
}

/* ---- tokens ---- */

typedef struct Confusion {
    int32_t wanted, guess;
    int64_t n;
} Confusion;

static int compare_pairs(const void *a, const void *b)
{
    const Confusion *x = a, *y = b;
    return x->wanted != y->wanted ? (x->wanted > y->wanted) - (x->wanted < y->wanted)
                                  : (x->guess > y->guess) - (x->guess < y->guess);
}

static int compare_counts(const void *a, const void *b)
{
    const Confusion *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : compare_pairs(a, b);
}

void study_confusions(Job *job, const Vocabulary *vocab, const int32_t *wanted,
                      const int32_t *guesses, int64_t n, RunTable *table)
{
    Confusion *pairs = ARENA_ARRAY(job->arena, Confusion, n + 1);
    int64_t *times = ARENA_ARRAY(job->arena, int64_t, vocab_size(vocab) + 1), count = 0, kinds = 0,
            right = 0, all = 0;
    for (int64_t i = 0; i < n; i++) {
        if (guesses[i] < 0 || wanted[i] < 0 || wanted[i] >= vocab_size(vocab))
            continue;
        all++;
        times[wanted[i]]++;
        right += guesses[i] == wanted[i];
        if (guesses[i] != wanted[i])
            pairs[count++] = (Confusion){wanted[i], guesses[i], 1};
    }
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int64_t i = 0; i < count; i++)
        if (kinds && !compare_pairs(&pairs[kinds - 1], &pairs[i]))
            pairs[kinds - 1].n++;
        else
            pairs[kinds++] = pairs[i];
    qsort(pairs, (size_t)kinds, sizeof *pairs, compare_counts);
    REPORT_HEADS(
        job, table, "Tokens taken for others",
        arena_printf(
            job->arena,
            "With the text so far given, the most probable next token is the right one %.1f %% of the time.",
            all ? 100 * (double)right / (double)all : 0),
        "token", "instead", "times", "of its");
    for (int64_t i = 0; i < kinds && i < MOST_CONFUSIONS; i++) {
        report_cell(job, table, vocab_token(vocab, pairs[i].wanted));
        report_cell(job, table, vocab_token(vocab, pairs[i].guess));
        report_count(job, table, pairs[i].n);
        report_count(job, table, times[pairs[i].wanted]);
    }
}

void study_vocabulary(Job *job, const Vocabulary *vocab, const int32_t *ids, int64_t n,
                      RunTable *table)
{
    int32_t size = vocab_size(vocab);
    Confusion *tokens = ARENA_ARRAY(job->arena, Confusion, size + 1);
    int64_t used = 0, unknown = 0;
    for (int32_t i = 0; i < size; i++)
        tokens[i].wanted = i;
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= size)
            continue;
        used += !tokens[ids[i]].n++;
        unknown += ids[i] == vocab_rules(vocab)->unk;
    }
    qsort(tokens, (size_t)size, sizeof *tokens, compare_counts);
    Text list = {0};
    for (int32_t i = 0; i < size && i < MOST_TOKENS && tokens[i].n; i++)
        text_add(&list, "%s%s", i ? "  " : "", vocab_token(vocab, tokens[i].wanted));
    REPORT_HEADS(job, table, "Vocabulary", NULL, "of the targets", "");
    const char *rows[][2] = {
        {"tokens", arena_printf(job->arena, "%d", (int)size)},
        {"used by the validation text", arena_printf(job->arena, "%" PRId64, used)},
        {"unknown tokens there", arena_printf(job->arena, "%" PRId64 " of %" PRId64, unknown, n)},
        {"most frequent", arena_strdup(job->arena, list.data ? list.data : "")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        report_cell(job, table, rows[i][0]);
        report_cell(job, table, rows[i][1]);
    }
    text_free(&list);
}

/* ---- lines ---- */

static int compare_losses(const void *a, const void *b)
{
    const StudyRow *x = a, *y = b;
    return x->loss != y->loss ? (x->loss > y->loss) - (x->loss < y->loss)
                              : (x->line > y->line) - (x->line < y->line);
}

void study_extremes(Job *job, const StudyRow *rows, int64_t n, bool worst, RunTable *table)
{
    StudyRow *sorted = ARENA_ARRAY(job->arena, StudyRow, n + 1);
    memcpy(sorted, rows, (size_t)n * sizeof *rows);
    qsort(sorted, (size_t)n, sizeof *rows, compare_losses);
    const char *title = worst ? "Lines of the greatest loss" : "Lines of the least loss";
    bool pairs = n && rows[0].output;
    if (pairs)
        REPORT_HEADS(job, table, title, "Loss in nats a token.", "loss", "source", "reference",
                     "translation");
    else
        REPORT_HEADS(job, table, title, "Loss in nats a token.", "loss", "text");
    for (int64_t i = 0; i < n && i < MOST_EXTREMES; i++) {
        const StudyRow *row = &sorted[worst ? n - 1 - i : i];
        report_number(job, table, row->loss, 2);
        if (pairs)
            report_cell(job, table, row->source);
        report_cell(job, table, row->target);
        if (pairs)
            report_cell(job, table, row->output);
    }
}

/* ---- params ---- */

/* The name with * for each part that is a number. */
static const char *general_name(Arena *arena, const char *name)
{
    char *text = arena_alloc(arena, strlen(name) + 1), *end = text;
    for (const char *at = name; *at;) {
        size_t part = strcspn(at, "."), digits = strspn(at, "0123456789");
        bool is_number = part && digits == part;
        end = mempcpy(end, is_number ? "*" : at, is_number ? 1 : part);
        at += part;
        if (*at)
            *end++ = *at++;
    }
    *end = 0;
    return text;
}

typedef struct ParamGroup {
    const char *shape;
    int64_t n, numbers;
} ParamGroup;

void study_params(Job *job, const Module *module, RunTable *table)
{
    Map groups;
    int64_t total = 0;
    map_init(&groups, job->arena);
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        if (info->role != PARAM_TRAINED && info->role != PARAM_FROZEN)
            continue;
        int64_t numbers = 1;
        for (int d = 0; d < info->type.rank; d++)
            numbers *= info->type.dims[d].size;
        const char *shape = ir_type_text(module, &info->type, job->arena),
                   *name = general_name(job->arena, info->name);
        const char *key = arena_printf(job->arena, "%s %s", name, shape);
        ParamGroup *group = map_get(&groups, key);
        if (!group)
            map_set(&groups, key, group = ARENA_ARRAY(job->arena, ParamGroup, 1));
        group->shape = shape;
        group->n++;
        group->numbers += numbers;
        total += numbers;
    }
    REPORT_HEADS(job, table, arena_printf(job->arena, "Params: %" PRId64 " numbers", total), NULL,
                 "name", "shape", "tensors", "numbers", "share");
    for (size_t i = 0; i < groups.count; i++) {
        const ParamGroup *group = groups.entries[i].value;
        report_cell(
            job, table,
            arena_strndup(job->arena, groups.entries[i].key, strcspn(groups.entries[i].key, " ")));
        report_cell(job, table, group->shape);
        report_count(job, table, group->n);
        report_count(job, table, group->numbers);
        report_percent(job, table, group->numbers, total);
    }
}
