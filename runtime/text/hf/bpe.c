/* Byte-pair encoding by a list of merges: of all neighbours that have one, those of the lowest
 * rank are joined first, from the left. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/text/hf/hf.h"
#include "runtime/text/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { NO_SYMBOL = -1, MOST_WORD = 512 };

typedef struct BpeSymbol {
    int32_t id, before, after; /* id NONE: joined to one on its left */
} BpeSymbol;

typedef struct BpeWord {
    const Hf *hf;
    BpeSymbol *symbols;
    Pairs pairs; /* their key: the merge's rank; made: its token */
    int32_t n;
} BpeWord;

const HfMerge *hf_merge(const Hf *hf, int32_t left, int32_t right)
{
    if (!hf->n_merges)
        return NULL;
    const uint64_t key = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * hf->merge_factor;
    size_t at = (size_t)(key >> hf->merge_shift);
    while (hf->merges[at].rank >= 0 &&
           (hf->merges[at].left != left || hf->merges[at].right != right))
        at = (at + 1) & (hf->n_merges - 1);
    return &hf->merges[at];
}

static void try_symbols(BpeWord *w, int32_t left, int32_t right)
{
    if (left == NO_SYMBOL || right == NO_SYMBOL)
        return;
    const HfMerge *merge = hf_merge(w->hf, w->symbols[left].id, w->symbols[right].id);
    if (merge && merge->rank >= 0)
        pairs_push(&w->pairs, (TokenPair){merge->rank, left, merge->made});
}

static void join_pairs(BpeWord *w)
{
    for (int32_t i = 0; i + 1 < w->n; i++)
        try_symbols(w, i, i + 1);
    while (w->pairs.n) {
        TokenPair pair = pairs_pop(&w->pairs);
        BpeSymbol *left = &w->symbols[pair.at];
        if (left->id == NO_SYMBOL || left->after == NO_SYMBOL)
            continue;
        BpeSymbol *right = &w->symbols[left->after];
        const HfMerge *merge = hf_merge(w->hf, left->id, right->id);
        if (merge->rank < 0 || merge->made != pair.made)
            continue;
        left->id = pair.made;
        right->id = NO_SYMBOL;
        left->after = right->after;
        if (left->after != NO_SYMBOL)
            w->symbols[left->after].before = pair.at;
        try_symbols(w, left->before, pair.at);
        try_symbols(w, pair.at, left->after);
    }
}

/* ---- characters ---- */

static void put_symbol(BpeWord *w, int32_t id)
{
    w->symbols[w->n] = (BpeSymbol){id, w->n - 1, w->n + 1};
    w->n++;
}

/* The token of a character with its prefix and suffix; NONE: it has none. */
static int32_t find_character(const Hf *hf, const char *text, size_t size, bool begins, bool ends)
{
    char name[256];
    size_t before = begins ? 0 : strnlen(hf->prefix, sizeof name + 1),
           after = ends ? strnlen(hf->suffix, sizeof name + 1) : 0;
    if (!before && !after)
        return trie_find(&hf->vocabulary, text, size);
    if (before + size + after > sizeof name)
        return NO_SYMBOL;
    memcpy(name, hf->prefix, before);
    memcpy(name + before, text, size);
    memcpy(name + before + size, hf->suffix, after);
    return trie_find(&hf->vocabulary, name, before + size + after);
}

static bool fall_back(BpeWord *w, const char *text, size_t size)
{
    if (!w->hf->byte_fallback)
        return false;
    for (size_t i = 0; i < size; i++)
        if (w->hf->bytes[(unsigned char)text[i]] < 0)
            return false;
    for (size_t i = 0; i < size; i++)
        put_symbol(w, w->hf->bytes[(unsigned char)text[i]]);
    return true;
}

/* Unknown characters in a row are one with fuse_unk, and dropped where there is no such token. */
static void cut_characters(BpeWord *w, const char *text, size_t length)
{
    bool was_unknown = false;
    for (size_t at = 0, size; at < length; at += size) {
        uni_decode(text + at, length - at, &size);
        int32_t id = find_character(w->hf, text + at, size, !at, at + size == length);
        bool unknown = id == NO_SYMBOL && !fall_back(w, text + at, size);
        if (id != NO_SYMBOL)
            put_symbol(w, id);
        else if (unknown && w->hf->unk >= 0 && !(was_unknown && w->hf->fuse_unk))
            put_symbol(w, w->hf->unk);
        was_unknown = unknown;
    }
    if (w->n)
        w->symbols[w->n - 1].after = NO_SYMBOL;
}

static bool encode_word(BpeWord *w, const char *text, size_t length, TokenIds *ids)
{
    cut_characters(w, text, length);
    join_pairs(w);
    bool ok = true;
    for (int32_t i = w->n ? 0 : NO_SYMBOL; ok && i != NO_SYMBOL; i = w->symbols[i].after)
        ok = token_ids_push(ids, w->symbols[i].id);
    return ok;
}

bool hf_bpe(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    int32_t whole = hf->ignore_merges ? trie_find(&hf->vocabulary, text, length) : NO_SYMBOL;
    if (whole != NO_SYMBOL)
        return token_ids_push(ids, whole);
    if (length <= MOST_WORD) {
        BpeSymbol symbols[MOST_WORD];
        TokenPair pairs[3 * MOST_WORD];
        BpeWord word = {hf, symbols, {pairs, 0}, 0};
        return encode_word(&word, text, length, ids);
    }
    BpeWord word = {
        hf, malloc(length * sizeof(BpeSymbol)), {malloc(3 * length * sizeof(TokenPair)), 0}, 0};
    bool ok = word.symbols && word.pairs.at && encode_word(&word, text, length, ids);
    free(word.symbols);
    free(word.pairs.at);
    return ok;
}
