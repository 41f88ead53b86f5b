/* Records and their JSON by a table of members: what is written and read back, what an older file
 * lacks, and which member of a damaged file is named. */
#include "base/json_record.h"

#include "base/json_read.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef enum Colour { RED, GREEN, COLOURS } Colour;
static const char *const colours[COLOURS] = {"red", "green"};

typedef struct Point {
    int64_t x;
    int y;
} Point;

typedef struct Thing {
    const char *name, *note;
    Colour colour;
    bool good, has_list;
    int64_t count, unknown;
    uint64_t seed, hash;
    double number, exact;
    VEC(const char *) words, list;
    VEC(JsonPair) pairs;
    Point place;
    VEC(Point) points;
} Thing;

static const JsonField point_fields[] = {
    JSON_FIELD(Point, "x", INTEGER, x, NEEDED, .least = -9, .most = 9),
    JSON_FIELD(Point, "y", INTEGER, y, NEEDED),
};
static const JsonRecord point_record = JSON_RECORD_OF(Point, point_fields, .is_line = true);

#define ROW(key, type, member, use, ...) JSON_FIELD(Thing, key, type, member, use, __VA_ARGS__)
/* clang-format off */
static const JsonField thing_fields[] = {
    ROW("name",    TEXT,     name,    NEEDED),
    ROW("note",    TEXT,     note,    WRITTEN),
    ROW("colour",  WORD,     colour,  NEEDED,   .words = colours, .n_words = COLOURS),
    ROW("good",    BOOL,     good,    OPTIONAL),
    ROW("count",   INTEGER,  count,   WRITTEN),
    ROW("unknown", INTEGER,  unknown, OPTIONAL, .otherwise = -1),
    ROW("seed",    UNSIGNED, seed,    OPTIONAL),
    ROW("hash",    HASH,     hash,    OPTIONAL),
    ROW("number",  NUMBER,   number,  WRITTEN),
    ROW("exact",   EXACT,    exact,   OPTIONAL),
    ROW("words",   TEXTS,    words,   WRITTEN,  .most = 2),
    ROW("list",    TEXTS,    list,    OPTIONAL, JSON_FLAG(Thing, has_list)),
    ROW("pairs",   PAIRS,    pairs,   OPTIONAL),
    ROW("place",   RECORD,   place,   OPTIONAL, .of = &point_record),
    ROW("points",  RECORDS,  points,  OPTIONAL, .of = &point_record, .least = 1),
};
/* clang-format on */
static const JsonRecord thing_record = JSON_RECORD_OF(Thing, thing_fields);

static const char *read_thing(Arena *arena, const char *text, Thing *thing)
{
    const char *problem, *wrong;
    const JsonValue *json = json_read(arena, text, strlen(text), &problem);
    assert_non_null(json);
    memset(thing, 0x5a, sizeof *thing); /* the reader sets all */
    bool ok = json_record_read(arena, &thing_record, json, thing, &wrong);
    assert_true(ok == !wrong);
    return wrong;
}

static void assert_written(const Thing *thing, const char *expected)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_record_put_item(&json, NULL, &thing_record, thing);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

#define LEAST "\"name\": \"a\", \"colour\": \"green\""
#define PLACE "\"place\": {\"x\": 0, \"y\": 0}"

static void test_least(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Thing thing;
    assert_null(read_thing(arena, "{" LEAST ", \"later\": [7]}", &thing));
    assert_true(!thing.note && thing.colour == GREEN && !thing.good && !thing.has_list);
    assert_true(thing.count == 0 && thing.unknown == -1 && !thing.seed && !thing.hash);
    assert_true(isnan(thing.number) && isnan(thing.exact));
    assert_true(!thing.words.count && !thing.list.count && !thing.pairs.count);
    assert_true(!thing.place.x && !thing.place.y && !thing.points.count);
    assert_written(&thing, "{" LEAST ", \"count\": 0, \"number\": null, \"words\": [], " PLACE "}");
    arena_free(arena);
}

