/* Cutting a normalized text: the best path through all pieces of a unigram model (Kudo 2018,
 * Viterbi), words, and characters. Sums are formed as the library forms them, so that equal
 * scores fall the same way. */
#include "runtime/text/kind.h"
#include "runtime/text/sentencepiece/sp.h"

#include <stdlib.h>
#include <string.h>

static const float UNKNOWN_PENALTY = 10;

bool sp_cuts_push(SpCuts *cuts, uint32_t length, int32_t id)
{
    if (cuts->n == cuts->capacity) {
        size_t capacity = cuts->capacity ? cuts->capacity * 2 : 64;
        SpCut *at = realloc(cuts->at, capacity * sizeof *at);
        if (!at)
            return false;
        cuts->at = at;
        cuts->capacity = capacity;
    }
    cuts->at[cuts->n++] = (SpCut){length, id};
    return true;
}

/* The best path that ends at a place: its last piece. */
typedef struct Best {
    float score;
    uint32_t length; /* 0: no path ends here */
    int32_t id;
} Best;

/* A user-defined piece is worth more than whatever could stand in its place. */
static double score_of(const SpModel *m, int32_t id, size_t length)
{
    const SpPiece *piece = &m->pieces[id];
    return piece->type == SP_USER ? (float)length * m->most - 0.1 : piece->score;
}

static void relax(Best *best, double score, size_t length, int32_t id)
{
    if (!best->length || score > best->score)
        *best = (Best){(float)score, (uint32_t)length, id};
}

/* All pieces that start here, and an unknown character where none is as long as this one. */
static void extend(const SpModel *m, const char *text, size_t available, size_t character,
                   Best *here)
{
    float before = here->score;
    bool single = false;
    int32_t id;
    size_t node = trie_root(&m->known), n = 1;
    for (available = tokenizer_reach(available); n <= available; n++) {
        if (!trie_step(&m->known, &node, (unsigned char)text[n - 1], &id))
            break;
        if (id == TRIE_NOWHERE || m->pieces[id].type == SP_UNUSED)
            continue;
        relax(&here[n], score_of(m, id, n) + before, n, id);
        single = single || n == character;
    }
    tokenizer_walked(n);
    if (!single)
        relax(&here[character], (m->least - UNKNOWN_PENALTY) + before, character, m->unk);
}

bool sp_cut_unigram(const SpModel *model, const char *text, size_t length, SpCuts *cuts)
{
    Best *best = malloc((length + 1) * sizeof *best);
    if (!best)
        return false;
    for (size_t i = 0; i <= length; i++)
        best[i].length = 0;
    best[0].score = 0;
    for (size_t at = 0; at < length;) {
        size_t character = sp_char(text + at, length - at);
        extend(model, text + at, length - at, character, &best[at]);
        at += character;
    }
    bool ok = true;
    size_t first = cuts->n;
    for (size_t end = length; ok && end > 0; end -= best[end].length)
        ok = sp_cuts_push(cuts, best[end].length, best[end].id);
    for (size_t i = first, j = cuts->n; i + 1 < j; i++) {
        SpCut cut = cuts->at[i];
        cuts->at[i] = cuts->at[--j];
        cuts->at[j] = cut;
    }
    free(best);
    return ok;
}

bool sp_cut_words(const SpModel *model, const char *text, size_t length, SpCuts *cuts)
{
    for (size_t at = 0, n; at < length; at += n) {
        for (n = sp_char(text + at, length - at); at + n < length;) {
            size_t character = sp_char(text + at + n, length - at - n);
            if (character == SP_SPACE_SIZE && !memcmp(text + at + n, SP_SPACE, SP_SPACE_SIZE))
                break;
            n += character;
        }
        if (!sp_cuts_push(cuts, (uint32_t)n, sp_id(model, text + at, n)))
            return false;
    }
    return true;
}

bool sp_cut_chars(const SpModel *model, const char *text, size_t length, SpCuts *cuts)
{
    bool is_user;
    for (size_t at = 0, n; at < length; at += n) {
        n = sp_unit(&model->user, text + at, length - at, &is_user);
        if (!sp_cuts_push(cuts, (uint32_t)n, sp_id(model, text + at, n)))
            return false;
    }
    return true;
}
