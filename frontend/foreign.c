/* What newcomers bring along from other languages and frameworks. */
#include "frontend/foreign.h"

#include <string.h>

typedef struct Foreign {
    const char *word, *ours;
} Foreign;

static const char *find(const Foreign *table, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(table[i].word, word))
            return table[i].ours;
    return NULL;
}

const char *foreign_statement(const char *word)
{
    static const char block[] = "; a function is written `block NAME(x) { … }`",
                      repeat[] = "; a loop is written `repeat 6 as layer { … }`",
                      plain[] = "; a value is named without a word before: `x = …`",
                      use[] = "; a library is read by `use NAME`, a file by `use \"file.tfg\"`",
                      other[] = "; it is `} else if … { … }`";
    static const Foreign table[] = {
        /* clang-format off */
        {"def",      block},
        {"fn",       block},
        {"func",     block},
        {"function", block},
        {"class",    block},
        {"for",      repeat},
        {"while",    repeat},
        {"let",      plain},
        {"var",      plain},
        {"auto",     plain},
        {"import",   use},
        {"include",  use},
        {"from",     use},
        {"lambda",   block},
        {"in",       repeat},
        {"elif",     other},
        {"elsif",    other},
        {"elseif",   other},
        {"is",       "; `==` compares"},
        /* clang-format on */
    };
    return find(table, sizeof table / sizeof *table, word);
}

/* After an operator: x += 1, x++, d ** 2. */
static const char *after_operator(Arena *arena, const Token *token, const Token *before,
                                  const char *name)
{
    const char *sign = token_text(before->kind);
    if (token->kind == TOKEN_STAR && before->kind == TOKEN_STAR)
        return "; a power is written `^`";
    if (token->kind == TOKEN_ASSIGN || (token->kind == TOKEN_PLUS && before->kind == TOKEN_PLUS))
        return arena_printf(arena, "; write `%.60s = %.60s %s …`", name, name, sign);
    return "";
}

const char *foreign_token(Arena *arena, const Token *first, const Token *token)
{
    static const Token none = {.kind = TOKEN_END};
    const Token *before = token > first ? token - 1 : &none,
                *after = token->kind == TOKEN_END ? &none : token + 1;
    const char *hint = token->kind == TOKEN_NAME ? foreign_statement(token->text) : NULL;
    if (!hint && before->kind == TOKEN_NAME)
        hint = foreign_statement(before->text);
    if (hint)
        return hint;
    if (token->kind == TOKEN_IF)
        return "; between values choose by `select(condition, a, b)`: `if` is a statement";
    if (token->kind == TOKEN_ELSE)
        return "; an `else` stands behind the `}` of an `if`";
    if (token->kind == TOKEN_AS)
        return "; `as` stands between the name of a block and its `(`: `f as name(x)`";
    if (token->kind == TOKEN_SLASH &&
        (before->kind == TOKEN_SLASH || after->kind == TOKEN_SLASH || after->kind == TOKEN_STAR))
        return "; a comment begins with `#`";
    if (token->kind == TOKEN_COLON && after->kind == TOKEN_ASSIGN)
        return "; a value is named by `=`";
    if (token->kind == TOKEN_DOT && after->kind == TOKEN_NUMBER)
        return "; a number begins with a digit: `0.5`";
    if (token->kind == TOKEN_NAME && before->kind == TOKEN_NUMBER &&
        token->loc.column == before->loc.column + before->loc.length)
        return "; a product is written `*`";
    if (before->kind >= TOKEN_PLUS && before->kind <= TOKEN_CARET)
        return after_operator(arena, token, before,
                              before > first && before[-1].text ? before[-1].text : "x");
    return "";
}

const char *foreign_setting(const char *word)
{
    static const char rate[] = "; the learning rate is a setting, as in `rate = constant(0.001)`",
                      batch[] = "; it is `batch = sentences(n)` or `batch = tokens(n)`",
                      steps[] = "; how long to train is `steps`, or --minutes of tfc train",
                      clip[] = "; it is `clip_norm`",
                      warmup[] = "; it is an argument of the rate, "
                                 "as in `rate = inverse_sqrt(peak = 0.001, warmup = 2000)`";
    static const Foreign table[] = {
        /* clang-format off */
        {"lr",            rate},
        {"learning_rate", rate},
        {"batch_size",    batch},
        {"epochs",        steps},
        {"max_steps",     steps},
        {"iterations",    steps},
        {"grad_clip",     clip},
        {"gradient_clip", clip},
        {"clip",          clip},
        {"warmup",        warmup},
        {"warmup_steps",  warmup},
        /* clang-format on */
    };
    return find(table, sizeof table / sizeof *table, word);
}
