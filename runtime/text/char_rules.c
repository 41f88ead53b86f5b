/* Rules of normalization, read in place. */
#include "runtime/text/char_rules.h"

/* Whether each value of a key is the offset of a text. */
static bool has_all_texts(const CharRules *rules)
{
    for (size_t i = 0; i < rules->keys.n; i++) {
        const uint32_t unit = trie_unit(&rules->keys, i);
        if (unit >> 31 && (unit & 0x7FFFFFFF) >= rules->n_by)
            return false;
    }
    return !rules->n_by || !rules->by[rules->n_by - 1];
}

bool char_rules_open(CharRules *rules, const char *bytes, size_t size)
{
    const unsigned char *b = (const unsigned char *)bytes;
    *rules = (CharRules){0};
    if (size < 4)
        return false;
    const size_t keys = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
    if (keys > size - 4)
        return false;
    *rules = (CharRules){{b + 4, keys / 4}, bytes + 4 + keys, size - 4 - keys};
    return has_all_texts(rules);
}

const char *char_rules_text(const CharRules *rules, int32_t value)
{
    return value == TRIE_NOWHERE || (size_t)value >= rules->n_by ? NULL : rules->by + value;
}
