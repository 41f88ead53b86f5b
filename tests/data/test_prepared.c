/* Token shards and prepared data: what is written is read back unchanged, damage is reported, and
 * an epoch of windows has every row once, in an order that follows from seed and epoch. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/prepared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    Vocabulary *words; /* a = 4, b = 5, c = 6 */
    char folder[64];
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
    strcpy(f->folder, "/tmp/test_prepared_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    file_remove_tree(f->folder);
    arena_free(f->arena);
    free(f);
    return 0;
}

static bool was_told(const Fixture *f, const char *part)
{
    for (size_t i = 0; i < f->diags.list.count; i++)
        if (strstr(f->diags.list.data[i].message, part))
            return true;
    return false;
}

/* Row i has lengths that no other of the first 20 * 15 has, and begins with its number in base
 * 3. */
static void add_row(Corpus *rows, int64_t i)
{
    Ids *sides[] = {rows->options.kind == CORPUS_PAIRS ? &rows->source.ids : NULL,
                    &rows->target.ids};
    for (int k = 0; k < 2; k++)
        for (int64_t j = 0, n = i; sides[k] && j < 6 + i % (k ? 5 : 7); j++, n /= 3)
            ids_push(sides[k], (int32_t)(4 + n % 3));
    corpus_close_row(rows, i);
}

/* Number of the row that the target of a batch's row has. */
static int64_t number_of(const int32_t *ids)
{
    int64_t number = 0;
    for (int j = 5; j >= 0; j--)
        number = 3 * number + ids[j] - 4;
    return number;
}

/* A folder of shards of so many rows each. */
static Prepared *prepare(Fixture *f, CorpusKind kind, int64_t n, int64_t rows_a_shard, int id_bytes)
{
    Prepared *p = ARENA_NEW(f->arena, Prepared);
    *p = (Prepared){.folder = f->folder,
                    .kind = kind,
                    .id_bytes = id_bytes,
                    .window_rows = 2 * rows_a_shard,
                    .vocabulary = prepared_vocabulary(f->arena, f->words)};
    for (int64_t first = 0; first < n; first += rows_a_shard) {
        Corpus *rows = corpus_new(f->words, &(CorpusOptions){.kind = kind});
        TokenShard shard = {.id_bytes = id_bytes, .parameters = 7};
        const char *path = prepared_shard_path(f->arena, f->folder, (int64_t)p->shards.count);
        for (int64_t i = first; i < n && i < first + rows_a_shard; i++)
            add_row(rows, i);
        assert_true(token_shard_write(&f->diags, path, rows, &shard));
        vec_push(f->arena, p->shards,
                 ((PreparedShard){shard.rows, shard.source.tokens, shard.target.tokens, 7,
                                  shard.checksum}));
        p->rows += shard.rows;
        p->source.tokens += shard.source.tokens;
        p->target.tokens += shard.target.tokens;
        p->source.longest = kind == CORPUS_PAIRS ? 12 : 0;
        p->target.longest = 10;
        corpus_free(rows);
    }
    assert_true(prepared_write(&f->diags, p));
    p = prepared_open(&f->diags, f->arena, f->folder);
    assert_non_null(p);
    return p;
}

static Corpus *whole_of(Fixture *f, const Prepared *p, CorpusKind kind)
{
    Corpus *corpus = corpus_new(f->words, &(CorpusOptions){.kind = kind});
    corpus->prepared = p;
    return corpus;
}

/* ---- a shard ---- */

