/* A tokenizer.json from its bytes, and text through its stages: added tokens apart, normalize,
 * cut, encode; and back. */
#include "runtime/text/hf/tokenizer_json.h"

#include "runtime/text/hf/hf.h"

#include <string.h>

/* ---- added tokens ---- */

static bool is_word(const char *text, size_t length, bool at_end)
{
    size_t at = at_end && length ? length - 1 : 0, size;
    while (at_end && at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    return length && uni_is_word(uni_decode(text + at, length - at, &size));
}

/* Blanks before or behind a token that takes them. */
static size_t blanks(const char *text, size_t length, bool at_end)
{
    size_t n = 0, size;
    while (n < length) {
        size_t at = at_end ? length - n - 1 : n;
        while (at_end && at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
            at--;
        if (!uni_is_space(uni_decode(text + at, length - at, &size)))
            break;
        n = at_end ? length - at : n + size;
    }
    return n;
}

/* Cuts added tokens out of a text, the leftmost and longest first; special ones not of a `plain`
 * text. */
static void cut_added(const Hf *hf, const Trie *trie, const char *text, size_t length, bool plain,
                      bool first, HfParts *out)
{
    size_t from = 0;
    for (size_t at = 0, size; trie->n && at < length;) {
        int32_t which;
        size = trie_longest(trie, text + at, length - at, &which);
        const HfAdded *added = size ? &hf->added[which] : NULL;
        if (!size || (plain && added->special) ||
            (added->single_word &&
             (is_word(text, at, true) || is_word(text + at + size, length - at - size, false)))) {
            size ? (void)0 : (void)uni_decode(text + at, length - at, &size);
            at += size;
            continue;
        }
        size_t start = added->lstrip ? at - blanks(text + from, at - from, true) : at;
        at += size;
        at += added->rstrip ? blanks(text + at, length - at, false) : 0;
        parts_put(out, text + from, start - from);
        parts_end(out, -1, first && !from);
        parts_put(out, text + start, at - start);
        parts_end(out, added->id, false);
        from = at;
    }
    parts_put(out, text + from, length - from);
    parts_end(out, -1, first && !from);
}

/* ---- encoding ---- */

static bool put_part_ids(const Hf *hf, const char *text, size_t length, TokenIds *ids)
{
    switch (hf->model) {
    case HF_BPE: return hf_bpe(hf, text, length, ids);
    case HF_UNIGRAM: return hf_unigram(hf, text, length, ids);
    case HF_WORDPIECE: return hf_wordpiece(hf, text, length, ids);
    case HF_WORDLEVEL: break;
    }
    return hf_wordlevel(hf, text, length, ids);
}

static void normalize_parts(const Hf *hf, const HfParts *in, bool plain, HfParts *out)
{
    TokenText normal = {0};
    for (size_t i = 0; i < in->n; i++) {
        size_t length;
        const char *text = parts_text(in, i, &length);
        if (in->at[i].id >= 0) {
            parts_put(out, text, length);
            parts_end(out, in->at[i].id, false);
            continue;
        }
        normal.length = 0;
        out->failed = out->failed || !token_text_put(&normal, text, length) ||
                      !hf_normalize(&hf->normalizers, &normal);
        if (!out->failed)
            cut_added(hf, &hf->added_normal, normal.data, normal.length, plain, in->at[i].first,
                      out);
    }
    token_text_free(&normal);
}

static bool hf_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids)
{
    const Hf *hf = tokenizer->own;
    TokenText valid = {0};
    HfParts raw = {0}, parts = {0};
    bool ok = uni_put_valid(&valid, text, length);
    if (ok && valid.length)
        cut_added(hf, &hf->added_raw, valid.data, valid.length, tokenizer->is_plain, true, &raw);
    if (ok)
        normalize_parts(hf, &raw, tokenizer->is_plain, &parts);
    ok = ok && !raw.failed && !parts.failed && hf_split(&hf->splitters, &parts);
    for (size_t i = 0; ok && i < parts.n; i++) {
        size_t n;
        const char *part = parts_text(&parts, i, &n);
        ok = parts.at[i].id >= 0 ? token_ids_push(ids, parts.at[i].id)
                                 : put_part_ids(hf, part, n, ids);
    }
    token_text_free(&valid);
    parts_free(&raw);
    parts_free(&parts);
    return ok;
}

/* ---- decoding ---- */

/* Ends of words that no decoder turned into blanks, as published CLIP files have them. */
static bool put_plain_words(const Hf *hf, const TokenText *from, TokenText *text)
{
    HfPattern end_of_word = {.literal = hf->suffix, .n_literal = strlen(hf->suffix)};
    HfStep words[] = {{.kind = HF_REPLACE, .pattern = end_of_word, .content = " ", .n_content = 1},
                      {.kind = HF_STRIP, .left = true, .right = true}};
    HfSteps steps = {words, *hf->suffix && hf->has_decoder ? 2 : 0, 2};
    TokenText copy = {0};
    bool ok = token_text_put(&copy, from->data, from->length) && hf_normalize(&steps, &copy) &&
              token_text_put(text, copy.data, copy.length);
    token_text_free(&copy);
    return ok;
}

static bool decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text)
{
    const Hf *hf = tokenizer->own;
    HfParts parts = {0};
    for (size_t i = 0; i < n; i++) {
        bool has = ids[i] >= 0 && ids[i] < hf->n_tokens && hf->tokens[ids[i]].text;
        if (!has || hf->tokens[ids[i]].special)
            continue;
        if (!hf->has_decoder && parts.n)
            parts_put(&parts, " ", 1);
        parts_put(&parts, hf->tokens[ids[i]].text, hf->tokens[ids[i]].length);
        parts_end(&parts, -1, false);
    }
    bool ok = hf_join(&hf->decoders, &parts) && put_plain_words(hf, &parts.text, text);
    parts_free(&parts);
    return ok;
}

