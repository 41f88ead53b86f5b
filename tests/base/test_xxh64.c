/* XXH64 against values of the reference implementation: every path through the lanes and
 * the rest. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/xxh64.h"

#include <string.h>

static void known_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t seed, sum;
    } known[] = {
        {"", 0, UINT64_C(0xef46db3751d8e999)},
        {"a", 0, UINT64_C(0xd24ec4f1a98c6e5b)},
        {"abc", 0, UINT64_C(0x44bc2cf5ad770999)},
        {"abcd", 7, UINT64_C(0x7b60af3895a9f4a9)},
        {"abcdefgh", 1, UINT64_C(0x8305125710212a61)},
        {"abcdefghijklm", 0, UINT64_C(0x934adbc0ebc51325)},
        {"Nobody inspects the spammish repetition", 0, UINT64_C(0xfbcea83c8a378bf1)},
        {"0123456789abcdef0123456789ABCDEF", 0, UINT64_C(0x98d3056e7ebaa6fe)},
        {"0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789ABCDEF0123456",
         UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xaeb7a702c81a69ee)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(xxh64(known[i].text, strlen(known[i].text), known[i].seed) == known[i].sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
