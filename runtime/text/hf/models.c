/* Unigram, WordPiece and WordLevel models. */
#include "runtime/text/hf/hf.h"

#include <stdlib.h>
#include <string.h>

/* ---- unigram ---- */

typedef struct PieceEnd {
    double score;
    uint32_t length; /* 0: no path ends here */
    int32_t id;      /* -1: unknown */
} PieceEnd;

static void relax_end(PieceEnd *best, double score, size_t length, int32_t id)
{
    if (!best->length || score > best->score)
        *best = (PieceEnd){score, (uint32_t)length, id};
}

static void extend_lattice(const Hf *hf, const char *text, size_t available, PieceEnd *here)
{
    double before = here->score;
    size_t character, node = trie_root(&hf->vocabulary), n = 1;
    bool single = false;
    int32_t id;
    uni_decode(text, available, &character);
    for (available = tokenizer_reach(available); n <= available; n++) {
        if (!trie_step(&hf->vocabulary, &node, (unsigned char)text[n - 1], &id))
            break;
        if (id == TRIE_NOWHERE)
            continue;
        relax_end(&here[n], hf->scores[id] + before, n, id);
        single = single || n == character;
    }
    tokenizer_walked(n);
    if (!single)
        relax_end(&here[character], hf->unk_score + before, character, -1);
}

/* A run of unknown characters is one piece: its bytes, if all have tokens, or one unknown. */
static bool put_unknown(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    bool bytes = hf->byte_fallback;
    for (size_t i = 0; i < length && bytes; i++)
        bytes = hf->bytes[(unsigned char)text[i]] >= 0;
    if (!bytes)
        return hf->unk < 0 || token_ids_push(ids, hf->unk);
    for (size_t i = 0; i < length; i++)
        if (!token_ids_push(ids, hf->bytes[(unsigned char)text[i]]))
            return false;
    return true;
}

/* The ids from place `first` on in the other order. */
static void turn_round(TokenIds *ids, size_t first)
{
    for (size_t i = first, j = ids->count; i + 1 < j; i++) {
        int32_t id = ids->data[i];
        ids->data[i] = ids->data[--j];
        ids->data[j] = id;
    }
}

static bool put_path(const Hf *hf, const PieceEnd *best, const char *text, size_t length,
                     TokenIds *ids)
{
    size_t first = ids->count;
    for (size_t end = length; end > 0;) {
        size_t from = end - best[end].length;
        bool unknown = best[end].id < 0 || best[end].id == hf->unk;
        while (unknown && from > 0 && (best[from].id < 0 || best[from].id == hf->unk))
            from -= best[from].length;
        size_t before = ids->count;
        if (unknown ? !put_unknown(hf, text + from, end - from, ids)
                    : !token_ids_push(ids, best[end].id))
            return false;
        turn_round(ids, before); /* it is turned with the others below */
        end = from;
    }
    turn_round(ids, first);
    return true;
}

bool hf_unigram(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    PieceEnd *best = malloc((length + 1) * sizeof *best);
    if (!best)
        return false;
    for (size_t i = 0; i <= length; i++)
        best[i].length = 0;
    best[0].score = 0;
    for (size_t at = 0, size; at < length; at += size) {
        extend_lattice(hf, text + at, length - at, &best[at]);
        uni_decode(text + at, length - at, &size);
    }
    bool ok = put_path(hf, best, text, length, ids);
    free(best);
    return ok;
}

/* ---- WordPiece ---- */

/* The longest token at the text's beginning, behind the prefix unless a word begins here. */
static size_t longest(const Hf *hf, const char *text, size_t length, bool begins, int32_t *token)
{
    size_t found = 0, node = hf->vocabulary.n ? trie_root(&hf->vocabulary) : 0, n = 1;
    int32_t id;
    const size_t prefix = begins ? 0 : strlen(hf->prefix);
    if (tokenizer_reach(prefix) < prefix)
        return 0;
    for (size_t i = 0; i < prefix; i++)
        if (!trie_step(&hf->vocabulary, &node, (unsigned char)hf->prefix[i], &id))
            return 0;
    for (length = tokenizer_reach(length); n <= length; n++) {
        if (!trie_step(&hf->vocabulary, &node, (unsigned char)text[n - 1], &id))
            break;
        if (id != TRIE_NOWHERE) {
            found = n;
            *token = id;
        }
    }
    tokenizer_walked(prefix + n);
    return found;
}

static bool put_whole(const Hf *hf, TokenIds *ids)
{
    return hf->unk < 0 || token_ids_push(ids, hf->unk);
}

bool hf_wordpiece(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    size_t first = ids->count;
    int64_t characters = 0;
    for (size_t i = 0; i < length; i++)
        characters += ((unsigned char)text[i] & 0xC0) != 0x80;
    if (characters > hf->most_characters || !hf->vocabulary.n)
        return put_whole(hf, ids);
    for (size_t at = 0, n; at < length; at += n) {
        int32_t token = 0;
        n = longest(hf, text + at, length - at, !at, &token);
        if (!n) {
            ids->count = first;
            return put_whole(hf, ids);
        }
        if (!token_ids_push(ids, token))
            return false;
    }
    return true;
}

bool hf_wordlevel(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    int32_t id = trie_find(&hf->vocabulary, text, length);
    return id == TRIE_NOWHERE ? put_whole(hf, ids) : token_ids_push(ids, id);
}
