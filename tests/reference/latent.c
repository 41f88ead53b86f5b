/* Multi-head latent attention (tests/strangers/mla.tfg) as DeepSeek-V2 (2024, sec. 2.1) has it, in
 * f64 with keys and values of all positions, beside steps that keep latents: texts of several
 * lengths fed in pieces of any size, few positions and many in one call, logits within 1e-5. */
#include "tests/reference/harness.h"

#include "driver/run/inference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODEL "tests/strangers/mla.tfg"

enum {
    LAYERS = 2,
    VOCAB = 24,
    D_MODEL = 16,
    D_FF = 24,
    HEADS = 2,
    Q_RANK = 6,
    KV_RANK = 8,
    NOPE = 4,
    ROPE = 4,
    VALUE = 4,
    ROWS = 5,
    LONGEST = 60,
    MOST_CALLS = 64
};
/* kv_rank (nope + value) / (2 kv_rank - nope - value): as many new positions are many. */
enum { MANY = 8 };

static const char *const settings[] = {"layers=2", "vocab=24",  "d_model=16", "d_ff=24",  "heads=2",
                                       "q_rank=6", "kv_rank=8", "d_nope=4",   "d_rope=4", "d_v=4"};

/* ---- the paper's formulas ---- */

static const float *param(const Store *store, Arena *arena, int layer, const char *name)
{
    if (layer >= 0)
        name = arena_printf(arena, "layer.%d.%s", layer, name);
    return store_find((Store *)store, name)->data;
}

/* y [n, out] = x [n, in] · w [in, out] */
static double *times(Arena *arena, const double *x, int n, int in, const float *w, int out)
{
    double *y = ARENA_ARRAY(arena, double, (size_t)n *out);
    for (int r = 0; r < n; r++)
        for (int o = 0; o < out; o++)
            for (int i = 0; i < in; i++)
                y[r * out + o] += x[r * in + i] * (double)w[i * out + o];
    return y;
}

static double *rms_norm(Arena *arena, const double *x, int n, int d, const float *gain)
{
    double *y = ARENA_ARRAY(arena, double, (size_t)n *d);
    for (int r = 0; r < n; r++) {
        double sum = 0;
        for (int i = 0; i < d; i++)
            sum += x[r * d + i] * x[r * d + i];
        for (int i = 0; i < d; i++)
            y[r * d + i] = x[r * d + i] / sqrt(sum / d + 1e-5) * (double)gain[i];
    }
    return y;
}

/* Pairs of neighbours turn by position · 10000^(-2 i / d). */
static void rotate(double *x, int position)
{
    for (int i = 0; i < ROPE / 2; i++) {
        const double angle = position * pow(10000, -2.0 * i / ROPE), a = x[2 * i], b = x[2 * i + 1];
        x[2 * i] = a * cos(angle) - b * sin(angle);
        x[2 * i + 1] = b * cos(angle) + a * sin(angle);
    }
}

/* Adds to mixed [VALUE] what a query [NOPE + ROPE] takes of the positions up to its own. */
static void attend(const double *q, const double *kv, const double *k_rope, int own, double *mixed)
{
    double weights[LONGEST], greatest = -INFINITY, sum = 0;
    for (int j = 0; j <= own; j++) {
        const double *k = kv + (size_t)j * HEADS * (NOPE + VALUE);
        weights[j] = 0;
        for (int i = 0; i < NOPE; i++)
            weights[j] += q[i] * k[i];
        for (int i = 0; i < ROPE; i++)
            weights[j] += q[NOPE + i] * k_rope[j * ROPE + i];
        weights[j] /= sqrt(NOPE + ROPE);
        greatest = fmax(greatest, weights[j]);
    }
    for (int j = 0; j <= own; j++)
        sum += weights[j] = exp(weights[j] - greatest);
    for (int j = 0; j <= own; j++)
        for (int i = 0; i < VALUE; i++)
            mixed[i] += weights[j] / sum * kv[(size_t)j * HEADS * (NOPE + VALUE) + NOPE + i];
}

