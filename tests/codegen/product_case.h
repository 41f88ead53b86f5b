/* What tests of products share: a function of one product, random numbers, shapes. */
#ifndef TESTS_CODEGEN_PRODUCT_CASE_H
#define TESTS_CODEGEN_PRODUCT_CASE_H

#include "ir/text.h"

#include <string.h>

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    const Function *function;
} Case;

typedef struct Shape {
    int64_t m, n, k;
} Shape;

/* Of the text of a module; its caller frees the arena. */
static void open_case(Case *c, const char *text)
{
    *c = (Case){.arena = arena_new()};
    diag_init(&c->diags, c->arena);
    text = arena_strdup(c->arena, text);
    Module *module =
        ir_parse(c->arena, &c->diags, diag_source(c->arena, "t.tir", text, strlen(text)));
    assert_non_null(module);
    assert_true(ir_verify(module, &c->diags));
    c->function = module->functions.data[0];
}

/* 24 random bits. */
static uint32_t next(void)
{
    static uint32_t seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

#endif
