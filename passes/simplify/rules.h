/* The table of rules.def. */
#ifndef PASSES_SIMPLIFY_RULES_H
#define PASSES_SIMPLIFY_RULES_H

#include "passes/simplify/match.h"

/* Returns a value that may replace the op's result. It builds new ops before the op. NULL: the rule
 * does not fit. */
typedef Value *Rewrite(Builder *b, Op *op);

typedef struct SimplifyRule {
    const char *text; /* as in the table: "add(x, zero)" */
    OpKind op;
    const RulePattern *operands[MOST_OPERANDS];
    const RulePattern *result; /* NULL: `rewrite` makes the result */
    Rewrite *rewrite;
} SimplifyRule;
extern const SimplifyRule simplify_rules[];
extern const int simplify_rule_count;

/* The value by which the first rule that fits replaces the op's result. A rule fits if the op
 * matches its patterns and the value has the type of the result. Sets *rule to the rule, unless
 * `rule` is NULL. NULL: no rule fits. */
Value *rules_apply(Function *function, Op *op, const SimplifyRule **rule);

#define RULE(op, operands, result)
#define RULE_BY(op, operands, name) Rewrite rewrite_##name;
#include "passes/simplify/rules.def"

#endif
