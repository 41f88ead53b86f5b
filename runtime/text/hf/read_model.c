/* The model of a tokenizer.json: its vocabulary, merges and scores. */
#include "base/map.h"
#include "runtime/text/hf/hf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TOKENS = 1 << 24 };

/* ---- vocabularies ---- */

/* A piece with a NUL keeps its id and its score alone: no text has it, and it has none. */
static bool put_token(HfReading *r, int64_t id, const char *text)
{
    if (strstr(text, JSON_NUL))
        return true;
    if (r->hf->tokens[id].text)
        return hf_refuse(r, "model.vocab: two tokens have the id %lld", (long long)id);
    r->hf->tokens[id] = (HfToken){text, (uint32_t)strlen(text), false};
    return true;
}

/* Ids may have gaps, but not wider than the vocabulary. */
static bool read_map(HfReading *r, const JsonValue *vocab)
{
    int64_t most = -1;
    for (size_t i = 0; i < vocab->n; i++) {
        const JsonValue *id = &vocab->items[i];
        if (id->kind != JV_INTEGER || id->integer < 0 || id->integer >= MOST_TOKENS)
            return hf_refuse(r, "model.vocab: '%s' has no id", vocab->keys[i]);
        most = id->integer > most ? id->integer : most;
    }
    r->hf->n_tokens = (int32_t)(most + 1);
    r->hf->tokens = ARENA_ARRAY(r->arena, HfToken, most + 1);
    if (!r->hf->tokens)
        return false;
    for (size_t i = 0; i < vocab->n; i++)
        if (!put_token(r, vocab->items[i].integer, vocab->keys[i]))
            return false;
    return true;
}

/* [["piece", score], …] */
static bool read_scored(HfReading *r, const JsonValue *vocab)
{
    Hf *hf = r->hf;
    double least = INFINITY;
    if (vocab->n >= MOST_TOKENS)
        return hf_refuse(r, "model.vocab has too many tokens");
    hf->n_tokens = (int32_t)vocab->n;
    hf->tokens = ARENA_ARRAY(r->arena, HfToken, vocab->n);
    hf->scores = ARENA_ARRAY(r->arena, double, vocab->n);
    if (!hf->scores)
        return false;
    for (size_t i = 0; i < vocab->n; i++) {
        const JsonValue *pair = &vocab->items[i];
        bool is_pair = pair->kind == JV_LIST && pair->n == 2 && pair->items[0].kind == JV_STRING &&
                       (pair->items[1].kind == JV_NUMBER || pair->items[1].kind == JV_INTEGER);
        if (!is_pair)
            return hf_refuse(r, "model.vocab[%zu] is not a piece with its score", i);
        hf->scores[i] = pair->items[1].number;
        if (!isfinite(hf->scores[i]))
            return hf_refuse(r, "model.vocab[%zu]: the score is no finite number", i);
        least = hf->scores[i] < least ? hf->scores[i] : least;
        if (!put_token(r, (int64_t)i, pair->items[0].text))
            return false;
    }
    hf->unk_score = least - 10;
    return true;
}

static bool build_trie(HfReading *r)
{
    Hf *hf = r->hf;
    Arena *scratch = arena_scratch(r->arena);
    TrieKey *keys = scratch ? ARENA_ARRAY(scratch, TrieKey, hf->n_tokens + 1) : NULL;
    size_t n = 0;
    if (!keys) {
        arena_free(scratch);
        return hf_no_memory(r);
    }
    for (int32_t i = 0; i < hf->n_tokens; i++)
        if (hf->tokens[i].text && hf->tokens[i].length)
            keys[n++] = (TrieKey){hf->tokens[i].text, hf->tokens[i].length, i};
    const TrieKey *twice;
    bool ok = trie_build(&hf->vocabulary, r->arena, keys, n, &twice);
    if (twice)
        hf_refuse(r, "model.vocab: '%s' is there twice", twice->text);
    arena_free(scratch);
    return ok || (!twice && hf_no_memory(r));
}

