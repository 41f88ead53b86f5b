/* Hidden tokens: the numbers they are drawn by, their shares, whole words, and that a row's do not
 * depend on what else is in its batch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/philox.h"
#include "runtime/data/batch.h"
#include "runtime/data/hiding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    const Lines *text;
    Vocabulary *words, *pieces;
} Fixture;

enum { N_LINES = 600, LONGEST = 14 };

/* Lines of 1 to LONGEST words, which are of several pieces each. */
static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    Text text = {0};
    uint64_t random = 5;
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    for (int i = 0; i < N_LINES; i++) {
        for (int w = 0, n = 1 + i % LONGEST; w < n; w++) {
            random = hash_u64(random, (uint64_t)w);
            text_add(&text, "%s%c%c%02u", w ? " " : "", 'a' + (int)(random >> 20) % 7,
                     'a' + (int)(random >> 30) % 7, (unsigned)(random >> 40) % 50);
        }
        text_put(&text, "\n", 1);
    }
    f->text =
        lines_parse(&f->diags, f->arena, diag_source(f->arena, "text", text.data, text.length), 0);
    f->words = vocab_make(&f->diags, f->arena, "words:auto", &f->text, 1, VOCAB_MASK);
    f->pieces = vocab_make(&f->diags, f->arena, "auto:60", &f->text, 1, VOCAB_MASK | VOCAB_AS_IS);
    assert_non_null(f->words);
    assert_non_null(f->pieces);
    text_free(&text);
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

static ColumnSpec spec_of(HideRule rule)
{
    return (ColumnSpec){.input = "text",
                        .field = "text",
                        .kind = COLUMN_TEXT,
                        .side = 0,
                        .width = 1,
                        .is_framed = true,
                        .hide = rule};
}

static Corpus *corpus_of(Fixture *f, const Vocabulary *vocab, const ColumnSpec *spec)
{
    const CorpusText text = {.columns = {(Lines *)f->text}};
    const CorpusOptions options = {.kind = CORPUS_RECORDS, .columns = spec, .n_columns = 1};
    Corpus *corpus = corpus_encode(&f->diags, vocab, &options, &text);
    assert_non_null(corpus);
    return corpus;
}

/* ---- the formula ---- */

static uint32_t word_of(uint64_t seed, int64_t use, int64_t row, int64_t position, int word)
{
    const uint64_t key = hash_string(hash_u64(hash_u64(HASH_SEED, seed), (uint64_t)use), "text");
    const uint32_t counter[4] = {(uint32_t)position, (uint32_t)row, (uint32_t)(row >> 32), 0};
    uint32_t out[4];
    philox4x32(counter, (uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, out);
    return out[word];
}

static void follows_the_formula(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.4, .keep = 0.2, .random = 0.3});
    const int32_t mask = vocab_find(f->words, MASK_TOKEN), least = mask + 1;
    const int64_t ordinary = vocab_size(f->words) - least, row = INT64_C(9876543210);
    Hiding *hiding = hiding_new(&spec, f->words, 77);
    int32_t ids[200], labels[200];
    int kinds[4] = {0};
    assert_int_equal(mask, 4); /* behind the four special words */
    for (int i = 0; i < 200; i++)
        ids[i] = i % 10 ? least + i % 20 : i / 10 % 5;
    hiding_row(hiding, row, 3, ids, 200, labels);
    for (int i = 0; i < 200; i++) {
        const int32_t was = i % 10 ? least + i % 20 : i / 10 % 5;
        const bool chosen = word_of(77, 3, row, i, 0) < 0.4 * 0x1p32 && was >= least;
        const double how = word_of(77, 3, row, i, 1) * 0x1p-32;
        const int32_t other =
            least + (int32_t)((uint64_t)word_of(77, 3, row, i, 2) * (uint64_t)ordinary >> 32);
        const int kind = !chosen ? 0 : how < 0.2 ? 1 : how < 0.5 ? 2 : 3;
        assert_int_equal(labels[i], chosen ? was : -1);
        assert_int_equal(ids[i], kind == 2 ? other : kind == 3 ? mask : was);
        kinds[kind]++;
    }
    for (int kind = 0; kind < 4; kind++)
        assert_true(kinds[kind] > 5);
    hiding_free(hiding);
}

/* ---- shares ---- */

static void check_share(int64_t count, int64_t n, double share)
{
    const double deviation = sqrt(share * (1 - share) * (double)n);
    if (fabs((double)count - share * (double)n) > 4.5 * deviation)
        fail_msg("%lld of %lld, and the share is %g", (long long)count, (long long)n, share);
}

