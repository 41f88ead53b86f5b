/* A folder for a cache and a small function to compile: shared by the tests of the cache. */
#ifndef TESTS_CODEGEN_CACHE_CASE_H
#define TESTS_CODEGEN_CACHE_CASE_H

#include "codegen/cache_state.h"

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    Function *function;
    char folder[64];
} Case;

/* The text of Case.function. */
extern const char cache_source[];
/* The first function of a module's text. */
Function *parse_function(Case *c, const char *text);
/* cmocka's setup and teardown: *state is a Case. */
int open_cache_case(void **state);
int close_cache_case(void **state);
/* A key of its own for each number. */
ProgramKey key_number(int i);

#define CACHE_TEST(f) cmocka_unit_test_setup_teardown(f, open_cache_case, close_cache_case)

#endif