static int32_t find_token(const Hf *hf, const char *text)
{
    return trie_find(&hf->vocabulary, text, strlen(text));
}

static void find_bytes(Hf *hf)
{
    for (int i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        hf->bytes[i] = find_token(hf, name);
    }
}

/* ---- merges ---- */

typedef struct SpanOfToken {
    const char *text;
    size_t length;
} SpanOfToken;

static void put_merge(Hf *hf, int32_t left, int32_t right, int32_t rank, int32_t made)
{
    HfMerge *slot = (HfMerge *)hf_merge(hf, left, right);
    *slot = (HfMerge){left, right, rank, made};
}

/* The halves of a merge, "a b" or ["a", "b"]; false: it is no such pair. */
static bool read_halves(const JsonValue *from, SpanOfToken half[2])
{
    if (from->kind == JV_STRING) {
        const char *blank = strchr(from->text, ' ');
        half[0] = (SpanOfToken){from->text, blank ? (size_t)(blank - from->text) : 0};
        half[1] = blank ? (SpanOfToken){blank + 1, strlen(blank + 1)} : half[0];
        return blank;
    }
    const bool is_pair = from->kind == JV_LIST && from->n == 2;
    for (int i = 0; i < 2; i++) {
        const char *text = is_pair ? from->items[i].text : NULL;
        if (!text)
            return false;
        half[i] = (SpanOfToken){text, strlen(text)};
    }
    return true;
}

/* Puts a merge by the ids of both halves and of what they make. `made`: memory that is used
 * again. */
static bool read_merge(HfReading *r, size_t i, const JsonValue *from, TokenText *made)
{
    Hf *hf = r->hf;
    SpanOfToken names[3];
    int32_t ids[3];
    if (!read_halves(from, names))
        return hf_refuse(r, "model.merges[%zu] is not a pair", i);
    const size_t prefix = strlen(hf->prefix);
    const size_t cut = strncmp(names[1].text, hf->prefix, prefix) ? 0 : prefix;
    made->length = 0;
    if (!token_text_put(made, names[0].text, names[0].length) ||
        !token_text_put(made, names[1].text + cut, names[1].length - cut))
        return hf_no_memory(r);
    names[2] = (SpanOfToken){made->length ? made->data : "", made->length};
    for (int k = 0; k < 3; k++) {
        ids[k] = trie_find(&hf->vocabulary, names[k].text, names[k].length);
        if (ids[k] < 0)
            return hf_refuse(r, "model.merges[%zu]: '%.*s' is not in the vocabulary", i,
                             (int)names[k].length, names[k].text);
    }
    put_merge(hf, ids[0], ids[1], (int32_t)i, ids[2]);
    return true;
}

static bool read_merges(HfReading *r, const JsonValue *list)
{
    Hf *hf = r->hf;
    if (!list || list->kind != JV_LIST || list->n >= MOST_TOKENS)
        return hf_refuse(r, "model.merges is not a list");
    hf->n_merges = 16;
    for (hf->merge_shift = 60; hf->n_merges < list->n * 2; hf->merge_shift--)
        hf->n_merges *= 2;
    hf->merges = ARENA_ARRAY(r->arena, HfMerge, hf->n_merges);
    if (!hf->merges)
        return false;
    for (size_t i = 0; i < hf->n_merges; i++)
        hf->merges[i].rank = -1;
    hf->merge_factor = hash_slot("merges", 6) | 1;
    TokenText made = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < list->n; i++)
        ok = read_merge(r, i, &list->items[i], &made);
    token_text_free(&made);
    return ok;
}

/* ---- kinds ---- */

static bool read_unk(HfReading *r, const JsonValue *from)
{
    const char *unk = hf_string(r, from, "unk_token", NULL);
    r->hf->unk = unk ? find_token(r->hf, unk) : -1;
    return !unk || r->hf->unk >= 0 ||
           hf_refuse(r, "model.unk_token '%s' is not in the vocabulary", unk);
}