/* Every type, as it is read and written again. */
static void test_all(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\": \"a\", \"note\": \"b\", \"colour\": \"red\", \"good\": true, \"count\": 7, "
        "\"unknown\": 0, \"seed\": \"18446744073709551615\", \"hash\": \"00000000000000ff\", "
        "\"number\": 0.5, \"exact\": \"-0x1.8p+1\", \"words\": [\"c\", \"d\"], \"list\": [], "
        "\"pairs\": {\"e\": \"f\"}, \"place\": {\"x\": -9, \"y\": 2147483647}, "
        "\"points\": [{\"x\": 1, \"y\": 2}, {\"x\": 3, \"y\": 4}]}";
    Arena *arena = arena_new();
    Thing thing;
    assert_null(read_thing(arena, text, &thing));
    assert_true(thing.colour == RED && thing.seed == UINT64_MAX && thing.hash == 255);
    assert_true(thing.exact == -3 && thing.has_list && thing.place.y == INT32_MAX);
    assert_true(thing.points.count == 2 && thing.points.data[1].x == 3);
    assert_string_equal(thing.pairs.data[0].value, "f");
    assert_written(&thing, text);
    arena_free(arena);
}

/* Lists have no room to grow, so that copies of a record that grow stay apart. */
static void test_copies(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Thing a;
    assert_null(read_thing(arena, "{" LEAST ", \"words\": [\"c\"]}", &a));
    Thing b = a;
    vec_push(arena, a.words, "of a");
    vec_push(arena, b.words, "of b");
    assert_string_equal(a.words.data[1], "of a");
    arena_free(arena);
}

static void test_lines(void **state)
{
    (void)state;
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    static const char expected[] =
        "{\n  \"name\": \"a\",\n  \"colour\": \"red\",\n  \"count\": 0,\n"
        "  \"number\": 1,\n  \"words\": [],\n"
        "  \"place\": {\"x\": 1, \"y\": 2},\n"
        "  \"points\": [\n    {\"x\": 3, \"y\": 4}\n  ]\n}";
    Point points[] = {{3, 4}};
    Thing thing = {.name = "a",
                   .number = 1,
                   .exact = NAN,
                   .unknown = -1,
                   .place = {1, 2},
                   .points = {points, 1, 1}};
    json_record_put_item(&json, NULL, &thing_record, &thing);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void test_wrong(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"[]", "an object is expected"},
        {"{\"colour\": \"red\"}", "name"},
        {"{\"name\": null, \"colour\": \"red\"}", "name"},
        {"{\"name\": \"a\", \"colour\": \"blue\"}", "colour"},
        {"{\"name\": \"a\", \"colour\": 0}", "colour"},
        {"{" LEAST ", \"note\": 7}", "note"},
        {"{" LEAST ", \"good\": 1}", "good"},
        {"{" LEAST ", \"count\": -1}", "count"},
        {"{" LEAST ", \"count\": 1.0}", "count"},
        {"{" LEAST ", \"count\": 9223372036854775808}", "count"},
        {"{" LEAST ", \"unknown\": -1}", "unknown"},
        {"{" LEAST ", \"seed\": \"-1\"}", "seed"},
        {"{" LEAST ", \"seed\": \"18446744073709551616\"}", "seed"},
        {"{" LEAST ", \"seed\": \"\"}", "seed"},
        {"{" LEAST ", \"hash\": \"ff\"}", "hash"},
        {"{" LEAST ", \"hash\": \"00000000000000FF\"}", "hash"},
        {"{" LEAST ", \"number\": \"1\"}", "number"},
        {"{" LEAST ", \"exact\": \"\"}", "exact"},
        {"{" LEAST ", \"exact\": \"1x\"}", "exact"},
        {"{" LEAST ", \"words\": \"c\"}", "words"},
        {"{" LEAST ", \"words\": [7]}", "words"},
        {"{" LEAST ", \"words\": [\"a\", \"b\", \"c\"]}", "words"},
        {"{" LEAST ", \"pairs\": []}", "pairs"},
        {"{" LEAST ", \"pairs\": {\"a\": 7}}", "pairs"},
        {"{" LEAST ", \"place\": []}", "place"},
        {"{" LEAST ", \"place\": {\"x\": 1}}", "place.y"},
        {"{" LEAST ", \"place\": {\"x\": 10, \"y\": 0}}", "place.x"},
        {"{" LEAST ", \"place\": {\"x\": 0, \"y\": 2147483648}}", "place.y"},
        {"{" LEAST ", \"points\": []}", "points"},
        {"{" LEAST ", \"points\": [{\"x\": 1, \"y\": 2}, {\"x\": 1}]}", "points[1].y"},
        {"{" LEAST ", \"points\": [7]}", "points[0]"},
    };
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Thing thing;
        const char *wrong = read_thing(arena, cases[i][0], &thing);
        if (!wrong || strcmp(wrong, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], wrong ? wrong : "taken");
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least), cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_copies), cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
