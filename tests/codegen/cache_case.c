/* The folder and the function; see cache_case.h. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ir/text.h"
#include "tests/codegen/cache_case.h"

#include <stdlib.h>
#include <string.h>

const char cache_source[] = "module \"test\"\ndim N\n"
                            "func f {\n"
                            "  %0 = input {name = \"x\"} : f32[N, 24]\n"
                            "  %1 = relu %0 : f32[N, 24]\n"
                            "  output %1 {name = \"y\"}\n"
                            "}\n";

Function *parse_function(Case *c, const char *text)
{
    Module *module =
        ir_parse(c->arena, &c->diags, diag_source(c->arena, "t.tir", text, strlen(text)));
    assert_non_null(module);
    return module->functions.data[0];
}

int open_cache_case(void **state)
{
    Case *c = calloc(1, sizeof *c);
    c->arena = arena_new();
    diag_init(&c->diags, c->arena);
    c->function = parse_function(c, cache_source);
    strcpy(c->folder, "/tmp/tfc-cache-XXXXXX");
    *state = c;
    return mkdtemp(c->folder) ? 0 : -1;
}

int close_cache_case(void **state)
{
    Case *c = *state;
    const char *command =
        arena_printf(c->arena, "chmod -R u+w %s; rm -rf %s", c->folder, c->folder);
    int status = system(command);
    arena_free(c->arena);
    free(c);
    return status;
}

ProgramKey key_number(int i)
{
    ProgramKey key = {{0}};
    key.hash[0] = (unsigned char)i;
    return key;
}
