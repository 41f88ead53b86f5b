/* Looking characters up by bisection, and decomposing text. */
#include "runtime/text/hf/char_table.h"

#include <string.h>

size_t char_table_open(CharTable *table, const void *bytes)
{
    const uint32_t *at = bytes;
    memcpy(table->counts, at, sizeof table->counts);
    at += CHAR_PARTS;
    for (int p = 0; p < CHAR_PARTS; p++) {
        table->parts[p] = at;
        at += table->counts[p];
    }
    return (size_t)(at - (const uint32_t *)bytes) * sizeof *at;
}

/* The last of n entries of `step` numbers whose first, shifted, is at most the character; -1: all
 * are beyond. */
static int64_t last_entry(const uint32_t *entries, uint32_t n, int step, int shift,
                          uint32_t character)
{
    int64_t low = -1, high = n;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (entries[middle * step] >> shift <= character)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_run(const CharTable *table, CharPart part, int bits, uint32_t character)
{
    const int64_t i = last_entry(table->parts[part], table->counts[part], 1, bits, character);
    return i < 0 ? 0 : table->parts[part][i] & ((1u << bits) - 1);
}

/* The second number of the character's pair; NULL: it has none. */
static const uint32_t *find_pair(const CharTable *table, CharPart part, uint32_t character)
{
    const uint32_t *pairs = table->parts[part];
    const int64_t i = last_entry(pairs, table->counts[part] / 2, 2, 0, character);
    return i >= 0 && pairs[2 * i] == character ? &pairs[2 * i + 1] : NULL;
}

CharCategory char_table_category(const CharTable *table, uint32_t character)
{
    return (CharCategory)find_run(table, CHAR_PART_CATEGORIES, CHAR_CATEGORY_BITS, character);
}

uint32_t char_table_lower(const CharTable *table, uint32_t character)
{
    const uint32_t *lower = find_pair(table, CHAR_PART_LOWERS, character);
    return lower ? *lower : character;
}

/* ---- NFD ---- */

static unsigned class_of(const CharTable *table, uint32_t character)
{
    return find_run(table, CHAR_PART_CLASSES, CHAR_CLASS_BITS, character);
}

/* Appends a character, before those of a higher class that stand behind the last of class 0, at
 * *run (the standard, 3.11). */
static bool put_in_order(const CharTable *table, TokenText *out, size_t *run, uint32_t character)
{
    const unsigned class = class_of(table, character);
    size_t at = out->length, size;
    if (!uni_put(out, character))
        return false;
    if (!class) {
        *run = out->length;
        return true;
    }
    const size_t own = out->length - at;
    while (at > *run) {
        size_t before = at - 1;
        while (((unsigned char)out->data[before] & 0xC0) == 0x80)
            before--;
        if (class_of(table, uni_decode(out->data + before, at - before, &size)) <= class)
            break;
        at = before;
    }
    char moved[4];
    memcpy(moved, out->data + out->length - own, own);
    memmove(out->data + at + own, out->data + at, out->length - own - at);
    memcpy(out->data + at, moved, own);
    return true;
}

/* Syllables decompose by arithmetic (the standard, 3.12). */
static bool put_hangul(const CharTable *table, TokenText *out, size_t *run, uint32_t syllable)
{
    enum { LEAD = 0x1100, VOWEL = 0x1161, TRAIL = 0x11A7, VOWELS = 21, TRAILS = 28 };
    const uint32_t trail = syllable % TRAILS;
    return put_in_order(table, out, run, LEAD + syllable / (VOWELS * TRAILS)) &&
           put_in_order(table, out, run, VOWEL + syllable / TRAILS % VOWELS) &&
           (!trail || put_in_order(table, out, run, TRAIL + trail));
}

bool char_table_put_nfd(const CharTable *table, TokenText *out, const char *text, size_t length)
{
    enum { HANGUL = 0xAC00, SYLLABLES = 11172 };
    size_t run = out->length;
    bool ok = true;
    for (size_t at = 0, size; ok && at < length; at += size) {
        const uint32_t c = uni_decode(text + at, length - at, &size);
        const uint32_t *whole = find_pair(table, CHAR_PART_WHOLES, c);
        if (c - HANGUL < SYLLABLES)
            ok = put_hangul(table, out, &run, c - HANGUL);
        else if (!whole)
            ok = put_in_order(table, out, &run, c);
        else
            for (uint32_t i = 0; ok && i < (*whole & ((1u << CHAR_COUNT_BITS) - 1)); i++)
                ok = put_in_order(table, out, &run,
                                  table->parts[CHAR_PART_LETTERS][(*whole >> CHAR_COUNT_BITS) + i]);
    }
    return ok;
}
