/* Steps all members with the same tokens and takes the mean, a row of logits at a time. */
#include "runtime/decode/stepper.h"

#include "base/team.h"
#include "runtime/decode/pick.h"
#include "runtime/exec/exec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct MeanStepper {
    Stepper *members;
    int32_t n, vocab, most; /* most: of the whole vocabulary; vocab: that logits have */
    const float **logits;   /* a member, of the step */
    float *mean, *totals;   /* [rows, vocab], [rows, n] */
    int32_t rows;           /* that there is room for */
} MeanStepper;

static bool mean_reserve_rows(MeanStepper *s, int32_t rows)
{
    if (rows <= s->rows)
        return true;
    free(s->mean);
    free(s->totals);
    s->mean = malloc(sizeof(float) * (size_t)rows * (size_t)s->most);
    s->totals = malloc(sizeof(float) * (size_t)rows * (size_t)s->n);
    s->rows = s->mean && s->totals ? rows : 0;
    return s->rows > 0;
}

static bool mean_begin(void *self, const Sources *sources, int32_t n_slots)
{
    MeanStepper *s = self;
    bool ok = mean_reserve_rows(s, n_slots);
    for (int32_t i = 0; ok && i < s->n; i++)
        ok = s->members[i].begin(s->members[i].self, sources, n_slots);
    return ok;
}

static void take_mean(const void *context, int64_t row)
{
    const MeanStepper *s = context;
    pick_mean(s->logits, s->n, row, s->vocab, s->totals + row * s->n, s->mean + row * s->vocab);
}

/* All members forget what only some have: the last one has it only if all have. */
static int32_t mean_roll_back(void *self, int32_t slot, int32_t length)
{
    MeanStepper *s = self;
    for (bool differs = true; differs;) {
        differs = false;
        for (int32_t i = 0; i < s->n; i++) {
            const int32_t left = s->members[i].roll_back(s->members[i].self, slot, length);
            differs |= i && left < length;
            length = left;
        }
    }
    return length;
}

/* A member failed, before which others were fed. */
static void mean_take_back(MeanStepper *s, int32_t n, const int32_t *slot)
{
    const Stepper *last = &s->members[s->n - 1];
    for (int32_t r = 0; r < n; r++)
        mean_roll_back(s, slot[r], last->length(last->self, slot[r]));
}

static const float *mean_step(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                              const int32_t *counts, const int32_t *tokens)
{
    MeanStepper *s = self;
    int32_t total = n;
    for (int32_t r = 0; counts && r < n; r++)
        total += counts[r] - 1;
    if (!mean_reserve_rows(s, total))
        return NULL;
    for (int32_t i = 0; i < s->n; i++) {
        s->logits[i] = s->members[i].step(s->members[i].self, n, sentence, slot, counts, tokens);
        if (!s->logits[i]) {
            mean_take_back(s, n, slot);
            return NULL;
        }
    }
    team_each(exec_threads(), total, take_mean, s);
    return s->mean;
}

static bool mean_feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                      const int32_t *counts, const int32_t *tokens)
{
    MeanStepper *s = self;
    bool ok = true;
    for (int32_t i = 0; ok && i < s->n; i++)
        ok = s->members[i].feed(s->members[i].self, n, sentence, slot, counts, tokens);
    if (!ok)
        mean_take_back(s, n, slot);
    return ok;
}

/* Members have the same shortlist. */
static bool mean_choose(void *self, const TokenNeeds *needs, ChosenTokens *out)
{
    MeanStepper *s = self;
    bool ok = true;
    for (int32_t i = 0; ok && i < s->n; i++)
        ok = s->members[i].choose(s->members[i].self, needs, out);
    s->vocab = out->n;
    return ok;
}

static void mean_copy(void *self, int32_t from, int32_t to)
{
    MeanStepper *s = self;
    for (int32_t i = 0; i < s->n; i++)
        s->members[i].copy(s->members[i].self, from, to);
}