static const char *piece(const Tokenizer *tokenizer, int32_t id, size_t *length)
{
    const Hf *hf = tokenizer->own;
    *length = hf->tokens[id].length;
    return hf->tokens[id].text ? hf->tokens[id].text : "";
}

static int32_t hf_find(const Tokenizer *tokenizer, const char *text, size_t length)
{
    const Hf *hf = tokenizer->own;
    for (size_t i = 0; i < hf->n_added; i++)
        if (strlen(hf->added[i].text) == length && !memcmp(hf->added[i].text, text, length))
            return hf->added[i].id;
    return trie_find(&hf->vocabulary, text, length);
}

static void close_steps(HfSteps *steps)
{
    for (size_t i = 0; i < steps->n; i++)
        pattern_free(&steps->at[i].pattern);
}

static void close_hf(Hf *hf)
{
    close_steps(&hf->normalizers);
    close_steps(&hf->splitters);
    close_steps(&hf->decoders);
}

static void hf_close(Tokenizer *tokenizer) { close_hf((Hf *)tokenizer->own); }

static const TokenizerKind hugging_face = {hf_encode, decode, piece, hf_find, hf_close};

/* ---- reading ---- */

static bool read_added_token(HfReading *r, size_t i, const JsonValue *from, HfAdded *added)
{
    const char *place = arena_printf(r->arena, "added_tokens[%zu]", i);
    const JsonValue *id = json_member(from, "id");
    if (!hf_only(r, place, from, "id content single_word lstrip rstrip normalized special"))
        return false;
    *added = (HfAdded){.text = hf_string(r, from, "content", ""),
                       .special = hf_flag(r, from, "special", false),
                       .single_word = hf_flag(r, from, "single_word", false),
                       .lstrip = hf_flag(r, from, "lstrip", false),
                       .rstrip = hf_flag(r, from, "rstrip", false)};
    added->normalized = hf_flag(r, from, "normalized", !added->special);
    if (!*added->text || !id || id->kind != JV_INTEGER || id->integer < 0 || id->integer >= 1 << 24)
        return hf_refuse(r, "%s has no content or no id", place);
    added->id = (int32_t)id->integer;
    return true;
}

/* Whether an added token has the id that the model's vocabulary gives it, if it is there, and no
 * other token has this id. */
