/* Patterns of ops: matching them against the graph, and building ops from them. */
#ifndef PASSES_SIMPLIFY_MATCH_H
#define PASSES_SIMPLIFY_MATCH_H

#include "ir/builder.h"

enum { MOST_SLOTS = 3, MOST_OPERANDS = 3 };

typedef enum PatternKind {
    MATCH_SLOT,   /* any value; a slot that a rule names twice is one value */
    MATCH_NUMBER, /* a constant that equals `number` */
    MATCH_FROM,   /* the result of an op of kind `op`, whatever its operands */
    MATCH_OP,     /* the result of an op of kind `op` whose operands match `operands` */
} PatternKind;

typedef struct RulePattern RulePattern;
struct RulePattern {
    PatternKind kind;
    int slot;
    double number;
    OpKind op;
    const RulePattern *operands[MOST_OPERANDS]; /* those not used are NULL */
};

/* The value that each slot has matched; NULL: none so far. */
typedef struct Match {
    Value *slots[MOST_SLOTS];
} Match;

bool match_operands(const RulePattern *const *operands, const Op *op, Match *match);
bool match_value(const RulePattern *pattern, Value *value, Match *match);
/* Builds the value that a pattern of slots and ops describes; the ops get no attributes. */
Value *match_build(const RulePattern *pattern, Builder *b, const Match *match);

#endif
