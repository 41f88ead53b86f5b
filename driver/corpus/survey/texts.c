/* Two readings of a corpus, before them one of the validation texts. */
#include "driver/corpus/survey/survey.h"

#include "base/arena.h"
#include "base/map.h"
#include "driver/corpus/survey/coverage.h"
#include "driver/corpus/survey/encoding.h"
#include "driver/corpus/survey/findings.h"
#include "driver/corpus/survey/digest.h"
#include "driver/corpus/survey/shift.h"
#include "driver/corpus/survey/side_model.h"

#include <stdlib.h>

enum {
    COPY_WORDS = 3,      /* a name or a number of fewer words is the same in many languages */
    TELLING_PAIRS = 100, /* from which on a corpus tells what its sides are like … */
    TELLING_SHARE = 90   /* … if so many of a hundred look as their own side */
};

/* Held: a validation text, by hashes. [2]: of whole pairs. */
typedef struct Held {
    const char *name;
    LineHashes hashes[3];
    VEC(uint64_t) rows[3]; /* by line */
} Held;

typedef struct Look {
    Job *job;
    const SurveyOptions *options;
    Survey *out;
    int n; /* sides */
    Findings findings;
    RawText raw;
    Held *held;
    Coverage *coverage;
    Digest digests[2];
    LengthSpread characters[2], words[2];
    RatioSpread *ratios;
    SideModel *sides;
    LineHashes seen[3]; /* as of Held */
    Shift shift;
    bool composed; /* a letter in one piece with its mark was there */
    int64_t with_cr[2];
    int64_t right, told; /* pairs whose sides look as their own, of those that look as any */
} Look;

static const FindingPlace everywhere = {-1, 0};

static uint64_t hash_of_pair(const Digest digests[2])
{
    return hash_u64(digests[0].hash, digests[1].hash);
}

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

static void hold_row(Look *look, Held *held)
{
    for (int k = 0; k < look->n; k++) {
        line_hashes_add(&held->hashes[k], look->digests[k].hash, (int64_t)held->rows[k].count + 1);
        vec_push(look->job->arena, held->rows[k], look->digests[k].hash);
    }
    uint64_t whole = look->n == 2 ? hash_of_pair(look->digests) : look->digests[0].hash;
    line_hashes_add(&held->hashes[2], whole, (int64_t)held->rows[2].count + 1);
    vec_push(look->job->arena, held->rows[2], whole);
}

static bool hold_text(Look *look, const SurveyText *text, Held *held)
{
    RawPair pair;
    held->name = text->name;
    bool ok = raw_open(look->job, text, look->options, &look->raw);
    while (ok && raw_next(&look->raw, &pair)) {
        digest_pair(look, &pair);
        hold_row(look, held);
    }
    raw_close(&look->raw);
    return ok && !look->job->diags.errors;
}