static bool read_bpe(HfReading *r, const JsonValue *from, const JsonValue *vocab)
{
    Hf *hf = r->hf;
    const JsonValue *dropout = json_member(from, "dropout");
    hf->model = HF_BPE;
    hf->prefix = hf_string(r, from, "continuing_subword_prefix", "");
    hf->suffix = hf_string(r, from, "end_of_word_suffix", "");
    hf->byte_fallback = hf_flag(r, from, "byte_fallback", false);
    hf->fuse_unk = hf_flag(r, from, "fuse_unk", false);
    hf->ignore_merges = hf_flag(r, from, "ignore_merges", false);
    if (!hf_only(r, "model", from,
                 "type vocab merges dropout unk_token continuing_subword_prefix "
                 "end_of_word_suffix fuse_unk byte_fallback ignore_merges"))
        return false;
    if (dropout && dropout->kind != JV_NULL &&
        !(dropout->kind <= JV_INTEGER && dropout->number == 0))
        return hf_refuse(r, "model.dropout: merges are never left out here");
    return read_map(r, vocab) && build_trie(r) && read_unk(r, from) &&
           read_merges(r, json_member(from, "merges"));
}

static bool read_unigram(HfReading *r, const JsonValue *from, const JsonValue *vocab)
{
    Hf *hf = r->hf;
    hf->model = HF_UNIGRAM;
    hf->byte_fallback = hf_flag(r, from, "byte_fallback", false);
    if (!hf_only(r, "model", from, "type vocab unk_id byte_fallback") || !read_scored(r, vocab) ||
        !build_trie(r))
        return false;
    if (!hf->vocabulary.n)
        return hf_refuse(r, "model.vocab is empty");
    hf->unk = (int32_t)hf_whole(r, from, "unk_id", hf->n_tokens - 1, -1);
    return !r->problem;
}

static bool read_word_model(HfReading *r, const JsonValue *from, const JsonValue *vocab,
                            bool pieces)
{
    Hf *hf = r->hf;
    hf->model = pieces ? HF_WORDPIECE : HF_WORDLEVEL;
    hf->prefix = hf_string(r, from, "continuing_subword_prefix", "##");
    hf->most_characters =
        (int32_t)hf_whole(r, from, "max_input_chars_per_word", INT32_MAX - 1, 100);
    return hf_only(r, "model", from,
                   pieces
                       ? "type vocab unk_token continuing_subword_prefix max_input_chars_per_word"
                       : "type vocab unk_token") &&
           read_map(r, vocab) && build_trie(r) && read_unk(r, from);
}

bool hf_read_model(HfReading *r, const JsonValue *from)
{
    const JsonValue *vocab = json_member(from, "vocab");
    const char *type = hf_string(r, from, "type", "");
    r->hf->prefix = r->hf->suffix = "";
    if (!vocab || (vocab->kind != JV_OBJECT && vocab->kind != JV_LIST))
        return hf_refuse(r, "model.vocab is absent");
    bool scored = vocab->kind == JV_LIST, ok;
    if (!*type) /* older files */
        type = scored ? "Unigram" : json_member(from, "merges") ? "BPE" : "";
    if (scored != !strcmp(type, "Unigram"))
        return hf_refuse(r, "model.vocab is not of the type '%s'", type);
    if (!strcmp(type, "BPE"))
        ok = read_bpe(r, from, vocab);
    else if (scored)
        ok = read_unigram(r, from, vocab);
    else if (!strcmp(type, "WordPiece") || !strcmp(type, "WordLevel"))
        ok = read_word_model(r, from, vocab, !strcmp(type, "WordPiece"));
    else
        return hf_refuse(r, "model: the type '%s' is not known", type);
    if (ok)
        find_bytes(r->hf);
    return ok;
}