static double *attention(const Store *store, Arena *arena, int layer, const double *x, int n)
{
    const double *cq = rms_norm(
        arena,
        times(arena, x, n, D_MODEL, param(store, arena, layer, "self.q_down.weight"), Q_RANK), n,
        Q_RANK, param(store, arena, layer, "self.q_norm.gain"));
    double *q = times(arena, cq, n, Q_RANK, param(store, arena, layer, "self.q_up.weight"),
                      HEADS * (NOPE + ROPE));
    const double *c = rms_norm(
        arena,
        times(arena, x, n, D_MODEL, param(store, arena, layer, "self.kv_down.weight"), KV_RANK), n,
        KV_RANK, param(store, arena, layer, "self.kv_norm.gain"));
    const double *kv = times(arena, c, n, KV_RANK, param(store, arena, layer, "self.kv_up.weight"),
                             HEADS * (NOPE + VALUE));
    double *k_rope =
        times(arena, x, n, D_MODEL, param(store, arena, layer, "self.k_rope.weight"), ROPE);
    double *mixed = ARENA_ARRAY(arena, double, (size_t)n *HEADS *VALUE);
    for (int i = 0; i < n; i++)
        rotate(k_rope + (size_t)i * ROPE, i);
    for (int i = 0; i < n * HEADS; i++) {
        double *query = q + (size_t)i * (NOPE + ROPE);
        rotate(query + NOPE, i / HEADS);
        attend(query, kv + (size_t)(i % HEADS) * (NOPE + VALUE), k_rope, i / HEADS,
               mixed + (size_t)i * VALUE);
    }
    return times(arena, mixed, n, HEADS * VALUE, param(store, arena, layer, "self.output.weight"),
                 D_MODEL);
}

static void add(double *x, const double *y, int n, int d, const float *bias)
{
    for (int i = 0; i < n * d; i++)
        x[i] += (y ? y[i] : 0) + (bias ? (double)bias[i % d] : 0);
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/* Logits [n, VOCAB] of a whole text. */
static double *whole(const Store *store, Arena *arena, const int32_t *ids, int n)
{
    const float *embedding = param(store, arena, -1, "embedding");
    double *x = ARENA_ARRAY(arena, double, (size_t)n *D_MODEL);
    for (int i = 0; i < n * D_MODEL; i++)
        x[i] = (double)embedding[ids[i / D_MODEL] * D_MODEL + i % D_MODEL];
    for (int l = 0; l < LAYERS; l++) {
        const double *y = rms_norm(arena, x, n, D_MODEL, param(store, arena, l, "self_norm.gain"));
        add(x, attention(store, arena, l, y, n), n, D_MODEL, NULL);
        y = rms_norm(arena, x, n, D_MODEL, param(store, arena, l, "feed_norm.gain"));
        double *inner =
            times(arena, y, n, D_MODEL, param(store, arena, l, "feed_forward.inner.weight"), D_FF);
        add(inner, NULL, n, D_FF, param(store, arena, l, "feed_forward.inner.bias"));
        for (int i = 0; i < n * D_FF; i++)
            inner[i] = gelu_tanh(inner[i]);
        add(x,
            times(arena, inner, n, D_FF, param(store, arena, l, "feed_forward.outer.weight"),
                  D_MODEL),
            n, D_MODEL, param(store, arena, l, "feed_forward.outer.bias"));
    }
    x = rms_norm(arena, x, n, D_MODEL, param(store, arena, -1, "norm.gain"));
    double *logits = ARENA_ARRAY(arena, double, (size_t)n *VOCAB);
    for (int i = 0; i < n * VOCAB; i++)
        for (int k = 0; k < D_MODEL; k++)
            logits[i] += x[i / VOCAB * D_MODEL + k] * (double)embedding[i % VOCAB * D_MODEL + k];
    return logits;
}

/* ---- fed in pieces ---- */

/* Texts: their lengths, and in each call how many tokens of each are fed. */
typedef struct Pieces {
    const char *name;
    int lengths[ROWS], counts[MOST_CALLS][ROWS];
} Pieces;

/* The greatest distance of logits that are a number; INFINITY where one is none, or memory ran
 * out. */
static double compare(const Pieces *p, Stepper *stepper, const Store *store, Arena *arena,
                      bool feeds)
{
    int32_t ids[ROWS][LONGEST], slot[ROWS], counts[ROWS], tokens[ROWS * LONGEST], fed[ROWS] = {0};
    const double *want[ROWS];
    double apart = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < p->lengths[r]; t++)
            ids[r][t] = (7 * t + t / 5 + 3 * r + 1) % VOCAB;
        want[r] = whole(store, arena, ids[r], p->lengths[r]);
    }
    if (!stepper->begin(stepper->self, NULL, ROWS))
        return INFINITY;
    for (int call = 0; call < MOST_CALLS; call++) {
        int32_t n = 0, n_tokens = 0, most = 0;
        for (int r = 0; r < ROWS; r++) {
            int left = p->lengths[r] - fed[r], count = p->counts[call][r];
            count = count < left ? count : left;
            memcpy(tokens + n_tokens, ids[r] + fed[r], sizeof *tokens * (size_t)count);
            n_tokens += count;
            if (count)
                slot[n] = r, counts[n++] = count;
            most = count > most ? count : most;
        }
        if (!n)
            continue;
        const bool silent = feeds && most >= MANY;
        const float *out = NULL;
        if (silent ? !stepper->feed(stepper->self, n, slot, slot, counts, tokens)
                   : !(out = stepper->step(stepper->self, n, slot, slot, counts, tokens)))
            return INFINITY;
        for (int i = 0; i < n; fed[slot[i]] += counts[i], i++)
            for (int k = 0; out && k < counts[i] * VOCAB; k++) {
                const double d = fabs((double)*out++ - want[slot[i]][fed[slot[i]] * VOCAB + k]);
                apart = d <= apart ? apart : isnan(d) ? INFINITY : d;
            }
    }
    for (int r = 0; r < ROWS; r++)
        if (fed[r] != p->lengths[r])
            return INFINITY;
    return apart;
}

