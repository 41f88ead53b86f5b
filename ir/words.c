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

const char *const tir_roles[PARAM_GRADIENT + 1] = {
    [PARAM_TRAINED] = "trained", [PARAM_FROZEN] = "frozen",     [PARAM_STATE] = "state",
    [PARAM_SLOT] = "slot",       [PARAM_GRADIENT] = "gradient",
};

const InitWord tir_inits[INIT_COUNT] = {
    [INIT_ZEROS] = {"zeros", 0},
    [INIT_ONES] = {"ones", 0},
    [INIT_CONSTANT] = {"constant", 1},
    [INIT_NORMAL] = {"normal", 2},
    [INIT_UNIFORM] = {"uniform", 2},
    [INIT_XAVIER_UNIFORM] = {"xavier_uniform", 1},
    [INIT_XAVIER_NORMAL] = {"xavier_normal", 1},
    [INIT_KAIMING_UNIFORM] = {"kaiming_uniform", 1},
    [INIT_KAIMING_NORMAL] = {"kaiming_normal", 1},
    [INIT_ORTHOGONAL] = {"orthogonal", 1},
    [INIT_FILE] = {"file", 0},
};
