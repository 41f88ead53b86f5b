/* Correlations at three shifts. */
#include "driver/corpus/survey/shift.h"

#include "base/map.h"
#include "base/portable_math.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { JUDGED_PAIRS = 500, LEAST_PAIRS = 30, LEAST_COMMON = 20 };
/* How far the other line must be ahead, in standard deviations of the difference. */
static const double DEVIATIONS = 5;

/* Words that many languages write alike: with a digit, or a capital letter behind the line's first
 * word. */
static bool is_telling(const char *word, size_t n, bool first)
{
    bool digit = false;
    for (size_t i = 0; i < n; i++)
        digit |= isdigit((unsigned char)word[i]) != 0;
    return digit || (!first && n > 2 && isupper((unsigned char)word[0]));
}

static void read_line(const Digest *digest, ShiftLine *line)
{
    static const char ends[] = " \t.,;:!?()\"";
    const Line clean = digest_clean(digest);
    *line = (ShiftLine){.length = portable_log(1 + (double)digest->characters)};
    for (size_t at = 0, n; at < clean.length && line->n_words < SHIFT_WORDS; at += n ? n : 1) {
        for (n = 0;
             at + n < clean.length && clean.text[at + n] && !strchr(ends, clean.text[at + n]);)
            n++;
        if (n && is_telling(clean.text + at, n, at == 0))
            line->words[line->n_words++] = hash_bytes(HASH_SEED, clean.text + at, n);
    }
}

static bool has_common(const ShiftLine *a, const ShiftLine *b)
{
    for (int i = 0; i < a->n_words; i++)
        for (int k = 0; k < b->n_words; k++)
            if (a->words[i] == b->words[k])
                return true;
    return false;
}

static void add_shift_line(ShiftSums *sums, const ShiftLine *source, const ShiftLine *target)
{
    double x = source->length, y = target->length;
    sums->n++;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->yy += y * y;
    sums->xy += x * y;
    sums->common += has_common(source, target);
}

bool shift_add(Shift *shift, const Digest digests[2])
{
    ShiftLine now[2];
    for (int k = 0; k < 2; k++)
        read_line(&digests[k], &now[k]);
    if (shift->has_before) {
        add_shift_line(&shift->sums[0], &now[0], &shift->before[1]);
        add_shift_line(&shift->sums[2], &shift->before[0], &now[1]);
    }
    add_shift_line(&shift->sums[1], &now[0], &now[1]);
    memcpy(shift->before, now, sizeof now);
    shift->has_before = true;
    return ++shift->pairs >= JUDGED_PAIRS;
}

static double correlation(const ShiftSums *s)
{
    double xy = s->n * s->xy - s->x * s->y, xx = s->n * s->xx - s->x * s->x,
           yy = s->n * s->yy - s->y * s->y;
    return xx > 1e-9 && yy > 1e-9 ? fmin(fmax(xy / sqrt(xx * yy), -0.999), 0.999) : 0;
}

ShiftVerdict shift_judge(Shift *shift)
{
    const ShiftSums *own = &shift->sums[1];
    ShiftVerdict verdict = {
        .pairs = shift->pairs, .own = correlation(own), .own_common = (int64_t)own->common};
    double furthest = DEVIATIONS;
    for (int by = -1; by <= 1 && shift->pairs >= LEAST_PAIRS; by += 2) {
        const ShiftSums *sums = &shift->sums[by + 1];
        double other = correlation(sums), common = sums->common + own->common;
        /* Fisher's transformation, whose deviation is 1 / sqrt(n - 3) */
        double lengths = (atanh(other) - atanh(verdict.own)) / sqrt(2 / (sums->n - 3));
        double words =
            sums->common >= LEAST_COMMON ? (sums->common - own->common) / sqrt(common) : 0;
        double ahead = fmax(lengths, words);
        if (ahead <= furthest)
            continue;
        furthest = ahead;
        verdict.by = by;
        verdict.other = other;
        verdict.other_common = (int64_t)sums->common;
    }
    shift->pairs = 0;
    memset(shift->sums, 0, sizeof shift->sums);
    return verdict;
}