static void test_shard(void **state)
{
    Fixture *f = *state;
    const char *path = arena_printf(f->arena, "%s/one", f->folder);
    for (int id_bytes = 2; id_bytes <= 4; id_bytes += 2) {
        Corpus *rows = corpus_new(f->words, &(CorpusOptions){.kind = CORPUS_PAIRS});
        for (int i = 0; i < 50; i++)
            add_row(rows, i);
        TokenShard shard = {.id_bytes = id_bytes, .parameters = 3}, read;
        assert_true(token_shard_write(&f->diags, path, rows, &shard));
        assert_true(token_shard_open(&f->diags, path, &read));
        assert_true(token_shard_check(&f->diags, &read, 7, 7));
        assert_int_equal(read.rows, 50);
        assert_int_equal(read.parameters, 3);
        assert_int_equal(read.source.longest, 12);
        assert_int_equal(read.target.tokens, rows->target.ids.count);
        Ids ids = {0};
        token_shard_ids(&read, &read.source, 0, read.source.tokens, &ids);
        assert_memory_equal(ids.data, rows->source.ids.data, ids.count * sizeof *ids.data);
        ids_free(&ids);
        assert_int_equal(token_shard_length(&read.target, 4), rows_length(&rows->target, 4));
        assert_false(token_shard_check(&f->diags, &read, 7, 6));
        assert_true(was_told(f, "no token for"));
        token_shard_close(&read);
        corpus_free(rows);
    }
    assert_int_equal(token_shard_id_bytes(65536, 10), 2);
    assert_int_equal(token_shard_id_bytes(10, 65537), 4);
}

/* Any byte that is another, any byte that is missing. */
static void test_damage(void **state)
{
    Fixture *f = *state;
    const char *path = arena_printf(f->arena, "%s/one", f->folder);
    Corpus *rows = corpus_new(f->words, &(CorpusOptions){.kind = CORPUS_PAIRS});
    for (int i = 0; i < 5; i++)
        add_row(rows, i);
    TokenShard shard = {.id_bytes = 2};
    assert_true(token_shard_write(&f->diags, path, rows, &shard));
    corpus_free(rows);
    const Source *file = file_read(&f->diags, f->arena, path, 1 << 20);
    for (size_t i = 0; i < file->length; i++) {
        char *bytes = malloc(file->length);
        memcpy(bytes, file->text, file->length);
        bytes[i] ^= 1;
        int errors = f->diags.errors;
        bool ok = token_shard_parse(&f->diags, "damaged", bytes, file->length, &shard) &&
                  token_shard_check(&f->diags, &shard, 100, 100);
        assert_false(ok);
        assert_int_equal(f->diags.errors, errors + 1);
        free(bytes);
        bytes = malloc(i + 1);
        memcpy(bytes, file->text, i);
        assert_false(token_shard_parse(&f->diags, "cut", bytes, i, &shard));
        free(bytes);
    }
    assert_true(was_told(f, "damaged") && was_told(f, "cut off") && was_told(f, "not a shard"));
}

/* ---- windows ---- */

enum { ROWS = 500, ROWS_A_SHARD = 30 };

/* Rows of an epoch in their order; how many windows. */
static int64_t read_epoch(Fixture *f, const Corpus *whole, uint64_t seed, int64_t epoch,
                          int64_t *order)
{
    const Prepared *p = whole->prepared;
    const BatchOptions options = {.tokens = 100, .shuffle = true, .seed = seed};
    BatchShape largest = prepared_largest(whole, &options);
    int64_t n = 0, windows = prepared_windows(p, seed, epoch);
    Batch batch = {0};
    for (int64_t w = 0; w < windows; w++) {
        Corpus *rows = prepared_window(&f->diags, whole, seed, epoch, w);
        assert_non_null(rows);
        assert_true(rows->n <= p->window_rows);
        Batches *batches = batches_new(rows, &options, epoch | w << 32);
        for (int64_t i = 0; i < batches_count(batches); i++) {
            batches_fill(batches, i, &batch);
            assert_true(batch.shape.rows <= largest.rows);
            assert_true(batch.shape.side[SIDE_SOURCE].total <= largest.side[SIDE_SOURCE].total);
            assert_true(batch.shape.side[SIDE_TARGET].total <= largest.side[SIDE_TARGET].total);
            assert_true(batch.shape.side[SIDE_SOURCE].longest <= largest.side[SIDE_SOURCE].longest);
            assert_true(batch.shape.side[SIDE_TARGET].longest <= largest.side[SIDE_TARGET].longest);
            const bool on_source = whole->options.kind == CORPUS_SENTENCES;
            const int32_t *ids = on_source ? batch.source : batch.target;
            for (int64_t r = 0; r < batch.shape.rows; r++) {
                order[n++] = number_of(ids + 1);
                ids += on_source ? batch.lengths[SIDE_SOURCE][r] : batch.lengths[SIDE_TARGET][r];
            }
        }
        batches_free(batches);
        corpus_free(rows);
    }
    batch_free(&batch);
    return n == ROWS ? windows : -1;
}

