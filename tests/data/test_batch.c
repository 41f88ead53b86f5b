/* Batches: what a batch holds, that an epoch holds every row once within the budget,
 * and that the order is a function of seed and epoch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "runtime/data/batch_items.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    Vocabulary *words; /* a = 4, b = 5, c = 6 */
} Fixture;

static const Lines *lines_of(Fixture *f, const char *text)
{
    return lines_parse(&f->diags, f->arena, diag_source(f->arena, "text", text, strlen(text)), 0);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    const Lines *text = lines_of(f, "a a a b b c");
    f->words = vocab_make(&f->diags, f->arena, "words:auto", &text, 1, false);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    arena_free(f->arena);
    free(f);
    return 0;
}

static Corpus *encode(Fixture *f, CorpusKind kind, int64_t max, const char *source,
                      const char *target)
{
    CorpusOptions options = {.kind = kind, .max_length = max};
    return corpus_encode(&f->diags, f->words, &options,
                         &(CorpusText){.source = lines_of(f, source),
                                       .target = target ? lines_of(f, target) : NULL});
}

/* Some hundred pairs of lengths 1 … 20 and 1 … 15. */
static Corpus *many_pairs(Fixture *f, int n)
{
    Text source = {0}, target = {0};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i * 7919 % 20; j++)
            text_add(&source, "%c ", 'a' + (i + j) % 3);
        for (int j = 0; j <= i * 104729 % 15; j++)
            text_add(&target, "%c ", 'a' + (i * j) % 3);
        text_add(&source, "\n");
        text_add(&target, "\n");
    }
    Corpus *corpus = encode(f, CORPUS_PAIRS, 0, source.data, target.data);
    text_free(&source);
    text_free(&target);
    assert_int_equal(corpus->n, n);
    return corpus;
}

static void expect(const int32_t *ids, int n, const int32_t *expected)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(ids[i], expected[i]);
}

static void test_pairs(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = encode(f, CORPUS_PAIRS, 0, "a b c\na\n", "b b\nc\n");
    Batches *batches = batches_new(corpus, &(BatchOptions){.tokens = 100}, 0);
    assert_int_equal(batches_count(batches), 1);
    Batch batch = {0};
    batches_fill(batches, 0, &batch);
    assert_int_equal(batch.shape.rows, 2);
    assert_int_equal(batch.shape.side[SIDE_SOURCE].total, 6);
    assert_int_equal(batch.shape.side[SIDE_SOURCE].longest, 4);
    assert_int_equal(batch.shape.side[SIDE_TARGET].total, 5);
    assert_int_equal(batch.shape.side[SIDE_TARGET].longest, 3);
    expect(batch.source, 6, (int32_t[]){4, 3, 4, 5, 6, 3});
    expect(batch.lengths[SIDE_SOURCE], 2, (int32_t[]){2, 4});
    expect(batch.target, 5, (int32_t[]){2, 6, 2, 5, 5});
    expect(batch.target_next, 5, (int32_t[]){6, 3, 5, 5, 3});
    expect(batch.target_further, 5, (int32_t[]){3, -1, 5, 3, -1});
    expect(batch.lengths[SIDE_TARGET], 2, (int32_t[]){2, 3});
    assert_int_equal(batch.row[0], 1);
    assert_int_equal(batch.row[1], 0);
    batch_free(&batch);
    batches_free(batches);
    corpus_free(corpus);
}

static void test_other_kinds(void **state)
{
    Fixture *f = *state;
    Batch batch = {0};
    BatchOptions options = {0};
    Corpus *corpus = encode(f, CORPUS_SENTENCES, 0, "a b\nc\n", NULL);
    Batches *batches = batches_new(corpus, &options, 0);
    batches_fill(batches, 0, &batch);
    expect(batch.source, 7, (int32_t[]){2, 6, 3, 2, 4, 5, 3});
    assert_int_equal(batch.shape.side[SIDE_TARGET].total, 0);
    batches_free(batches);
    corpus_free(corpus);

    corpus = encode(f, CORPUS_LINES, 0, "a b\nc\n", NULL);
    batches = batches_new(corpus, &options, 0);
    batches_fill(batches, 0, &batch);
    expect(batch.target, 5, (int32_t[]){2, 6, 2, 4, 5});
    expect(batch.target_next, 5, (int32_t[]){6, 3, 4, 5, 3});
    assert_int_equal(batch.shape.side[SIDE_SOURCE].total, 0);
    batches_free(batches);
    corpus_free(corpus);

    corpus = encode(f, CORPUS_SOURCES, 0, "a b\nc\n", NULL);
    batches = batches_new(corpus, &options, 0);
    batches_fill(batches, 0, &batch);
    expect(batch.source, 5, (int32_t[]){6, 3, 4, 5, 3});
    batches_free(batches);
    corpus_free(corpus);
    batch_free(&batch);
}