static int32_t mean_length(void *self, int32_t slot)
{
    const MeanStepper *s = self;
    return s->members[0].length(s->members[0].self, slot);
}

/* The members' records, each behind its size. */
static size_t mean_bytes(void *self, int32_t slot)
{
    const MeanStepper *s = self;
    size_t bytes = 0;
    for (int32_t i = 0; i < s->n; i++)
        bytes += sizeof bytes + s->members[i].bytes(s->members[i].self, slot);
    return bytes;
}

static void mean_save(void *self, int32_t slot, void *to)
{
    const MeanStepper *s = self;
    char *at = to;
    for (int32_t i = 0; i < s->n; i++) {
        const size_t bytes = s->members[i].bytes(s->members[i].self, slot);
        memcpy(at, &bytes, sizeof bytes);
        s->members[i].save(s->members[i].self, slot, at + sizeof bytes);
        at += sizeof bytes + bytes;
    }
}

static bool mean_restore(void *self, int32_t slot, int32_t sentence, const void *from, size_t bytes)
{
    MeanStepper *s = self;
    const char *at = from;
    bool ok = true;
    for (int32_t i = 0; ok && i < s->n; i++) {
        size_t n = 0;
        ok = bytes >= sizeof n;
        if (ok)
            memcpy(&n, at, sizeof n);
        ok = ok && n <= bytes - sizeof n &&
             s->members[i].restore(s->members[i].self, slot, sentence, at + sizeof n, n);
        if (!ok)
            break;
        at += sizeof n + n;
        bytes -= sizeof n + n;
    }
    if (!ok || bytes)
        mean_roll_back(s, slot, 0);
    return ok && !bytes;
}

static void free_arrays(MeanStepper *s)
{
    free(s->members);
    free(s->logits);
    free(s->mean);
    free(s->totals);
    free(s);
}

static void mean_free(void *self)
{
    MeanStepper *s = self;
    for (int32_t i = 0; i < s->n; i++)
        s->members[i].free(s->members[i].self);
    free_arrays(s);
}

bool stepper_mean_new(const Stepper *members, int32_t n, Stepper *out)
{
    MeanStepper *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->members = malloc(sizeof *members * (size_t)n);
    s->logits = malloc(sizeof(float *) * (size_t)n);
    if (!s->members || !s->logits) {
        free_arrays(s);
        return false;
    }
    memcpy(s->members, members, sizeof *members * (size_t)n);
    s->n = n;
    s->vocab = s->most = members[0].vocab;
    int32_t most_fed = members[0].most_fed;
    bool two_orders = members[0].many > 0;
    for (int32_t i = 1; i < n; i++) {
        assert(members[i].vocab == s->vocab && !members[i].choose == !members[0].choose);
        most_fed = members[i].most_fed > most_fed ? members[i].most_fed : most_fed;
        two_orders |= members[i].many > 0;
    }
    *out = (Stepper){.self = s,
                     .vocab = s->vocab,
                     .most_fed = most_fed,
                     .begin = mean_begin,
                     .step = mean_step,
                     .feed = mean_feed,
                     .copy = mean_copy,
                     .length = mean_length,
                     .roll_back = mean_roll_back,
                     .bytes = mean_bytes,
                     .save = mean_save,
                     .restore = mean_restore,
                     .many = two_orders,
                     .free = mean_free,
                     .choose = members[0].choose ? mean_choose : NULL,
                     .calls = members[0].calls};
    return true;
}

bool stepper_mean_of(int32_t n, bool (*make)(const void *context, int32_t i, Stepper *out),
                     const void *context, Stepper *out)
{
    if (n == 1)
        return make(context, 0, out);
    Stepper *all = calloc((size_t)n, sizeof *all);
    int32_t made = 0;
    while (all && made < n && make(context, made, &all[made]))
        made++;
    const bool ok = made == n && stepper_mean_new(all, n, out);
    for (int32_t i = 0; !ok && i < made; i++)
        all[i].free(all[i].self);
    free(all);
    return ok;
}
