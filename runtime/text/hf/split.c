/* What cuts a text into the parts that a model sees (pre-tokenizers): each step makes new parts
 * of the last one's. */
#include "runtime/text/hf/hf.h"

#include <string.h>

/* ---- bytes as characters ---- */

/* Visible Latin characters stand for themselves, the other bytes for characters from 256 on. */
enum { HIDDEN = 256, FIRST_RUN = 33, SECOND_RUN = 34 };

uint32_t hf_byte_character(unsigned char byte)
{
    if (byte < '!')
        return HIDDEN + byte;
    if (byte > '~' && byte < 0xA1)
        return HIDDEN + FIRST_RUN + (byte - 0x7Fu);
    return byte == 0xAD ? HIDDEN + FIRST_RUN + SECOND_RUN : byte;
}

int hf_character_byte(uint32_t c)
{
    if (c < HIDDEN)
        return hf_byte_character((unsigned char)c) == c ? (int)c : -1;
    c -= HIDDEN;
    return c < FIRST_RUN                 ? (int)c
           : c < FIRST_RUN + SECOND_RUN  ? (int)c - FIRST_RUN + 0x7F
           : c == FIRST_RUN + SECOND_RUN ? 0xAD
                                         : -1;
}

static void put_bytes(HfParts *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out->failed =
            out->failed || !uni_put(&out->text, hf_byte_character((unsigned char)text[i]));
}

/* ---- cutting ---- */

/* Pieces of a text as they come, matches and what is between them. The last is held back, as
 * the next may join it. */
typedef struct Cutter {
    const HfStep *step;
    HfParts *out;
    const char *held;
    size_t n_held;
    bool first, was_match; /* the part begins the text; what came last is a match */
} Cutter;

static void let_go(Cutter *c)
{
    parts_put(c->out, c->held, c->n_held);
    parts_end(c->out, -1, c->first && c->n_held);
    c->first = c->first && !c->n_held;
    c->n_held = 0;
}

static void take_match(Cutter *c, const char *piece, size_t length, bool is_match)
{
    bool joins = false;
    if (!length)
        return;
    switch (c->step->behavior) {
    case HF_REMOVED:
        let_go(c);
        c->first = c->first && !is_match;
        if (is_match)
            return;
        break;
    case HF_ISOLATED: break;
    case HF_CONTIGUOUS: joins = is_match == c->was_match; break;
    case HF_MERGED_WITH_PREVIOUS: joins = is_match && !c->was_match; break;
    case HF_MERGED_WITH_NEXT: joins = !is_match && c->was_match; break;
    }
    joins = joins && c->n_held;
    if (!joins) {
        let_go(c);
        c->held = piece;
    }
    c->n_held += length;
    c->was_match = is_match;
}

static void split_part(const HfStep *s, const char *text, size_t length, bool first, HfParts *out)
{
    Cutter c = {.step = s, .out = out, .held = text, .first = first};
    size_t at = 0, start = 0, end;
    bool failed;
    for (; pattern_next(&s->pattern, text, length, &start, &end, &failed); start = at = end) {
        take_match(&c, text + at, start - at, s->invert);
        take_match(&c, text + start, end - start, !s->invert);
    }
    out->failed = out->failed || failed;
    take_match(&c, text + at, length - at, s->invert);
    let_go(&c);
}

static void metaspace(const HfStep *s, const char *text, size_t length, bool first,
                      HfParts *scratch, HfParts *out)
{
    bool has = length >= s->n_content && !memcmp(text, s->content, s->n_content);
    bool wants = s->prepend == HF_ALWAYS || (s->prepend == HF_FIRST && first);
    parts_clear(scratch);
    if (wants && !has && *text != ' ')
        parts_put(scratch, s->content, s->n_content);
    for (size_t i = 0; i < length; i++)
        text[i] == ' ' ? parts_put(scratch, s->content, s->n_content)
                       : parts_put(scratch, text + i, 1);
    out->failed = out->failed || scratch->failed;
    if (out->failed)
        return;
    if (s->pattern.literal) {
        split_part(s, scratch->text.data, scratch->text.length, first, out);
        return;
    }
    parts_put(out, scratch->text.data, scratch->text.length);
    parts_end(out, -1, first);
}

static void cut_part(const HfStep *s, const char *text, size_t length, HfPart part,
                     HfParts *scratch, HfParts *out)
{
    switch (s->kind) {
    case HF_SPLIT: split_part(s, text, length, part.first, out); return;
    case HF_METASPACE: metaspace(s, text, length, part.first, scratch, out); return;
    case HF_BYTES: put_bytes(out, text, length); break;
    default:
        if (*text != ' ')
            parts_put(out, " ", 1);
        parts_put(out, text, length);
    }
    parts_end(out, -1, part.first);
}

bool hf_split(const HfSteps *steps, HfParts *parts)
{
    HfParts other = {0}, scratch = {0};
    token_text_limit(&other.text, parts->text.length);
    token_text_limit(&scratch.text, parts->text.length);
    parts->text.most = other.text.most;
    for (size_t i = 0; !other.failed && i < steps->n; i++) {
        const HfStep *s = &steps->at[i];
        parts_clear(&other);
        for (size_t k = 0; k < parts->n; k++) {
            size_t length;
            const char *text = parts_text(parts, k, &length);
            HfPart part = parts->at[k];
            if (part.id >= 0) {
                parts_put(&other, text, length);
                parts_end(&other, part.id, part.first);
            } else {
                cut_part(s, text, length, part, &scratch, &other);
            }
        }
        HfParts swap = *parts;
        *parts = other;
        other = swap;
        parts->failed = parts->failed || other.failed;
        other.failed = parts->failed;
    }
    bool ok = !parts->failed;
    parts->text.most = 0;
    parts_free(&other);
    parts_free(&scratch);
    return ok;
}