/* As of BERT; and of a row in many epochs. */
static void has_the_shares(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.15, .keep = 0.1, .random = 0.1});
    const int32_t least = vocab_find(f->words, MASK_TOKEN) + 1;
    Hiding *hiding = hiding_new(&spec, f->words, 1);
    enum { ROWS = 2000, N = 100 };
    int64_t chosen = 0, masked = 0, kept = 0, again = 0;
    int32_t ids[N], labels[N], before[N];
    for (int64_t row = 0; row < ROWS; row++)
        for (int64_t use = 0; use < 2; use++) {
            for (int i = 0; i < N; i++)
                ids[i] = least + i;
            hiding_row(hiding, row, use, ids, N, labels);
            for (int i = 0; i < N; i++) {
                chosen += labels[i] >= 0;
                masked += labels[i] >= 0 && ids[i] == least - 1;
                kept += labels[i] >= 0 && ids[i] == labels[i];
                again += use && labels[i] >= 0 && before[i] >= 0;
                before[i] = labels[i];
            }
        }
    check_share(chosen, 2 * ROWS * N, 0.15);
    check_share(masked, chosen, 0.8);
    /* a random token is at times the one that was there */
    check_share(kept, chosen, 0.1 + 0.1 / (vocab_size(f->words) - least));
    check_share(again, ROWS * N, 0.15 * 0.15);
    hiding_free(hiding);
}

/* ---- whole words ---- */

static void hides_whole_words(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.3, .whole_words = true});
    Hiding *hiding = hiding_new(&spec, f->pieces, 9);
    Corpus *corpus = corpus_of(f, f->pieces, &spec);
    int64_t chosen = 0, words = 0, several = 0;
    for (int64_t row = 0; row < corpus->n; row++) {
        const Rows *rows = corpus->columns;
        const int64_t n = rows_length(rows, row);
        const int32_t *was = rows->ids.data + rows->start[row];
        int32_t ids[8 * LONGEST], labels[8 * LONGEST];
        assert_true(n <= 8 * LONGEST);
        memcpy(ids, was, (size_t)n * sizeof *ids);
        hiding_row(hiding, row, 0, ids, n, labels);
        assert_int_equal(was[n - 1], vocab_rules(f->pieces)->source_end);
        assert_int_equal(labels[n - 1], -1);
        for (int64_t i = 0; i + 1 < n; i++) {
            const bool begins = !strncmp(vocab_token(f->pieces, was[i]), "\xE2\x96\x81", 3);
            words += begins;
            several += !begins;
            chosen += begins && labels[i] >= 0;
            assert_true(i == 0 ? begins : begins || (labels[i] >= 0) == (labels[i - 1] >= 0));
            assert_int_equal(ids[i], labels[i] >= 0 ? vocab_rules(f->pieces)->mask : was[i]);
        }
    }
    assert_true(several > words);
    check_share(chosen, words, 0.3);
    hiding_free(hiding);
    corpus_free(corpus);
}

/* ---- batches ---- */

/* What each row became in an epoch: the hash of its tokens and labels. */
static uint64_t *hashes_of(const Corpus *corpus, const BatchOptions *options, int64_t epoch)
{
    uint64_t *hashes = calloc((size_t)corpus->n, sizeof *hashes);
    Batches *batches = batches_new(corpus, options, epoch);
    Batch batch = {0};
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        for (int64_t j = 0, at = 0; j < batch.shape.rows; j++) {
            const size_t bytes = (size_t)batch.lengths[0][j] * sizeof(int32_t);
            uint64_t hash = hash_bytes(HASH_SEED, batch.columns[0] + at, bytes);
            hashes[batch.row[j]] += hash_bytes(hash, batch.hidden[0] + at, bytes);
            at += batch.lengths[0][j];
        }
    }
    batch_free(&batch);
    batches_free(batches);
    return hashes;
}

static int64_t count_equal(const uint64_t *a, const uint64_t *b, int64_t n)
{
    int64_t equal = 0;
    for (int64_t i = 0; i < n; i++)
        equal += a[i] == b[i];
    return equal;
}

