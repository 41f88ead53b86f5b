/* Tables: the columns of each format, the places of their records, and what is refused. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "runtime/data/table_reader.h"
#include "tests/messages.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

typedef struct Fixture {
    Arena *arena;
    Diagnostics diags;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->arena = arena_new();
    diag_init(&f->diags, f->arena);
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

enum { MOST = 4 }; /* fields and records of a case */

static size_t count(const char *const *fields)
{
    size_t n = 0;
    while (n < MOST && fields[n])
        n++;
    return n;
}

static Table *parse(Fixture *f, TableFormat format, const char *text, size_t length,
                    const char *const *fields, const LineLimits *limits)
{
    return table_parse(&f->diags, f->arena, diag_source(f->arena, "t", text, length), format,
                       fields, count(fields), limits);
}

static void expect_text(const Line *value, const char *text)
{
    if (value->length != strlen(text) || memcmp(value->text, text, value->length))
        fail_msg("'%.*s' is not '%s'", (int)value->length, value->text, text);
}

/* ---- good tables ---- */

typedef struct GoodTable {
    TableFormat format;
    const char *text, *fields[MOST];
    int n, lines[MOST]; /* where each record begins, from 1 */
    const char *values[MOST][MOST];
} GoodTable;

/* clang-format off */
static const GoodTable good[] = {
    {TABLE_TSV, "a\tb\tc\n1\t2\t3\n4\t5\t6\n", {"c", "a"}, 2, {2, 3}, {{"3", "1"}, {"6", "4"}}},
    {TABLE_TSV, "\xEF\xBB\xBF" "a\tb\r\n\"x\"\t\r\n\ty z ", {"a", "b"}, 2, {2, 3}, {{"\"x\"", ""}, {"", "y z "}}},
    {TABLE_TSV, "1\t2\n3\t4\t5\n", {"2"}, 2, {1, 2}, {{"2"}, {"4"}}},
    {TABLE_TSV, "x\ty\n", {"2", "1", "2"}, 1, {1}, {{"y", "x", "y"}}},
    {TABLE_TSV, "1\tb\nx\ty\n", {"1", "b"}, 1, {2}, {{"x", "y"}}},
    {TABLE_TSV, "text\n\nb\n", {"text"}, 2, {2, 3}, {{""}, {"b"}}},
    {TABLE_TSV, "a\ta\tb\n1\t2\t3\n", {"b"}, 1, {2}, {{"3"}}},
    {TABLE_CSV, "a,b\n1,2\n", {"b", "a"}, 1, {2}, {{"2", "1"}}},
    {TABLE_CSV, "a,b\r\n\"x, y\",\"say \"\"hi\"\"\"\r\n1,2", {"a", "b"}, 2, {2, 3}, {{"x, y", "say \"hi\""}, {"1", "2"}}},
    {TABLE_CSV, "a,b\n\"one\n\ntwo\",1\nx,2\n\"p\r\nq\",3\n", {"a", "b"}, 3, {2, 5, 6}, {{"one\n\ntwo", "1"}, {"x", "2"}, {"p\r\nq", "3"}}},
    {TABLE_CSV, "\"a\nb\",\"c\"\"d\"\n,\"\"\n", {"c\"d", "a\nb"}, 1, {3}, {{"", ""}}},
    {TABLE_CSV, "\"\"\"\",x\n\"\"\"\"\"\",\n", {"1", "2"}, 2, {1, 2}, {{"\"", "x"}, {"\"\"", ""}}},
    {TABLE_CSV, "a, b \n 1 , 2 \n", {" b "}, 1, {2}, {{" 2 "}}},
    {TABLE_CSV, "a;b,c\n\"1\n\",2\n3,4\n", {"a;b", "c"}, 2, {2, 4}, {{"1\n", "2"}, {"3", "4"}}},
    {TABLE_CSV, "a;b\n1;\"x;\ny\"\n2;\n", {"b", "a"}, 2, {2, 4}, {{"x;\ny", "1"}, {"", "2"}}},
    {TABLE_CSV, "sep=;\r\na;b,c\r\n1;2\r\n", {"b,c"}, 1, {3}, {{"2"}}},
    {TABLE_CSV, "sep=,\na,b\n1,2\n", {"b"}, 1, {3}, {{"2"}}},
    {TABLE_CSV, "1;2\n3;4\n\n", {"2"}, 2, {1, 2}, {{"2"}, {"4"}}},
    {TABLE_CSV, "a,b\n1,2\n\r\n\n", {"b"}, 1, {2}, {{"2"}}},
    {TABLE_TSV, "a\tb\n1\t2\n\t\n\n", {"a"}, 2, {2, 3}, {{"1"}, {""}}},
    {TABLE_JSON, "{\"a\":1}\n\n\n", {"a"}, 1, {1}, {{"1"}}},
    {TABLE_LIST, "[{\"a\":\"}{\\\"\"}\n,\n{\n\"a\":\n[1,\n 2]\n}\n]\n", {"a"}, 2, {1, 3}, {{"}{\""}, {"[1,\n 2]"}}},
    {TABLE_CSV, "a\n\n\"\"\nx\n", {"a"}, 3, {2, 3, 4}, {{""}, {""}, {"x"}}},
    {TABLE_JSON, "{\"a\": \"x\", \"b\": 1}\n{\"b\": 2.50, \"a\": \"\"}\n", {"a", "b"}, 2, {1, 2}, {{"x", "1"}, {"", "2.50"}}},
    {TABLE_JSON, " {\"a\":true,\"b\":false,\"c\":[1, -2.5e3 ,0],\"d\":[ ]} \r\n", {"a", "b", "c", "d"}, 1, {1}, {{"true", "false", "[1, -2.5e3 ,0]", "[ ]"}}},
    {TABLE_JSON, "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\u20AC\\ud834\\udd1e ä\"}", {"a"}, 1, {1}, {{"\"\\/\b\f\n\r\tä€𝄞 ä"}}},
    {TABLE_JSON, "{\"\\u0061\":\"x\",\"q\":{\"a\":[null,{\"z\":\"\\\"\"}],\"b\":{}}}", {"a", "a"}, 1, {1}, {{"x", "x"}}},
    {TABLE_JSON, "{\"1\":-0,\"a\":123456789012345678901234567890}", {"a", "1"}, 1, {1}, {{"123456789012345678901234567890", "-0"}}},
    {TABLE_CONLL, "Ana NNP B-PER\nsings VBZ O\n\n-DOCSTART- -X- O\n\n \n# # O\n1 CD O\n", {"1", "3"}, 2, {1, 7}, {{"Ana sings", "B-PER O"}, {"# 1", "O O"}}},
    {TABLE_CONLL, "# id 7\na\tx\nb\ty\r\n\nc\tz\n\n\n", {"2", "1"}, 2, {1, 5}, {{"x y", "a b"}, {"z", "c"}}},
    {TABLE_CONLLU, "# text = b c\n1-2\tbc\t_\n1\tb\tB\n1.1\td\tD\n2\tc\tC\n\n", {"2"}, 1, {1}, {{"b c"}}},
    {TABLE_JSON, "{\"x\":null,\"x\":[[]],\"a\":\"b\"}", {"a"}, 1, {1}, {{"b"}}},
};
/* clang-format on */