/* Every row once, within the budget, and its own tokens in its place. */
static void check_epoch(const Corpus *corpus, const BatchOptions *options, int64_t epoch)
{
    Batches *batches = batches_new(corpus, options, epoch);
    char *seen = calloc(1, (size_t)corpus->n);
    Batch batch = {0};
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        assert_true(batch.shape.rows == 1 || !options->tokens ||
                    (batch.shape.side[SIDE_SOURCE].total <= options->tokens &&
                     batch.shape.side[SIDE_TARGET].total <= options->tokens));
        assert_true(!options->sentences || batch.shape.rows <= options->sentences);
        int64_t at = 0;
        for (int64_t j = 0; j < batch.shape.rows; j++) {
            int64_t row = batch.row[j], n = rows_length(&corpus->source, row);
            assert_false(seen[row]++);
            assert_int_equal(batch.lengths[SIDE_SOURCE][j], n + 1);
            assert_memory_equal(batch.source + at,
                                corpus->source.ids.data + corpus->source.start[row],
                                (size_t)n * sizeof(int32_t));
            at += batch.lengths[SIDE_SOURCE][j];
        }
        assert_int_equal(at, batch.shape.side[SIDE_SOURCE].total);
    }
    for (int64_t i = 0; i < corpus->n; i++)
        assert_true(seen[i]);
    free(seen);
    batch_free(&batch);
    batches_free(batches);
}

static void test_budgets(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, 700);
    static const BatchOptions options[] = {
        {.tokens = 64, .shuffle = true, .seed = 1}, {.tokens = 5, .shuffle = true},
        {.sentences = 7, .shuffle = true},          {.tokens = 100, .sentences = 3},
        {.tokens = 100000, .shuffle = true},        {.shuffle = false},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (int64_t epoch = 0; epoch < 3; epoch++)
            check_epoch(corpus, &options[i], epoch);
    corpus_free(corpus);
}

/* The pieces of an epoch's batches: together the batch, row after row, and none has many more
 * tokens than its part. */
static void check_shards(const Corpus *corpus, BatchOptions options, int64_t shards)
{
    Batches *whole = batches_new(corpus, &options, 1);
    options.shards = shards;
    Batches *cut = batches_new(corpus, &options, 1);
    Batch batch = {0}, piece = {0};
    assert_int_equal(batches_count(cut), shards * batches_count(whole));
    for (int64_t i = 0; i < batches_count(whole); i++) {
        batches_fill(whole, i, &batch);
        int64_t row = 0, source = 0, target = 0;
        for (int64_t k = 0; k < shards; k++) {
            batches_fill(cut, i * shards + k, &piece);
            for (int64_t j = 0; j < piece.shape.rows; j++)
                assert_int_equal(piece.row[j], batch.row[row++]);
            assert_memory_equal(piece.source, batch.source + source,
                                (size_t)piece.shape.side[SIDE_SOURCE].total * sizeof(int32_t));
            assert_memory_equal(piece.target_next, batch.target_next + target,
                                (size_t)piece.shape.side[SIDE_TARGET].total * sizeof(int32_t));
            source += piece.shape.side[SIDE_SOURCE].total;
            target += piece.shape.side[SIDE_TARGET].total;
            int64_t tokens =
                piece.shape.side[SIDE_SOURCE].total + piece.shape.side[SIDE_TARGET].total;
            int64_t longest =
                batch.shape.side[SIDE_SOURCE].longest + batch.shape.side[SIDE_TARGET].longest;
            int64_t all = batch.shape.side[SIDE_SOURCE].total + batch.shape.side[SIDE_TARGET].total;
            assert_true(tokens <= all / shards + longest + 1);
        }
        assert_int_equal(row, batch.shape.rows);
    }
    batch_free(&batch);
    batch_free(&piece);
    batches_free(whole);
    batches_free(cut);
}

