/* Places: the paths that the folder of a run has for the files of its model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/place.h"

#include <string.h>

/* What a file uses, by which name, and where a run keeps it. */
static const struct {
    const char *from, *used, *name, *place;
} cases[] = {
    {"", "b.tfg", "b.tfg", "b.tfg"},
    {"", "./sub//b.tfg", "./sub//b.tfg", "sub/b.tfg"},
    {"sub/b.tfg", "c.tfg", "sub/c.tfg", "sub/c.tfg"},
    {"", "../b.tfg", "../b.tfg", "used/from/up/b.tfg"},
    {"../x/b.tfg", "../c.tfg", "../x/../c.tfg", "used/from/up/x/up/c.tfg"},
    {"", "sub/../b.tfg", "sub/../b.tfg", "used/from/sub/up/b.tfg"},
    {"", "../up/b.tfg", "../up/b.tfg", "used/from/up/up_/b.tfg"},
    {"", "../up_/b.tfg", "../up_/b.tfg", "used/from/up/up__/b.tfg"},
    {"", "../upper/b.tfg", "../upper/b.tfg", "used/from/up/upper/b.tfg"},
    {"", "../../b.tfg", "../../b.tfg", "used/from/up/up/b.tfg"},
    {"", "/x/b.tfg", "/x/b.tfg", "used/root/x/b.tfg"},
    {"/x/b.tfg", "c.tfg", "/x/c.tfg", "used/root/x/c.tfg"},
    {"/x/b.tfg", "../../../etc/c.tfg", "/x/../../../etc/c.tfg", "used/root/x/up/up/up/etc/c.tfg"},
    {"sub/b.tfg", "/y.tfg", "/y.tfg", "used/root/y.tfg"},
    {"", "model.tfg", "model.tfg", "used/here/model.tfg"},
    {"", "./model.tfg", "./model.tfg", "used/here/model.tfg"},
    {"", "sub/model.tfg", "sub/model.tfg", "sub/model.tfg"},
    {"", "lib/b.tfg", "lib/b.tfg", "used/here/lib/b.tfg"},
    {"", "used/up/b.tfg", "used/up/b.tfg", "used/here/used/up/b.tfg"},
    {"", "sub/up/b.tfg", "sub/up/b.tfg", "sub/up/b.tfg"},
    {"", "/up/b.tfg", "/up/b.tfg", "used/root/up_/b.tfg"},
    {"", "..tfg/b.tfg", "..tfg/b.tfg", "..tfg/b.tfg"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void test_places(void **state)
{
    Arena *arena = arena_new();
    for (int i = 0; i < N_CASES; i++) {
        const char *name = place_name(arena, cases[i].from, cases[i].used);
        assert_string_equal(name, cases[i].name);
        assert_string_equal(place_of(arena, name), cases[i].place);
    }
    arena_free(arena);
}

/* Different names have different places, none of them outside the run. */
static void test_places_differ(void **state)
{
    static const char *const parts[] = {"",     "..",  "up",   "up_",  "x",
                                        "used", "lib", "root", "here", "from"};
    enum { PARTS = sizeof parts / sizeof *parts, NAMES = PARTS * PARTS };
    Arena *arena = arena_new();
    const char *places[NAMES];
    for (int i = 0; i < NAMES; i++) {
        const char *a = parts[i / PARTS], *b = parts[i % PARTS];
        places[i] =
            place_of(arena, arena_printf(arena, "%s%s%s%smodel.tfg", a,
                                         *a || !*b ? (*a ? "/" : "") : "/", b, *b ? "/" : ""));
        assert_true(*places[i] != '/' && !strstr(places[i], ".."));
        assert_string_not_equal(places[i], "model.tfg");
        assert_true(strncmp(places[i], "lib/", 4) != 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(places[i], places[k]);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_places_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