static void check_good(Fixture *f, const GoodTable *t)
{
    diag_init(&f->diags, f->arena);
    const Table *table = parse(f, t->format, t->text, strlen(t->text), t->fields, NULL);
    if (!table)
        expect_message(&f->diags, t->text);
    assert_int_equal(table->n, t->n);
    for (size_t k = 0; k < count(t->fields); k++) {
        assert_int_equal(table->columns[k]->n, t->n);
        for (int i = 0; i < t->n; i++) {
            expect_text(&table->columns[k]->at[i], t->values[i][k]);
            const Loc place = lines_place(table->columns[k], i);
            assert_int_equal(place.line, t->lines[i]);
            assert_string_equal(place.source->path, "t");
        }
    }
    const int64_t left_out = t->format == TABLE_CONLLU ? 3 : t->format == TABLE_CONLL;
    assert_int_equal(table->left_out, left_out);
    assert_int_equal(f->diags.list.count, left_out > 0);
    if (left_out)
        expect_message(&f->diags, left_out == 1 ? "t: note: 1 line is left out: "
                                                : "t: note: 3 lines are left out: ");
    assert_int_equal(f->diags.errors, 0);
}

static void test_good(void **state)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_good(*state, &good[i]);
}

/* The byte at which a line begins. */
static size_t line_at(const char *text, int line)
{
    const char *at = text;
    while (--line)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

/* Lines of a text, as a part of it. */
static Source *part_of(Fixture *f, const char *text, int line, int next)
{
    const size_t from = line_at(text, line), to = next ? line_at(text, next) : strlen(text);
    Source *part = ARENA_NEW(f->arena, Source);
    *part = (Source){.path = "t",
                     .text = arena_strndup(f->arena, text + from, to - from),
                     .length = to - from,
                     .lines_before = line - 1};
    return part;
}

/* Each record as a part of its own is what it is in the whole. */
static void test_parts(void **state)
{
    Fixture *f = *state;
    for (size_t c = 0; c < sizeof good / sizeof *good; c++) {
        const GoodTable *t = &good[c];
        TableHead head;
        const int next = t->lines[0] > 1 ? t->lines[0] : t->n > 1 ? t->lines[1] : 0;
        assert_true(table_find_head(&f->diags, f->arena, part_of(f, t->text, 1, next), t->format,
                                    t->fields, count(t->fields), NULL, &head));
        assert_int_equal(head.lines, t->lines[0] - 1);
        for (int i = 0; i < t->n; i++) {
            const Source *part =
                part_of(f, t->text, t->lines[i], i + 1 < t->n ? t->lines[i + 1] : 0);
            const Table *table = table_parse_part(&f->diags, f->arena, part, &head, NULL);
            if (!table || table->n != 1)
                expect_message(&f->diags, t->text);
            for (size_t k = 0; k < count(t->fields); k++) {
                expect_text(&table->columns[k]->at[0], t->values[i][k]);
                assert_int_equal(lines_place(table->columns[k], 0).line, t->lines[i]);
            }
        }
    }
    assert_int_equal(f->diags.list.count, 0);
}

/* … and what is wrong in a part has its place in the file. */
static void test_bad_parts(void **state)
{
    Fixture *f = *state;
    static const char *const fields[] = {"a", "b", NULL};
    TableHead head;
    const Source *header = diag_source(f->arena, "t", "a,b\n", 4);
    assert_true(table_find_head(&f->diags, f->arena, header, TABLE_CSV, fields, 2, NULL, &head));
    Source part = {.path = "t", .text = "1,\"2\n3\"\nx\n4,\"5\n", .lines_before = 70};
    part.length = strlen(part.text);
    assert_null(table_parse_part(&f->diags, f->arena, &part, &head, NULL));
    expect_message(&f->diags, "t:73:1: error: the record has 1 field, and the header has 2\n"
                              "   73 | x\n");
    expect_message(&f->diags, "t:74:3: error: nothing closes this quote: a");
    part.text = "1,\"2222222222222222222\n";
    part.length = strlen(part.text);
    assert_null(table_parse_part(&f->diags, f->arena, &part, &head, &(LineLimits){.line = 8}));
    part.text = "1,\"2\n2\n2\n2\n2\n2\n";
    part.length = strlen(part.text);
    assert_null(table_parse_part(&f->diags, f->arena, &part, &head, &(LineLimits){.line = 8}));
    expect_message(&f->diags,
                   "t:71:3: error: nothing closes this quote within 8 bytes (--line-limit)");
}

/* What needs no decoding is not copied. */
static void test_in_text(void **state)
{
    Fixture *f = *state;
    static const char *const texts[] = {"a\tb\nx\ty\n", "a,b\n\"x\",y\n",
                                        "{\"a\":\"x\",\"b\":\"y\"}\n"};
    static const char *const fields[] = {"a", "b"};
    for (int format = 0; format < 3; format++) {
        const Source *source = diag_source(f->arena, "t", texts[format], strlen(texts[format]));
        const Table *table =
            table_parse(&f->diags, f->arena, source, (TableFormat)format, fields, 2, NULL);
        for (int k = 0; k < 2; k++)
            assert_true(table->columns[k]->at[0].text > source->text &&
                        table->columns[k]->at[0].text < source->text + source->length);
    }
}

/* ---- bad tables ---- */

typedef struct BadTable {
    TableFormat format;
    const char *text, *fields[MOST], *message;
} BadTable;

/* clang-format off */
#define NESTED_16 "[[[[[[[[[[[[[[[["
static const BadTable bad[] = {
    /* tables without records */
    {TABLE_TSV, "", {"a"}, "t: error: the table is empty"},
    {TABLE_CSV, "", {"1"}, "t: error: the table is empty"},
    {TABLE_JSON, "", {"a"}, "t: error: the table is empty"},
    {TABLE_TSV, "a\tb\n", {"a"}, "t: error: the table has a header and no records"},
    {TABLE_CSV, "a,b", {"a"}, "t: error: the table has a header and no records"},
    /* no text */
    {TABLE_TSV, "a\tb\n1\t\xff\n", {"a"}, "t:2:3: error: invalid UTF-8: byte 0xff"},
    {TABLE_CSV, "a,b\n1,\"x\n\xc3\"\n", {"a"}, "t:3:1: error: invalid UTF-8: byte 0xc3"},
    {TABLE_JSON, "{\"a\":\"\xed\xa0\x80\"}", {"a"}, "t:1:7: error: invalid UTF-8: byte 0xed"},
    {TABLE_TSV, "a\tb\r1\t2\r", {"a"}, "t: error: its lines end with CR alone"},
    {TABLE_CSV, "\xff\xfe" "a,b\n", {"a"}, "t: error: the file is UTF-16"},
    {TABLE_TSV, "\x1f\x8b\x08", {"1"}, "t: error: the file is compressed by gzip"},
    {TABLE_JSON, "{\"a\":\"12345678901234567890123456789012345678901234567890123456789\"}", {"a"},
     "t:1:1: error: the line is longer than 60 bytes"},
    {TABLE_CSV, "a\n\"1234567890123456789012345678901\n1234567890123456789012345678901\"\n", {"a"},
     "t:2:1: error: the field is longer than 60 bytes"},
    /* fields that are not there */
    {TABLE_TSV, "id\tlabel\n1\t2\n", {"lable"}, "t:1:1: error: the header has no field 'lable'; did you mean 'label'?"},
    {TABLE_TSV, "id\tlabel\n1\t2\n", {"score"}, "the header has no field 'score'; there are 'id' and 'label'"},
    {TABLE_TSV, "id\n1\n", {"score"}, "the header has no field 'score'; there is 'id'"},
    {TABLE_CSV, "id,\"la\"\"bel\"\n1,2\n", {"x"}, "there are 'id' and 'la\"bel'"},
    {TABLE_CSV, "id,label\n1,2\n", {"ID"}, "t:1:1: error: the header has no field 'ID'"},
    {TABLE_TSV, "1\t2\n", {"3"}, "t:1:1: error: the field 3 is wanted, and the first record has 2"},
    {TABLE_CSV, "1,2\n", {"99999999999999999999999"}, "the field 99999999999999999999999 is wanted, and the first record has 2"},
    {TABLE_TSV, "1\t2\n", {"0"}, "t:1:1: error: there is no field 0: the first is 1"},
    {TABLE_TSV, "a\tb\ta\n1\t2\t3\n", {"a"}, "the header has the field 'a' twice, as 1 and 3"},
    {TABLE_CSV, "a,\"a\"\n1,2\n", {"a"}, "the header has the field 'a' twice, as 1 and 2"},
    {TABLE_CSV, "a\tb\n1\t2\n", {"b"}, "there are tabs and no commas: name the file .tsv"},
    {TABLE_TSV, "a,b\n1,2\n", {"b"}, "there are commas and no tabs: if it is CSV, name the file .csv"},
    {TABLE_JSON, "{\"label\":1}\n{\"text\":2}\n", {"label"}, "t:2:1: error: the record has no field 'label'; there is 'text'"},
    {TABLE_JSON, "{\"label\":1,\"x\":\"\"}\n", {"lable"}, "t:1:1: error: the record has no field 'lable'; did you mean 'label'?"},
    {TABLE_JSON, "{}", {"a"}, "t:1:1: error: the record has no field 'a'"},
    {TABLE_CONLL, "a b\n", {"words"}, "t: error: CoNLL's columns have no names, such as"},
    {TABLE_CONLL, "a b\n", {"3"}, "t:1:1: error: the field 3 is wanted, and the first record has 2"},
    {TABLE_CONLL, "\n-DOCSTART-\n\n", {"1"}, "t:1:1: error: no line of it is a word with its fields"},
    {TABLE_CONLL, "a b\nc d\n\na b\nc\n", {"2"}, "t:5:1: error: the line has 1 field, and there must be at least 2"},
    {TABLE_CONLL, "a\tb c\n", {"2"}, "t:1:3: error: the field 2 is empty, or has a blank in it"},
    {TABLE_CSV, "a;b\n1;2\n", {"x"}, "the header has no field 'x'; there are 'a' and 'b'"},
    {TABLE_CSV, "sep=;\na,b;c\n1;2\n", {"a"}, "t:1:1: error: the header has no field 'a'; there are 'a,b' and 'c'"},
    {TABLE_CSV, "sep=;\n", {"a"}, "the header has no field 'a'"},
    /* empty lines elsewhere than at the end */
    {TABLE_TSV, "a\tb\n1\t2\n\n3\t4\n", {"a"}, "t:3:1: error: an empty line between records"},
    {TABLE_CSV, "a,b\n\n\n3,4\n\n", {"a"}, "t:3:1: error: an empty line between records"},
    {TABLE_JSON, "{\"a\":1}\n\n{\"a\":1}", {"a"}, "t:2:1: error: an empty line between records"},
    {TABLE_CSV, "a,b\n\n\n", {"a"}, "t: error: the table has a header and no records"},
    {TABLE_TSV, "PAR1\x15\x04", {"1"}, "t: error: the file is Parquet: write it as JSON lines first (python3"},
    {TABLE_CSV, "PK\3\4\x14", {"1"}, "t: error: the file is a workbook of Excel, or another zip archive"},
    /* records of another width */
    {TABLE_TSV, "a\tb\n1\n", {"a"}, "t:2:1: error: the record has 1 field, and the header has 2"},
    {TABLE_TSV, "a\tb\n1\t2\n1\t2\t3\n", {"a"}, "t:3:1: error: the record has 3 fields, and the header has 2"},
    {TABLE_TSV, "1\t2\t3\n1\t2\t3\t4\n1\t2\n", {"1", "3"}, "t:3:1: error: the record has 2 fields, and there must be at least 3"},
    {TABLE_CSV, "a,b\n\"x\n\"\n", {"a"}, "t:2:1: error: the record has 1 field, and the header has 2"},
    {TABLE_CSV, "a,b\n\"x\n\",1\n1,2,\n", {"a"}, "t:4:1: error: the record has 3 fields, and the header has 2"},
    {TABLE_CSV, "1,2\n3\n", {"1"}, "t:2:1: error: the record has 1 field, and the first has 2"},
    /* quotes of CSV */
    {TABLE_CSV, "a,b\n1,x\"y\n", {"a"}, "t:2:4: error: a quote within a field without quotes"},
    {TABLE_CSV, "a,b\n1, \"y\"\n", {"a"}, "t:2:4: error: a quote within a field without quotes"},
    {TABLE_CSV, "a,b\n\"x\"y,2\n", {"a"}, "t:2:4: error: text after the quote that closes a field"},
    {TABLE_CSV, "a,b\n\"x\ny\" ,2\n", {"a"}, "t:3:3: error: text after the quote that closes a field"},
    {TABLE_CSV, "a,b\n\"x\"\"\"y\",2\n", {"a"}, "t:2:6: error: text after the quote that closes a field"},
    {TABLE_CSV, "a,b\n1,\"x\n3,4\n", {"a"}, "t:2:3: error: nothing closes this quote"},
    {TABLE_CSV, "a,b\n1,\"\"\"", {"a"}, "t:2:3: error: nothing closes this quote"},
    {TABLE_CSV, "a,\"b\n1,2\n", {"a"}, "t:1:3: error: nothing closes this quote"},
    {TABLE_CSV, "a\"b\n1\n", {"1"}, "t:1:2: error: a quote within a field without quotes"},
    /* what is no list of JSON */
    {TABLE_LIST, "[{\"a\":1}", {"a"}, "t: error: nothing closes the list"},
    {TABLE_LIST, "[{\"a\":1},\n\n", {"a"}, "t: error: nothing closes the list"},
    {TABLE_LIST, "[{\"a\":1}\n {\"a\":2}]", {"a"}, "t:2:2: error: expected ',' or ']' behind the record"},
    {TABLE_LIST, "[{\"a\":1}] x", {"a"}, "t:1:11: error: something after the list"},
    {TABLE_LIST, "[{\"a\":1},\n1]", {"a"}, "t:2:1: error: expected '{': each record is an object"},
    {TABLE_LIST, "[{\"a\":1},\n{\"a\":\n1,}]", {"a"}, "t:3:3: error: expected a key in quotes"},
    {TABLE_LIST, "[{\"a\":1},\n{\n\"b\":1}]", {"a"}, "t:2:1: error: the record has no field 'a'; there is 'b'"},
    {TABLE_LIST, "[{\"a\":1},{\"a\":1", {"a"}, "t:1:16: error: expected ',' or '}'"},
    {TABLE_LIST, "[]", {"a"}, "t: error: the table has no records"},
    /* what is not JSON */
    {TABLE_JSON, "[1]\n", {"a"}, "t:1:1: error: expected '{': each record is an object"},
    {TABLE_JSON, "{\"a\":1}{\"a\":2}\n", {"a"}, "t:1:8: error: something after the record"},
    {TABLE_JSON, "{\"a\":1", {"a"}, "t:1:7: error: expected ',' or '}'"},
    {TABLE_JSON, "{\"a\":", {"a"}, "t:1:6: error: the line ends within a record"},
    {TABLE_JSON, "{\"a\" 1}", {"a"}, "t:1:6: error: expected ':' after the key"},
    {TABLE_JSON, "{a:1}", {"a"}, "t:1:2: error: expected a key in quotes"},
    {TABLE_JSON, "{\"a\":1,}", {"a"}, "t:1:8: error: expected a key in quotes"},
    {TABLE_JSON, "{\"a\":'x'}", {"a"}, "t:1:6: error: something that is no value of JSON"},
    {TABLE_JSON, "{\"a\":NaN}", {"a"}, "t:1:6: error: something that is no value of JSON"},
    {TABLE_JSON, "{\"a\":01}", {"a"}, "t:1:6: error: a number that is not written as JSON's are"},
    {TABLE_JSON, "{\"a\":1,\"b\":-}", {"a"}, "t:1:12: error: a number that is not written as JSON's are"},
    {TABLE_JSON, "{\"a\":1,\"b\":1.e5}", {"a"}, "t:1:12: error: a number that is not written as JSON's are"},
    {TABLE_JSON, "{\"a\":\"x", {"a"}, "t:1:6: error: a string without an end"},
    {TABLE_JSON, "{\"a\":\"x\\\"}", {"a"}, "t:1:6: error: a string without an end"},
    {TABLE_JSON, "{\"a\":1,\"b\":\"\t\"}", {"a"}, "t:1:13: error: a control character in a string"},
    {TABLE_JSON, "{\"a\":1,\"b\":\"\\x\"}", {"a"}, "t:1:13: error: a backslash that begins no escape of JSON"},
    {TABLE_JSON, "{\"a\":1,\"b\":\"\\u12g4\"}", {"a"}, "t:1:13: error: an escape that is not \\uXXXX"},
    {TABLE_JSON, "{\"a\":\"\\ud834\"}", {"a"}, "t:1:6: error: the string has half of a surrogate pair"},
    {TABLE_JSON, "{\"a\":\"x\\udd1e\"}", {"a"}, "t:1:6: error: the string has half of a surrogate pair"},
    {TABLE_JSON, "{\"a\":\"\\u0000\"}", {"a"}, "t:1:6: error: the string has a NUL"},
    {TABLE_JSON, "{\"a\":1,\"b\":[1 2]}", {"a"}, "t:1:15: error: expected ',' or ']'"},
    {TABLE_JSON, "{\"a\":1,\"b\":{\"c\" 2}}", {"a"}, "t:1:17: error: expected ':' after the key"},
    {TABLE_JSON, "{\"a\":1,\"b\":{2:2}}", {"a"}, "t:1:13: error: expected a key in quotes"},
    {TABLE_JSON, "{\"b\":" NESTED_16 NESTED_16 NESTED_16 NESTED_16 "[", {"a"}, "t:1:70: error: values nest more than 64 levels deep"},
    /* values */
    {TABLE_JSON, "{\"a\":1}\n{\"a\":null}", {"a"}, "t:2:6: error: the field 'a' is null: each record needs a value"},
    {TABLE_JSON, "{\"a\":{\"b\":1}}", {"a"}, "t:1:6: error: the field 'a' is an object: each record needs a text"},
    {TABLE_JSON, "{\"a\":[1,\"2\"]}", {"a"}, "t:1:9: error: the list of the field 'a' has something other than numbers"},
    {TABLE_JSON, "{\"a\":[[1],[\"1\"]]}", {"a"}, "t:1:12: error: the list of the field 'a' has something other than numbers"},
    {TABLE_JSON, "{\"a\":[1,]}", {"a"}, "t:1:9: error: the list of the field 'a' has something other than numbers"},
    {TABLE_JSON, "{\"a\":[1", {"a"}, "t:1:8: error: expected ',' or ']'"},
    {TABLE_JSON, "{\"a\":1,\"b\":2,\"a\":3}", {"b", "a"}, "t:1:14: error: the field 'a' is there twice"},
};
/* clang-format on */

static void test_bad(void **state)
{
    Fixture *f = *state;
    const LineLimits limits = {.line = 60};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const size_t length = strlen(bad[i].text);
        /* the limit is for those two that are about it */
        const bool is_long = strstr(bad[i].message, "60 bytes") != NULL;
        diag_init(&f->diags, f->arena);
        assert_null(
            parse(f, bad[i].format, bad[i].text, length, bad[i].fields, is_long ? &limits : NULL));
        assert_int_equal(f->diags.errors, 1);
        expect_message(&f->diags, bad[i].message);
    }
    diag_init(&f->diags, f->arena);
    static const char *const fields[] = {"a", NULL};
    assert_null(parse(f, TABLE_TSV, "a\n1\0\n", 5, fields, NULL));
    expect_message(&f->diags, "t:2:2: error: a NUL byte: this is not a text file");
}

