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
    int64_t size;
    if (text_whole(text, &size) && size >= vocab_size(vocab) && size <= INT32_MAX &&
        !vocab_is_words(vocab) && !vocab_is_characters(vocab)) {
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
    bool is_of_source;
    unsigned said; /* RuleSaid */
} Rule;

static const Rule rules[] = {
    /* clang-format off */
    {"begin", offsetof(TokenRules, begin), false, 0},
    {"end", offsetof(TokenRules, end), false, 0},
    {"source-begin", offsetof(TokenRules, source_begin), true, 0},
    {"source-end", offsetof(TokenRules, source_end), true, 0},
    {"first", offsetof(TokenRules, first), false, 0},
    {"pad", offsetof(TokenRules, pad), false, 0},
    {"unk", offsetof(TokenRules, unk), false, 0},
    {"mask", offsetof(TokenRules, mask), false, SAID_MASK},
    {"text-begin", offsetof(TokenRules, text.begin), false, SAID_BEGIN},
    {"text-end", offsetof(TokenRules, text.end), false, SAID_END},
    {"newline", offsetof(TokenRules, text.newline), false, SAID_NEWLINE},
    {"stop", 0, false, SAID_STOPS},
    /* clang-format on */
};
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
    diag_error(
        diags, (Loc){0},
        "--token %s: expected NAME=TOKEN, where NAME is begin, end, source-begin, "
        "source-end, first, pad, unk, mask, text-begin, text-end, newline, stop or size%s",
        text,
        text_suggest(diags->arena, "'", arena_strndup(diags->arena, text, length), names, N_RULES));
    return NULL;
}

/* "#N": the token of that number; -1: no such text, or no such token. */
static int32_t numbered(const Vocabulary *vocab, const char *text)
{
    int64_t id;
    const bool is = *text == '#' && text_whole(text + 1, &id) && id >= 0 && id < vocab_size(vocab);
    return is ? (int32_t)id : -1;
}

/* The id that the text gives the rule; -1: none, whatever tokens there are; -2 after an error. */
static int32_t find_token(const Vocabulary *vocab, Diagnostics *diags, const Rule *rule,
                          const char *text)
{
    const char *token = strchr(text, '=') + 1;
    const Vocabulary *side = rule->is_of_source ? vocab_source(vocab) : vocab;
    if (!strcmp(token, "none"))
        return -1;
    int32_t id = vocab_find(side, token);
    if (id < 0)
        id = numbered(side, token);
    if (id >= 0)
        return id;
    diag_error(
        diags, (Loc){0},
        "--token %s: the vocabulary has no token '%s'; #N names one by its number, and %.*s=none says that there is none",
        text, token, (int)strcspn(text, "="), text);
    return -2;
}

/* The first one of a list of texts takes the place of those before. */
static bool add_stop(Diagnostics *diags, TextRule *text, int32_t id, bool is_first)
{
    text->n_stops = is_first || id < 0 ? 0 : text->n_stops;
    if (id >= 0 && text->n_stops == TEXT_STOPS) {
        diag_error(diags, (Loc){0}, "--token stop: more than %d tokens", (int)TEXT_STOPS);
        return false;
    }
    if (id >= 0)
        text->stops[text->n_stops++] = id;
    return true;
}

const char *token_rule_text(Arena *arena, const Vocabulary *vocab, const char *name, int32_t id)
{
    const char *token = id < 0 ? "none" : vocab_token(vocab, id);
    if (id >= 0 && (!strcmp(token, "none") || vocab_find(vocab, token) != id))
        for (int digits = 1; digits == 1 || vocab_find(vocab, token) >= 0;
             digits++) /* a token may be called #7 */
            token = arena_printf(arena, "#%0*d", digits, (int)id);
    return arena_printf(arena, "%s=%s", name, token);
}

bool token_rules_set(Vocabulary *vocab, Diagnostics *diags, const char *const *texts, size_t n)
{
    TokenRules changed = *vocab_rules(vocab);
    bool has_stop = false;
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
        changed.said |= rule->said;
        if (rule->said != SAID_STOPS)
            memcpy((char *)&changed + rule->at, &id, sizeof id);
        else if (!add_stop(diags, &changed.text, id, !has_stop))
            return false;
        has_stop = has_stop || rule->said == SAID_STOPS;
    }
    if (n)
        vocab_set_rules(vocab, &changed);
    return true;
}

const char *token_rule_moved(Arena *arena, const Vocabulary *was, const Vocabulary *now,
                             const char *text)
{
    int64_t size;
    if (!strncmp(text, "size=", 5))
        return text_whole(text + 5, &size) && size > vocab_size(now) ? text : NULL;
    Diagnostics quiet;
    diag_init(&quiet, arena);
    const Rule *rule = find_rule(&quiet, text);
    const int32_t id = rule ? find_token(was, &quiet, rule, text) : -2;
    if (id < -1)
        return NULL;
    const Vocabulary *from = rule->is_of_source ? vocab_source(was) : was,
                     *to = rule->is_of_source ? vocab_source(now) : now;
    const char *token = id < 0 ? "" : vocab_token(from, id);
    return token_rule_text(arena, to, rule->name, *token ? vocab_find(to, token) : id);
}