static void find_overlap(Look *look, const RawPair *pair)
{
    const Digest *d = look->digests;
    uint64_t whole = look->n == 2 ? hash_of_pair(d) : d[0].hash;
    bool told[3] = {0};
    for (size_t i = 0; i < look->options->valid.count; i++) {
        Held *held = &look->held[i];
        const char *name = held->name ? held->name : "validation";
        int64_t line[3] = {0};
        for (int k = 0; k < look->n; k++)
            line[k] = line_hashes_find(&held->hashes[k], d[k].hash, true);
        line[2] = line_hashes_find(&held->hashes[2], whole, true);
        int kind = line[2] ? 2 : line[0] ? 0 : line[1] ? 1 : -1;
        static const SurveyKind kinds[] = {SURVEY_overlap_source, SURVEY_overlap_target,
                                           SURVEY_overlap};
        if (kind >= 0 && !told[kind]) {
            told[kind] = true;
            findings_add(&look->findings, kinds[kind], pair, everywhere, "%s, line %lld", name,
                         (long long)line[kind]);
        }
    }
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
                findings_add(&look->findings, SURVEY_not_utf8, pair, place, "%s%sbyte %zu: 0x%02x",
                             side, *side ? ", " : "", at[i] + 1, (unsigned char)line->text[at[i]]);
            else
                findings_add(&look->findings, (SurveyKind)i, pair, place, "%s%sbyte %zu", side,
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
        findings_add(&look->findings, SURVEY_decomposed, pair, place, "byte %zu", place.byte + 1);
}

/* Judges the pairs up to this one. */
static void find_shift(Look *look, const RawPair *pair)
{
    const ShiftVerdict v = shift_judge(&look->shift);
    if (!v.by)
        return;
    findings_add(
        &look->findings, SURVEY_shifted, pair, everywhere,
        "in the %lld pairs up to here a source fits the target of the line %s: lengths correlate by %.2f, by %.2f "
        "with its own; %lld have a name or number in common, %lld with its own",
        (long long)v.pairs, v.by > 0 ? "after" : "before", v.other, v.own,
        (long long)v.other_common, (long long)v.own_common);
    look->findings.at[SURVEY_shifted].lines += v.pairs - 1;
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
        findings_add(&look->findings, SURVEY_crlf, pair, everywhere, NULL);
    else if (cr)
        look->findings.at[SURVEY_crlf].lines++;
    if (cut)
        findings_add(&look->findings, SURVEY_too_long, pair, everywhere, NULL);
    if (mark)
        findings_add(&look->findings, SURVEY_byte_order_mark, pair, everywhere, NULL);
}

static void find_again(Look *look, const RawPair *pair)
{
    const Digest *d = look->digests;
    uint64_t whole = look->n == 2 ? hash_of_pair(d) : d[0].hash;
    int64_t before = line_hashes_add(&look->seen[2], whole, pair->number), side[2] = {0};
    for (int k = 0; k < look->n && look->n == 2; k++)
        side[k] = line_hashes_add(&look->seen[k], d[k].hash, pair->number);
    if (before) {
        findings_add(&look->findings, SURVEY_duplicate, pair, everywhere, "as line %lld",
                     (long long)before);
        return;
    }
    for (int k = 0; k < 2; k++)
        if (side[k])
            findings_add(&look->findings, k ? SURVEY_same_target : SURVEY_same_source, pair,
                         everywhere, "as line %lld", (long long)side[k]);
}

static void count_tokens(Look *look, const RawPair *pair)
{
    const Line lines[2] = {digest_clean(&look->digests[0]), digest_clean(&look->digests[1])};
    CoveredRow row = coverage_add(look->coverage, lines);
    int64_t limit = look->options->max_length;
    if (limit && row.tokens > limit)
        findings_add(&look->findings, SURVEY_over_length, pair, everywhere, "%lld tokens",
                     (long long)row.tokens);
    if (!row.unknown[0] && !row.unknown[1])
        return;
    const CoveredSide *side = &look->coverage->sides[row.unknown[0] ? 0 : 1];
    const Line *line = &lines[row.unknown[0] ? 0 : 1];
    bool shown = look->findings.at[SURVEY_unknown].lines < look->findings.examples;
    const char *list =
        shown ? vocab_unknown(side->vocab, look->job->arena, line->text, line->length) : NULL;
    findings_add(&look->findings, SURVEY_unknown, pair, everywhere, "%s", list ? list : "");
}

static bool is_copy(const Look *look)
{
    const Digest *d = look->digests;
    return look->n == 2 && d[0].hash == d[1].hash;
}

static void count_pair(Look *look, const RawPair *pair)
{
    const Digest *d = look->digests;
    look->out->lines++;
    find_encoding(look, pair);
    find_ends(look, pair);
    find_forms(look, pair);
    for (int k = 0; k < look->n; k++) {
        length_spread_add(&look->characters[k], d[k].characters);
        length_spread_add(&look->words[k], d[k].words);
    }
    if (!pair->has_tab) {
        findings_add(&look->findings, SURVEY_no_tab, pair, everywhere, NULL);
        return;
    }
    if (look->coverage)
        count_tokens(look, pair);
    if (is_empty(look)) {
        const char *which = d[1].words ? "source" : d[0].words ? "target" : "both sides";
        findings_add(&look->findings, SURVEY_empty, pair, everywhere, "%s",
                     look->n == 2 ? which : "");
        return;
    }
    find_again(look, pair);
    find_overlap(look, pair);
    if (look->n == 1)
        return;
    if (is_copy(look)) {
        if (d[0].words >= COPY_WORDS)
            findings_add(&look->findings, SURVEY_copy, pair, everywhere, NULL);
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
        findings_add(&look->findings, SURVEY_ratio, pair, everywhere, "%lld and %lld characters",
                     (long long)d[0].characters, (long long)d[1].characters);
    SideScore score = side_model_score(look->sides, d);
    SideVerdict verdict = side_score_verdict(&score);
    double sum = score.mean[0] + score.mean[1];
    look->told += sum != 0;
    look->right += sum > 0;
    if (verdict == SIDES_SWAPPED)
        findings_add(&look->findings, SURVEY_swapped, pair, everywhere, NULL);
    else if (verdict != SIDES_RIGHT)
        findings_add(&look->findings, SURVEY_language, pair, everywhere, "both look like %s",
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
        findings_clear(&look->findings, SURVEY_swapped);
        findings_clear(&look->findings, SURVEY_language);
    }
}

/* ---- results ---- */

static void put_results(Look *look)
{
    Arena *arena = look->job->arena;
    Survey *out = look->out;
    bool mixed = false;
    for (int k = 0; k < look->n; k++) {
        mixed |= look->with_cr[k] && look->with_cr[k] < out->lines;
        out->sides[k].file = raw_names(&look->raw, look->raw.has_columns ? 0 : k);
        out->sides[k].characters = length_spread_of(&look->characters[k]);
        out->sides[k].words = length_spread_of(&look->words[k]);
        if (look->coverage)
            out->sides[k].coverage = coverage_of(look->coverage, k, arena);
    }
    if (!mixed)
        findings_clear(&look->findings, SURVEY_crlf);
    if (!look->composed)
        findings_clear(&look->findings, SURVEY_decomposed);
    for (size_t i = 0; i < look->options->valid.count; i++) {
        const Held *held = &look->held[i];
        SurveyValid valid = {.name = held->name, .lines = (int64_t)held->rows[2].count};
        for (size_t row = 0; row < held->rows[2].count; row++) {
            valid.whole += line_hashes_is_marked(&held->hashes[2], held->rows[2].data[row]);
            for (int k = 0; k < look->n; k++)
                valid.sides[k] += line_hashes_is_marked(&held->hashes[k], held->rows[k].data[row]);
        }
        vec_push(arena, out->valid, valid);
    }
}

/* Which kinds this text can have at all. */
static void put_looked_for(Look *look)
{
    const SurveyOptions *o = look->options;
    bool pairs = look->n == 2, held = o->valid.count > 0;
    for (int i = 0; i < SURVEY_KINDS; i++)
        look->out->findings[i].is_looked_for = true;
    static const SurveyKind of_pairs[] = {SURVEY_copy, SURVEY_ratio, SURVEY_shifted,
                                          SURVEY_same_source, SURVEY_same_target};
    for (size_t i = 0; i < sizeof of_pairs / sizeof of_pairs[0]; i++)
        look->out->findings[of_pairs[i]].is_looked_for = pairs;
    look->out->findings[SURVEY_swapped].is_looked_for = look->out->knows_sides;
    look->out->findings[SURVEY_language].is_looked_for = look->out->knows_sides;
    look->out->findings[SURVEY_no_tab].is_looked_for = look->raw.has_columns;
    look->out->findings[SURVEY_over_length].is_looked_for = o->max_length > 0;
    look->out->findings[SURVEY_unknown].is_looked_for = look->coverage != NULL;
    look->out->findings[SURVEY_overlap].is_looked_for = held;
    look->out->findings[SURVEY_overlap_source].is_looked_for = held && pairs;
    look->out->findings[SURVEY_overlap_target].is_looked_for = held && pairs;
}

static bool look_at(Look *look, const Vocabulary *vocab)
{
    const SurveyOptions *o = look->options;
    bool ok = true;
    for (size_t i = 0; ok && i < o->valid.count; i++)
        ok = hold_text(look, &o->valid.data[i], &look->held[i]);
    if (!ok)
        return false;
    look->coverage = coverage_new(vocab, look->n);
    if (raw_open(look->job, &o->train, o, &look->raw)) {
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
        put_looked_for(look);
    }
    raw_close(&look->raw);
    return !look->job->diags.errors;
}

static void free_look(Look *look)
{
    for (size_t i = 0; i < look->options->valid.count; i++)
        for (int k = 0; k < 3; k++)
            line_hashes_free(&look->held[i].hashes[k]);
    for (int k = 0; k < 3; k++)
        line_hashes_free(&look->seen[k]);
    for (int k = 0; k < 2; k++) {
        digest_free(&look->digests[k]);
        length_spread_free(&look->characters[k]);
        length_spread_free(&look->words[k]);
    }
    coverage_free(look->coverage);
    side_model_free(look->sides);
    free(look->ratios);
}

bool survey_vocabulary(Job *job, const VocabularyChoice *choice, Vocabulary **vocab)
{
    *vocab = NULL;
    if (!choice->spec)
        return true;
    if (vocabulary_needs_text(choice))
        return job_error(
            job,
            "--vocab %s would be made from the texts: give one that is there, of a run "
            "or a file",
            choice->spec);
    *vocab = vocabulary_load(job, choice);
    return *vocab != NULL;
}

bool survey(Job *job, const SurveyOptions *options, Survey *result)
{
    Vocabulary *vocab;
    *result = (Survey){.is_pairs = !options->train.files.text.count,
                       .has_tokens = options->vocab.spec != NULL};
    if (!survey_vocabulary(job, &options->vocab, &vocab))
        return false;
    Look look = {.job = job, .options = options, .out = result, .n = 1 + result->is_pairs};
    findings_init(&look.findings, job, options, result->findings);
    look.held = ARENA_ARRAY(job->arena, Held, options->valid.count + 1);
    if (look.n == 2) {
        look.sides = side_model_new();
        look.ratios = memory_zeroed(1, sizeof *look.ratios);
    }
    bool ok = look_at(&look, vocab);
    free_look(&look);
    return ok;
}