static void test_shards(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, 700),
           *stream = encode(f, CORPUS_STREAM, 3, "a b c a b c a b", NULL);
    for (int64_t shards = 2; shards < 40; shards = shards * 2 + 1) {
        check_shards(corpus, (BatchOptions){.tokens = 90, .shuffle = true, .seed = 4}, shards);
        check_shards(corpus, (BatchOptions){.sentences = 8}, shards);
        check_shards(stream, (BatchOptions){.tokens = 6}, shards);
    }
    corpus_free(corpus);
    corpus_free(stream);
}

static uint64_t hash_epoch(const Corpus *corpus, uint64_t seed, int64_t epoch)
{
    BatchOptions options = {.tokens = 50, .shuffle = true, .seed = seed};
    Batches *batches = batches_new(corpus, &options, epoch);
    Batch batch = {0};
    uint64_t hash = HASH_SEED;
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        hash = hash_bytes(hash, batch.row, (size_t)batch.shape.rows * sizeof *batch.row);
    }
    batch_free(&batch);
    batches_free(batches);
    return hash;
}

static void test_order(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, 500);
    assert_true(hash_epoch(corpus, 1, 0) == hash_epoch(corpus, 1, 0));
    assert_true(hash_epoch(corpus, 1, 0) != hash_epoch(corpus, 1, 1));
    assert_true(hash_epoch(corpus, 1, 0) != hash_epoch(corpus, 2, 0));
    corpus_free(corpus);
}

/* Bucketing: rows of a batch are near in length, so little would be padding. */
static void test_buckets(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, 3000);
    BatchOptions options = {.tokens = 200, .shuffle = true};
    Batches *batches = batches_new(corpus, &options, 0);
    int64_t tokens = 0, padded = 0, ascending = 0, n = batches_count(batches);
    for (int64_t i = 0; i < n; i++) {
        BatchShape shape = batches_shape(batches, i);
        tokens += shape.side[SIDE_TARGET].total;
        padded += shape.rows * shape.side[SIDE_TARGET].longest;
        ascending += i && shape.side[SIDE_TARGET].longest >=
                              batches_shape(batches, i - 1).side[SIDE_TARGET].longest;
    }
    assert_true((double)tokens / (double)padded > 0.9);
    assert_true(ascending > n / 4 && ascending < n * 3 / 4); /* shuffled */
    batches_free(batches);
    corpus_free(corpus);
}

/* Sources of 1, 5 and 9 tokens for each of two lengths of targets: the batch across both has two
 * sources of one length. */
static void test_sources_across_targets(void **state)
{
    static const char one[] = "a\n", five[] = "a a a a a\n", nine[] = "a a a a a a a a a\n";
    char sources[100];
    snprintf(sources, sizeof sources, "%s%s%s%s%s%s", one, five, nine, one, five, nine);
    Corpus *corpus = encode(*state, CORPUS_PAIRS, 0, sources, "b\nb\nb\nb b\nb b\nb b\n");
    Batches *batches = batches_new(corpus, &(BatchOptions){.sentences = 2}, 0);
    assert_int_equal(batches_count(batches), 3);
    BatchShape middle = batches_shape(batches, 1);
    assert_int_equal(middle.side[SIDE_SOURCE].total, 2 * middle.side[SIDE_SOURCE].longest);
    assert_int_not_equal(batches_shape(batches, 0).side[SIDE_TARGET].longest,
                         middle.side[SIDE_TARGET].longest);
    batches_free(batches);
    corpus_free(corpus);
}

static void test_largest(void **state)
{
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, 700);
    Batches *batches = batches_new(corpus, &(BatchOptions){.tokens = 60, .shuffle = true}, 0);
    for (int64_t room = 1; room <= 64; room *= 8) {
        BatchShape shapes[64];
        int64_t n = batches_largest(batches, shapes, room);
        assert_true(n > 1);
        n = n < room ? n : room;
        for (int64_t i = 0; i < batches_count(batches); i++) {
            BatchShape s = batches_shape(batches, i);
            bool fits = false;
            for (int64_t j = 0; j < n; j++)
                fits |= shapes[j].rows >= s.rows &&
                        shapes[j].side[SIDE_SOURCE].total >= s.side[SIDE_SOURCE].total &&
                        shapes[j].side[SIDE_SOURCE].longest >= s.side[SIDE_SOURCE].longest &&
                        shapes[j].side[SIDE_TARGET].total >= s.side[SIDE_TARGET].total &&
                        shapes[j].side[SIDE_TARGET].longest >= s.side[SIDE_TARGET].longest;
            assert_true(fits);
        }
    }
    batches_free(batches);
    corpus_free(corpus);
}

