/* Two readings of a text, before them one of the validation texts. */
#include "driver/corpus/survey/repeats.h"

#include "base/arena.h"
#include "base/map.h"
#include "driver/corpus/survey/encoding.h"
#include "driver/corpus/survey/shift.h"
#include "driver/corpus/survey/side_model.h"
#include "driver/corpus/survey/text_counts.h"
#include "runtime/data/corpus.h"

#include <stdlib.h>

enum {
    COPY_WORDS = 3,      /* a name or a number of fewer words is the same in many languages */
    TELLING_PAIRS = 100, /* from which on a corpus tells what its sides are like … */
    TELLING_SHARE = 90   /* … if so many of a hundred look as their own side */
};

typedef struct Look {
    Job *job;
    const SurveyOptions *options;
    Survey *out;
    int n; /* sides */
    Findings *findings;
    Repeats *repeats;
    RawText raw;
    Corpus *corpus; /* the current row, encoded as a training encodes it; NULL: no tokens are */
    Digest digests[2];
    TextCounts counts[2];
    RatioSpread *ratios;
    SideModel *sides;
    Shift shift;
    bool composed; /* a letter in one piece with its mark was there */
    int64_t with_cr[2];
    int64_t right, told; /* pairs whose sides look as their own, of those that look as any */
} Look;

/* The keys of Repeats: the line or the pair, then the sides of a pair. */
static void hash_row(const Look *look, uint64_t hashes[REPEAT_KEYS])
{
    const Digest *d = look->digests;
    hashes[0] = look->n == 2 ? hash_u64(d[0].hash, d[1].hash) : d[0].hash;
    hashes[1] = d[0].hash;
    hashes[2] = d[1].hash;
}

/* Which of Corpus.values side k is: lines are targets. */
static int value_of(const Look *look, int k) { return look->n == 2 ? k : SIDE_TARGET; }

static bool is_empty(const Look *look)
{
    return !look->digests[0].words || (look->n == 2 && !look->digests[1].words);
}

static void digest_pair(Look *look, const RawPair *pair)
{
    for (int k = 0; k < look->n; k++)
        digest_line(&look->digests[k], &pair->sides[k].line);
}

/* ---- validation texts ---- */

static bool hold_text(Look *look, size_t v)
{
    RawPair pair;
    uint64_t hashes[REPEAT_KEYS];
    bool ok = raw_open(look->job, &look->options->valid.data[v], look->options, &look->raw);
    while (ok && raw_next(&look->raw, &pair)) {
        digest_pair(look, &pair);
        hash_row(look, hashes);
        repeats_hold(look->repeats, v, hashes);
    }
    raw_close(&look->raw);
    return ok && !look->job->diags.errors;
}

/* ---- the first reading ---- */

static void find_encoding(Look *look, const RawPair *pair)
{
    static const char *const names[] = {"source", "target"};
    bool found[ENCODING_FAULTS] = {0};
    for (int k = 0; k < look->n; k++) {
        size_t at[ENCODING_FAULTS];
        const Line *line = &pair->sides[k].line;
        encoding_look(line, at);
        for (int i = 0; i < ENCODING_FAULTS; i++) {
            if (at[i] == ENCODING_NONE || found[i])
                continue;
            found[i] = true;
            const char *side = look->n == 2 ? names[k] : "";
            FindingPlace place = {k, at[i]};
            if (i == ENCODING_NOT_UTF8)
                findings_add(look->findings, SURVEY_not_utf8, pair, place, "%s%sbyte %zu: 0x%02x",
                             side, *side ? ", " : "", at[i] + 1, (unsigned char)line->text[at[i]]);
            else
                findings_add(look->findings, (SurveyKind)i, pair, place, "%s%sbyte %zu", side,
                             *side ? ", " : "", at[i] + 1);
        }
    }
}

static void find_forms(Look *look, const RawPair *pair)
{
    FindingPlace place = everywhere;
    for (int k = 0; k < look->n; k++) {
        const EncodingForms forms = encoding_forms(&pair->sides[k].line);
        look->composed |= forms.composed;
        if (place.side < 0 && forms.decomposed != ENCODING_NONE)
            place = (FindingPlace){k, forms.decomposed};
    }
    if (place.side >= 0)
        findings_add(look->findings, SURVEY_decomposed, pair, place, "byte %zu", place.byte + 1);
}

/* Judges the pairs up to this one. */
static void find_shift(Look *look, const RawPair *pair)
{
    const ShiftVerdict v = shift_judge(&look->shift);
    if (!v.by)
        return;
    findings_add(
        look->findings, SURVEY_shifted, pair, everywhere,
        "in the %lld pairs up to here a source fits the target of the line %s: lengths correlate by %.2f, by %.2f "
        "with its own; %lld have a name or number in common, %lld with its own",
        (long long)v.pairs, v.by > 0 ? "after" : "before", v.other, v.own,
        (long long)v.other_common, (long long)v.own_common);
    look->out->findings[SURVEY_shifted].lines += v.pairs - 1;
}

