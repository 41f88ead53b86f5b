/* Columns of a corpus: what cells are read as and refused for, which rows are kept, and that
 * batches have each row's values, whatever the order, the pieces and the sides. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/batch.h"
#include "runtime/rows/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
    Vocabulary *words; /* a = 4, b = 5 */
    const Labels *labels;
} Fixture;

static Lines *lines_of(Fixture *f, const char *text)
{
    return lines_parse(&f->diags, f->arena, diag_source(f->arena, "text", text, strlen(text)), 0);
}

static const Labels *labels_of(Arena *arena, const Lines *cells, bool in_words)
{
    LabelSet set;
    label_set_init(&set, arena, (LabelMarks){in_words ? ' ' : 0, 0});
    label_set_see(&set, cells);
    return label_set_list(&set, arena);
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
    const Lines *text = lines_of(f, "a a b"), *kinds = lines_of(f, "new york\nrome\n\nrome");
    f->words = vocab_make(&f->diags, f->arena, "words:auto", &text, 1, false);
    f->labels = labels_of(f->arena, kinds, false);
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

/* ---- cells ---- */

static int32_t bits(float number)
{
    int32_t result;
    memcpy(&result, &number, sizeof result);
    return result;
}

#define ZEROS_100                                        \
    "00000000000000000000000000000000000000000000000000" \
    "00000000000000000000000000000000000000000000000000"

/* A cell, and its values or (problem not NULL) what is wrong with it at which byte. */
typedef struct CellCase {
    ColumnSpec spec;
    const char *text, *problem;
    size_t at;
    int n;
    int32_t values[4];
} CellCase;

#define LABELS .kind = COLUMN_LABELS, .input = "y", .width = 1
#define INTEGERS .kind = COLUMN_INTEGERS, .input = "y"
#define FLOATS .kind = COLUMN_FLOATS, .input = "y"

static void test_cells(void **state)
{
    Fixture *f = *state;
    const IdRange rows = {0, 3, .period = 1, .to = 1},
                  labels = {INT32_MIN, 3, .period = 1, .to = 1, .labels = 1},
                  ctc_labels = {1, 5, .period = 1, .to = 1, .labels = 1},
                  second = {0, 3, .period = 2, .from = 1, .to = 2}; /* of each two */
    const CellCase cells[] = {
        {{.kind = COLUMN_TEXT, .width = 1}, "a b c", .n = 3, .values = {4, 5, 1}},
        {{.kind = COLUMN_TEXT, .width = 1, .is_framed = true}, "b", .n = 2, .values = {5, 3}},
        {{.kind = COLUMN_TEXT, .width = 1, .is_framed = true}, "", .n = 1, .values = {3}},
        {{LABELS, .side = -1}, "new york", .n = 1, .values = {0}},
        {{LABELS, .side = -1, .first = 1}, "rome", .n = 1, .values = {2}},
        {{LABELS, .side = 0}, "rome  rome", .n = 2, .values = {1, 1}},
        {{LABELS, .side = 0}, "", .n = 0},
        {{LABELS, .side = -1}, "paris", .problem = "'paris' is none of the 2 labels of `y`"},
        {{LABELS, .side = -1}, "", .problem = "the label of `y` is empty"},
        {{LABELS, .side = 0},
         "rome new york",
         .problem = "'new' is none of the 2 labels of `y`",
         .at = 5},
        {{INTEGERS, .side = -1, .width = 3}, "[[1,-2],\t[+3]]", .n = 3, .values = {1, -2, 3}},
        {{INTEGERS, .side = -1, .width = 1}, "2147483647", .n = 1, .values = {INT32_MAX}},
        {{INTEGERS, .side = -1, .width = 1},
         "2147483648",
         .problem = "'2147483648' is no integer of 32 bits"},
        {{INTEGERS, .side = -1, .width = 1},
         " 1.5",
         .problem = "'1.5' is no integer of 32 bits",
         .at = 1},
        {{INTEGERS, .side = -1, .width = 4},
         "2.0 -1e3 0.5e1 -0",
         .n = 4,
         .values = {2, -1000, 5, 0}},
        {{INTEGERS, .side = -1, .width = 1},
         "1e400",
         .problem = "'1e400' is no integer of 32 bits"},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &rows}}, "2", .n = 1, .values = {2}},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &rows}},
         "3",
         .problem = "3 is not from 0 to 2, as `y` must be"},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &rows}},
         "-1",
         .problem = "-1 is not from 0 to 2, as `y` must be"},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &labels}}, "-7", .n = 1, .values = {-7}},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &labels}},
         "3",
         .problem = "3 is not from 0 to 2, as `y` must be; below 0 there is no label"},
        {{INTEGERS, .side = -1, .width = 1, .ids = {1, &ctc_labels}},
         "0",
         .problem = "0 is not from 1 to 4, as `y` must be"},
        {{INTEGERS, .side = 0, .width = 2, .ids = {1, &second}},
         "9 2 9 0",
         .n = 4,
         .values = {9, 2, 9, 0}},
        {{INTEGERS, .side = 0, .width = 2, .ids = {1, &second}},
         "0 0 0 3",
         .problem = "3 is not from 0 to 2, as `y` must be",
         .at = 6},
        {{INTEGERS, .side = -1, .width = 1}, "", .problem = "the cell of `y` is empty"},
        {{FLOATS, .side = -1, .width = 1},
         " ",
         .problem = "the cell of `y` is empty; an input that is `missing(…)` of the same fields "
                    "lets values be missing"},
        {{FLOATS, .side = -1, .width = 1},
         "3,5",
         .problem = "'3,5' is 2 numbers, and `y` takes 1: decimals have a point"},
        {{INTEGERS, .side = -1, .width = 1},
         "up",
         .problem = "'up' is no number; if it is a label, the model says `vocab y = words`"},
        {{INTEGERS, .side = -1, .width = 1},
         "1 2",
         .problem = "the cell has 2 numbers, and `y` takes 1"},
        {{FLOATS, .side = -1, .width = 2}, "1e-3;16", .n = 2, .values = {bits(1e-3f), bits(16)}},
        {{FLOATS, .side = -1, .width = 1},
         "nan",
         .problem = "'nan' is no number; an input that is `missing(…)` of the same "
                    "fields as the column of `y` lets values be missing"},
        {{FLOATS, .side = -1, .width = 1, .missing = MISSING_ZERO}, "", .n = 1, .values = {0}},
        {{FLOATS, .side = -1, .width = 1, .missing = MISSING_MARKED},
         "NaN",
         .n = 1,
         .values = {0x3f800000}},
        {{FLOATS, .side = -1, .width = 2, .missing = MISSING_MARKED},
         "7 NA",
         .n = 2,
         .values = {0, 0x3f800000}},
        {{FLOATS, .side = -1, .width = 2, .missing = MISSING_ZERO},
         "",
         .problem = "the cell has 0 numbers, and `y` takes 2"},
        {{INTEGERS, .side = -1, .width = 2},
         "1,,2",
         .problem = "a number is missing before this",
         .at = 2},
        {{INTEGERS, .side = -1, .width = 2}, ",1 2", .problem = "a number is missing before this"},
        {{INTEGERS, .side = -1, .width = 2},
         "[1, 2,]",
         .problem = "a number is missing before this",
         .at = 6},
        {{INTEGERS, .side = -1, .width = 2},
         "1, 2, ",
         .problem = "a number is missing behind this",
         .at = 5},
        {{INTEGERS, .side = -1, .width = 2}, "[1 2", .problem = "a bracket does not end", .at = 3},
        {{INTEGERS, .side = -1, .width = 2},
         "1 2]",
         .problem = "a bracket ends that did not begin",
         .at = 3},
        {{INTEGERS, .side = -1, .width = 2}, "[[1] , [2]]", .n = 2, .values = {1, 2}},
        {{INTEGERS, .side = -1, .width = 1}, "0x10", .problem = "'0x10' is no number"},
        {{FLOATS, .side = -1, .width = 1}, "1e39", .problem = "'1e39' is no finite number of f32"},
        {{FLOATS, .side = -1, .width = 2}, "1 2 3x", .problem = "'3x' is no number", .at = 4},
        {{FLOATS, .side = 0, .width = 2},
         "1 2 3",
         .problem = "the cell has 3 numbers, and `y` takes 2 for each position"},
        {{FLOATS, .side = 0, .width = 2}, "", .n = 0},
        {{FLOATS, .side = -1, .width = 1},
         ZEROS_100 ZEROS_100 ZEROS_100 ZEROS_100 "1",
         .problem = "this is no number"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const CellCase *cell = &cells[i];
        ColumnSpec spec = cell->spec;
        spec.labels = f->labels;
        const Cell line = {.text = {cell->text, strlen(cell->text)}};
        Ids values = {0};
        RowFault fault = {0};
        const bool ok = column_read(&spec, f->words, &line, &values, &fault);
        if (ok != !cell->problem)
            fail_msg("cell %zu '%s': %s", i, cell->text, ok ? "read" : fault.text);
        if (!ok) {
            assert_string_equal(fault.text, cell->problem);
            assert_int_equal(fault.at, cell->at);
        } else {
            assert_int_equal(values.count, cell->n);
            if (cell->n)
                assert_memory_equal(values.data, cell->values, sizeof(int32_t) * (size_t)cell->n);
        }
        ids_free(&values);
    }
}