/* Windows tile the stream: every token but the first is once a next token. */
static void check_windows(const Corpus *corpus, bool shuffle, int64_t epoch)
{
    BatchOptions options = {.tokens = 40, .shuffle = shuffle, .seed = 3};
    Batches *batches = batches_new(corpus, &options, epoch);
    int64_t n = (int64_t)corpus->target.ids.count;
    char *seen = calloc(1, (size_t)n);
    Batch batch = {0};
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        int64_t at = 0;
        for (int64_t j = 0; j < batch.shape.rows; j++) {
            assert_true(batch.lengths[SIDE_TARGET][j] <= corpus->options.max_length);
            for (int32_t k = 0; k < batch.lengths[SIDE_TARGET][j]; k++, at++) {
                int64_t place = batch.row[j] + k;
                assert_int_equal(batch.target[at], corpus->target.ids.data[place]);
                assert_int_equal(batch.target_next[at], corpus->target.ids.data[place + 1]);
                assert_false(seen[place + 1]++);
            }
        }
        assert_true(batch.shape.side[SIDE_TARGET].total <= 40);
    }
    for (int64_t i = 1; i < n; i++)
        assert_true(seen[i]);
    free(seen);
    batch_free(&batch);
    batches_free(batches);
}

static void test_windows(void **state)
{
    Fixture *f = *state;
    Text text = {0};
    for (int i = 0; i < 300; i++)
        text_add(&text, "%c%c", 'a' + i * 31 % 3, i % 5 ? ' ' : '\n');
    for (int64_t max = 1; max <= 1000; max = max * 3 + 1) {
        Corpus *corpus = encode(f, CORPUS_STREAM, max < 40 ? max : 40, text.data, NULL);
        check_windows(corpus, false, 0);
        for (int64_t epoch = 0; epoch < 5; epoch++)
            check_windows(corpus, true, epoch);
        corpus_free(corpus);
    }
    text_free(&text);
}

/* A target longer than the model takes: its beginning, and the token behind that; no end. */
static void test_cut(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_PAIRS, .max_length = 3, .keep_all = true};
    Corpus *corpus = corpus_encode(
        &f->diags, f->words, &options,
        &(CorpusText){.source = lines_of(f, "a\na\n"), .target = lines_of(f, "b a c b a\nb a\n")});
    Batches *batches = batches_new(corpus, &(BatchOptions){.sentences = 2}, 0);
    Batch batch = {0};
    batches_fill(batches, 0, &batch);
    const TokenRules *rules = vocab_rules(f->words);
    const int32_t target[] = {rules->begin, 5, 4}, next[] = {5, 4, 6}, whole[] = {5, 4, rules->end};
    for (int64_t row = 0; row < 2; row++) {
        assert_int_equal(batch.lengths[SIDE_TARGET][row], 3);
        assert_memory_equal(batch.target + 3 * row, target, sizeof target);
        assert_memory_equal(batch.target_next + 3 * row, batch.row[row] ? whole : next,
                            sizeof next);
    }
    batch_free(&batch);
    batches_free(batches);
    corpus_free(corpus);
}

static void test_nothing(void **state)
{
    Fixture *f = *state;
    CorpusOptions options = {.kind = CORPUS_SOURCES, .keep_all = true};
    Corpus *corpus =
        corpus_encode(&f->diags, f->words, &options, &(CorpusText){.source = lines_of(f, "")});
    Batches *batches = batches_new(corpus, &(BatchOptions){.tokens = 10}, 0);
    BatchShape shape;
    assert_int_equal(batches_count(batches), 0);
    assert_int_equal(batches_largest(batches, &shape, 1), 0);
    batches_free(batches);
    corpus_free(corpus);
}