static void test_epoch(void **state)
{
    Fixture *f = *state;
    static const struct {
        CorpusKind prepared, read;
    } kinds[] = {{CORPUS_PAIRS, CORPUS_PAIRS},
                 {CORPUS_LINES, CORPUS_LINES},
                 {CORPUS_LINES, CORPUS_SENTENCES}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int64_t orders[4][ROWS];
        const Prepared *p = prepare(f, kinds[k].prepared, ROWS, ROWS_A_SHARD, 2);
        Corpus *whole = whole_of(f, p, kinds[k].read);
        for (int i = 0; i < 4; i++) {
            int64_t seen[ROWS] = {0},
                    windows = read_epoch(f, whole, i == 3 ? 2 : 1, i % 2, orders[i]);
            assert_int_equal(windows, 9); /* of two shards, the last of one */
            for (int64_t j = 0; j < ROWS; j++)
                seen[orders[i][j]]++;
            for (int64_t j = 0; j < ROWS; j++)
                assert_int_equal(seen[j], 1);
        }
        assert_memory_equal(orders[0], orders[2], sizeof orders[0]);
        assert_memory_not_equal(orders[0], orders[1], sizeof orders[0]);
        assert_memory_not_equal(orders[1], orders[3], sizeof orders[0]);
        corpus_free(whole);
    }
}

/* Rows that are too long for a training are left out. */
static void test_rows(void **state)
{
    Fixture *f = *state;
    Prepared *p = prepare(f, CORPUS_PAIRS, 60, 60, 4);
    Corpus *whole = whole_of(f, p, CORPUS_PAIRS);
    whole->options.max_length = 9; /* sources with their end, targets with the one in front */
    Corpus *rows = prepared_window(&f->diags, whole, 1, 0, 0);
    int64_t expected = 0;
    for (int i = 0; i < 60; i++)
        expected += 6 + i % 7 + 1 <= 9 && 6 + i % 5 + 1 <= 9;
    assert_int_equal(rows->n, expected);
    corpus_free(rows);
    corpus_free(whole);
}

static void test_problems(void **state)
{
    Fixture *f = *state;
    const Prepared *p = prepare(f, CORPUS_PAIRS, 100, 30, 2);
    Corpus *whole = whole_of(f, p, CORPUS_PAIRS);
    unlink(prepared_shard_path(f->arena, f->folder, 3));
    bool ok = true;
    for (int64_t w = 0; w < prepared_windows(p, 1, 0); w++) {
        Corpus *rows = prepared_window(&f->diags, whole, 1, 0, w);
        ok = ok && rows;
        corpus_free(rows);
    }
    assert_false(ok);
    assert_true(was_told(f, "cannot read") && was_told(f, "makes again what is damaged"));
    corpus_free(whole);

    const char *path = arena_printf(f->arena, "%s/prepared.json", f->folder);
    const Source *file = file_read(&f->diags, f->arena, path, 1 << 20);
    for (size_t cut = 0; cut + 2 < file->length; cut += 7)
        assert_null(prepared_parse(&f->diags, f->arena, f->folder,
                                   diag_source(f->arena, path, file->text, cut)));
    assert_null(prepared_open(&f->diags, f->arena, "/nowhere"));
    assert_true(was_told(f, "there is no such folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shard, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_epoch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
