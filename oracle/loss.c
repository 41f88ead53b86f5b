/* Connectionist temporal classification (Graves et al. 2006), in log space.
 *
 * The L labels of a sentence with blanks around each are states 0 … 2L: blanks at even ones.
 * From one frame to the next one stays, goes one on, or goes two on into a label that differs
 * from the one before it. A label outside the classes counts as blank. Paths begin in state
 * 0 or 1 and end in one of the last two.
 *
 *   forward(t, s)   log of the probability of all beginnings of paths that are in s at t
 *   backward(t, s)  the same of their ends, frame t left out
 *   log p(l) = log(e^forward(T-1, 2L) + e^forward(T-1, 2L-1))                       eq. 8
 *   d log p(l) / d log p(t, k) = Σ_{s of class k} e^(forward + backward - log p(l))  eq. 16 */
#include "oracle/interpreter.h"

typedef struct Sentence {
    const Num *p;     /* [T, V] log-probabilities */
    const Num *label; /* [L] */
    int64_t frames, labels, states, classes;
    Rounding to;
    Num *forward, *backward; /* [T, 2L + 1] */
} Sentence;

static const Num nothing = {-INFINITY, 0};

static int64_t class_of(const Sentence *s, int64_t state)
{
    if (state % 2 == 0)
        return 0;
    double label = s->label[state / 2].v;
    return label >= 0 && label < (double)s->classes ? (int64_t)label : 0;
}

static bool may_skip_to(const Sentence *s, int64_t state)
{
    return state % 2 == 1 && state >= 2 && class_of(s, state) != class_of(s, state - 2);
}

/* log Σ e^x: off by what any of its terms is, and by the rounding of three functions. */
static Num log_sum(const Rounding *r, const Num *x, int n)
{
    double top = -INFINITY, sum = 0, e = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i].v);
    for (int i = 0; i < n; i++) {
        if (isnan(x[i].v))
            return num_undecided(NAN);
        e = fmax(e, x[i].e);
        if (top > -INFINITY)
            sum += exp(x[i].v - top);
    }
    enum { ROUNDINGS = 16 };
    return top == -INFINITY ? num_moved(r, top, e)
                            : num_rounded(r, top + log(sum), e + ROUNDINGS * r->unit, ROUNDINGS);
}

static Num plus(const Rounding *r, Num a, Num b) { return num_rounded(r, a.v + b.v, a.e + b.e, 1); }

static Num log_prob(const Sentence *s, int64_t t, int64_t state)
{
    return s->p[t * s->classes + class_of(s, state)];
}

/* Before the first frame all paths are in state 0. */
static Num came_from(const Sentence *s, int64_t t, int64_t state)
{
    if (state < 0)
        return nothing;
    if (t == 0)
        return state == 0 ? num_exact(0) : nothing;
    return s->forward[(t - 1) * s->states + state];
}

static void go_forward(Sentence *s)
{
    for (int64_t t = 0; t < s->frames; t++)
        for (int64_t k = 0; k < s->states; k++) {
            const Num ways[] = {came_from(s, t, k), came_from(s, t, k - 1),
                                may_skip_to(s, k) ? came_from(s, t, k - 2) : nothing};
            s->forward[t * s->states + k] =
                plus(&s->to, log_sum(&s->to, ways, 3), log_prob(s, t, k));
        }
}

/* What follows from being in a state at frame t + 1, that frame included. */
static Num goes_to(const Sentence *s, int64_t t, int64_t state)
{
    if (state >= s->states)
        return nothing;
    if (t == s->frames - 1)
        return state >= s->states - 2 ? num_exact(0) : nothing;
    return plus(&s->to, s->backward[(t + 1) * s->states + state], log_prob(s, t + 1, state));
}

static void go_backward(Sentence *s)
{
    for (int64_t t = s->frames - 1; t >= 0; t--)
        for (int64_t k = 0; k < s->states; k++) {
            bool skip = k + 2 < s->states && may_skip_to(s, k + 2);
            bool last = t == s->frames - 1; /* paths end where they are */
            const Num ways[] = {goes_to(s, t, k), last ? nothing : goes_to(s, t, k + 1),
                                !last && skip ? goes_to(s, t, k + 2) : nothing};
            s->backward[t * s->states + k] = log_sum(&s->to, ways, 3);
        }
}

static Num total(const Sentence *s)
{
    const Num ends[] = {came_from(s, s->frames, s->states - 1),
                        came_from(s, s->frames, s->states - 2)};
    return log_sum(&s->to, ends, 2);
}

static Sentence open_sentence(Interpreter *in, const Op *op, int64_t row)
{
    const Dense *p = operand(in, op, 0), *labels = operand(in, op, 1);
    const Shape *x = p->shape, *y = labels->shape;
    Sentence s = {.p = p->x + row * x->stride[0],
                  .label = labels->x + row * y->stride[0],
                  .frames = in->run->dims[x->dims[1].symbol].lengths[row],
                  .labels = in->run->dims[y->dims[1].symbol].lengths[row],
                  .classes = x->extent[2],
                  .to = rounding_for(in, op)};
    s.states = 2 * s.labels + 1;
    s.forward = ARENA_ARRAY(in->arena, Num, s.frames * s.states + 1);
    s.backward = ARENA_ARRAY(in->arena, Num, s.frames * s.states + 1);
    go_forward(&s);
    return s;
}

/* Infinite where the labels do not fit into the frames. */
void interpret_ctc(Interpreter *in, const Op *op, Dense *out)
{
    for (int64_t row = 0; row < out->shape->count; row++) {
        Sentence s = open_sentence(in, op, row);
        Num log_p = total(&s);
        out->x[row] = (Num){-log_p.v, log_p.e};
    }
}

/* Of a sentence whose loss is infinite: zero. */
void interpret_ctc_grad(Interpreter *in, const Op *op, Dense *out)
{
    for (int64_t row = 0; row < out->shape->extent[0]; row++) {
        Sentence s = open_sentence(in, op, row);
        Num log_p = total(&s), scale = operand(in, op, 2)->x[row];
        if (log_p.v == -INFINITY)
            continue;
        go_backward(&s);
        OracleSum *sums = ARENA_ARRAY(in->arena, OracleSum, s.frames * s.classes + 1);
        for (int64_t i = 0; i < s.frames * s.states; i++) {
            Num f = s.forward[i], b = s.backward[i];
            double share = f.v + b.v - log_p.v, v = exp(share);
            double e =
                f.e + b.e + log_p.e + 3 * s.to.unit * (fabs(share) + fabs(log_p.v) + fabs(f.v));
            Num part = v == 0 ? num_exact(0) : num_rounded(&s.to, v, v * expm1(e), 4);
            sum_add(&sums[i / s.states * s.classes + class_of(&s, i % s.states)],
                    num_product(scale, part));
        }
        for (int64_t i = 0; i < s.frames * s.classes; i++) {
            Num x = sum_end(&sums[i], 1, &s.to, &s.to);
            out->x[row * out->shape->stride[0] + i] = (Num){-x.v, x.e};
        }
    }
}
