/* What newcomers bring along from other languages and frameworks. */
#include "frontend/foreign.h"

#include <string.h>

typedef struct Foreign {
    const char *word, *ours;
} Foreign;

static const char *find_foreign(const Foreign *table, size_t n, const char *word)
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
    return find_foreign(table, sizeof table / sizeof *table, word);
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
    if (token->kind == TOKEN_TILDE)
        return "; a dimension is ragged where an input says so, `[B, S~]`, and so is what is made of it";
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

const char *foreign_function(const char *name)
{
    static const char recurrent[] = ": recurrences are not in the language yet; a linear one is "
                                    "written as sums over positions, products with causal matrices",
                      sums[] = "; a sum of all positions so far is `float(causal(S)) @ x`",
                      joined[] = "; parts are joined by `concat([a, b], axis)`",
                      counted[] = "; 0, 1, 2, … are `position(n)`",
                      looked_up[] =
                          "; `pick(x, index)` looks up in each row, `lookup(x, S, index)` "
                          "along positions, `table[index]` rows of a table",
                      product[] = "; a product of matrices is `a @ b`",
                      table[] =
                          "; a table is a param, `param table : [vocab, d]`, and rows are looked "
                          "up as `table[tokens]`",
                      layer[] = "; it is `linear(x, n)`",
                      experts[] = "; it is `mixture_of_experts(x, n, k, d_ff)`",
                      choice[] = "; it is `select(condition, a, b)`",
                      shape[] = "; shapes are changed by `reshape(x, [B, S, n])`",
                      triangle[] = "; `causal(S)` is true up to the diagonal",
                      filled[] = "; it is `full(shape, value)`", least[] = "; it is `argmax(-x)`",
                      sorted[] = "; `top_k(x, n)` gives the positions of the greatest, falling",
                      convolved[] = "; convolutions along positions are `conv(x, taps)`",
                      moved[] = "; rows move along positions by `shift(x, S, n)`",
                      long_[] = "; `lengths(S)` is the length in each row, `size(B)` of others";
    static const Foreign functions[] = {
        /* clang-format off */
        {"scan", recurrent}, {"rnn", recurrent}, {"lstm", recurrent}, {"gru", recurrent},
        {"recurrent", recurrent}, {"recurrence", recurrent}, {"while_loop", recurrent},
        {"fori_loop", recurrent}, {"associative_scan", recurrent}, {"selective_scan", recurrent},
        {"cumsum", sums}, {"cumulative_sum", sums},
        {"cat", joined}, {"concatenate", joined}, {"stack", joined}, {"hstack", joined},
        {"arange", counted}, {"range", counted}, {"iota", counted}, {"positions", counted},
        {"gather", looked_up}, {"take", looked_up}, {"take_along_axis", looked_up},
        {"index_select", looked_up}, {"take_along_dim", looked_up},
        {"einsum", product}, {"matmul", product}, {"bmm", product}, {"dot", product}, {"mm", product},
        {"embed", table}, {"Embedding", table}, {"embedding", table},
        {"dense", layer}, {"Dense", layer}, {"Linear", layer}, {"fc", layer}, {"proj", layer},
        {"moe", experts}, {"MoE", experts}, {"moe_layer", experts}, {"switch", experts},
        {"where", choice}, {"cond", choice}, {"masked_fill", choice}, {"ifelse", choice},
        {"view", shape}, {"unsqueeze", shape}, {"squeeze", shape}, {"expand_dims", shape},
        {"flatten", shape},
        {"tril", triangle}, {"triu", triangle},
        {"zeros", filled}, {"ones", filled}, {"zeros_like", filled}, {"ones_like", filled},
        {"argmin", least}, {"sort", sorted}, {"argsort", sorted},
        {"conv1d", convolved}, {"Conv1d", convolved}, {"convolution", convolved},
        {"depthwise_conv", convolved}, {"roll", moved}, {"len", long_}, {"length", long_},
        /* clang-format on */
    };
    return find_foreign(functions, sizeof functions / sizeof *functions, name);
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
    return find_foreign(table, sizeof table / sizeof *table, word);
}
