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
#include <sys/stat.h>
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
                 ((PreparedShard){.rows = shard.rows,
                                  .source = shard.source.tokens,
                                  .target = shard.target.tokens,
                                  .parameters = 7,
                                  .checksum = shard.checksum}));
        p->rows += shard.rows;
        p->source.tokens += shard.source.tokens;
        p->target.tokens += shard.target.tokens;
        p->source.longest = kind == CORPUS_PAIRS ? 12 : 0;
        p->target.longest = 10;
        corpus_free(rows);
    }
    assert_true(prepared_write(&f->diags, p));
    p = prepared_open(&f->diags, f->arena, (FileReach){.folder = f->folder});
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
        assert_true(token_shard_check(&f->diags, &read, (int64_t[MOST_VALUES]){7, 7}));
        assert_int_equal(read.rows, 50);
        assert_int_equal(read.parameters, 3);
        assert_int_equal(read.source.longest, 12);
        assert_int_equal(read.target.tokens, rows->target.ids.count);
        Ids ids = {0};
        token_shard_ids(&read.source, 0, read.source.tokens, &ids);
        assert_memory_equal(ids.data, rows->source.ids.data, ids.count * sizeof *ids.data);
        ids_free(&ids);
        assert_int_equal(token_shard_length(&read.target, 4), rows_length(&rows->target, 4));
        assert_false(token_shard_check(&f->diags, &read, (int64_t[MOST_VALUES]){7, 6}));
        assert_true(was_told(f, "no token for"));
        token_shard_close(&read);
        corpus_free(rows);
    }
    assert_int_equal(token_shard_id_bytes(65536, 10), 2);
    assert_int_equal(token_shard_id_bytes(10, 65537), 4);
}

/* Records: a number that tells the record, floats and integers along a side of 1 to 8 positions. */
static const IdRange tags = {0, 9, .period = 1, .to = 1};
static const ColumnSpec specs[] = {
    {.input = "number", .field = "n", .kind = COLUMN_INTEGERS, .side = -1, .width = 1},
    {.input = "sound", .field = "s", .kind = COLUMN_FLOATS, .side = 1, .width = 2},
    {.input = "tag",
     .field = "t",
     .kind = COLUMN_INTEGERS,
     .side = 1,
     .width = 1,
     .ids = {1, &tags}}};
enum { SPECS = sizeof specs / sizeof *specs };
static const CorpusOptions records = {.kind = CORPUS_RECORDS, .columns = specs, .n_columns = SPECS};

static void add_record(Corpus *rows, int64_t i)
{
    ids_push(&rows->columns[0].ids, (int32_t)(i - 7)); /* also below 0 */
    for (int64_t j = 0; j < 1 + i % 8; j++) {
        ids_push(&rows->columns[1].ids, (int32_t)(i * 100000));
        ids_push(&rows->columns[1].ids, (int32_t)j);
        ids_push(&rows->columns[2].ids, (int32_t)(j % 9));
    }
    assert_true(corpus_close_row(rows, i).is_kept);
}

static void test_shard_of_records(void **state)
{
    Fixture *f = *state;
    const char *path = arena_printf(f->arena, "%s/one", f->folder);
    Corpus *rows = corpus_new(f->words, &records);
    for (int i = 0; i < 50; i++)
        add_record(rows, i);
    TokenShard shard = {.id_bytes = 2}, read;
    int64_t sizes[MOST_VALUES] = {7, 7, 0, 0, 9};
    assert_true(token_shard_write(&f->diags, path, rows, &shard));
    assert_true(token_shard_open(&f->diags, path, &read));
    assert_true(token_shard_check(&f->diags, &read, sizes));
    assert_int_equal(read.kind, CORPUS_RECORDS);
    assert_int_equal(read.n_columns, SPECS);
    assert_int_equal(read.columns[0].bytes, 4);
    assert_int_equal(read.columns[2].bytes, 2);
    assert_int_equal(read.columns[1].longest, 16);
    for (int c = 0; c < SPECS; c++) {
        Ids ids = {0};
        token_shard_ids(&read.columns[c], 0, read.columns[c].tokens, &ids);
        assert_int_equal(ids.count, rows->columns[c].ids.count);
        assert_memory_equal(ids.data, rows->columns[c].ids.data, ids.count * sizeof *ids.data);
        assert_int_equal(token_shard_length(&read.columns[c], 20),
                         rows_length(&rows->columns[c], 20));
        ids_free(&ids);
    }
    sizes[FIRST_COLUMN + 2] = 7;
    assert_false(token_shard_check(&f->diags, &read, sizes));
    assert_true(was_told(f, "values that the model does not take"));
    token_shard_close(&read);
    corpus_free(rows);
}