/* Of many bad records five are reported, and how many there are; reading goes on behind each. */
static void test_many_bad(void **state)
{
    Fixture *f = *state;
    static const char *const fields[] = {"a", NULL};
    static const char *const lines[] = {"1\n", "1,\"x\n\"y\n", "{\"a\" 1}\n"};
    static const int each[] = {1, 2, 1}; /* lines of a bad record */
    for (int format = 0; format < 3; format++) {
        Text text = {0};
        text_string(&text, format == TABLE_TSV ? "a\tb\n" : format == TABLE_CSV ? "a,b\n" : "");
        const int first = format == TABLE_JSON ? 1 : 2;
        for (int i = 0; i < 7; i++)
            text_string(&text, lines[format]);
        diag_init(&f->diags, f->arena);
        assert_null(parse(f, (TableFormat)format, text.data, text.length, fields, NULL));
        assert_int_equal(f->diags.errors, 5);
        expect_message(&f->diags, "t: note: these are the first 5 of 7 bad records");
        expect_message(&f->diags, arena_printf(f->arena, "t:%d:", first + 5 * each[format] - 1));
        text_free(&text);
    }
    static const char *const two[] = {"x", "y", NULL};
    diag_init(&f->diags, f->arena);
    assert_null(parse(f, TABLE_TSV, "a\tb\n1\t2\n", 8, two, NULL));
    expect_message(&f->diags, "no field 'x'");
    expect_message(&f->diags, "no field 'y'");
}

