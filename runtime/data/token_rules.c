/* "NAME=TOKEN": the names of the rules, and the tokens they may be. */
#include "runtime/data/token_rules.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* "size=N": a model may have more ids than there are tokens. */
static bool set_size(const Vocabulary *vocab, Diagnostics *diags, const char *text,
                     TokenRules *changed)
{
    char *end;
    long size = strtol(text, &end, 10);
    if (*text && !*end && size >= vocab_size(vocab) && size <= INT32_MAX && !vocab_is_words(vocab) &&
        !vocab_is_characters(vocab)) {
        changed->size = (int32_t)size;
        return true;
    }
    diag_error(diags, (Loc){0},
               "--token size=%s: expected at least the vocabulary's %d tokens, of another "
               "vocabulary than a list of words",
               text, (int)vocab_size(vocab));
    return false;
}

typedef struct Rule {
    const char *name;
    size_t at; /* of the id in TokenRules */
    bool is_of_source, may_lack;
} Rule;

static const Rule rules[] = {{"begin", offsetof(TokenRules, begin), false, false},
                             {"end", offsetof(TokenRules, end), false, false},
                             {"source-begin", offsetof(TokenRules, source_begin), true, true},
                             {"source-end", offsetof(TokenRules, source_end), true, true},
                             {"first", offsetof(TokenRules, first), false, true},
                             {"pad", offsetof(TokenRules, pad), false, true},
                             {"unk", offsetof(TokenRules, unk), false, true}};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static const Rule *find_rule(Diagnostics *diags, const char *text)
{
    const char *names[N_RULES];
    size_t length = strcspn(text, "=");
    for (int i = 0; i < N_RULES; i++) {
        names[i] = rules[i].name;
        if (text[length] && strlen(names[i]) == length && !memcmp(text, names[i], length))
            return &rules[i];
    }
    diag_error(diags, (Loc){0},
               "--token %s: expected NAME=TOKEN, where NAME is begin, end, source-begin, "
               "source-end, first, pad, unk or size%s",
               text, text_suggest(diags->arena, "'", arena_strndup(diags->arena, text, length),
                                  names, N_RULES));
    return NULL;
}

/* The id that the text gives the rule; -1: none; -2 after an error. */
static int32_t find_token(const Vocabulary *vocab, Diagnostics *diags, const Rule *rule,
                          const char *text)
{
    const char *token = strchr(text, '=') + 1;
    if (rule->may_lack && !strcmp(token, "none"))
        return -1;
    int32_t id = vocab_find(rule->is_of_source ? vocab_source(vocab) : vocab, token);
    if (id >= 0)
        return id;
    diag_error(diags, (Loc){0}, "--token %s: the vocabulary has no token '%s'", text, token);
    return -2;
}

bool token_rules_set(Vocabulary *vocab, Diagnostics *diags, const char *const *texts, size_t n)
{
    TokenRules changed = *vocab_rules(vocab);
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(texts[i], "size=", 5)) {
            if (!set_size(vocab, diags, texts[i] + 5, &changed))
                return false;
            continue;
        }
        const Rule *rule = find_rule(diags, texts[i]);
        int32_t id = rule ? find_token(vocab, diags, rule, texts[i]) : -2;
        if (id < -1)
            return false;
        memcpy((char *)&changed + rule->at, &id, sizeof id);
    }
    if (n)
        vocab_set_rules(vocab, &changed);
    return true;
}
