/* Patterns of ops, matched against the graph and built anew. */
#ifndef PASSES_SIMPLIFY_MATCH_H
#define PASSES_SIMPLIFY_MATCH_H

#include "ir/builder.h"

enum { MOST_SLOTS = 3, MOST_OPERANDS = 3 };

typedef enum PatternKind {
    MATCH_SLOT,   /* any value; where a slot is named twice, the same one */
    MATCH_NUMBER, /* a constant of this value */
    MATCH_FROM,   /* what such an op gives, whatever it reads */
    MATCH_OP,     /* and its operands match, too */
} PatternKind;

typedef struct RulePattern RulePattern;
struct RulePattern {
    PatternKind kind;
    int slot;
    double number;
    OpKind op;
    const RulePattern *operands[MOST_OPERANDS]; /* NULL behind the last */
};

/* What the slots stand for; NULL: nothing so far. */
typedef struct Match {
    Value *slots[MOST_SLOTS];
} Match;

bool match_operands(const RulePattern *const *operands, const Op *op, Match *match);
bool match_value(const RulePattern *pattern, Value *value, Match *match);
/* The value of a pattern of slots and ops without attributes. */
Value *match_build(const RulePattern *pattern, Builder *b, const Match *match);

#endif
