/* Choosing tokens from a row of logits: the k best, or a draw. */
#include "runtime/decode/pick.h"

#include "base/philox.h"
#include "base/portable_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* e^x for -87 <= x <= 0, within 2e-7: a form that compilers turn into vectors. */
static inline float exp_below_zero(float x)
{
    int32_t whole = (int32_t)(x * 1.44269504f - 0.5f);
    float part = (x - (float)whole * 0.693359375f) + (float)whole * 2.12194440e-4f;
    float value = 1.9875691500e-4f;
    value = value * part + 1.3981999507e-3f;
    value = value * part + 8.3334519073e-3f;
    value = value * part + 4.1665795894e-2f;
    value = value * part + 1.6666665459e-1f;
    value = value * part + 5.0000001201e-1f;
    value = value * part * part + part + 1.0f;
    uint32_t bits = (uint32_t)(whole + 127) << 23; /* of NaN, whole is anything */
    float power;
    memcpy(&power, &bits, sizeof power);
    return value * power;
}

/* log x of a normal x > 0, within 2e-7 of it and of 1; 0 of 1. Of the same form: x is 2^exponent
 * times what is at least the root of 1/2, as bits, and below that of 2. */
static inline float log_of(float x)
{
    enum { ROOT_OF_HALF = 0x3f3504f3 };
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits -= ROOT_OF_HALF;
    float exponent = (float)(bits >> 23);
    bits = (bits & 0x7fffff) + ROOT_OF_HALF;
    float part;
    memcpy(&part, &bits, sizeof part);
    part -= 1.0f;
    float value = 7.0376836292e-2f;
    value = value * part - 1.1514610310e-1f;
    value = value * part + 1.1676998740e-1f;
    value = value * part - 1.2420140846e-1f;
    value = value * part + 1.4249322787e-1f;
    value = value * part - 1.6668057665e-1f;
    value = value * part + 2.0000714765e-1f;
    value = value * part - 2.4999993993e-1f;
    value = value * part + 3.3333331174e-1f;
    float square = part * part;
    value = value * part * square - 2.12194440e-4f * exponent - 0.5f * square;
    return part + value + 0.693359375f * exponent;
}

/* The loops over the whole row, compiled for several widths of vectors. Under
 * ThreadSanitizer they are not: the choice runs before its library is ready. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

WIDE static float row_max(const float *row, int32_t n)
{
    float greatest = -INFINITY;
#pragma omp simd reduction(max : greatest)
    for (int32_t i = 0; i < n; i++)
        greatest = row[i] > greatest ? row[i] : greatest;
    return greatest;
}

/* Floats summed as floats: the error stays near 1e-6; and partial sums of them, written
 * out, so that the order is the same however this file is compiled. */
enum { SUM_BLOCK = 512, SUM_LANES = 16, PICK_BLOCK = 64 };

WIDE static float block_sum(const float *row, int32_t n, float greatest)
{
    /* two loops: a branch in one would keep it scalar */
    float sums[SUM_LANES] = {0}, below[SUM_BLOCK];
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        float x = row[i] - greatest;
        below[i] = x < -87.0f ? -87.0f : x;
    }
    int32_t whole = n - n % SUM_LANES;
    for (int32_t begin = 0; begin < whole; begin += SUM_LANES)
#pragma omp simd
        for (int32_t lane = 0; lane < SUM_LANES; lane++)
            sums[lane] += exp_below_zero(below[begin + lane]);
    for (int32_t i = whole; i < n; i++)
        sums[i - whole] += exp_below_zero(below[i]);
    float sum = 0;
    for (int32_t lane = 0; lane < SUM_LANES; lane++)
        sum += sums[lane];
    return sum;
}

double pick_logsumexp(const float *logits, int32_t n)
{
    float greatest = row_max(logits, n);
    if (!isfinite(greatest))
        return greatest;
    double sum = 0;
    for (int32_t begin = 0; begin < n; begin += SUM_BLOCK)
        sum += block_sum(logits + begin, n - begin < SUM_BLOCK ? n - begin : SUM_BLOCK, greatest);
    return greatest + portable_log(sum);
}

/* Less is no probability. */
#define LEAST_LOG -1e30f

/* Of rows whose sums are e^totals: a block of at most SUM_BLOCK. The greatest of a token's
 * probabilities is taken out, so that none of the others can be lost. */
WIDE static void block_mean(const float *const *logits, const float *totals, int32_t members,
                            int64_t begin, int32_t n, float *out)
{
    float greatest[SUM_BLOCK], sum[SUM_BLOCK], below[SUM_BLOCK];
    for (int32_t i = 0; i < n; i++) {
        greatest[i] = LEAST_LOG;
        sum[i] = 0;
    }
    for (int32_t m = 0; m < members; m++) {
        const float *row = logits[m] + begin;
        float total = totals[m];
#pragma omp simd
        for (int32_t i = 0; i < n; i++) {
            float x = row[i] - total;
            greatest[i] = x > greatest[i] ? x : greatest[i];
        }
    }
    for (int32_t m = 0; m < members; m++) {
        const float *row = logits[m] + begin;
        float total = totals[m];
#pragma omp simd
        for (int32_t i = 0; i < n; i++) {
            float x = row[i] - total - greatest[i];
            below[i] = x < -87.0f ? -87.0f : x;
        }
#pragma omp simd
        for (int32_t i = 0; i < n; i++)
            sum[i] += exp_below_zero(below[i]);
    }
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        sum[i] = log_of(sum[i] / (float)members);
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        out[i] = greatest[i] > LEAST_LOG ? greatest[i] + sum[i] : -INFINITY;
}

