/* Regular expressions by PCRE2: the one file that sees it. */
#include "runtime/text/hf/characters.h"
#include "runtime/text/kind.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

const char *pattern_library(void)
{
    static char version[64];
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof version)
        pcre2_config(PCRE2_CONFIG_VERSION, version);
    return version;
}

/* What Oniguruma writes in another way: \h is a hexadecimal digit there. */
static bool translate(const char *regex, size_t length, TokenText *out)
{
    for (size_t i = 0; i < length; i++) {
        bool escape = regex[i] == '\\' && i + 1 < length;
        const char *as = escape && regex[i + 1] == 'h' ? "[0-9A-Fa-f]" : NULL;
        if (as ? !token_text_put(out, as, strlen(as))
               : !token_text_put(out, regex + i, escape ? 2 : 1))
            return false;
        i += escape;
    }
    return true;
}

/* Steps of a search from one place at first, and at most, and memory (KiB): what published patterns
 * need for a line is far below. */
enum { FIRST_STEPS = 10000, MOST_STEPS = 10000000, MOST_MATCH_MEMORY = 1 << 18, MOST_SHOWN = 100 };

typedef struct Regex {
    pcre2_code *code;
    pcre2_match_context *limits; /* of a first search */
} Regex;

static void free_regex(Regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_context_free(regex->limits);
    free(regex);
}

static Regex *new_regex(pcre2_code *code)
{
    Regex *regex = malloc(sizeof *regex);
    if (!regex) {
        pcre2_code_free(code);
        return NULL;
    }
    *regex = (Regex){code, pcre2_match_context_create(NULL)};
    if (!regex->limits) {
        free_regex(regex);
        return NULL;
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    pcre2_set_match_limit(regex->limits, FIRST_STEPS);
    pcre2_set_heap_limit(regex->limits, MOST_MATCH_MEMORY);
    return regex;
}

static size_t regex_bytes(const Regex *regex)
{
    size_t code = 0, compiled = 0;
    pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &code);
    pcre2_pattern_info(regex->code, PCRE2_INFO_JITSIZE, &compiled);
    return sizeof *regex + code + compiled;
}

void *pattern_regex(const char *regex, size_t length, char **problem, size_t *bytes)
{
    TokenText text = {0};
    int error = 0;
    PCRE2_SIZE at = 0;
    *problem = NULL;
    *bytes = 0;
    if (!translate(regex, length, &text)) {
        token_text_free(&text);
        return NULL;
    }
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)(text.data ? text.data : ""), text.length,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
    token_text_free(&text);
    Regex *made = code ? new_regex(code) : NULL;
    if (made)
        *bytes = regex_bytes(made);
    if (code)
        return made;
    *problem = calloc(1, 256);
    if (*problem)
        pcre2_get_error_message(error, (PCRE2_UCHAR *)*problem, 256);
    return NULL;
}

void pattern_free(HfPattern *pattern)
{
    free_regex(pattern->regex);
    pattern->regex = NULL;
}

static int match_once(const Regex *regex, const char *text, size_t length, size_t start,
                      pcre2_match_data *data, pcre2_match_context *limits)
{
    int found =
        pcre2_match(regex->code, (PCRE2_SPTR)text, length, start, PCRE2_NO_UTF_CHECK, data, limits);
    if (found != PCRE2_ERROR_JIT_STACKLIMIT)
        return found;
    /* The compiled form has a small stack: where it does not suffice the other, which takes memory
     * as it goes, finds the same. */
    return pcre2_match(regex->code, (PCRE2_SPTR)text, length, start,
                       PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, limits);
}

/* With ten times as many steps each time that they do not suffice: the same for a text whatever
 * came before it. */
static int match(const Regex *regex, const char *text, size_t length, size_t start,
                 pcre2_match_data *data)
{
    int found = match_once(regex, text, length, start, data, regex->limits);
    if (found != PCRE2_ERROR_MATCHLIMIT)
        return found;
    pcre2_match_context *limits = pcre2_match_context_copy(regex->limits);
    if (!limits)
        return PCRE2_ERROR_NOMEMORY;
    for (int steps = FIRST_STEPS * 10;
         found == PCRE2_ERROR_MATCHLIMIT && steps <= MOST_STEPS && tokenizer_spend(steps);
         steps *= 10) {
        pcre2_set_match_limit(limits, (uint32_t)steps);
        found = match_once(regex, text, length, start, data, limits);
    }
    pcre2_match_context_free(limits);
    return found;
}

static void tell_problem(const HfPattern *p, int error)
{
    if (error == PCRE2_ERROR_NOMEMORY)
        return;
    tokenizer_give_up("the tokenizer's pattern '%.*s'%s takes too long on it", MOST_SHOWN, p->shown,
                      strlen(p->shown) > MOST_SHOWN ? "…" : "");
}

bool regex_next(const HfPattern *p, const char *text, size_t length, size_t *start, size_t *end,
                bool *failed)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int found = PCRE2_ERROR_NOMEMORY;
    bool has = false;
    while (data && !has && *start <= length &&
           (found = match(p->regex, text, length, *start, data)) >= 0) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        size_t size = 1;
        has = at[1] > at[0] && at[0] >= *start;
        *start = at[0] > *start ? at[0] : *start;
        *end = at[1];
        if (!has && *start < length)
            uni_decode(text + *start, length - *start, &size);
        *start += has ? 0 : size; /* an empty match, or one that \K has begin before, is none */
    }
    pcre2_match_data_free(data);
    *failed = found < 0 && found != PCRE2_ERROR_NOMATCH;
    if (*failed)
        tell_problem(p, found);
    return has;
}
