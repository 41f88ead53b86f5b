/* Lists of uses: what changes operands and bodies keeps them, and the verifier sees where
 * somebody else did not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/side.h"
#include "ir/text.h"

#include <string.h>

/* A function whose region reads two values; %5 is read by nobody. */
static const char text[] = "module \"m\"\n"
                           "func f {\n"
                           "  %0 = input {name = \"x\"} : f32[4, 6]\n"
                           "  %1 = input {name = \"y\"} : f32[4, 6]\n"
                           "  %2 = neg %0 : f32[4, 6]\n"
                           "  %3 = row(%0, %2) : f32[4, 6] {\n"
                           "    %4 = add %0, %2 : f32[4, 6]\n"
                           "    yield %4\n"
                           "  }\n"
                           "  %5 = mul %3, %3 : f32[4, 6]\n"
                           "  output %3 {name = \"z\"}\n"
                           "}\n";

typedef struct Graph {
    Arena *arena;
    Diagnostics diags;
    Module *module;
    Function *function;
    Op *x, *y, *neg, *region, *mul, *output;
} Graph;

static Graph graph_new(void)
{
    Graph g = {.arena = arena_new()};
    diag_init(&g.diags, g.arena);
    Source *source = ARENA_NEW(g.arena, Source);
    *source = (Source){.path = "uses.tir", .text = text, .length = strlen(text)};
    g.module = ir_parse(g.arena, &g.diags, source);
    assert_non_null(g.module);
    g.function = g.module->functions.data[0];
    Op **ops[] = {&g.x, &g.y, &g.neg, &g.region, &g.mul, &g.output};
    int n = 0;
    FOR_OPS (op, &g.function->body)
        *ops[n++] = op;
    return g;
}

static void expect(Graph *g, bool fits)
{
    assert_int_equal(ir_verify(g->module, &g->diags), fits);
    arena_free(g->arena);
}

static void test_counts(void **state)
{
    (void)state;
    Graph g = graph_new();
    assert_int_equal(value_use_count(op_result(g.x)), 2); /* the region's body is no user */
    assert_int_equal(value_use_count(op_result(g.y)), 0);
    assert_int_equal(value_use_count(op_result(g.region)), 3);
    assert_int_equal(value_use_count(op_result(g.region->body->first)), 0);
    block_remove(&g.function->body, g.mul);
    assert_int_equal(value_use_count(op_result(g.region)), 1);
    expect(&g, true);
}

static void test_replace(void **state)
{
    (void)state;
    Graph g = graph_new();
    value_replace(op_result(g.neg), op_result(g.y));
    assert_int_equal(value_use_count(op_result(g.neg)), 0);
    assert_ptr_equal(g.region->args[1], op_result(g.y));
    assert_ptr_equal(g.region->body->first->args[1], op_result(g.y));
    value_replace(op_result(g.region), op_result(g.x));
    assert_ptr_equal(g.mul->args[0], op_result(g.x));
    assert_ptr_equal(g.mul->args[1], op_result(g.x));
    assert_int_equal(value_use_count(op_result(g.x)), 5);
    expect(&g, true);
}

/* A region that reads both values lists what they become once. */
static void test_replace_by_other_operand(void **state)
{
    (void)state;
    Graph g = graph_new();
    value_replace(op_result(g.x), op_result(g.y));
    op_set_arg(g.neg, 0, op_result(g.y));
    value_replace(op_result(g.neg), op_result(g.y));
    assert_int_equal(g.region->n_args, 1);
    assert_int_equal(value_use_count(op_result(g.y)), 2);
    expect(&g, true);
}

static void test_order(void **state)
{
    (void)state;
    Graph g = graph_new();
    block_remove(&g.function->body, g.neg);
    block_insert_before(&g.function->body, g.region, g.neg);
    assert_ptr_equal(op_result(g.x)->first_use->user, g.region);
    function_order_uses(g.function);
    assert_ptr_equal(op_result(g.x)->first_use->user, g.neg);
    expect(&g, true);
}

static void test_verifier(void **state)
{
    (void)state;
    Graph g = graph_new();
    g.mul->args[0] = op_result(g.x); /* behind the lists' back */
    expect(&g, false);
    g = graph_new();
    g.mul->listed = false;
    expect(&g, false);
    g = graph_new();
    g.mul->previous->next = g.mul->next; /* gone, but listed */
    g.mul->next->previous = g.mul->previous;
    expect(&g, false);
}

static void test_side_table(void **state)
{
    (void)state;
    Graph g = graph_new();
    SideTable side = side_new(g.arena);
    assert_int_equal(side_number(&side, g.mul), 0);
    for (int id = 0; id < 1000; id += 7)
        side_set(&side, id, &g);
    for (int id = 0; id < 2000; id++)
        assert_ptr_equal(side_get(&side, id), id < 1000 && id % 7 == 0 ? &g : NULL);
    expect(&g, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_replace_by_other_operand),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_verifier),
        cmocka_unit_test(test_side_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
