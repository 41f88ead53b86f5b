/* Each rule of passes/simplify/rules.def, at work and where it must not be: a row is a rule (none:
 * no rule may fit), the op that it is for, and what its result becomes. A rule that no row shows
 * fails the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text.h"
#include "passes/simplify/rules.h"

#include <string.h>

/* What rows read; their result is %30. */
static const char leaves[] = "module \"m\"\n"
                             "dim B\n"
                             "dim S ragged B\n"
                             "func f {\n"
                             "  %0 = input {name = \"x\"} : f32[4, 6]\n"
                             "  %1 = input {name = \"y\"} : f32[4, 6]\n"
                             "  %2 = input {name = \"p\"} : bool[4, 6]\n"
                             "  %3 = input {name = \"q\"} : bool[4, 6]\n"
                             "  %4 = input {name = \"v\"} : f32[6]\n"
                             "  %5 = input {name = \"long\"} : f32[6, 1, 4]\n"
                             "  %6 = const {value = 0} : f32[]\n"
                             "  %7 = const {value = 1} : f32[]\n"
                             "  %8 = const {value = 2} : f32[]\n"
                             "  %9 = const {value = 0} : bool[]\n"
                             "  %10 = const {value = 1} : bool[]\n"
                             "  %11 = const {value = 0} : f32[4, 6]\n"
                             "  %12 = const {value = 1} : bool[4, 6]\n"
                             "  %13 = input {name = \"n\"} : i32[6]\n"
                             "  %14 = input {name = \"i\"} : i32[2, 1]\n"
                             "  %15 = const {value = 3} : i32[]\n";

typedef struct Row {
    const char *rule, *ops, *result;
} Row;