static void test_labels(void **state)
{
    Fixture *f = *state;
    const Lines *tags = lines_of(f, "B A\n\n C  A");
    const Labels *words = labels_of(f->arena, tags, true);
    Text text = {0};
    labels_print(words, &text);
    assert_string_equal(text.data, "A\nB\nC\n");
    assert_int_equal(
        labels_hash(words),
        labels_hash(labels_parse(&f->diags, f->arena, lines_of(f, text.data), (LabelMarks){0})));
    assert_int_equal(labels_find(words, "C", 1), 2);
    assert_int_equal(labels_find(words, "CC", 2), -1);
    assert_int_equal(labels_find(words, "A\0", 2), -1);
    text_free(&text);
    static const char *const bad[] = {"", "a\n\nb", "a\nb\na", "a\nb c"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(labels_parse(&f->diags, f->arena, lines_of(f, bad[i]), (LabelMarks){' ', 0}));
    assert_int_equal(f->diags.errors, 4);
    assert_non_null(labels_parse(&f->diags, f->arena, lines_of(f, "a\nb c"), (LabelMarks){0}));
}

/* A column as a compiled library has it, whose labels no table finds, reads what a table's does. */
static void test_labels_inside(void **state)
{
    Fixture *f = *state;
    const ColumnSpec spec = {
        .input = "y", .kind = COLUMN_LABELS, .side = -1, .labels = f->labels, .first = 3};
    RowColumn inside = column_row(&spec, NULL);
    inside.find = NULL;
    inside.list = NULL;
    static const char *const cells[] = {"new york", "rome", "new", "", "romeo", "rome\0"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const Cell cell = {.text = {cells[i], i == 5 ? 5 : strlen(cells[i])}};
        Ids found = {0}, scanned = {0};
        RowFault by_find = {0}, by_scan = {0};
        const bool ok = column_read(&spec, NULL, &cell, &found, &by_find);
        assert_int_equal(ok, i < 2);
        assert_int_equal(cell_read(&inside, NULL, &cell.text, &scanned, NULL, &by_scan), ok);
        assert_string_equal(by_find.text, by_scan.text);
        assert_int_equal(found.count, scanned.count);
        if (ok)
            assert_int_equal(found.data[0], scanned.data[0]);
        ids_free(&found);
        ids_free(&scanned);
    }
}

/* What stands around texts of no token and of one: "before after". */
static void test_frames(void **state)
{
    static const struct {
        TextFrame frame;
        TextEnds none, one;
    } cases[] = {
        {{.begin = 7, .end = 8, .alone = 9}, {7, 8}, {7, 8}},
        {{.begin = -1, .end = 8, .alone = 9}, {-1, 8}, {-1, 8}},
        {{.begin = -1, .end = -1, .alone = 9}, {-1, 9}, {-1, -1}},
        {{.begin = -1, .end = 8, .alone = 9, .is_target = 1}, {-1, 9}, {-1, 8}},
        {{.begin = 7, .end = -1, .alone = 9, .is_target = 1}, {7, -1}, {7, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const TextEnds none = text_frame_ends(&cases[i].frame, 0),
                       one = text_frame_ends(&cases[i].frame, 1);
        assert_memory_equal(&none, &cases[i].none, sizeof none);
        assert_memory_equal(&one, &cases[i].one, sizeof one);
    }
}

/* A framed text that is cut keeps its end, and the words that begin before it. */
static void test_cut(void **state)
{
    Fixture *f = *state;
    const TextFrame frame = {.begin = 7, .end = 8, .alone = -1, .blank = -1, .mask = -1};
    const Line text = {"a b a", 5};
    const int32_t whole[] = {7, 4, 5, 4, 8}, cut[] = {7, 4, 8};
    const Tokenizer *tokenizer = vocab_tokenizer(f->words);
    Ids ids = {0}, firsts = {0};
    RowFault fault = {0};
    size_t own;
    assert_true(text_frame_encode(&frame, tokenizer, &text, &ids, &own, &fault));
    assert_int_equal(own, 3);
    assert_int_equal(ids.count, 5);
    assert_memory_equal(ids.data, whole, sizeof whole);
    assert_true(text_frame_words(&frame, tokenizer, &text, ids.data, 5, &firsts, &fault));
    assert_int_equal(firsts.count, 3);
    assert_int_equal(firsts.data[2], 3);
    text_frame_cut(&frame, ids.data, 3);
    text_frame_cut_words(&frame, 3, 0, &firsts);
    assert_memory_equal(ids.data, cut, sizeof cut);
    assert_int_equal(firsts.count, 1);
    ids_free(&ids);
    ids_free(&firsts);
}

/* ---- rows ---- */

enum { TEXT, TAGS, FRAMES, CLASS, OTHER, N_COLUMNS };

/* A text with tags for its words; frames of two floats along another side, a class, a text along a
 * third one. */
static const ColumnSpec specs[N_COLUMNS] = {
    [TEXT] = {.input = "text", .kind = COLUMN_TEXT, .side = 0, .width = 1},
    [TAGS] = {.input = "tags", .kind = COLUMN_INTEGERS, .side = 0, .width = 1},
    [FRAMES] = {.input = "frames", .kind = COLUMN_FLOATS, .side = 1, .width = 2},
    [CLASS] = {.input = "class", .kind = COLUMN_INTEGERS, .side = -1, .width = 1},
    [OTHER] = {.input = "other", .kind = COLUMN_TEXT, .side = 2, .width = 1, .is_framed = true},
};

static Corpus *encode(Fixture *f, CorpusOptions options, const char *const cells[N_COLUMNS])
{
    CorpusText text = {0};
    for (int c = 0; c < N_COLUMNS; c++)
        text.columns[c] = lines_of(f, cells[c]);
    options.kind = CORPUS_RECORDS;
    options.columns = specs;
    options.n_columns = N_COLUMNS;
    return corpus_encode(&f->diags, f->words, &options, &text);
}

static void expect_message(Fixture *f, const char *message)
{
    for (size_t i = 0; i < f->diags.list.count; i++)
        if (strstr(f->diags.list.data[i].message, message))
            return;
    fail_msg("no '%s' in: %s", message,
             f->diags.list.count ? vec_last(f->diags.list).message : "nothing");
}

/* What is left out of a training, cut elsewhere, and an error in both. */
static void test_rows(void **state)
{
    Fixture *f = *state;
    const char *const cells[N_COLUMNS] = {"a\na b\n\na b a b", "1\n1 2\n\n1 2 3 4",
                                          "0 0\n0 0\n0 0\n0 0", "0\n1\n2\n3", "a\n\na\nb"};
    Corpus *corpus = encode(f, (CorpusOptions){.max_length = 3}, cells);
    assert_non_null(corpus); /* an empty text, a row without words, and a long one are left out */
    assert_int_equal(corpus->n, 1);
    assert_int_equal(corpus->empty, 2);
    assert_int_equal(corpus->long_, 1);
    corpus_free(corpus);
    assert_null(encode(f, (CorpusOptions){.keep_all = true}, cells));
    expect_message(f, "the cell of `text` is empty");
    const char *const long_[N_COLUMNS] = {"a b a b", "1 2 3 4", "0 0 1 1 2 2 3 3", "3", "a b a b"};
    corpus = encode(f, (CorpusOptions){.keep_all = true, .max_length = 3}, long_);
    assert_int_equal(corpus->n, 1);
    assert_int_equal(corpus_side_length(corpus, 0, 0), 3);
    assert_int_equal(corpus_side_length(corpus, 0, 1), 3);
    assert_int_equal(corpus->columns[OTHER].ids.data[2], 3); /* the end stays */
    corpus_free(corpus);
    const char *const uneven[N_COLUMNS] = {"a b", "1", "0 0", "3", "a"};
    assert_null(encode(f, (CorpusOptions){0}, uneven));
    expect_message(f, "`tags` has 1 positions and `text` 2");
    const char *const wrong[N_COLUMNS] = {"a", "x", "0 0", "3", "a"};
    assert_null(encode(f, (CorpusOptions){0}, wrong));
    expect_message(f, "'x' is no number");
}

/* ---- batches ---- */

static int draw(int n) { return rand() / (RAND_MAX / n + 1); }

static void put_words(Text *out, int n)
{
    for (int i = 0; i < n; i++)
        text_add(out, "%s%s", i ? " " : "", draw(2) ? "a" : "b");
    text_string(out, "\n");
}

static void put_numbers(Text *out, int n)
{
    for (int i = 0; i < n; i++)
        text_add(out, "%s%d", i ? " " : "", draw(1000));
    text_string(out, "\n");
}

/* Whether the batch has the values of its rows, in their order, and counts them. */
static void check_batch(const Corpus *corpus, const Batch *batch)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        int64_t at = 0, total = 0, longest = 0;
        for (int64_t b = 0; b < batch->shape.rows; b++) {
            const Rows *rows = &corpus->columns[c];
            const int64_t row = batch->row[b], n = rows_length(rows, row);
            assert_memory_equal(batch->columns[c] + at, rows->ids.data + rows->start[row],
                                sizeof(int32_t) * (size_t)n);
            at += n;
            if (specs[c].side < 0)
                continue;
            const int64_t length = batch->lengths[specs[c].side][b];
            assert_int_equal(length * specs[c].width, n);
            total += length;
            longest = length > longest ? length : longest;
        }
        if (specs[c].side < 0)
            continue;
        assert_int_equal(batch->shape.side[specs[c].side].total, total);
        assert_int_equal(batch->shape.side[specs[c].side].longest, longest);
    }
}

/* Whether no two rows of the batch have a text in common. */
static void check_distinct(const Corpus *corpus, const Batch *batch)
{
    for (int c = 0; c < N_COLUMNS; c++)
        for (int64_t a = 0; a < batch->shape.rows && specs[c].kind == COLUMN_TEXT; a++)
            for (int64_t b = 0; b < a; b++) {
                const Rows *rows = &corpus->columns[c];
                const int64_t i = batch->row[a], j = batch->row[b], n = rows_length(rows, i);
                assert_true(rows_length(rows, j) != n ||
                            memcmp(rows->ids.data + rows->start[i], rows->ids.data + rows->start[j],
                                   sizeof(int32_t) * (size_t)n));
            }
}

static void check_epoch(const Corpus *corpus, const BatchOptions *options, int64_t epoch)
{
    Batches *batches = batches_new(corpus, options, epoch);
    bool *seen = calloc((size_t)corpus->n, sizeof *seen);
    Batch batch = {0};
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        check_batch(corpus, &batch);
        if (options->distinct)
            check_distinct(corpus, &batch);
        for (int side = 0; side < 3 && options->tokens; side++)
            assert_true(batch.shape.side[side].total <= options->tokens || batch.shape.rows == 1);
        for (int64_t b = 0; b < batch.shape.rows; b++) {
            assert_false(seen[batch.row[b]]);
            seen[batch.row[b]] = true;
        }
    }
    for (int64_t row = 0; row < corpus->n; row++)
        assert_true(seen[row]);
    batch_free(&batch);
    batches_free(batches);
    free(seen);
}

