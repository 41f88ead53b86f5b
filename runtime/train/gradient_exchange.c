/* Sums of gradients between ranks: which slices go where, perhaps rounded. */
#include "runtime/train/gradient_state.h"

#include "base/bf16.h"
#include "base/team.h"

/* Range: parts first … last; none where first > last. */
typedef struct Range {
    int first, last;
} Range;

/* What a rank has of the sum that a span holds. */
static Range owned(const GradientSum *sum, Span span, int rank)
{
    int64_t n = sum->parts->n, size = span.to - span.from + 1, at = rank - span.from;
    if (!span_has(span, rank))
        return (Range){0, -1};
    return (Range){(int)((at * n + size - 1) / size), (int)(((at + 1) * n + size - 1) / size) - 1};
}

void gradients_move(const Ranks *ranks, Gradients of, int64_t n)
{
    if (of.lane)
        ranks_move_behind(ranks, of.room, n, of.lane);
    else
        ranks_move(ranks, of.room, n);
}

/* Exchange: a sum that the ranks of `have` hold goes to those of `want`. It lies in the room of a level,
 * or in the store, where the level is -1. */
typedef struct Exchange {
    GradientSum *sum;
    Gradients of;
    Span have, want;
    int level;
    int64_t n; /* messages so far */
} Exchange;

/* What is done with a slice that goes to or comes from another rank. */
typedef void Take(Exchange *x, Slice slice, int other);

static void take_both(Exchange *x, int32_t tensor, Range a, Range b, int other, Take *take)
{
    int next = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
    while (next <= last) {
        Slice slice = gradient_next_slice(x->sum->parts, x->of, tensor, &next, last);
        if (slice.count)
            take(x, slice, other);
    }
}

static void each_sent(Exchange *x, Take *take)
{
    int me = ranks_mine(x->sum->ranks);
    Range mine = owned(x->sum, x->have, me);
    for (int32_t i = 0; span_has(x->have, me) && i < x->of.n; i++)
        for (int rank = x->want.from; rank <= x->want.to; rank++)
            if (rank != me)
                take_both(x, x->of.tensors[i], mine, owned(x->sum, x->want, rank), rank, take);
}

static void each_received(Exchange *x, Take *take)
{
    int me = ranks_mine(x->sum->ranks);
    Range mine = owned(x->sum, x->want, me);
    for (int32_t i = 0; span_has(x->want, me) && i < x->of.n; i++)
        for (int rank = x->have.from; rank <= x->have.to; rank++)
            if (rank != me)
                take_both(x, x->of.tensors[i], owned(x->sum, x->have, rank), mine, rank, take);
}

static float *place_of(const Pass *pass, int64_t from)
{
    const GradientSum *sum = pass->sum;
    return (float *)(pass->level < 0 ? store_at_element(sum, &pass->slice, from)
                                     : room_at_element(sum, &pass->slice, from, pass->level));
}

static int64_t rounded_at(const GradientSum *sum, const Slice *slice, int64_t from)
{
    return sum->gradients[slice->tensor].at / (int64_t)sizeof(float) + from;
}

static void round_block(const Pass *pass, int64_t from, int64_t n)
{
    const float *in = place_of(pass, from);
    int64_t at = rounded_at(pass->sum, &pass->slice, from);
    for (int64_t i = 0; i < n; i++) {
        float value = in[i] + pass->sum->rest[at + i];
        uint16_t bits = bf16_from_float(value);
        pass->sum->sent[at + i] = bits;
        pass->sum->rest[at + i] = value - bf16_to_float(bits);
    }
}

static void widen_block(const Pass *pass, int64_t from, int64_t n)
{
    float *out = place_of(pass, from);
    const uint16_t *in = pass->sum->received + rounded_at(pass->sum, &pass->slice, from);
    for (int64_t i = 0; i < n; i++)
        out[i] = bf16_to_float(in[i]);
}

static bool is_rounded(const Exchange *x, Slice slice)
{
    return x->sum->rest && x->sum->gradients[slice.tensor].tensor->type == TFC_F32;
}

static void run_slice(Exchange *x, Slice slice, void (*run)(const Pass *pass, int64_t from, int64_t n))
{
    Pass pass = {.sum = x->sum, .slice = slice, .level = x->level, .run = run};
    team_each(x->of.lane ? 1 : exec_threads(), (int32_t)parts_blocks(slice.count), gradient_run_block, &pass);
}

static void add_message(Exchange *x, Slice slice, int other, bool is_sent)
{
    Pass place = {.sum = x->sum, .slice = slice, .level = x->level};
    RankMessage *message = &x->of.room[x->n++];
    *message = (RankMessage){place_of(&place, slice.from), slice.count * x->sum->gradients[slice.tensor].size,
                             other, is_sent};
    if (is_rounded(x, slice)) {
        uint16_t *narrow = is_sent ? x->sum->sent : x->sum->received;
        message->data = narrow + rounded_at(x->sum, &slice, slice.from);
        message->bytes = slice.count * (int64_t)sizeof *narrow;
    }
}

static void add_sent(Exchange *x, Slice slice, int other)
{
    if (is_rounded(x, slice))
        run_slice(x, slice, round_block);
    add_message(x, slice, other, true);
}

static void add_received(Exchange *x, Slice slice, int other) { add_message(x, slice, other, false); }

static void widen(Exchange *x, Slice slice, int other)
{
    if (is_rounded(x, slice))
        run_slice(x, slice, widen_block);
}

/* All messages of n exchanges at once. */
static void run_exchanges(Exchange *list, int n)
{
    int64_t messages = 0;
    for (int i = 0; i < n; i++) {
        list[i].n = messages;
        each_sent(&list[i], add_sent);
        each_received(&list[i], add_received);
        messages = list[i].n;
    }
    gradients_move(list[0].sum->ranks, list[0].of, messages);
    for (int i = 0; i < n; i++)
        each_received(&list[i], widen);
}

/* What this rank has no part in is 0. */
static void clear_others(GradientSum *sum, Gradients of, Range mine)
{
    Pass clear = {.run = gradient_clear_block};
    gradient_run_parts(sum, of, 0, mine.first - 1, clear);
    gradient_run_parts(sum, of, mine.last + 1, sum->parts->n - 1, clear);
}

void gradient_sum_meet(GradientSum *sum, Gradients of, int level, Span left, Span right, Span whole)
{
    int me = ranks_mine(sum->ranks);
    Range mine = owned(sum, whole, me);
    run_exchanges((Exchange[]){{sum, of, left, whole, level, 0}, {sum, of, right, whole, -1, 0}}, 2);
    gradient_run_parts(sum, of, mine.first, mine.last, (Pass){.level = level, .run = gradient_join_block});
    if (span_has(right, me))
        clear_others(sum, of, mine);
}

void gradient_sum_spread(GradientSum *sum, Gradients of, Span span)
{
    int me = ranks_mine(sum->ranks);
    Span all = {0, sum->parts->n - 1};
    if (span.from == all.from && span.to == all.to)
        return; /* it is there already */
    run_exchanges(&(Exchange){sum, of, span, all, -1, 0}, 1);
    clear_others(sum, of, (Range){me, me});
}