static bool check_added_id(HfReading *r, const HfAdded *added)
{
    const Hf *hf = r->hf;
    const HfToken *there = added->id < hf->n_tokens ? &hf->tokens[added->id] : NULL;
    const int32_t listed = trie_find(&hf->vocabulary, added->text, strlen(added->text));
    if (there && there->text && strcmp(there->text, added->text))
        return hf_refuse(r, "added_tokens: '%s' has the id %d, which model.vocab gives to '%s'",
                         added->text, (int)added->id, there->text);
    return listed < 0 || listed == added->id ||
           hf_refuse(r, "added_tokens: '%s' has the id %d, and in model.vocab %d", added->text,
                     (int)added->id, (int)listed);
}

/* The vocabulary with tokens at the ids of added ones, too. */
static void add_tokens(HfReading *r, const HfAdded *added, size_t n)
{
    Hf *hf = r->hf;
    int32_t most = hf->n_tokens;
    for (size_t i = 0; i < n; i++)
        most = added[i].id >= most ? added[i].id + 1 : most;
    HfToken *tokens = ARENA_ARRAY(r->arena, HfToken, most);
    if (!tokens)
        return;
    if (hf->n_tokens)
        memcpy(tokens, hf->tokens, (size_t)hf->n_tokens * sizeof *tokens);
    for (size_t i = 0; i < n; i++) {
        HfToken *token = &tokens[added[i].id];
        if (token->text && strcmp(token->text, added[i].text))
            hf_refuse(r, "added_tokens: '%s' and '%s' have the id %d", token->text, added[i].text,
                      (int)added[i].id);
        *token = (HfToken){added[i].text, (uint32_t)strlen(added[i].text), added[i].special};
    }
    hf->tokens = tokens;
    hf->n_tokens = most;
    hf->added = added;
    hf->n_added = n;
}

/* Those to be found in raw text, or in normalized text by their normalized form. */
static bool build_added(HfReading *r, Trie *trie, bool normalized)
{
    Hf *hf = r->hf;
    TrieKey *keys = ARENA_ARRAY(r->arena, TrieKey, hf->n_added + 1);
    size_t n = 0;
    for (size_t i = 0; keys && i < hf->n_added; i++) {
        TokenText text = {0};
        if (hf->added[i].normalized != normalized)
            continue;
        bool ok = token_text_put(&text, hf->added[i].text, strlen(hf->added[i].text)) &&
                  (!normalized || hf_normalize(&hf->normalizers, &text));
        if (!ok && tokenizer_problem())
            hf_refuse(r, "added_tokens[%zu]: %s", i, tokenizer_problem());
        else if (!ok)
            hf_no_memory(r);
        else if (text.length)
            keys[n++] = (TrieKey){arena_strndup(r->arena, text.data, text.length),
                                  (uint32_t)text.length, (int32_t)i};
        token_text_free(&text);
    }
    const TrieKey *twice;
    if (r->problem || r->no_memory || arena_failed(r->arena))
        return false;
    bool ok = trie_build(trie, r->arena, keys, n, &twice);
    if (twice)
        return hf_refuse(r, "added_tokens: '%s' is there twice", twice->text);
    return ok || hf_no_memory(r);
}

static bool read_added(HfReading *r, const JsonValue *list)
{
    if (list && list->kind != JV_LIST && list->kind != JV_NULL)
        return hf_refuse(r, "added_tokens is not a list");
    size_t n = list ? list->n : 0;
    HfAdded *added = ARENA_ARRAY(r->arena, HfAdded, n + 1);
    for (size_t i = 0; added && i < n; i++)
        if (!read_added_token(r, i, &list->items[i], &added[i]) || !check_added_id(r, &added[i]))
            return false;
    if (added)
        add_tokens(r, added, n);
    return build_added(r, &r->hf->added_raw, false) && build_added(r, &r->hf->added_normal, true);
}

typedef bool (*ReadStep)(HfReading *r, const char *place, const JsonValue *from);