static void test_batches(void **state)
{
    Fixture *f = *state;
    enum { ROWS = 200 };
    Text cells[N_COLUMNS] = {0};
    srand(4);
    for (int i = 0; i < ROWS; i++) {
        const int n = 1 + draw(9);
        put_words(&cells[TEXT], n);
        put_numbers(&cells[TAGS], n);
        put_numbers(&cells[FRAMES], 2 * (1 + draw(5)));
        put_numbers(&cells[CLASS], 1);
        put_words(&cells[OTHER], 1 + draw(12));
    }
    const char *const texts[N_COLUMNS] = {cells[0].data, cells[1].data, cells[2].data,
                                          cells[3].data, cells[4].data};
    Corpus *corpus = encode(f, (CorpusOptions){0}, texts);
    assert_int_equal(corpus->n, ROWS);
    for (int64_t epoch = 0; epoch < 3; epoch++)
        for (int64_t shards = 1; shards <= 3; shards++) {
            check_epoch(corpus,
                        &(BatchOptions){.tokens = 40, .shuffle = true, .seed = 3, .shards = shards},
                        epoch);
            check_epoch(corpus, &(BatchOptions){.sentences = 7, .shards = shards}, epoch);
            check_epoch(corpus,
                        &(BatchOptions){
                            .sentences = 20, .shuffle = true, .distinct = true, .shards = shards},
                        epoch);
        }
    corpus_free(corpus);
    for (int c = 0; c < N_COLUMNS; c++)
        text_free(&cells[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels_inside, setup, teardown),
        cmocka_unit_test(test_frames),
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batches, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
