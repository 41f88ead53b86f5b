/* Cutting a normalized text by byte-pair encoding (Sennrich 2016): two neighbours whose joint
 * piece has the best score are joined, the leftmost of equal ones, until no two make a piece. */
#include "runtime/text/pairs.h"
#include "runtime/text/sentencepiece/sp.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

typedef struct PieceSymbol {
    uint32_t at, length; /* length 0: joined to one on its left */
    int32_t before, after;
    bool kept; /* user-defined: never joined */
} PieceSymbol;

/* How an unused piece was joined last: it is taken apart so. */
typedef struct Seam {
    int32_t id; /* + 1; 0: an empty slot */
    uint32_t left;
} Seam;

typedef struct Joining {
    const SpModel *model;
    const char *text;
    PieceSymbol *symbols;
    Pairs pairs; /* their key: minus the score; made: the length of both */
    Seam *seams; /* a hash table, if the model has unused pieces */
    int32_t n;
    size_t n_seams;
} Joining;

/* ---- seams ---- */

static Seam *find_seam(const Joining *j, int32_t id)
{
    size_t at = ((uint32_t)id * UINT32_C(2654435761)) & (j->n_seams - 1);
    while (j->seams[at].id && j->seams[at].id != id + 1)
        at = (at + 1) & (j->n_seams - 1);
    return &j->seams[at];
}

/* Takes a piece apart while it is an unused one that was joined. `todo` has room for as many
 * spans as the piece has bytes. */
static bool take_apart(const Joining *j, PieceSymbol whole, PieceSymbol *todo, SpCuts *cuts)
{
    size_t n = 0;
    todo[n++] = whole;
    while (n) {
        PieceSymbol s = todo[--n];
        int32_t id = sp_id(j->model, j->text + s.at, s.length);
        const Seam *seam =
            j->seams && j->model->pieces[id].type == SP_UNUSED ? find_seam(j, id) : NULL;
        if (!seam || !seam->id) {
            if (!sp_cuts_push(cuts, s.length, id))
                return false;
            continue;
        }
        todo[n++] = (PieceSymbol){.at = s.at + seam->left, .length = s.length - seam->left};
        todo[n++] = (PieceSymbol){.at = s.at, .length = seam->left};
    }
    return true;
}

/* ---- joining ---- */

static void try_pair(Joining *j, int32_t left, int32_t right)
{
    if (left == NONE || right == NONE || j->symbols[left].kept || j->symbols[right].kept)
        return;
    const PieceSymbol *a = &j->symbols[left], *b = &j->symbols[right];
    int32_t id = trie_find(&j->model->known, j->text + a->at, a->length + b->length);
    if (id == TRIE_NOWHERE)
        return;
    pairs_push(&j->pairs,
               (TokenPair){-j->model->pieces[id].score, left, (int32_t)(a->length + b->length)});
    if (j->model->pieces[id].type == SP_UNUSED)
        *find_seam(j, id) = (Seam){id + 1, a->length};
}

static void join_symbols(Joining *j)
{
    for (int32_t i = 1; i < j->n; i++)
        try_pair(j, i - 1, i);
    while (j->pairs.n) {
        TokenPair pair = pairs_pop(&j->pairs);
        PieceSymbol *left = &j->symbols[pair.at];
        if (!left->length || left->after == NONE)
            continue;
        PieceSymbol *right = &j->symbols[left->after];
        if (left->length + right->length != (uint32_t)pair.made) /* one of them has grown */
            continue;
        left->length += right->length;
        left->after = right->after;
        right->length = 0;
        if (right->after != NONE)
            j->symbols[right->after].before = pair.at;
        try_pair(j, left->before, pair.at);
        try_pair(j, pair.at, left->after);
    }
}

static void split(Joining *j, size_t length)
{
    for (size_t at = 0, n; at < length; at += n) {
        bool kept;
        n = sp_unit(&j->model->user, j->text + at, length - at, &kept);
        j->symbols[j->n] = (PieceSymbol){(uint32_t)at, (uint32_t)n, j->n - 1,
                                         at + n < length ? j->n + 1 : NONE, kept};
        j->n++;
    }
}

bool sp_cut_bpe(const SpModel *model, const char *text, size_t length, SpCuts *cuts)
{
    Joining j = {.model = model, .text = text};
    j.symbols = malloc(length * sizeof *j.symbols);
    if (!j.symbols)
        return false;
    split(&j, length);
    j.pairs.at = malloc((size_t)j.n * 3 * sizeof *j.pairs.at);
    PieceSymbol *todo = malloc((model->has_unused ? length + 1 : 2) * sizeof *todo);
    if (model->has_unused) {
        for (j.n_seams = 16; j.n_seams < (size_t)j.n * 6;)
            j.n_seams *= 2;
        j.seams = calloc(j.n_seams, sizeof *j.seams);
    }
    bool ok = j.pairs.at && todo && (j.seams || !model->has_unused);
    if (ok)
        join_symbols(&j);
    for (int32_t i = 0; ok && i != NONE; i = j.symbols[i].after)
        ok = take_apart(&j, j.symbols[i], todo, cuts);
    free(j.symbols);
    free(j.pairs.at);
    free(j.seams);
    free(todo);
    return ok;
}
