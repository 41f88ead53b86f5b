/* Sums of gradients between ranks: which slices go where, perhaps rounded. */
#include "runtime/train/parallel/gradient_state.h"

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

/* Exchange: a sum that the ranks of `have` hold goes to those of `want`. It lies in the room of a
 * level, or in the store, where the level is -1. */
typedef struct Exchange {
    GradientSum *sum;
    Gradients of;
    Span have, want;
    int level;
    int64_t n; /* messages so far */
} Exchange;

/* What is done with a slice that goes to or comes from another rank. */
typedef void Take(Exchange *x, Slice slice, int other);

static void take_both(Exchange *x, int32_t gradient, Range a, Range b, int other, Take *take)
{
    int next = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
    while (next <= last) {
        Slice slice = gradient_next_slice(x->sum, x->of, gradient, &next, last);
        if (slice.count)
            take(x, slice, other);
    }
}

/* Each slice that this rank sends, or that it receives, with the other rank. */
static void each_slice(Exchange *x, bool sends, Take *take)
{
    const Span own = sends ? x->have : x->want, others = sends ? x->want : x->have;
    const int me = ranks_mine(x->sum->ranks);
    const Range mine = owned(x->sum, own, me);
    for (int32_t i = 0; span_has(own, me) && i < x->of.n; i++)
        for (int rank = others.from; rank <= others.to; rank++)
            if (rank != me)
                take_both(x, x->of.numbers[i], mine, owned(x->sum, others, rank), rank, take);
}

static int64_t rounded_at(const GradientSum *sum, const Slice *slice, int64_t from)
{
    return sum->gradients[slice->tensor].at / (int64_t)sizeof(float) + from;
}

static void round_block(const Pass *pass, int64_t from, int64_t n)
{
    const float *in = (const float *)place_of_element(pass->sum, &pass->slice, from, pass->level);
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
    float *out = (float *)place_of_element(pass->sum, &pass->slice, from, pass->level);
    const uint16_t *in = pass->sum->received + rounded_at(pass->sum, &pass->slice, from);
    for (int64_t i = 0; i < n; i++)
        out[i] = bf16_to_float(in[i]);
}

static const Gradient *gradient_of(const Exchange *x, Slice slice)
{
    return &x->sum->gradients[slice.tensor];
}

static bool is_rounded(const Exchange *x, Slice slice)
{
    return x->sum->rest && !gradient_of(x, slice)->sparse &&
           gradient_of(x, slice)->tensor->type == TFC_F32;
}

static void run_slice(Exchange *x, Slice slice, Pass pass)
{
    pass.sum = x->sum;
    pass.slice = slice;
    pass.level = x->level;
    team_each(x->of.lane ? 1 : exec_threads(), (int32_t)parts_blocks(slice.count),
              gradient_run_block, &pass);
}

static void add_message(Exchange *x, void *data, int64_t bytes, int other, bool is_sent)
{
    x->of.room[x->n++] = (RankMessage){data, bytes, other, is_sent};
}

/* The elements themselves; of a sparse gradient only the marks. */
static void add_slice(Exchange *x, Slice slice, int other, bool is_sent)
{
    const GradientSum *sum = x->sum;
    uint16_t *narrow = is_sent ? sum->sent : sum->received;
    if (gradient_of(x, slice)->sparse) {
        uint64_t *marks = gradient_marks(sum, &slice, slice.from, x->level);
        add_message(x, marks, gradient_mark_words(&slice) * (int64_t)sizeof *marks, other, is_sent);
    } else if (is_rounded(x, slice))
        add_message(x, narrow + rounded_at(sum, &slice, slice.from),
                    slice.count * (int64_t)sizeof *narrow, other, is_sent);
    else
        add_message(x, place_of_element(sum, &slice, slice.from, x->level),
                    slice.count * gradient_of(x, slice)->size, other, is_sent);
}

static void add_sent(Exchange *x, Slice slice, int other)
{
    if (is_rounded(x, slice))
        run_slice(x, slice, (Pass){.run = round_block});
    if (gradient_of(x, slice)->sparse && x->level < 0)
        run_slice(x, slice, (Pass){.marks = MARKS_MADE});
    add_slice(x, slice, other, true);
}

static void add_received(Exchange *x, Slice slice, int other) { add_slice(x, slice, other, false); }

/* Marked groups of a sparse slice, once its marks are known. */
static void add_marked(Exchange *x, Slice slice, int other, bool is_sent)
{
    int64_t marked = gradient_of(x, slice)->sparse ? gradient_marked(x->sum, &slice, x->level) : 0;
    if (marked && is_sent)
        gradient_pack(x->sum, &slice, x->level);
    if (marked)
        add_message(x, place_of_element(x->sum, &slice, slice.from, x->level),
                    marked * gradient_of(x, slice)->size, other, is_sent);
}

static void add_sent_marked(Exchange *x, Slice slice, int other)
{
    add_marked(x, slice, other, true);
}
static void add_received_marked(Exchange *x, Slice slice, int other)
{
    add_marked(x, slice, other, false);
}

static void take_received(Exchange *x, Slice slice, int other)
{
    if (is_rounded(x, slice))
        run_slice(x, slice, (Pass){.run = widen_block});
    if (gradient_of(x, slice)->sparse)
        gradient_unpack(x->sum, &slice, x->level);
}

/* All messages of n exchanges at once. */
static void move_all(Exchange *list, int n, Take *sent, Take *received)
{
    int64_t messages = 0;
    for (int i = 0; i < n; i++) {
        list[i].n = messages;
        each_slice(&list[i], true, sent);
        each_slice(&list[i], false, received);
        messages = list[i].n;
    }
    gradients_move(list[0].sum->ranks, list[0].of, messages);
}

static void run_exchanges(Exchange *list, int n)
{
    move_all(list, n, add_sent, add_received);
    move_all(list, n, add_sent_marked, add_received_marked);
    for (int i = 0; i < n; i++)
        each_slice(&list[i], false, take_received);
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
    run_exchanges((Exchange[]){{sum, of, left, whole, level, 0}, {sum, of, right, whole, -1, 0}},
                  2);
    gradient_run_parts(sum, of, mine.first, mine.last,
                       (Pass){.level = level, .marks = MARKS_USED, .run = gradient_join_block});
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
