/* The table of rules.def. */
#ifndef PASSES_SIMPLIFY_RULES_H
#define PASSES_SIMPLIFY_RULES_H

#include "passes/simplify/match.h"

/* The op's result in another way, built before it; NULL: there is none here. */
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

/* What the first rule that fits makes of the op; *rule (may be NULL) tells which. NULL: none
 * does. */
Value *rules_apply(Function *function, Op *op, const SimplifyRule **rule);

#define RULE(op, operands, result)
#define RULE_BY(op, operands, name) Rewrite rewrite_##name;
#include "passes/simplify/rules.def"

#endif
