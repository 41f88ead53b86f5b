/* Matching patterns, and building what they say. */
#include "passes/simplify/match.h"

#include <assert.h>

static bool match_slot(int slot, Value *value, Match *match)
{
    if (!match->slots[slot])
        match->slots[slot] = value;
    return match->slots[slot] == value;
}

bool match_operands(const RulePattern *const *operands, const Op *op, Match *match)
{
    for (int i = 0; i < MOST_OPERANDS && operands[i]; i++)
        if (!match_value(operands[i], op->args[i], match))
            return false;
    return true;
}

bool match_value(const RulePattern *pattern, Value *value, Match *match)
{
    const Op *op = value->op;
    switch (pattern->kind) {
    case MATCH_SLOT: return match_slot(pattern->slot, value, match);
    case MATCH_NUMBER: return value_is_const(value, pattern->number);
    case MATCH_FROM: return op->kind == pattern->op;
    case MATCH_OP: return op->kind == pattern->op && match_operands(pattern->operands, op, match);
    }
    return false;
}

Value *match_build(const RulePattern *pattern, Builder *b, const Match *match)
{
    Value *args[MOST_OPERANDS];
    int n = 0;
    if (pattern->kind == MATCH_SLOT)
        return match->slots[pattern->slot];
    assert(pattern->kind == MATCH_OP);
    for (; n < MOST_OPERANDS && pattern->operands[n]; n++)
        args[n] = match_build(pattern->operands[n], b, match);
    return build(b, pattern->op, n, args, 0, NULL);
}
