/* Best path and prefix beam search.
 *
 * A prefix is the label sequence of the frames so far. Its alignments end with a blank or with its
 * last label; the search keeps both sums, p_b and p_l. A frame with the probabilities q changes
 * them so, where `last` is a prefix's last label and p = p_b + p_l:
 *
 *   p_b' of a prefix              q(blank) p
 *   p_l' of a prefix              q(last) p_l, and what extending its parent by `last` gives
 *   extending a prefix by c       q(c) p, but q(c) p_b if c is `last`: without a blank between
 *                                 them, both are one
 *
 * The first two are the candidate of a prefix that stays. An extension is a candidate of its own
 * unless the longer prefix is in the beam already. The best candidates are the next beam.
 *
 * A separator changes nothing before the first word or behind another separator, with or without a
 * blank between them, so that a prefix which is empty or ends with one has
 *
 *   p_l'                          q(separator) p, and what extending its parent gives
 *
 * In the end "words" and "words separator" are one result: the sum of both. */
#include "runtime/decode/ctc.h"

#include "base/portable_math.h"

#include "runtime/decode/pick.h"

#include <math.h>

_Static_assert(CTC_WIDEST == 65536, "the message of CTC_BAD_WIDTH has the number");

const char *ctc_message(CtcStatus status)
{
    static const char *const messages[] = {
#define STATUS(name, message) [CTC_##name] = message,
        CTC_STATUSES
#undef STATUS
    };
    return messages[status];
}

static CtcStatus check_frames(const CtcFrames *f)
{
    if (f->frames < 0 || f->symbols < 1 || f->blank < 0 || f->blank >= f->symbols ||
        (f->frames && !f->log_probabilities))
        return CTC_BAD_FRAMES;
    const int64_t n = (int64_t)f->frames * f->symbols;
    for (int64_t i = 0; i < n; i++)
        if (!(f->log_probabilities[i] < INFINITY))
            return CTC_BAD_NUMBERS;
    return CTC_OK;
}

static const float *frame_row(const CtcFrames *f, int32_t frame)
{
    return f->log_probabilities + (int64_t)frame * f->symbols;
}

/* ---- best path ---- */

CtcStatus ctc_best_path(const CtcFrames *frames, int32_t *labels, int32_t *n,
                        double *log_probability)
{
    *n = 0;
    *log_probability = 0;
    const CtcStatus status = check_frames(frames);
    int32_t before = frames->blank;
    for (int32_t t = 0; status == CTC_OK && t < frames->frames; t++) {
        const float *row = frame_row(frames, t);
        const int32_t symbol = (int32_t)pick_greatest(row, frames->symbols);
        if (symbol != frames->blank && symbol != before)
            labels[(*n)++] = symbol;
        *log_probability += row[symbol];
        before = symbol;
    }
    return status;
}

/* ---- beam ---- */

/* CtcPrefix: a prefix of the beam, or a candidate for the next one.
 *   sequence   of a candidate that extends a prefix: the prefix's node and the label; else the
 *              node alone
 *   word       node of the lexicon's tree: the root before and behind words with separators
 *   blank, label, total   logarithms of p_b, p_l and p */
typedef struct CtcPrefix {
    LabelSequence sequence;
    int32_t word;
    double blank, label, total;
} CtcPrefix;

/* CtcSearch: nodes of `tree` are prefixes; their marks are places in `live`, -1 outside the beam.
 * `next` is a heap with the worst candidate on top. */
typedef struct CtcSearch {
    const CtcFrames *frames;
    const CtcBeam *beam;
    const CtcLexicon *lexicon;
    LabelTree tree;
    CtcPrefix *live, *next;
    int32_t n_live, n_next;
    const float *row; /* of the current frame */
    int32_t left;     /* frames that follow it */
} CtcSearch;

/* log (e^a + e^b) */
static double add_logs(double a, double b)
{
    const double greatest = a > b ? a : b, least = a > b ? b : a;
    return least == -INFINITY ? greatest
                              : greatest + portable_log1p(portable_exp(least - greatest));
}

static bool is_better(const CtcSearch *s, const CtcPrefix *a, const CtcPrefix *b)
{
    return a->total > b->total ||
           (a->total == b->total && label_tree_compare(&s->tree, a->sequence, b->sequence) < 0);
}

