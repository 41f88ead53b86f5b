/* What newcomers bring along from other languages and frameworks. */
#include "frontend/foreign.h"

#include <stddef.h>
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
                      use[] = "; a library is read by `use NAME`, a file by `use \"file.tfg\"`";
    static const Foreign table[] = {
        {"def", block},  {"fn", block},     {"func", block}, {"function", block}, {"class", block},
        {"for", repeat}, {"while", repeat}, {"let", plain},  {"var", plain},      {"auto", plain},
        {"import", use}, {"include", use},  {"from", use},
    };
    return find(table, sizeof table / sizeof *table, word);
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
        {"lr", rate},        {"learning_rate", rate},  {"batch_size", batch},
        {"epochs", steps},   {"max_steps", steps},     {"iterations", steps},
        {"grad_clip", clip}, {"gradient_clip", clip},  {"clip", clip},
        {"warmup", warmup},  {"warmup_steps", warmup},
    };
    return find(table, sizeof table / sizeof *table, word);
}
