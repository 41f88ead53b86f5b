/* Decoders: each step makes new parts of tokens, which are put side by side in the end. */
#include "runtime/text/hf/hf.h"

#include <string.h>

static void keep(HfParts *out, const char *text, size_t length)
{
    parts_put(out, text, length);
    parts_end(out, -1, false);
}

/* A piece with each `from` as `to`. */
static void replace_in_parts(HfParts *out, const HfPattern *from, const char *to, size_t n_to,
                             const char *text, size_t length)
{
    size_t at = 0, start = 0, end;
    bool failed;
    for (; pattern_next(from, text, length, &start, &end, &failed); start = at = end) {
        parts_put(out, text + at, start - at);
        parts_put(out, to, n_to);
        if (out->failed)
            return;
    }
    out->failed = out->failed || failed;
    parts_put(out, text + at, length - at);
    parts_end(out, -1, false);
}

/* ---- bytes ---- */

/* All tokens are one row of bytes; one with a character that stands for none is its own. */
static void from_bytes(const HfParts *in, HfParts *out)
{
    TokenText bytes = {0};
    for (size_t i = 0; i < in->n; i++) {
        size_t length, size, before = bytes.length;
        const char *text = parts_text(in, i, &length);
        bool all = true;
        for (size_t at = 0; at < length && all; at += size) {
            int byte = hf_character_byte(uni_decode(text + at, length - at, &size));
            char c = (char)byte;
            all = byte >= 0;
            out->failed = out->failed || (all && !token_text_put(&bytes, &c, 1));
        }
        if (!all) {
            bytes.length = before;
            out->failed = out->failed || !token_text_put(&bytes, text, length);
        }
    }
    out->failed = out->failed || !uni_put_lossy(&out->text, bytes.data, bytes.length);
    parts_end(out, -1, false);
    token_text_free(&bytes);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Of "<0x3A>"; -1: no such token. */
static int fallback_byte(const char *text, size_t length)
{
    if (length != 6 || memcmp(text, "<0x", 3) || text[5] != '>')
        return -1;
    int high = hex(text[3]), low = hex(text[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* A run of bytes that is no UTF-8 is a U+FFFD for each of them. */
static void put_run(HfParts *out, const TokenText *run)
{
    TokenText valid = {0};
    bool same;
    if (!run->length)
        return;
    out->failed = out->failed || !uni_put_valid(&valid, run->data, run->length);
    same = valid.length == run->length && !memcmp(valid.data, run->data, run->length);
    for (size_t i = 0; !same && i < run->length; i++)
        parts_put(out, "\xef\xbf\xbd", 3);
    if (same)
        parts_put(out, valid.data, valid.length);
    parts_end(out, -1, false);
    token_text_free(&valid);
}

static void from_fallback(const HfParts *in, HfParts *out)
{
    TokenText run = {0};
    for (size_t i = 0; i < in->n; i++) {
        size_t length;
        const char *text = parts_text(in, i, &length);
        int byte = fallback_byte(text, length);
        char c = (char)byte;
        if (byte >= 0) {
            out->failed = out->failed || !token_text_put(&run, &c, 1);
            continue;
        }
        put_run(out, &run);
        run.length = 0;
        keep(out, text, length);
    }
    put_run(out, &run);
    token_text_free(&run);
}

/* ---- words ---- */

/* What BERT's decoder mends: blanks before punctuation and clitics. */
static void clean_up(TokenText *text, size_t from)
{
    static const char *const mended[][2] = {
        /* clang-format off */
        {" .",      "."},
        {" ?",      "?"},
        {" !",      "!"},
        {" ,",      ","},
        {" ' ",     "'"},
        {" n't",    "n't"},
        {" 'm",     "'m"},
        {" do not", " don't"},
        {" 's",     "'s"},
        {" 've",    "'ve"},
        {" 're",    "'re"},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof mended / sizeof *mended; i++) {
        size_t n = strlen(mended[i][0]), m = strlen(mended[i][1]), to = from;
        for (size_t at = from; at < text->length;) {
            bool here = text->length - at >= n && !memcmp(text->data + at, mended[i][0], n);
            memmove(text->data + to, here ? mended[i][1] : text->data + at, here ? m : 1);
            to += here ? m : 1;
            at += here ? n : 1;
        }
        text->length = to;
    }
}

static void from_wordpiece(const HfStep *s, const HfParts *in, HfParts *out)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t length, from = out->text.length;
        const char *text = parts_text(in, i, &length);
        bool goes_on =
            i && s->n_content && length >= s->n_content && !memcmp(text, s->content, s->n_content);
        size_t cut = goes_on ? s->n_content : 0;
        if (i && !goes_on)
            parts_put(out, " ", 1);
        parts_put(out, text + cut, length - cut);
        if (s->cleanup && !out->failed)
            clean_up(&out->text, from);
        parts_end(out, -1, false);
    }
}

static void from_metaspace(const HfStep *s, const HfParts *in, HfParts *out)
{
    HfPattern mark = {.literal = s->content, .n_literal = s->n_content};
    for (size_t i = 0; i < in->n; i++) {
        size_t length, drop = 0;
        const char *text = parts_text(in, i, &length);
        if (!i && s->prepend != HF_NEVER && length >= s->n_content &&
            !memcmp(text, s->content, s->n_content))
            drop = s->n_content;
        replace_in_parts(out, &mark, " ", 1, text + drop, length - drop);
    }
}

static void from_suffix(const HfStep *s, const HfParts *in, HfParts *out)
{
    HfPattern suffix = {.literal = s->content, .n_literal = s->n_content};
    for (size_t i = 0; i < in->n; i++) {
        size_t length;
        const char *text = parts_text(in, i, &length);
        replace_in_parts(out, &suffix, " ", i + 1 < in->n, text, length);
    }
}

static void strip_content(const HfStep *s, const HfParts *in, HfParts *out)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t length, n = s->n_content;
        const char *text = parts_text(in, i, &length);
        for (int32_t k = 0; k < s->from_start && length >= n && !memcmp(text, s->content, n); k++) {
            text += n;
            length -= n;
        }
        for (int32_t k = 0;
             k < s->from_end && length >= n && !memcmp(text + length - n, s->content, n); k++)
            length -= n;
        keep(out, text, length);
    }
}

bool hf_join(const HfSteps *steps, HfParts *parts)
{
    HfParts other = {0};
    token_text_limit(&other.text, parts->text.length);
    parts->text.most = other.text.most;
    for (size_t i = 0; !parts->failed && i < steps->n; i++) {
        const HfStep *s = &steps->at[i];
        parts_clear(&other);
        switch (s->kind) {
        case HF_FROM_BYTES: from_bytes(parts, &other); break;
        case HF_FROM_WORDPIECE: from_wordpiece(s, parts, &other); break;
        case HF_FROM_METASPACE: from_metaspace(s, parts, &other); break;
        case HF_FROM_SUFFIX: from_suffix(s, parts, &other); break;
        case HF_FROM_FALLBACK: from_fallback(parts, &other); break;
        case HF_STRIP_CONTENT: strip_content(s, parts, &other); break;
        case HF_FUSE: keep(&other, parts->text.data, parts->text.length); break;
        default:
            for (size_t k = 0; k < parts->n; k++) {
                size_t length;
                const char *text = parts_text(parts, k, &length);
                replace_in_parts(&other, &s->pattern, s->content, s->n_content, text, length);
            }
        }
        HfParts swap = *parts;
        *parts = other;
        other = swap;
    }
    parts->text.most = 0;
    parts_free(&other);
    return !parts->failed;
}
