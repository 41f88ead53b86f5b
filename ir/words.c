/* The words of the IR's text form that are not ops or attributes. */
#include "ir/words.h"

bool tir_word_is_bare(const char *name)
{
    if (!word_starts((unsigned char)*name))
        return false;
    while (word_goes_on((unsigned char)*name))
        name++;
    return *name == 0;
}

const char *const tir_roles[PARAM_ROLES] = {
#define ROLE(NAME, word) #word,
#include "base/params.def"
};

const InitWord tir_inits[INIT_COUNT] = {
#define INIT(NAME, word, numbers, ...) {#word, numbers},
#include "base/params.def"
};