/* Any byte that is another, any byte that is missing. */
static void damage(Fixture *f, Corpus *rows)
{
    const int64_t sizes[MOST_VALUES] = {100, 100};
    const char *path = arena_printf(f->arena, "%s/one", f->folder);
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
                  token_shard_check(&f->diags, &shard, sizes);
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

static void test_damage(void **state)
{
    Fixture *f = *state;
    Corpus *rows = corpus_new(f->words, &(CorpusOptions){.kind = CORPUS_PAIRS});
    for (int i = 0; i < 5; i++)
        add_row(rows, i);
    damage(f, rows);
    rows = corpus_new(f->words, &records);
    for (int i = 0; i < 5; i++)
        add_record(rows, i);
    damage(f, rows);
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
    int64_t n = 0, windows = prepared_windows(whole, seed, epoch);
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

/* A folder of shards of 30 records each. */
static Prepared *prepare_records(Fixture *f)
{
    Prepared *p = ARENA_NEW(f->arena, Prepared);
    *p = (Prepared){.folder = f->folder,
                    .kind = CORPUS_RECORDS,
                    .id_bytes = 2,
                    .window_rows = 2 * ROWS_A_SHARD,
                    .vocabulary = prepared_vocabulary(f->arena, f->words)};
    for (int c = 0; c < SPECS; c++)
        vec_push(f->arena, p->columns,
                 ((PreparedSide){.input = specs[c].input,
                                 .field = specs[c].field,
                                 .holds = column_holds(f->arena, &specs[c]),
                                 .unknown = -1}));
    for (int64_t first = 0; first < ROWS; first += ROWS_A_SHARD) {
        Corpus *rows = corpus_new(f->words, &records);
        TokenShard shard = {.id_bytes = 2};
        const char *path = prepared_shard_path(f->arena, f->folder, (int64_t)p->shards.count);
        for (int64_t i = first; i < ROWS && i < first + ROWS_A_SHARD; i++)
            add_record(rows, i);
        assert_true(token_shard_write(&f->diags, path, rows, &shard));
        PreparedShard entry = {.rows = shard.rows, .checksum = shard.checksum};
        for (int c = 0; c < SPECS; c++) {
            PreparedSide *column = &p->columns.data[c];
            entry.values += shard.columns[c].tokens;
            column->tokens += shard.columns[c].tokens;
            if (shard.columns[c].longest > column->longest)
                column->longest = shard.columns[c].longest;
        }
        vec_push(f->arena, p->shards, entry);
        p->rows += shard.rows;
        corpus_free(rows);
    }
    assert_true(prepared_write(&f->diags, p));
    p = prepared_open(&f->diags, f->arena, (FileReach){.folder = f->folder});
    assert_non_null(p);
    return p;
}

/* An epoch has each record once, in batches within the bound, which is no larger than it must be
 * by more than the budget's rounding. */
static void test_records(void **state)
{
    Fixture *f = *state;
    const Prepared *p = prepare_records(f);
    static const BatchOptions options[] = {
        {.tokens = 100, .shuffle = true, .seed = 1},
        {.sentences = 9, .shuffle = true, .seed = 1},
        {.tokens = 100, .sentences = 50, .shards = 3, .shuffle = true, .seed = 2}};
    assert_true(prepared_is_table(p) && !prepared_unknown(p).source.tokens);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        Corpus *whole = corpus_new(f->words, &records);
        whole->prepared = p;
        const BatchShape largest = prepared_largest(whole, &options[k]);
        int64_t seen[ROWS] = {0};
        Batch batch = {0};
        assert_int_equal(largest.side[1].longest, 8);
        assert_true(largest.side[1].total <= 8 * 20 && largest.rows <= 100);
        assert_int_equal(largest.side[0].total, 0);
        for (int64_t w = 0; w < prepared_windows(whole, options[k].seed, 0); w++) {
            Corpus *rows = prepared_window(&f->diags, whole, options[k].seed, 0, w);
            assert_non_null(rows);
            assert_true(rows->n <= p->window_rows);
            Batches *batches = batches_new(rows, &options[k], w << 32);
            for (int64_t i = 0; i < batches_count(batches); i++) {
                batches_fill(batches, i, &batch);
                assert_true(batch.shape.rows <= largest.rows);
                assert_true(batch.shape.side[1].total <= largest.side[1].total);
                assert_true(batch.shape.side[1].longest <= largest.side[1].longest);
                int64_t at = 0;
                for (int64_t r = 0; r < batch.shape.rows; at += batch.lengths[1][r++]) {
                    const int64_t number = batch.columns[0][r] + 7;
                    assert_int_equal(batch.lengths[1][r], 1 + number % 8);
                    assert_int_equal(batch.columns[1][2 * at], number * 100000);
                    seen[number]++;
                }
            }
            batches_free(batches);
            corpus_free(rows);
        }
        for (int64_t i = 0; i < ROWS; i++)
            assert_int_equal(seen[i], 1);
        batch_free(&batch);
        corpus_free(whole);
    }
    /* another model, which takes fewer labels */
    const IdRange labels = {INT32_MIN, 7, .period = 1, .to = 1, .labels = 1};
    ColumnSpec others[SPECS];
    memcpy(others, specs, sizeof others);
    others[2].ids = (IdRanges){1, &labels};
    const CorpusOptions fewer = {.kind = CORPUS_RECORDS, .columns = others, .n_columns = SPECS};
    Corpus *whole = corpus_new(f->words, &fewer);
    whole->prepared = p;
    assert_null(prepared_window(&f->diags, whole, 1, 0, 0));
    assert_true(was_told(f, "`tag` has 7; labels go from 0 to 6"));
    corpus_free(whole);
    const char *path = arena_printf(f->arena, "%s/prepared.json", f->folder);
    const Source *file = file_read(&f->diags, f->arena, path, 1 << 20);
    char *text = arena_strndup(f->arena, file->text, file->length), *at;
    assert_non_null(at = strstr(text, "\"values\": "));
    at[10]++; /* a shard has more values than the columns */
    assert_null(prepared_parse(&f->diags, f->arena, f->folder,
                               diag_source(f->arena, path, text, file->length)));
}

/* ---- what is mixed in ---- */

/* What an epoch draws of a part whose rows have numbers from ROWS on, as they are drawn. */
typedef struct Drawn {
    int64_t n, numbers[4 * ROWS];
} Drawn;

/* Adds the epoch's draws; main rows, each once, are checked. */
static void draw_epoch(Fixture *f, const Corpus *whole, int64_t epoch, Drawn *drawn)
{
    int64_t seen[ROWS] = {0};
    const BatchOptions options = {.tokens = 100, .shuffle = true, .seed = 1};
    const BatchShape largest = prepared_largest(whole, &options);
    for (int64_t w = 0; w < prepared_windows(whole, 1, epoch); w++) {
        Corpus *rows = prepared_window(&f->diags, whole, 1, epoch, w);
        assert_non_null(rows);
        for (int64_t i = 0; i < rows->own; i++)
            seen[number_of(rows->target.ids.data + rows->target.start[i])]++;
        for (int64_t i = 0; i < rows->n_draws; i++)
            drawn->numbers[drawn->n++] =
                number_of(rows->target.ids.data + rows->target.start[rows->draws[i].row]);
        Batches *batches = batches_new(rows, &options, epoch | w << 32);
        int64_t in_batches = 0;
        for (int64_t i = 0; i < batches_count(batches); i++) {
            const BatchShape shape = batches_shape(batches, i);
            in_batches += shape.rows;
            assert_true(shape.rows <= largest.rows);
            for (int side = 0; side <= SIDE_TARGET; side++)
                assert_true(shape.side[side].total <= largest.side[side].total &&
                            shape.side[side].longest <= largest.side[side].longest);
        }
        assert_int_equal(in_batches, rows->own + rows->n_draws);
        assert_true(rows->n - rows->own <= rows->n_draws);
        batches_free(batches);
        corpus_free(rows);
    }
    for (int64_t i = 0; i < ROWS; i++)
        assert_int_equal(seen[i], 1);
}

/* Of PART rows 0.3 to each of the main data: each is used again only after all others, in any
 * number of windows of either, and in memory; a window holds the rows it draws alone. */
static void test_mixed(void **state)
{
    enum { PART = 110, EPOCHS = 4, AN_EPOCH = 150 };
    Fixture *f = *state;
    const Prepared *p = prepare(f, CORPUS_PAIRS, ROWS, ROWS_A_SHARD, 2);
    char own[sizeof f->folder];
    memcpy(own, f->folder, sizeof own);
    strcat(f->folder, "/part");
    assert_int_equal(mkdir(f->folder, 0777), 0);
    static const int64_t shards[] = {PART, 20, 7};
    for (size_t k = 0; k <= sizeof shards / sizeof *shards; k++) {
        const bool in_memory = k == sizeof shards / sizeof *shards;
        Corpus *rows = corpus_new(f->words, &(CorpusOptions){.kind = CORPUS_PAIRS});
        for (int64_t i = 0; in_memory && i < PART; i++)
            add_row(rows, i);
        const PreparedPart part = {
            .prepared = in_memory ? NULL : prepare(f, CORPUS_PAIRS, PART, shards[k], 2),
            .rows = in_memory ? rows : NULL,
            .weight = 0.3};
        Corpus *whole = whole_of(f, p, CORPUS_PAIRS);
        Drawn drawn = {0};
        whole->mixed = &part;
        whole->n_mixed = 1;
        for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
            draw_epoch(f, whole, epoch, &drawn);
            assert_int_equal(drawn.n, (epoch + 1) * AN_EPOCH);
        }
        for (int64_t round = 0; (round + 1) * PART <= drawn.n; round++) {
            const int64_t *of = drawn.numbers + round * PART;
            int64_t seen[PART] = {0};
            for (int64_t i = 0; i < PART; i++)
                seen[of[i]]++;
            for (int64_t i = 0; i < PART; i++)
                assert_int_equal(seen[i], 1);
            assert_true(!round || memcmp(of, of - PART, sizeof seen) != 0);
        }
        corpus_free(whole);
        corpus_free(rows);
    }
    memcpy(f->folder, own, sizeof own);
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
    for (int64_t w = 0; w < prepared_windows(whole, 1, 0); w++) {
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
    assert_null(prepared_open(&f->diags, f->arena, (FileReach){.folder = "/nowhere"}));
    assert_true(was_told(f, "there is no such folder"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shard, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shard_of_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_epoch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mixed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
