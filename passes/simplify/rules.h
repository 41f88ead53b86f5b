/* The table of rules.def. */
#ifndef PASSES_SIMPLIFY_RULES_H
#define PASSES_SIMPLIFY_RULES_H

#include "passes/simplify/match.h"

/* Builds the op's result in another way, before the op; NULL: the rule does not fit. */
typedef Value *Rewrite(Builder *b, Op *op);

typedef struct SimplifyRule {
    const char *text; /* as in the table: "add(x, zero)" */
    OpKind op;
    const RulePattern *operands[MOST_OPERANDS];
    const RulePattern *result; /* or NULL, and a rewrite */
    Rewrite *rewrite;
} SimplifyRule;
extern const SimplifyRule simplify_rules[];
extern const int simplify_rule_count;

/* The result of the first rule that fits the op, and in *rule which it is (`rule` may be NULL).
 * NULL: none fits. */
Value *rules_apply(Function *function, Op *op, const SimplifyRule **rule);

#define RULE(op, operands, result)
#define RULE_BY(op, operands, name) Rewrite rewrite_##name;
#include "passes/simplify/rules.def"

#endif