static void fill_ones(Pieces *p, int from)
{
    for (int call = from; call < MOST_CALLS; call++)
        for (int r = 0; r < ROWS; r++)
            p->counts[call][r] = 1;
}

static void test_pieces(Harness *h, Stepper *stepper, const Store *store, const char *how)
{
    /* clang-format off */
    Pieces all[] = {
        {"one by one",         {5, 60, 8, 1, 40}, {{0}}},
        {"all but the last",   {5, 60, 8, 1, 40}, {{4, 59, 7, 1, 39}}},
        {"at the border",      {7, 8, 9, 16, 17}, {{MANY - 1, MANY, MANY + 1, MANY, MANY}, {MANY, MANY, MANY, MANY, MANY}}},
        {"many, then few",     {50, 50, 50, 50, 50}, {{20, 40, 8, 7, 1}, {3, 2, 8, 30, 1}, {9, 1, 8, 7, 30}}},
        {"few, then many",     {50, 44, 50, 36, 50}, {{1, 1, 1, 1, 1}, {3, 5, 1, 2, 7}, {40, 30, 7, 8, 9}, {6, 0, 20, 0, 12}}},
        {"one row with many",  {2, 2, 48, 2, 2}, {{1, 0, 47, 0, 1}, {0, 1, 0, 1, 0}}},
        {"the last row alone", {1, 1, 1, 1, 60}, {{0, 0, 0, 0, 20}, {1, 0, 0, 0, 20}, {0, 1, 1, 1, 1}}},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int feeds = 0; feeds < 2; feeds++) {
            fill_ones(&all[i], i == 0 ? 0 : i < 3 ? 2 : 4);
            const double apart = compare(&all[i], stepper, store, h->arena, feeds);
            printf("%-8s %-20s %s  %.1e\n", how, all[i].name, feeds ? "feed" : "step", apart);
            harness_check(h, apart <= 1e-5, "%s, %s: logits differ by %g", how, all[i].name, apart);
        }
}

/* ---- the model ---- */

/* Values that are no initial ones: gains and biases, too. */
static void draw(Store *store)
{
    uint64_t state = 7;
    for (int64_t t = 0; t < store_count(store); t++) {
        StoreTensor *tensor = store_at(store, t);
        float *data = tensor->data;
        const bool gain = strstr(tensor->name, "gain");
        for (int64_t i = 0; store_is_param(tensor) && i < tensor->count; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            data[i] = (float)((double)(state >> 40) / (1 << 24) - 0.5) + (gain ? 1 : 0);
        }
    }
    store_changed(store);
}

static bool test_model(Harness *h, Job *job, int level)
{
    SessionOptions options = session_defaults(MODEL);
    options.opt_level = level;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        vec_push(h->arena, options.settings, settings[i]);
    Session session;
    if (!session_open(&session, job, &options))
        return false;
    Store *store = store_new();
    Inference inference;
    inference_init(&inference, &session, store, NULL);
    bool ok = inference_prepare_decode(&inference) && store_initialise(store, 1);
    if (ok) {
        draw(store);
        test_pieces(h, &inference.stepper, store, level ? "-O2" : "-O0");
    }
    inference_free(&inference);
    store_free(store);
    session_close(&session);
    return ok;
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    Job job = {.arena = h.arena};
    diag_init(&job.diags, job.arena);
    for (int level = 0; level <= 2; level += 2)
        harness_check(&h, test_model(&h, &job, level), "-O%d: no decode_step", level);
    harness_tell(&job.diags);
    return harness_finish(&h);
}
