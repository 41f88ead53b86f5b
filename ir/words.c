/* The words of the IR's text form that are not ops or attributes. */
#include "ir/words.h"

const char *const tir_roles[PARAM_ROLES] = {
#define ROLE(NAME, word) #word,
#include "base/params.def"
};

const InitWord tir_inits[INIT_COUNT] = {
#define INIT(NAME, word, numbers, ...) {#word, numbers},
#include "base/params.def"
};