void pick_mean(const float *const *logits, int32_t n, int64_t row, int32_t vocab, float *totals,
               float *out)
{
    int64_t first = row * vocab;
    bool ok = true;
    for (int32_t i = 0; i < n; i++) {
        totals[i] = (float)pick_logsumexp(logits[i] + first, vocab);
        ok = ok && isfinite(totals[i]);
    }
    for (int32_t i = 0; !ok && i < vocab; i++)
        out[i] = NAN;
    for (int32_t begin = 0; ok && begin < vocab; begin += SUM_BLOCK)
        block_mean(logits, totals, n, first + begin,
                   vocab - begin < SUM_BLOCK ? vocab - begin : SUM_BLOCK, out + begin);
}

static bool is_forbidden(const int32_t forbidden[4], int32_t token)
{
    return token == forbidden[0] || token == forbidden[1] || token == forbidden[2] ||
           token == forbidden[3];
}

/* Whether a comes before b: more probable, or equal with the lower token. */
static bool is_before(const Candidate *a, const Candidate *b)
{
    return a->log_probability > b->log_probability ||
           (a->log_probability == b->log_probability && a->token < b->token);
}

static int compare_candidates(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

/* Puts the root of a heap (worst on top) where it belongs. */
static void sift_down(Candidate *heap, int32_t n)
{
    for (int32_t i = 0;;) {
        int32_t worst = i;
        for (int32_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (is_before(&heap[worst], &heap[child]))
                worst = child;
        if (worst == i)
            return;
        Candidate kept = heap[i];
        heap[i] = heap[worst];
        heap[worst] = kept;
        i = worst;
    }
}

static void sift_up(Candidate *heap, int32_t i)
{
    for (; i > 0 && is_before(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2) {
        Candidate kept = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = kept;
    }
}

int32_t pick_best(const float *logits, int32_t vocab, const int32_t forbidden[4], int32_t k,
                  Candidate *out)
{
    int32_t n = 0;
    for (int32_t token = 0; token < vocab; token++) {
        /* a later token comes before the worst only if it is more probable: few blocks have one */
        const int32_t left = vocab - token;
        if (n == k && token % PICK_BLOCK == 0 &&
            !(row_max(logits + token, left < PICK_BLOCK ? left : PICK_BLOCK) >
              (float)out[0].log_probability)) {
            token += PICK_BLOCK - 1;
            continue;
        }
        Candidate candidate = {token, logits[token]};
        if (n == k && !is_before(&candidate, &out[0]))
            continue;
        if (is_forbidden(forbidden, token) || isnan(logits[token]))
            continue;
        if (n < k) {
            out[n] = candidate;
            sift_up(out, n++);
        } else {
            out[0] = candidate;
            sift_down(out, n);
        }
    }
    qsort(out, (size_t)n, sizeof *out, compare_candidates);
    double total = pick_logsumexp(logits, vocab);
    for (int32_t i = 0; i < n; i++)
        out[i].log_probability -= total;
    return n;
}

Candidate pick_sample(const float *logits, int32_t vocab, const DecodeSettings *settings,
                      const uint32_t counter[4], Candidate *scratch)
{
    int32_t k = settings->top_k > 0 && settings->top_k < vocab ? settings->top_k : vocab;
    if (settings->temperature <= 0)
        k = 1;
    int32_t n = pick_best(logits, vocab, settings->forbidden, k, scratch);
    if (n <= 1)
        return n ? scratch[0] : (Candidate){-1, -INFINITY};
    double greatest = scratch[0].log_probability, total = 0;
    for (int32_t i = 0; i < n; i++)
        total += portable_exp((scratch[i].log_probability - greatest) / settings->temperature);
    if (settings->top_p < 1) {
        double mass = 0;
        int32_t kept = 0;
        while (kept < n && mass < settings->top_p * total)
            mass +=
                portable_exp((scratch[kept++].log_probability - greatest) / settings->temperature);
        n = kept ? kept : 1;
        total = kept ? mass : 1;
    }
    const uint32_t key[2] = {(uint32_t)settings->seed, (uint32_t)(settings->seed >> 32)};
    uint32_t random[4];
    philox4x32(counter, key, random);
    double left = ((double)random[0] + 0.5) / 4294967296.0 * total;
    for (int32_t i = 0; i < n; i++) {
        left -= portable_exp((scratch[i].log_probability - greatest) / settings->temperature);
        if (left <= 0)
            return scratch[i];
    }
    return scratch[n - 1];
}