static void does_not_depend_on_batches(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.5, .keep = 0.1, .random = 0.1});
    Corpus *corpus = corpus_of(f, f->words, &spec);
    const BatchOptions all[] = {
        {.hides = true, .seed = 4, .tokens = 50, .shuffle = true},
        {.hides = true, .seed = 4, .tokens = 400},
        {.hides = true, .seed = 4, .sentences = 7, .shuffle = true, .shards = 3},
        {.hides = true, .seed = 4, .sentences = 1},
    };
    uint64_t *first = hashes_of(corpus, &all[0], 2);
    for (size_t i = 1; i < sizeof all / sizeof *all; i++) {
        uint64_t *other = hashes_of(corpus, &all[i], 2);
        assert_int_equal(count_equal(first, other, corpus->n), corpus->n);
        free(other);
    }
    BatchOptions changed = all[1];
    changed.seed = 5;
    uint64_t *seed = hashes_of(corpus, &changed, 2), *epoch = hashes_of(corpus, &all[1], 3);
    assert_true(count_equal(first, seed, corpus->n) < corpus->n / 10);
    assert_true(count_equal(first, epoch, corpus->n) < corpus->n / 10);
    changed.hides = false;
    Batches *batches = batches_new(corpus, &changed, 0);
    Batch batch = {0};
    batches_fill(batches, 0, &batch);
    for (int64_t i = 0; i < batch.shape.side[0].total; i++) {
        assert_int_equal(batch.hidden[0][i], -1);
        assert_true(batch.columns[0][i] != vocab_rules(f->words)->mask);
    }
    batch_free(&batch);
    batches_free(batches);
    free(first);
    free(seed);
    free(epoch);
    corpus_free(corpus);
}

/* Rows that an epoch has several times, since they are mixed in, are hidden anew each time. */
static void mixed_rows_are_hidden_anew(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.5});
    Corpus *corpus = corpus_of(f, f->words, &spec);
    const CorpusText text = {.columns = {(Lines *)f->text}};
    assert_true(corpus_mix(&f->diags, corpus, 2, &text));
    const BatchOptions options = {.hides = true, .tokens = 300, .shuffle = true};
    Hiding *hiding = hiding_new(&spec, f->words, 0);
    for (int64_t e = 0; e < 2; e++) {
        uint64_t *hashes = hashes_of(corpus, &options, e);
        for (int64_t row = corpus->own; row < corpus->n; row++) {
            const Rows *rows = corpus->columns;
            const int64_t n = rows_length(rows, row);
            int32_t ids[2 * LONGEST], labels[2 * LONGEST];
            uint64_t sum = 0;
            for (int64_t use = 2 * e; use < 2 * e + 2; use++) {
                const size_t bytes = (size_t)n * sizeof *ids;
                memcpy(ids, rows->ids.data + rows->start[row], bytes);
                hiding_row(hiding, row, use, ids, n, labels);
                sum += hash_bytes(hash_bytes(HASH_SEED, ids, bytes), labels, bytes);
            }
            assert_true(hashes[row] == sum);
        }
        free(hashes);
    }
    hiding_free(hiding);
    corpus_free(corpus);
}

/* ---- a mask in a text ---- */

static void mask_in_a_text(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = spec_of((HideRule){.rate = 0.5});
    const char *const texts[] = {"aa12 <mask> bb07", "<mask>", "aa12 <mask>", "<mask><mask> aa12"};
    const Vocabulary *vocabs[] = {f->words, f->pieces};
    for (int v = 0; v < 2; v++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const Cell cell = {.text = {texts[i], strlen(texts[i])}};
            Ids ids = {0}, plain = {0};
            RowFault fault = {0};
            int64_t masks = 0;
            if (!v && i == 3)
                continue; /* of words, which blanks part, it is an unknown one */
            assert_true(column_read(&spec, vocabs[v], &cell, &ids, &fault));
            for (size_t at = 0; at < ids.count; at++) {
                const char *token = vocab_token(vocabs[v], ids.data[at]);
                masks += ids.data[at] == vocab_rules(vocabs[v])->mask;
                assert_true(strcmp(token, "\xE2\x96\x81") != 0);
            }
            assert_int_equal(masks, i == 3 ? 2 : 1);
            /* around it stands what stands there otherwise */
            vocab_encode(vocabs[v], "aa12", 4, &plain);
            assert_true(i == 1 || i == 3 || !memcmp(ids.data, plain.data, plain.count * 4));
            ids_free(&ids);
            ids_free(&plain);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_formula),        cmocka_unit_test(has_the_shares),
        cmocka_unit_test(hides_whole_words),          cmocka_unit_test(does_not_depend_on_batches),
        cmocka_unit_test(mixed_rows_are_hidden_anew), cmocka_unit_test(mask_in_a_text),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
