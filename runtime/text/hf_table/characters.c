/* Characters by the table that stands before a tokenizer.json (char_table.h). */
#include "runtime/text/hf/char_table.h"
#include "runtime/text/hf/tokenizer_json.h"

#include <stdatomic.h>

/* The table of the first tokenizer that was opened; those of all are the same. */
static CharTable character_table;
static atomic_int table_state; /* 0: none, 1: one is being read, 2: there */

Tokenizer *tokenizer_json_portable(const void *bytes, size_t size, const char **problem)
{
    CharTable table;
    const size_t length = char_table_open(&table, bytes);
    int none = 0;
    if (atomic_compare_exchange_strong(&table_state, &none, 1)) {
        character_table = table;
        atomic_store(&table_state, 2);
    }
    while (atomic_load(&table_state) != 2)
        continue;
    return tokenizer_json_inside((const char *)bytes + length, size - length, problem);
}

CharCategory char_category(uint32_t character)
{
    return char_table_category(&character_table, character);
}

uint32_t char_lower(uint32_t character) { return char_table_lower(&character_table, character); }

bool uni_put_form(TokenText *out, const char *text, size_t length, UniForm form)
{
    return form == UNI_NFD && char_table_put_nfd(&character_table, out, text, length);
}

/* ---- what tokenizers that are put here have no use for (tokenizer_json_needs) ---- */

size_t uni_grapheme(const char *text, size_t length)
{
    size_t size;
    uni_decode(text, length, &size);
    return size;
}

void *pattern_regex(const char *regex, size_t length, char **problem, size_t *bytes)
{
    (void)regex, (void)length;
    *problem = NULL;
    *bytes = 0;
    return NULL;
}

void pattern_free(HfPattern *pattern) { pattern->regex = NULL; }

bool regex_next(const HfPattern *pattern, const char *text, size_t length, size_t *start,
                size_t *end, bool *failed)
{
    (void)pattern, (void)text, (void)length, (void)start, (void)end;
    return !(*failed = true);
}
