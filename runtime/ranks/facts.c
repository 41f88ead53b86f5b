/* Facts that must be the same on all ranks, compared with those of rank 0. */
#include "runtime/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

/* A name and its value, each with its NUL. */
static Text facts_message(const RankFacts *facts)
{
    Text out = {0};
    for (size_t i = 0; i < facts->count; i++) {
        text_put(&out, facts->data[i].name, strlen(facts->data[i].name) + 1);
        text_put(&out, facts->data[i].value, strlen(facts->data[i].value) + 1);
    }
    return out;
}

/* The facts of rank 0. */
static RankFacts share_facts(const Ranks *ranks, Arena *arena, const RankFacts *own)
{
    RankFacts facts = {0};
    Text message = facts_message(own);
    int64_t bytes = (int64_t)message.length;
    ranks_share(ranks, &bytes, sizeof bytes);
    char *text = ARENA_ARRAY(arena, char, bytes + 1);
    if (!ranks_mine(ranks))
        memcpy(text, message.data ? message.data : "", message.length);
    ranks_share(ranks, text, bytes);
    text[bytes] = 0;
    for (const char *at = text, *end = text + bytes; at < end;) {
        RankFact fact = {at, at + strlen(at) + 1};
        if (fact.value >= end)
            break;
        vec_push(arena, facts, fact);
        at = fact.value + strlen(fact.value) + 1;
    }
    text_free(&message);
    return facts;
}

/* What `others` has of the name of facts->data[i], behind as many of that name; NULL: nothing. */
static const char *find_value(const RankFacts *others, const RankFacts *facts, size_t i)
{
    const char *name = facts->data[i].name;
    size_t before = 0;
    for (size_t k = 0; k < i; k++)
        before += !strcmp(facts->data[k].name, name);
    for (size_t k = 0; k < others->count; k++)
        if (!strcmp(others->data[k].name, name) && !before--)
            return others->data[k].value;
    return NULL;
}

/* How many of the own facts from `from` to before `to` differ, an error each. */
static int report_others(Diagnostics *diags, const RankFacts *first, const RankFacts *own,
                         size_t from, size_t to)
{
    int n = 0;
    for (size_t i = from; i < to; i++) {
        const RankFact *fact = &own->data[i];
        const char *value = find_value(first, own, i);
        if (value && !strcmp(value, fact->value))
            continue;
        n++;
        if (value)
            diag_error(diags, (Loc){0},
                       "%s is '%s' here and '%s' on rank 0: all ranks need the same", fact->name,
                       fact->value, value);
        else
            diag_error(diags, (Loc){0},
                       "%s is '%s' here, and rank 0 has none: all ranks need the same", fact->name,
                       fact->value);
    }
    return n;
}

/* How many facts are rank 0's alone, an error each. */
static int report_lacking(Diagnostics *diags, const RankFacts *first, const RankFacts *own)
{
    int n = 0;
    for (size_t i = 0; i < first->count; i++)
        if (!find_value(own, first, i)) {
            n++;
            diag_error(diags, (Loc){0},
                       "%s is '%s' on rank 0, and here is none: all ranks need the same",
                       first->data[i].name, first->data[i].value);
        }
    return n;
}

bool ranks_agree(const Ranks *ranks, Diagnostics *diags, const RankFacts *facts, size_t basis)
{
    if (!ranks)
        return true;
    const RankFacts first = share_facts(ranks, diags->arena, facts);
    int n = report_others(diags, &first, facts, 0, basis);
    if (!n)
        n = report_others(diags, &first, facts, basis, facts->count) +
            report_lacking(diags, &first, facts);
    double differ = n;
    ranks_sum(ranks, &differ, 1);
    return differ == 0;
}