static void find_ends(Look *look, const RawPair *pair)
{
    bool cut = false, mark = false, cr = false, first = false;
    for (int k = 0; k < look->n; k++) {
        const RawLine *line = &pair->sides[k];
        cut |= line->is_cut;
        mark |= line->has_mark;
        cr |= line->has_cr;
        first |= line->has_cr && !look->with_cr[k]++;
    }
    if (first) /* the first of each side is shown */
        findings_add(look->findings, SURVEY_crlf, pair, everywhere, NULL);
    else if (cr)
        look->out->findings[SURVEY_crlf].lines++;
    if (cut)
        findings_add(look->findings, SURVEY_too_long, pair, everywhere, NULL);
    if (mark)
        findings_add(look->findings, SURVEY_byte_order_mark, pair, everywhere, NULL);
}

static void count_tokens(Look *look, const RawPair *pair)
{
    const Line lines[2] = {digest_clean(&look->digests[0]), digest_clean(&look->digests[1])};
    const int64_t limit = look->options->max_length;
    int first = -1; /* the first side with an unknown token */
    corpus_clear(look->corpus);
    const CorpusRow row = corpus_add(look->corpus, 0, &lines[0], look->n == 2 ? &lines[1] : NULL);
    if (row.is_refused) {
        findings_add(look->findings, SURVEY_refused, pair, everywhere, "%s", tokenizer_problem());
        return;
    }
    for (int k = look->n; k-- > 0;) {
        const Ids *ids = &look->corpus->values[value_of(look, k)].ids;
        if (text_counts_tokens(&look->counts[k], ids->data, (int64_t)ids->count, &lines[k]))
            first = k;
    }
    if (limit && row.tokens > limit)
        findings_add(look->findings, SURVEY_over_length, pair, everywhere, "%lld tokens",
                     (long long)row.tokens);
    if (first < 0)
        return;
    const bool shown = look->out->findings[SURVEY_unknown].lines < look->findings->examples;
    const char *list = shown ? vocab_unknown(look->counts[first].vocab, look->job->arena,
                                             lines[first].text, lines[first].length)
                             : NULL;
    findings_add(look->findings, SURVEY_unknown, pair, everywhere, "%s", list ? list : "");
}

static bool is_copy(const Look *look)
{
    const Digest *d = look->digests;
    return look->n == 2 && d[0].hash == d[1].hash;
}

static void count_pair(Look *look, const RawPair *pair)
{
    const Digest *d = look->digests;
    uint64_t hashes[REPEAT_KEYS];
    look->out->lines++;
    find_encoding(look, pair);
    find_ends(look, pair);
    find_forms(look, pair);
    for (int k = 0; k < look->n; k++)
        text_counts_add(&look->counts[k], &d[k]);
    if (!pair->has_tab) {
        findings_add(look->findings, SURVEY_no_tab, pair, everywhere, NULL);
        return;
    }
    if (look->corpus)
        count_tokens(look, pair);
    if (is_empty(look)) {
        const char *which = d[1].words ? "source" : d[0].words ? "target" : "both sides";
        findings_add(look->findings, SURVEY_empty, pair, everywhere, "%s",
                     look->n == 2 ? which : "");
        return;
    }
    hash_row(look, hashes);
    repeats_find(look->repeats, pair, pair->number, hashes);
    if (look->n == 1)
        return;
    if (is_copy(look)) {
        if (d[0].words >= COPY_WORDS)
            findings_add(look->findings, SURVEY_copy, pair, everywhere, NULL);
        return;
    }
    if (shift_add(&look->shift, d))
        find_shift(look, pair);
    ratio_spread_add(look->ratios, d[0].characters, d[1].characters);
    side_model_add(look->sides, d);
}

/* ---- the second reading ---- */

static void judge_pair(Look *look, const RawPair *pair)
{
    const Digest *d = look->digests;
    if (!pair->has_tab || is_empty(look) || is_copy(look))
        return;
    if (ratio_spread_is_off(look->ratios, d[0].characters, d[1].characters))
        findings_add(look->findings, SURVEY_ratio, pair, everywhere, "%lld and %lld characters",
                     (long long)d[0].characters, (long long)d[1].characters);
    SideScore score = side_model_score(look->sides, d);
    SideVerdict verdict = side_score_verdict(&score);
    double sum = score.mean[0] + score.mean[1];
    look->told += sum != 0;
    look->right += sum > 0;
    if (verdict == SIDES_SWAPPED)
        findings_add(look->findings, SURVEY_swapped, pair, everywhere, NULL);
    else if (verdict != SIDES_RIGHT)
        findings_add(look->findings, SURVEY_language, pair, everywhere, "both look like %s",
                     verdict == SIDES_BOTH_SOURCE ? "sources" : "targets");
}