/* Of an epoch: how often each row comes. */
static int64_t count_rows(const Corpus *corpus, int64_t epoch, int *times)
{
    BatchOptions options = {.tokens = 60, .shuffle = true, .seed = 3};
    Batches *batches = batches_new(corpus, &options, epoch);
    Batch batch = {0};
    int64_t n = 0;
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        for (int64_t k = 0; k < batch.shape.rows; k++, n++)
            times[batch.row[k]]++;
    }
    batch_free(&batch);
    batches_free(batches);
    return n;
}

/* An epoch has its own 30 rows and 12 of 40 others; in ten epochs each of these comes three
 * times. */
static void test_mixed(void **state)
{
    enum { OWN = 30, MORE = 40, EPOCHS = 10, ALL = OWN + MORE };
    Fixture *f = *state;
    Corpus *corpus = many_pairs(f, OWN);
    Text text = {0};
    for (int i = 0; i < MORE; i++)
        text_string(&text, "a b c\n");
    const Lines *lines = lines_of(f, text.data);
    assert_true(
        corpus_mix(&f->diags, corpus, 0.4, &(CorpusText){.source = lines, .target = lines}));
    assert_int_equal(corpus->n, ALL);
    int all[ALL] = {0};
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        int times[ALL] = {0}, again[ALL] = {0};
        assert_int_equal(count_rows(corpus, epoch, times), OWN + 12);
        count_rows(corpus, epoch, again);
        assert_memory_equal(times, again, sizeof times);
        for (int row = 0; row < ALL; row++) {
            assert_true(row >= OWN || times[row] == 1);
            all[row] += times[row];
        }
    }
    for (int row = OWN; row < ALL; row++)
        assert_int_equal(all[row], 3);
    /* More than there are: some come again within the epoch. */
    corpus->parts[0].weight = 2;
    int times[ALL] = {0};
    assert_int_equal(count_rows(corpus, 0, times), OWN + 60);
    for (int row = OWN; row < ALL; row++)
        assert_in_range(times[row], 1, 2);
    corpus_free(corpus);
    text_free(&text);
}

static int by_lengths(const void *a, const void *b)
{
    const BatchItem *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->source != y->source)
        return (x->source < y->source) == (x->target % 2 == 0) ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Lengths of one to three bytes, in the order they have and in another: as a comparison of two
 * items sorts them. */
static void test_sorted(void **state)
{
    (void)state;
    enum { N = 5000 };
    static BatchItem items[N], expected[N], spare[N];
    static const int32_t lengths[] = {3, 200, 70000};
    for (size_t k = 0; k < 6; k++) {
        const int32_t most = lengths[k / 2];
        for (int32_t i = 0; i < N; i++)
            items[i] = (BatchItem){.row = i,
                                   .source = (int32_t)(i * 7919LL % most),
                                   .target = (int32_t)(i * 104729LL % most / 2),
                                   .order = k % 2 ? i * 3001LL % N : i};
        memcpy(expected, items, sizeof items);
        qsort(expected, N, sizeof *expected, by_lengths);
        batch_items_sort(items, N, spare);
        for (int i = 0; i < N; i++)
            assert_int_equal(items[i].row, expected[i].row);
    }
    batch_items_sort(items, 0, spare);
}

static void expect_same(const Batches *batches, const Batches *others)
{
    Batch batch = {0}, other = {0};
    assert_int_equal(batches_count(batches), batches_count(others));
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        batches_fill(others, i, &other);
        assert_int_equal(batch.shape.rows, other.shape.rows);
        assert_memory_equal(batch.row, other.row, (size_t)batch.shape.rows * sizeof *batch.row);
    }
    batch_free(&batch);
    batch_free(&other);
}

/* Batches in the memory of others, of more rows and of fewer, are those of new memory. */
static void test_renewed(void **state)
{
    static const int sizes[] = {100, 300, 40};
    Fixture *f = *state;
    Batches *renewed = NULL;
    for (size_t k = 0; k < 3; k++) {
        Corpus *corpus = many_pairs(f, sizes[k]);
        const BatchOptions options = {
            .tokens = 60, .shuffle = k == 1, .distinct = k == 1, .seed = 3, .shards = 2};
        Batches *batches = batches_new(corpus, &options, k);
        renewed = batches_renew(renewed, corpus, &options, k);
        expect_same(batches, renewed);
        batches_free(batches);
        corpus_free(corpus);
    }
    batches_free(renewed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pairs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_budgets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shards, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_buckets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sources_across_targets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_largest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mixed, setup, teardown),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test_setup_teardown(test_renewed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