#define F "f32[4, 6]"
#define DOT "contract_a = [1], contract_b = [0]"
static const Row rows[] = {
    {"add(x, zero)", "%30 = add %0, %6 : " F, "x"},
    {"add(zero, x)", "%30 = add %6, %0 : " F, "x"},
    {"add(zero, x)", "%30 = add %11, %0 : " F, "x"},
    {NULL, "%30 = add %11, %4 : " F, "add(0, v)"}, /* not of the result's type */
    {NULL, "%30 = add %0, %7 : " F, "add(x, 1)"},
    {"sub(x, zero)", "%30 = sub %0, %6 : " F, "x"},
    {NULL, "%30 = sub %6, %0 : " F, "sub(0, x)"},
    {"mul(x, one)", "%30 = mul %0, %7 : " F, "x"},
    {"mul(one, x)", "%30 = mul %7, %0 : " F, "x"},
    {NULL, "%30 = mul %0, %6 : " F, "mul(x, 0)"}, /* of a nan it is none */
    {"div(x, one)", "%30 = div %0, %7 : " F, "x"},
    {NULL, "%30 = div %7, %0 : " F, "div(1, x)"},
    {"pow(x, one)", "%30 = pow %0, %7 : " F, "x"},
    {"pow(x, two)", "%30 = pow %0, %8 : " F, "mul(x, x)"},
    {NULL, "%30 = pow %8, %0 : " F, "pow(2, x)"},
    {"neg(of(neg, x))", "%29 = neg %0 : " F "\n%30 = neg %29 : " F, "x"},
    {NULL, "%29 = abs %0 : " F "\n%30 = neg %29 : " F, "neg(abs(x))"},
    {"and(x, one)", "%30 = and %2, %10 : bool[4, 6]", "p"},
    {"and(one, x)", "%30 = and %10, %2 : bool[4, 6]", "p"},
    {"or(x, zero)", "%30 = or %2, %9 : bool[4, 6]", "p"},
    {"or(zero, x)", "%30 = or %9, %2 : bool[4, 6]", "p"},
    {NULL, "%30 = or %2, %3 : bool[4, 6]", "or(p, q)"},
    {"not(of(not, x))", "%29 = not %2 : bool[4, 6]\n%30 = not %29 : bool[4, 6]", "p"},
    {"select(one, x, y)", "%30 = select %10, %0, %1 : " F, "x"},
    {"select(one, x, y)", "%30 = select %12, %0, %1 : " F, "x"},
    {"select(zero, x, y)", "%30 = select %9, %0, %1 : " F, "y"},
    {"select(x, y, y)", "%30 = select %2, %0, %0 : " F, "x"},
    {NULL, "%30 = select %2, %0, %1 : " F, "select(p, x, y)"},
    {NULL, "%30 = select %2, %4, %4 : " F, "select(p, v, v)"},
    {"cast(x)", "%30 = cast %0 {dtype = f32} : " F, "x"},
    {NULL, "%30 = cast %0 {dtype = f64} : f64[4, 6]", "cast(x)"},
    {"stop_gradient(x)", "%30 = stop_gradient %0 : " F, "x"},
    {"dropout(x)", "%30 = dropout %0 {rate = 0, site = 0} : " F, "x"},
    {NULL, "%30 = dropout %0 {rate = 0.5, site = 0} : " F, "dropout(x)"},
    {"reshape(x)", "%30 = reshape %0 {shape = [4, 6]} : " F, "x"},
    {"broadcast(x)", "%30 = broadcast %0 {shape = [4, 6]} : " F, "x"},
    {NULL, "%30 = broadcast %4 {shape = [4, 6]} : " F, "broadcast(v)"},
    {"reshape(from(reshape))",
     "%29 = reshape %0 {shape = [24]} : f32[24]\n%30 = reshape %29 {shape = [6, 4]} : f32[6, 4]",
     "reshape(x)"},
    {"reshape(from(iota))", "%29 = iota : i32[6]\n%30 = reshape %29 {shape = [6, 1]} : i32[6, 1]",
     "iota"},
    {NULL, "%29 = iota : i32[6]\n%30 = reshape %29 {shape = [2, 3]} : i32[2, 3]", "reshape(iota)"},
    {"reshape(from(lengths))",
     "%29 = lengths {dim = S} : i32[B]\n%30 = reshape %29 {shape = [B, 1]} : i32[B, 1]", "lengths"},
    {"reshape(from(const))", "%30 = reshape %11 {shape = [24]} : f32[24]", "0"},
    {"broadcast(from(const))", "%30 = broadcast %8 {shape = [4]} : f32[4]", "2"},
    {"reshape(x)", /* positions that a lookup's region can make */
     "%28 = iota : i32[4]\n%29 = sub %28, %15 : i32[4]\n"
     "%30 = reshape %29 {shape = [4, 1]} : i32[4, 1]\n"
     "%31 = lookup %0, %30 {axis = 0} : " F "\noutput %31 {name = \"other\"}",
     "sub(reshape(iota), 3)"},
    {NULL, /* no lookup reads them */
     "%28 = iota : i32[4]\n%29 = sub %28, %15 : i32[4]\n"
     "%30 = reshape %29 {shape = [4, 1]} : i32[4, 1]",
     "reshape(sub(iota, 3))"},
    {NULL, /* they are not of positions alone */
     "%29 = sub %13, %15 : i32[6]\n%30 = reshape %29 {shape = [6, 1]} : i32[6, 1]\n"
     "%31 = lookup %0, %30 {axis = 0} : f32[6, 6]\noutput %31 {name = \"other\"}",
     "reshape(sub(n, 3))"},
    {"lookup(from(mul))", "%29 = mul %0, %4 : " F "\n%30 = lookup %29, %14 {axis = 0} : f32[2, 6]",
     "mul(lookup(x, i), v)"},
    {NULL, "%29 = mul %0, %1 : " F "\n%30 = lookup %29, %14 {axis = 0} : f32[2, 6]",
     "lookup(mul(x, y), i)"}, /* y changes along the axis */
    {"lookup(from(neg))", "%29 = neg %0 : " F "\n%30 = lookup %29, %14 {axis = 0} : f32[2, 6]",
     "neg(lookup(x, i))"},
    {"lookup(from(cast))",
     "%28 = cast %0 {dtype = bf16} : bf16[4, 6]\n%29 = cast %28 {dtype = f32} : " F
     "\n%30 = lookup %29, %14 {axis = 0} : f32[2, 6]",
     "cast(lookup(cast(x), i))"},
    {NULL, "%29 = cast %0 {dtype = f64} : f64[4, 6]\n%30 = lookup %29, %14 {axis = 0} : f64[2, 6]",
     "lookup(cast(x), i)"},
    {"transpose(from(transpose))",
     "%29 = transpose %5 {perm = [2, 0, 1]} : f32[4, 6, 1]\n"
     "%30 = transpose %29 {perm = [0, 2, 1]} : f32[4, 1, 6]",
     "transpose(long)"},
    {"transpose(from(transpose))",
     "%29 = transpose %0 {perm = [1, 0]} : f32[6, 4]\n%30 = transpose %29 {perm = [1, 0]} : " F,
     "x"},
    {"transpose(from(dot))",
     "%28 = reshape %1 {shape = [6, 4]} : f32[6, 4]\n"
     "%29 = dot %0, %28 {batch_a = [], batch_b = [], " DOT "} : f32[4, 4]\n"
     "%30 = transpose %29 {perm = [1, 0]} : f32[4, 4]",
     "dot(reshape(y), x)"},
    {NULL, /* somebody else reads the product */
     "%28 = reshape %1 {shape = [6, 4]} : f32[6, 4]\n"
     "%29 = dot %0, %28 {batch_a = [], batch_b = [], " DOT "} : f32[4, 4]\n"
     "output %29 {name = \"other\"}\n"
     "%30 = transpose %29 {perm = [1, 0]} : f32[4, 4]",
     "transpose(dot(x, reshape(y)))"},
    {"reduce_sum(x)", "%30 = reduce_sum %5 {axes = [1]} : f32[6, 1, 4]", "long"},
    {"reduce_sum(x)", "%30 = reduce_sum %5 {axes = [1, 2]} : f32[6, 1, 1]", "reduce_sum(long)"},
    {"reduce_max(x)", "%30 = reduce_max %5 {axes = [1]} : f32[6, 1, 4]", "long"},
    {NULL, "%30 = reduce_max %5 {axes = [2]} : f32[6, 1, 1]", "reduce_max(long)"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* "add(x, 1)" */
static void print_value(const Value *value, Text *out)
{
    const Op *op = value->op;
    if (op->kind == OP_input)
        text_add(out, "%s", op_string(op, ATTR_name));
    else if (op->kind == OP_const)
        text_add(out, "%g", op_float(op, ATTR_value));
    else
        text_add(out, "%s", op_info[op->kind].name);
    for (int i = 0; i < op->n_args; i++) {
        text_add(out, i ? ", " : "(");
        print_value(op->args[i], out);
    }
    text_add(out, op->n_args ? ")" : "");
}

static Module *parse(Arena *arena, Diagnostics *diags, const Row *row)
{
    Text text = {0};
    text_add(&text, "%s%s\noutput %%30 {name = \"z\"}\n}\n", leaves, row->ops);
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.path = row->ops, .length = text.length};
    source->text = text_keep(arena, &text);
    Module *module = ir_parse(arena, diags, source);
    if (!module || !ir_verify(module, diags))
        fail_msg("%s: %s", row->ops, diags->list.data[0].message);
    return module;
}

/* Applies the rules to the row's op; the rule that was taken, or NULL. */
static const SimplifyRule *run_row(const Row *row)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = parse(arena, &diags, row);
    Function *function = module->functions.data[0];
    Value *before = function->body.last->args[0];
    const SimplifyRule *rule = NULL;
    Type type = before->type;
    Value *after = rules_apply(function, before->op, &rule);
    if (after)
        value_replace(before, after);
    Text text = {0};
    print_value(function->body.last->args[0], &text);
    if (strcmp(text.data, row->result))
        fail_msg("%s: it becomes %s, not %s", row->ops, text.data, row->result);
    assert_true(type_equal(&function->body.last->args[0]->type, &type));
    assert_true(ir_verify(module, &diags));
    text_free(&text);
    arena_free(arena);
    return rule;
}

static void test_rules(void **state)
{
    (void)state;
    bool shown[64] = {0};
    assert_in_range(simplify_rule_count, 1, 64);
    for (int i = 0; i < N_ROWS; i++) {
        const SimplifyRule *rule = run_row(&rows[i]);
        const char *name = rule ? rule->text : "no rule",
                   *want = rows[i].rule ? rows[i].rule : "no rule";
        if (strcmp(name, want))
            fail_msg("%s: %s is taken, not %s", rows[i].ops, name, want);
        if (rule)
            shown[rule - simplify_rules] = true;
    }
    for (int i = 0; i < simplify_rule_count; i++)
        if (!shown[i])
            fail_msg("no row shows the rule %s", simplify_rules[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