static void swap_candidates(CtcPrefix *a, CtcPrefix *b)
{
    const CtcPrefix kept = *a;
    *a = *b;
    *b = kept;
}

static void sink_candidate(CtcSearch *s, int32_t n)
{
    for (int32_t i = 0;;) {
        int32_t worst = i;
        for (int32_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (is_better(s, &s->next[worst], &s->next[child]))
                worst = child;
        if (worst == i)
            return;
        swap_candidates(&s->next[i], &s->next[worst]);
        i = worst;
    }
}

static void raise_candidate(CtcSearch *s, int32_t i)
{
    for (; i > 0 && is_better(s, &s->next[(i - 1) / 2], &s->next[i]); i = (i - 1) / 2)
        swap_candidates(&s->next[i], &s->next[(i - 1) / 2]);
}

/* Whether the candidate has a probability, can become a result, and is among the best so far. */
static bool is_wanted(const CtcSearch *s, const CtcPrefix *candidate)
{
    return candidate->total > -INFINITY &&
           (!s->lexicon || ctc_lexicon_can_end(s->lexicon, candidate->word, s->left)) &&
           (s->n_next < s->beam->width || is_better(s, candidate, &s->next[0]));
}

static void put_candidate(CtcSearch *s, const CtcPrefix *candidate)
{
    if (s->n_next < s->beam->width) {
        s->next[s->n_next] = *candidate;
        raise_candidate(s, s->n_next++);
    } else {
        s->next[0] = *candidate;
        sink_candidate(s, s->n_next);
    }
}

static const LabelNode *node_of(const CtcSearch *s, const CtcPrefix *prefix)
{
    return &s->tree.nodes.data[prefix->sequence.node];
}

/* What extending a prefix by a label gives, as a logarithm. */
static double extended(const CtcSearch *s, const CtcPrefix *prefix, int32_t label)
{
    const bool repeats = label == node_of(s, prefix)->label;
    return s->row[label] + (repeats ? prefix->blank : prefix->total);
}

/* Whether a separator changes nothing: the prefix is empty, or ends with one. */
static bool takes_separators(const CtcSearch *s, const CtcPrefix *prefix)
{
    return s->lexicon && s->lexicon->separator != LEXICON_WHOLE && prefix->word == LABEL_TREE_ROOT;
}

static void try_staying(CtcSearch *s, const CtcPrefix *prefix)
{
    const LabelNode *node = node_of(s, prefix);
    CtcPrefix stays = *prefix;
    stays.blank = prefix->total + s->row[s->frames->blank];
    if (takes_separators(s, prefix))
        stays.label = prefix->total + s->row[s->lexicon->separator];
    else if (node->parent != LABEL_TREE_NONE)
        stays.label = prefix->label + s->row[node->label];
    const int32_t parent =
        node->parent != LABEL_TREE_NONE ? s->tree.nodes.data[node->parent].mark : -1;
    if (parent >= 0)
        stays.label = add_logs(stays.label, extended(s, &s->live[parent], node->label));
    stays.total = add_logs(stays.blank, stays.label);
    if (is_wanted(s, &stays))
        put_candidate(s, &stays);
}

static bool is_live(const CtcSearch *s, LabelSequence sequence)
{
    const int32_t node = label_tree_find(&s->tree, sequence.node, sequence.label);
    return node != LABEL_TREE_NONE && s->tree.nodes.data[node].mark >= 0;
}

static void try_label(CtcSearch *s, const CtcPrefix *prefix, int32_t label, int32_t word)
{
    const double total = extended(s, prefix, label);
    const CtcPrefix candidate = {.sequence = {prefix->sequence.node, label},
                                 .word = word,
                                 .blank = -INFINITY,
                                 .label = total,
                                 .total = total};
    if (is_wanted(s, &candidate) && !is_live(s, candidate.sequence))
        put_candidate(s, &candidate);
}

static void try_words(CtcSearch *s, const CtcPrefix *prefix)
{
    const LabelNode *nodes = s->lexicon->words.nodes.data;
    for (int32_t w = nodes[prefix->word].child; w != LABEL_TREE_NONE; w = nodes[w].sibling)
        try_label(s, prefix, nodes[w].label, w);
    if (s->lexicon->separator != LEXICON_WHOLE && ctc_lexicon_ends(s->lexicon, prefix->word))
        try_label(s, prefix, s->lexicon->separator, LABEL_TREE_ROOT);
}

static void try_all(CtcSearch *s, const CtcPrefix *prefix)
{
    for (int32_t label = 0; label < s->frames->symbols; label++)
        if (label != s->frames->blank)
            try_label(s, prefix, label, LABEL_TREE_ROOT);
}

/* The candidates become the beam. False: memory ran out. */
static bool take_candidates(CtcSearch *s)
{
    for (int32_t i = 0; i < s->n_live; i++)
        s->tree.nodes.data[s->live[i].sequence.node].mark = -1;
    s->n_live = 0;
    for (int32_t i = 0; i < s->n_next; i++) {
        CtcPrefix prefix = s->next[i];
        if (prefix.sequence.label >= 0)
            prefix.sequence.node =
                label_tree_add(&s->tree, prefix.sequence.node, prefix.sequence.label);
        if (prefix.sequence.node == LABEL_TREE_NONE)
            return false;
        prefix.sequence.label = -1;
        s->tree.nodes.data[prefix.sequence.node].mark = s->n_live;
        s->live[s->n_live++] = prefix;
    }
    return true;
}

static bool read_frame(CtcSearch *s, int32_t frame)
{
    s->row = frame_row(s->frames, frame);
    s->left = s->frames->frames - 1 - frame;
    s->n_next = 0;
    for (int32_t i = 0; i < s->n_live; i++)
        try_staying(s, &s->live[i]);
    for (int32_t i = 0; i < s->n_live; i++)
        (s->lexicon ? try_words : try_all)(s, &s->live[i]);
    return take_candidates(s);
}

/* ---- results ---- */

/* The live prefix of a node's sequence; NULL: it is not in the beam. */
static const CtcPrefix *live_at(const CtcSearch *s, int32_t node)
{
    const int32_t at = node == LABEL_TREE_NONE ? -1 : s->tree.nodes.data[node].mark;
    return at >= 0 ? &s->live[at] : NULL;
}

/* Makes a prefix's result: without a separator at its end, of both ways to end. False: the prefix
 * has no whole words, or the other way gives the result. */
static bool make_result(const CtcSearch *s, const CtcPrefix *prefix, CtcPrefix *result)
{
    const CtcLexicon *lexicon = s->lexicon;
    const int32_t node = prefix->sequence.node;
    *result = *prefix;
    if (!lexicon || lexicon->separator == LEXICON_WHOLE || node == LABEL_TREE_ROOT)
        return !lexicon || ctc_lexicon_can_end(lexicon, prefix->word, 0);
    if (prefix->word == LABEL_TREE_ROOT) {
        result->sequence.node = s->tree.nodes.data[node].parent;
        return !live_at(s, result->sequence.node);
    }
    const CtcPrefix *separated = live_at(s, label_tree_find(&s->tree, node, lexicon->separator));
    if (separated)
        result->total = add_logs(prefix->total, separated->total);
    return ctc_lexicon_ends(lexicon, prefix->word);
}

/* The results, the most probable first, into `next`. */
static void sort_results(CtcSearch *s)
{
    CtcPrefix result;
    s->n_next = 0;
    for (int32_t i = 0; i < s->n_live; i++)
        if (make_result(s, &s->live[i], &result))
            put_candidate(s, &result);
    for (int32_t n = s->n_next; n-- > 1;) {
        swap_candidates(&s->next[0], &s->next[n]);
        sink_candidate(s, n);
    }
}

static const int32_t *labels_of(const CtcSearch *s, int32_t node, Arena *arena)
{
    const LabelNode *nodes = s->tree.nodes.data;
    int32_t *labels = ARENA_ARRAY(arena, int32_t, nodes[node].length);
    for (; labels && nodes[node].length; node = nodes[node].parent)
        labels[nodes[node].length - 1] = nodes[node].label;
    return labels;
}

static CtcStatus give_results(CtcSearch *s, Arena *arena, CtcResults *results)
{
    sort_results(s);
    const int32_t n = s->n_next < s->beam->n_best ? s->n_next : s->beam->n_best;
    CtcResult *best = ARENA_ARRAY(arena, CtcResult, n);
    for (int32_t i = 0; best && i < n; i++) {
        const int32_t node = s->next[i].sequence.node;
        best[i] = (CtcResult){labels_of(s, node, arena), s->tree.nodes.data[node].length,
                              s->next[i].total};
    }
    if (arena_failed(arena))
        return CTC_NO_MEMORY;
    *results = (CtcResults){.best = best, .n = n};
    return CTC_OK;
}

static CtcStatus run_search(CtcSearch *s, Arena *own, Arena *arena, CtcResults *results)
{
    s->live = ARENA_ARRAY(own, CtcPrefix, s->beam->width);
    s->next = ARENA_ARRAY(own, CtcPrefix, s->beam->width);
    if (!label_tree_start(&s->tree, own) || arena_failed(own))
        return CTC_NO_MEMORY;
    s->live[s->n_live++] = (CtcPrefix){.sequence = {LABEL_TREE_ROOT, -1}, .label = -INFINITY};
    s->tree.nodes.data[LABEL_TREE_ROOT].mark = 0;
    for (int32_t t = 0; t < s->frames->frames; t++)
        if (!read_frame(s, t))
            return CTC_NO_MEMORY;
    return give_results(s, arena, results);
}

static CtcStatus check_beam(const CtcFrames *frames, const CtcBeam *beam)
{
    const CtcLexicon *lexicon = beam->lexicon;
    if (beam->width < 1 || beam->width > CTC_WIDEST || beam->n_best < 1 ||
        beam->n_best > beam->width)
        return CTC_BAD_WIDTH;
    return lexicon && (lexicon->symbols != frames->symbols || lexicon->blank != frames->blank)
               ? CTC_BAD_LEXICON
               : CTC_OK;
}

CtcStatus ctc_beam(const CtcFrames *frames, const CtcBeam *beam, Arena *arena, CtcResults *results)
{
    *results = (CtcResults){0};
    CtcStatus status = check_frames(frames);
    if (status == CTC_OK)
        status = check_beam(frames, beam);
    if (status != CTC_OK)
        return status;
    Arena *own = arena_try_new();
    CtcSearch search = {.frames = frames, .beam = beam, .lexicon = beam->lexicon};
    status = own ? run_search(&search, own, arena, results) : CTC_NO_MEMORY;
    arena_free(own);
    return status;
}

static CtcStatus best_path(const CtcFrames *frames, Arena *arena, CtcResults *results)
{
    int32_t *labels = ARENA_ARRAY(arena, int32_t, frames->frames + 1);
    CtcResult *best = ARENA_ARRAY(arena, CtcResult, 1);
    if (!labels || !best)
        return CTC_NO_MEMORY;
    const CtcStatus status = ctc_best_path(frames, labels, &best->n, &best->log_probability);
    best->labels = labels;
    if (status == CTC_OK)
        *results = (CtcResults){.best = best, .n = 1};
    return status;
}

/* Whether no words of the lexicon fit, as ctc_search has it. */
static bool fits_no_words(const CtcLexicon *lexicon, const CtcResults *found, const CtcResult *path)
{
    bool has_label = false;
    for (int32_t i = 0; i < path->n; i++)
        has_label |= path->labels[i] != lexicon->separator;
    return !found->n || (!found->best->n && has_label);
}

static CtcStatus search_words(const CtcFrames *frames, const CtcBeam *beam, Arena *arena,
                              CtcResults *results)
{
    CtcResults path;
    CtcStatus status = ctc_beam(frames, beam, arena, results);
    if (status == CTC_OK && (!results->n || !results->best->n)) {
        status = best_path(frames, arena, &path);
        if (status == CTC_OK && fits_no_words(beam->lexicon, results, path.best))
            *results = (CtcResults){.best = path.best, .n = 1, .outside = true};
    }
    if (status != CTC_OK)
        *results = (CtcResults){0};
    return status;
}

CtcStatus ctc_search(const float *probabilities, int64_t n, int64_t symbols, const CtcBeam *beam,
                     Arena *arena, CtcResults *results)
{
    *results = (CtcResults){0};
    float *logs = ARENA_ARRAY(arena, float, n + 1);
    if (!logs)
        return CTC_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        logs[i] = (float)portable_log(probabilities[i]);
    const CtcFrames frames = {logs, (int32_t)(n / symbols), (int32_t)symbols, CTC_LOSS_BLANK};
    return beam->lexicon     ? search_words(&frames, beam, arena, results)
           : beam->width > 1 ? ctc_beam(&frames, beam, arena, results)
                             : best_path(&frames, arena, results);
}