static void judge_pairs(Look *look)
{
    RawPair pair;
    const bool ok = raw_rewind(&look->raw);
    ratio_spread_settle(look->ratios);
    while (ok && raw_next(&look->raw, &pair)) {
        digest_pair(look, &pair);
        judge_pair(look, &pair);
    }
    look->out->ratio = ratio_spread_typical(look->ratios);
    look->out->knows_sides =
        look->told >= TELLING_PAIRS && look->right * 100 >= look->told * TELLING_SHARE;
    if (!look->out->knows_sides) {
        findings_clear(look->findings, SURVEY_swapped);
        findings_clear(look->findings, SURVEY_language);
    }
}

/* ---- results ---- */

static void put_results(Look *look)
{
    static const char *const names[] = {"source", "target"};
    Arena *arena = look->job->arena;
    Survey *out = look->out;
    bool mixed = false;
    out->columns = ARENA_ARRAY(arena, SurveyColumn, 2);
    out->file = raw_names(&look->raw, 0);
    if (look->n == 2 && !look->raw.has_columns)
        out->file = arena_printf(arena, "%s, %s", out->file, raw_names(&look->raw, 1));
    for (int k = 0; k < look->n; k++) {
        SurveyColumn *column = &out->columns[out->n_columns++];
        mixed |= look->with_cr[k] && look->with_cr[k] < out->lines;
        *column = (SurveyColumn){.name = look->n == 2 ? names[k] : "",
                                 .kind = COLUMN_TEXT,
                                 .file = raw_names(&look->raw, look->raw.has_columns ? 0 : k)};
        text_counts_put(&look->counts[k], arena, column);
    }
    if (!mixed)
        findings_clear(look->findings, SURVEY_crlf);
    if (!look->composed)
        findings_clear(look->findings, SURVEY_decomposed);
    out->findings[SURVEY_swapped].is_looked_for = out->knows_sides;
    out->findings[SURVEY_language].is_looked_for = out->knows_sides;
    out->findings[SURVEY_no_tab].is_looked_for = look->raw.has_columns;
    out->findings[SURVEY_over_length].is_looked_for = look->options->max_length > 0;
    out->findings[SURVEY_unknown].is_looked_for = look->corpus != NULL;
    out->findings[SURVEY_refused].is_looked_for = look->corpus != NULL;
}

static void open_corpus(Look *look, const Vocabulary *vocab)
{
    const CorpusOptions options = {.kind = look->n == 2 ? CORPUS_PAIRS : CORPUS_LINES,
                                   .keep_all = true};
    look->corpus = vocab ? corpus_new(vocab, &options) : NULL;
    for (int k = 0; vocab && k < look->n; k++)
        text_counts_open(&look->counts[k], corpus_vocab(&options, vocab, value_of(look, k)));
}

static bool look_at(Look *look, const Vocabulary *vocab)
{
    bool ok = true;
    for (size_t v = 0; ok && v < look->options->valid.count; v++)
        ok = hold_text(look, v);
    if (!ok)
        return false;
    open_corpus(look, vocab);
    if (raw_open(look->job, &look->options->train, look->options, &look->raw)) {
        RawPair pair = {0};
        while (raw_next(&look->raw, &pair)) {
            digest_pair(look, &pair);
            count_pair(look, &pair);
        }
        if (look->n == 2 && look->out->lines)
            find_shift(look, &pair);
        if (look->n == 2 && !look->job->diags.errors)
            judge_pairs(look);
        put_results(look);
    }
    raw_close(&look->raw);
    return !look->job->diags.errors;
}

bool survey_texts(const SurveyOptions *options, const Vocabulary *vocab, Repeats *repeats)
{
    Survey *out = repeats->findings->out;
    const bool pairs = out->data == OF_PAIRS;
    Look look = {.job = repeats->findings->job,
                 .options = options,
                 .out = out,
                 .n = 1 + pairs,
                 .findings = repeats->findings,
                 .repeats = repeats};
    if (pairs) {
        repeats->n = REPEAT_KEYS;
        repeats->kinds[1] = (RepeatKind){SURVEY_same_source, SURVEY_overlap_source};
        repeats->kinds[2] = (RepeatKind){SURVEY_same_target, SURVEY_overlap_target};
        look.sides = side_model_new();
        look.ratios = memory_zeroed(1, sizeof *look.ratios);
    }
    out->has_tokens = vocab != NULL;
    const bool ok = look_at(&look, vocab);
    for (int k = 0; k < 2; k++) {
        digest_free(&look.digests[k]);
        text_counts_free(&look.counts[k]);
    }
    corpus_free(look.corpus);
    side_model_free(look.sides);
    free(look.ratios);
    return ok;
}