/* ---- files ---- */

static TableFormat format_of(Fixture *f, const char *name, const char *text)
{
    return table_format(name, diag_source(f->arena, name, text, strlen(text)));
}

static void test_formats(void **state)
{
    Fixture *f = *state;
    static const struct {
        const char *name, *text;
        TableFormat format;
    } cases[] = {
        {"a.tsv", "{\"a\":1}", TABLE_TSV},
        {"A.CSV", "", TABLE_CSV},
        {"a.csv.gz", "", TABLE_CSV},
        {"a.jsonl.xz", "", TABLE_JSON},
        {"d/a.ndjson.zst", "", TABLE_JSON},
        {"a.txt", " \n\t{\"a\":1}", TABLE_JSON},
        {"a", "\xEF\xBB\xBF{", TABLE_JSON},
        {"a.jsonl", "[\n {", TABLE_LIST},
        {"a.json", "[{", TABLE_LIST},
        {"a.json", "{", TABLE_JSON},
        {"a.txt", " [ {", TABLE_LIST},
        {"a.txt", "[1]", TABLE_TSV},
        {"a.csv.old", "a,b", TABLE_TSV},
        {".gz", "", TABLE_TSV},
        {"csv", "", TABLE_TSV},
        {"a.tsv.gz.gz", "{", TABLE_JSON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(format_of(f, cases[i].name, cases[i].text), cases[i].format);
}

/* A file of the folder with this text, compressed if its name says so. */
static const char *write_file(Fixture *f, const char *folder, const char *name, const char *text)
{
    const char *path = file_in(f->arena, folder, name);
    if (!text_ends(name, ".gz")) {
        assert_true(file_write_all(&f->diags, path, text, strlen(text)));
        return path;
    }
    gzFile file = gzopen(path, "w");
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static void test_files(void **state)
{
    Fixture *f = *state;
    char folder[] = "/tmp/tfc-table-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *paths[] = {write_file(f, folder, "a.tsv", "id\ttext\n1\tone\n2\ttwo\n"),
                           write_file(f, folder, "b.csv.gz", "text,id\n\"th\nree\",3\nfour,4\n"),
                           write_file(f, folder, "c.txt", "{\"id\":5,\"text\":\"five\"}\n")};
    static const char *const fields[] = {"text", "id"};
    static const char *const texts[] = {"one", "two", "th\nree", "four", "five"};
    static const int lines[] = {2, 3, 2, 4, 1}, files[] = {0, 0, 1, 1, 2};
    const Table *all = table_read_all(&f->diags, f->arena, paths, 3, fields, 2, NULL);
    assert_non_null(all);
    assert_int_equal(all->n, 5);
    for (int i = 0; i < 5; i++) {
        const Loc place = lines_place(all->columns[1], i);
        assert_int_equal(place.line, lines[i]);
        assert_string_equal(place.source->path, paths[files[i]]);
        expect_text(&all->columns[0]->at[i], texts[i]);
        expect_text(&all->columns[1]->at[i], arena_printf(f->arena, "%d", i + 1));
    }
    assert_string_equal(lines_where(f->arena, all->columns[0], 3),
                        arena_printf(f->arena, "line 4 of %s", paths[1]));
    const Table *one = table_read(&f->diags, f->arena, paths[0], fields, 2, NULL);
    assert_int_equal(one->n, 2);
    assert_int_equal(f->diags.list.count, 0);

    static const char *const unknown[] = {"title"};
    static const char *const twice[] = {"-", "-"};
    assert_null(table_read_all(&f->diags, f->arena, paths, 3, unknown, 1, NULL));
    expect_message(&f->diags, "a.tsv:1:1: error: the header has no field 'title'");
    assert_null(table_read_all(&f->diags, f->arena, twice, 2, fields, 2, NULL));
    expect_message(&f->diags, "standard input (-) stands twice");
    assert_null(table_read(&f->diags, f->arena, "/nonexistent.csv", fields, 2, NULL));
    expect_message(&f->diags, "cannot read /nonexistent.csv: there is no such file");
    const LineLimits small = {.memory = 10};
    assert_null(table_read(&f->diags, f->arena, paths[0], fields, 2, &small));
    expect_message(&f->diags, "kB of memory are free; give a part of it");
    file_remove_tree(folder);
}

/* Each star of a pattern takes any bytes; many of them take no longer than the name is. */
static void test_patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } rows[] = {{"f*", "f1", true},     {"f*", "f", true},       {"f*", "g1", false},
                {"*", "", true},        {"a*b*c", "abbc", true}, {"a*b*c", "abcb", false},
                {"a*bc", "abbc", true}, {"*ab", "aab", true},    {"a**", "a", true},
                {"a*b", "ab*b", true},  {"", "", true},          {"", "a", false},
                {"a*", "", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Line pattern = {rows[i].pattern, strlen(rows[i].pattern)},
                   name = {rows[i].name, strlen(rows[i].name)};
        assert_int_equal(table_field_fits(&pattern, &name), rows[i].fits);
    }
    char stars[101], letters[2001];
    for (int i = 0; i < 50; i++)
        memcpy(stars + (size_t)(2 * i), "a*", 2);
    stars[100] = 'b';
    memset(letters, 'a', sizeof letters);
    assert_false(table_field_fits(&(Line){stars, sizeof stars}, &(Line){letters, sizeof letters}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test_setup_teardown(test_good, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_in_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_bad, setup, teardown),
        cmocka_unit_test_setup_teardown(test_formats, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