static bool read_optional(HfReading *r, const JsonValue *file, const char *key, ReadStep read)
{
    const JsonValue *from = json_member(file, key);
    return !from || from->kind == JV_NULL || read(r, key, from);
}

static bool read_tokenizer(HfReading *r, const JsonValue *file, Tokenizer *tokenizer)
{
    const JsonValue *model = json_member(file, "model"),
                    *frame = json_member(file, "post_processor"),
                    *decoder = json_member(file, "decoder");
    if (!hf_only(r, "the file", file,
                 "version truncation padding added_tokens normalizer pre_tokenizer post_processor "
                 "decoder model " TOKENIZER_JSON_ROWS))
        return false;
    if (!model)
        return hf_refuse(r, "there is no model");
    r->hf->has_decoder = decoder && decoder->kind != JV_NULL;
    return hf_read_model(r, model) && read_optional(r, file, "normalizer", hf_read_normalizer) &&
           read_optional(r, file, "pre_tokenizer", hf_read_splitter) &&
           read_optional(r, file, "decoder", hf_read_decoder) &&
           read_added(r, json_member(file, "added_tokens")) &&
           (!frame || frame->kind == JV_NULL ||
            hf_read_frame(r, "post_processor", frame, tokenizer));
}

static bool limit_rows(HfReading *r, const JsonValue *file, Tokenizer *tokenizer)
{
    const JsonValue *rows = json_member(file, TOKENIZER_JSON_ROWS);
    return !rows || (rows->kind == JV_INTEGER && tokenizer_limit(tokenizer, rows->integer)) ||
           hf_refuse(r, "post_processor: the model has no row for one of its tokens");
}

Tokenizer *tokenizer_json(Arena *arena, const char *bytes, size_t size, const char **problem)
{
    HfReading r = {.arena = tokenizer_arena(BUDGET_TEXT, size)};
    Tokenizer *t = r.arena ? ARENA_NEW(r.arena, Tokenizer) : NULL;
    r.hf = t ? ARENA_NEW(r.arena, Hf) : NULL;
    *problem = NULL;
    if (!r.hf)
        return tokenizer_drop(r.arena, problem);
    tokenizer_begin(size);
    *t = (Tokenizer){.kind = &hugging_face, .arena = r.arena, .own = r.hf};
    const JsonValue *file = json_read_nul(r.arena, bytes, size, &r.problem);
    const bool ok = file && read_tokenizer(&r, file, t) && !r.problem; /* of a value's kind */
    const bool no_memory = r.no_memory || arena_failed(r.arena);
    if (ok && !no_memory) {
        t->size = r.hf->n_tokens;
        t->is_words = r.hf->model == HF_WORDLEVEL;
        t->special = hf_special(t);
        if (limit_rows(&r, file, t))
            return t;
    }
    if (!no_memory)
        *problem = arena_strdup(arena, r.problem ? r.problem : "it is not read");
    close_hf(r.hf);
    return tokenizer_drop(r.arena, problem);
}

Tokenizer *tokenizer_json_inside(const void *bytes, size_t size, const char **problem)
{
    const char *unused; /* these bytes were read before: only memory can be missing */
    Arena *arena = arena_try_new();
    Tokenizer *t = arena ? tokenizer_json(arena, bytes, size, &unused) : NULL;
    arena_free(arena);
    return t;
}

static const char *steps_need(const HfSteps *steps)
{
    for (size_t i = 0; i < steps->n; i++) {
        const HfStep *step = &steps->at[i];
        if (step->pattern.regex)
            return "regular expressions";
        if (step->kind == HF_FORM && step->form != UNI_NFD)
            return "normal forms other than NFD";
        if (step->kind == HF_PRECOMPILED || step->kind == HF_PRECOMPILED_ABSENT)
            return "precompiled maps of characters";
    }
    return NULL;
}

const char *tokenizer_json_needs(const Tokenizer *tokenizer)
{
    const Hf *hf = tokenizer->own;
    const HfSteps *const all[] = {&hf->normalizers, &hf->splitters, &hf->decoders};
    const char *needs = NULL;
    for (int i = 0; !needs && i < 3; i++)
        needs = steps_need(all[i]);
    return needs;
}
