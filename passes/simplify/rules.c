/* rules.def as patterns, and the choice of a rule. */
#include "passes/simplify/rules.h"

static const RulePattern x[] = {{.kind = MATCH_SLOT, .slot = 0}},
                         y[] = {{.kind = MATCH_SLOT, .slot = 1}};
static const RulePattern zero[] = {{.kind = MATCH_NUMBER, .number = 0}},
                         one[] = {{.kind = MATCH_NUMBER, .number = 1}},
                         two[] = {{.kind = MATCH_NUMBER, .number = 2}};

/* clang-format off */
#define of(name, ...) \
    (const RulePattern[]){{.kind = MATCH_OP, .op = OP_##name, .operands = {__VA_ARGS__}}}
#define from(name) (const RulePattern[]){{.kind = MATCH_FROM, .op = OP_##name}}
#define LIST(...) {__VA_ARGS__}
/* clang-format on */

const SimplifyRule simplify_rules[] = {
#define RULE(name, args, to) \
    {.text = #name #args, .op = OP_##name, .operands = LIST args, .result = to},
#define RULE_BY(name, args, by) \
    {.text = #name #args, .op = OP_##name, .operands = LIST args, .rewrite = rewrite_##by},
#include "passes/simplify/rules.def"
};
const int simplify_rule_count = sizeof simplify_rules / sizeof *simplify_rules;

static Value *apply(const SimplifyRule *rule, Function *function, Op *op)
{
    Match match = {{0}};
    if (rule->op != op->kind || !match_operands(rule->operands, op, &match))
        return NULL;
    Builder b = builder_before(function, &function->body, op);
    Value *value = rule->rewrite ? rule->rewrite(&b, op) : match_build(rule->result, &b, &match);
    return value && type_equal(&value->type, &op_result(op)->type) ? value : NULL;
}

Value *rules_apply(Function *function, Op *op, const SimplifyRule **rule)
{
    for (int i = 0; i < simplify_rule_count; i++) {
        Value *value = apply(&simplify_rules[i], function, op);
        if (!value)
            continue;
        if (rule)
            *rule = &simplify_rules[i];
        return value;
    }
    return NULL;
}
