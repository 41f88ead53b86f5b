/* Finds from outside in which order a compiled model adds the terms of its sums, and compares it
 * with the documented order (docs/loop-ir.md, Sums); see bench/bits/trees.
 *
 *   cc -IFOLDER trees.c -LFOLDER -lmodel; a.out N        one line a kind of sum: KIND N TREE
 *
 * After Xie et al., "FPRev: Revealing the Order of Floating-Point Summation", ATC 2025: BIG at
 * term i swallows what is added to it. With -BIG at j and 1 elsewhere, the result counts the
 * terms that are added after i and j have met. So the size of the smallest subtree that has i
 * and j is known, and from sizes the tree. Terms of a softmax and of a loss have no sign: two
 * units that are each lost beside BIG are not lost if they meet before it. That tells of any i,
 * j, k whether i and j meet before k; the size is the number of k for which they do not. Of many
 * such terms SAMPLES triples are compared. */
#include "model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, TURNS = 16, LARGEST = 1 << 20, PASS = 256 };
enum {
    SAMPLES = 2000,
    SAMPLED_TERMS = 200000,
    QUERIES = 64,
    WIDTH = 16,
    ROOM = 1 << 20 /* elements of a call's inputs */
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "trees: %s: %s\n", what, model_error_detail());
    exit(1);
}

static void *room(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);
    check(memory, "memory ran out");
    return memory;
}

/* ---- trees ---- */

typedef struct Node {
    struct Node *left, *right, *parent; /* of a term: none, and the parent */
    int first, size;                    /* its first term; how many terms */
} Node;

static Node *leaf(int term)
{
    Node *node = room(1, sizeof *node);
    *node = (Node){.first = term, .size = 1};
    return node;
}

/* The sum of two, in the order of their first terms; NULL is a sum of nothing. */
static Node *join(Node *a, Node *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->first > b->first)
        return join(b, a);
    Node *node = room(1, sizeof *node);
    *node = (Node){a, b, NULL, a->first, a->size + b->size};
    a->parent = b->parent = node;
    return node;
}

static bool equal(const Node *a, const Node *b)
{
    if (a->first != b->first || a->size != b->size)
        return false;
    return !a->left || (equal(a->left, b->left) && equal(a->right, b->right));
}

static void release(Node *node)
{
    if (node && node->left) {
        release(node->left);
        release(node->right);
    }
    free(node);
}

/* The addends of a sum from left to right: the chain of left children, down to a term. */
static int addends(const Node *node, const Node **list)
{
    int n = 1;
    for (const Node *at = node; at->left; at = at->left)
        n++;
    for (int i = n - 1; i > 0; i--, node = node->left)
        list[i] = node->right;
    list[0] = node;
    return n;
}

static bool same_shape(const Node *a, const Node *b)
{
    if (a->size != b->size || a->size == 1)
        return a->size == b->size;
    return a->right->first - a->first == b->right->first - b->first &&
           same_shape(a->left, b->left) && same_shape(a->right, b->right);
}

/* A chain of n terms, d apart, is n, or n/d; equal addends are k(…). */
static void print_tree(const Node *node)
{
    const Node **list = room((size_t)node->size, sizeof(Node *));
    int n = addends(node, list), next;
    for (int i = 0; i < n; i = next) {
        printf("%s", i ? " + " : "");
        next = i + 1;
        if (list[i]->size > 1) {
            while (next < n && same_shape(list[i], list[next]))
                next++;
            next - i > 1 ? printf("%d(", next - i) : printf("(");
            print_tree(list[i]);
            printf(")");
            continue;
        }
        int apart = next < n ? list[next]->first - list[i]->first : 1;
        while (next < n && list[next]->size == 1 &&
               list[next]->first - list[next - 1]->first == apart)
            next++;
        next - i > 1 && apart != 1 ? printf("%d/%d", next - i, apart) : printf("%d", next - i);
    }
    free(list);
}

/* ---- the documented order ---- */

/* The terms of [from, to) that one accumulator has: each `apart`-th, in blocks of TURNS, and of
 * TURNS such blocks. */
static Node *blocks(int from, int to, int apart, int block)
{
    Node *sum = NULL;
    if (block == apart) {
        for (int i = from; i < to; i += apart)
            sum = join(sum, leaf(i));
        return sum;
    }
    for (int i = from; i < to; i += block)
        sum = join(sum, blocks(i, i - i % block + block < to ? i - i % block + block : to, apart,
                               block / TURNS));
    return sum;
}

static Node *along_rows(int n) { return blocks(0, n, 1, LARGEST); }

static Node *along_columns(int n)
{
    Node *part[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        part[lane] = NULL;
        for (int i = 0; i < n; i += LARGEST)
            part[lane] = join(part[lane],
                              blocks(i + lane, i + LARGEST < n ? i + LARGEST : n, LANES, LARGEST));
    }
    for (int half = LANES / 2; half; half /= 2)
        for (int lane = 0; lane < half; lane++)
            part[lane] = join(part[lane], part[lane + half]);
    return part[0];
}

/* Products, and keys of attention: one after the other, in passes that are added one after the
 * other. */
static Node *by_passes(int n)
{
    Node *sum = NULL;
    for (int i = 0; i < n; i += PASS) {
        Node *pass = NULL;
        for (int k = i; k < n && k < i + PASS; k++)
            pass = join(pass, leaf(k));
        sum = join(sum, pass);
    }
    return sum;
}

static Node *one_by_one(int n) { return blocks(0, n, 1, 1); }

/* ---- what a model computes of masked terms ---- */

/* Term `big` is BIG. With signs, term a is -BIG and the others are 1; without, a and b are
 * units, the others 0. */
typedef struct Mask {
    int big, a, b;
} Mask;

/* Inputs and answers of one call: `rows` masks of n terms. */
typedef struct Trial {
    model_session *session;
    const Mask *masks;
    int n, rows;
    int *answers; /* with signs the sum, 0 … n; without 1: the units met before BIG */
    float *x;     /* ROOM numbers */
} Trial;

typedef struct Kind {
    const char *name;
    Node *(*documented)(int n);
    void (*run)(Trial *trial);
    int most_rows; /* of a call; 0: any number */
    int most;      /* terms of a sum without signs whose tree is found; 0: they have signs */
} Kind;

static float signed_term(const Mask *mask, int i, float big)
{
    return i == mask->big ? big : i == mask->a ? -big : 1;
}

static float unsigned_term(const Mask *mask, int i, float big, float unit, float nothing)
{
    return i == mask->big ? big : i == mask->a || i == mask->b ? unit : nothing;
}

/* Dimensions and inputs of the other kinds: one row of zeros each. */
static model_forward_in idle(void)
{
    static float zeros[ROOM];
    static int32_t labels[ROOM];
    return (model_forward_in){.A = 1,
                              .B = 1,
                              .C = 1,
                              .D = 1,
                              .E = 1,
                              .F = 1,
                              .G = 1,
                              .Q = 1,
                              .K = 1,
                              .T = 1,
                              .columns = zeros,
                              .rows = zeros,
                              .terms = zeros,
                              .ones = zeros,
                              .features = zeros,
                              .scores = zeros,
                              .logits = zeros,
                              .labels = labels,
                              .query = zeros,
                              .keys = zeros,
                              .values = zeros};
}

static model_forward_out call(Trial *t, const model_forward_in *in)
{
    model_forward_out out;
    check(!model_forward(t->session, in, &out), "forward");
    return out;
}

/* x[row · apart_rows + term · apart] */
static void fill_signed(Trial *t, int apart_rows, int apart, float big)
{
    for (int r = 0; r < t->rows; r++)
        for (int i = 0; i < t->n; i++)
            t->x[r * apart_rows + i * apart] = signed_term(&t->masks[r], i, big);
}

static void answer_sums(Trial *t, const float *sums, double scale)
{
    for (int r = 0; r < t->rows; r++)
        t->answers[r] = (int)lround(sums[r] * scale);
}

static void run_columns(Trial *t)
{
    model_forward_in in = idle();
    fill_signed(t, t->n, 1, 0x1p100f);
    in.A = t->rows;
    in.columns = t->x;
    answer_sums(t, call(t, &in).columns_sum, 1);
}

static void run_rows(Trial *t)
{
    model_forward_in in = idle();
    fill_signed(t, 1, t->rows, 0x1p100f);
    in.B = t->rows;
    in.G = t->n;
    in.rows = t->x;
    answer_sums(t, call(t, &in).rows_sum, 1);
}

static void run_product(Trial *t)
{
    static float ones[ROOM];
    model_forward_in in = idle();
    fill_signed(t, t->n, 1, 0x1p100f);
    for (int i = 0; i < t->n; i++)
        ones[i] = 1;
    in.C = t->rows;
    in.terms = t->x;
    in.ones = ones;
    answer_sums(t, call(t, &in).terms_sum, 1);
}

/* Values are (x - mean) · r, of BIG nearly BIG · r, which gives r and the mean. The variance
 * bounds BIG. */
static void run_layer_norm(Trial *t)
{
    const double big = 0x1p40;
    model_forward_in in = idle();
    fill_signed(t, t->n, 1, (float)big);
    in.D = t->rows;
    in.features = t->x;
    const float *y = call(t, &in).features_normed;
    for (int r = 0; r < t->rows; r++, y += t->n) {
        const Mask *mask = &t->masks[r];
        int one = 0;
        while (one == mask->big || one == mask->a)
            one++;
        t->answers[r] = (int)lround(t->n * (1 - big * y[one] / y[mask->big]));
    }
}

/* Equal scores: what attends is the mean of the values, of which each column is a sum. */
static void run_attention(Trial *t)
{
    static float query[QUERIES * WIDTH];
    model_forward_in in = idle();
    fill_signed(t, 1, WIDTH, 0x1p60f);
    in.F = 1;
    in.Q = QUERIES;
    in.K = t->n;
    in.query = query;
    in.values = t->x;
    answer_sums(t, call(t, &in).attended, t->n);
}

/* Beside 1 a unit of 0.75 · 2^-24 is lost, and two are not. */
static void run_softmax(Trial *t)
{
    model_forward_in in = idle();
    const float unit = (float)(log(0.75) - 24 * log(2));
    for (int r = 0; r < t->rows; r++)
        for (int i = 0; i < t->n; i++)
            t->x[r * t->n + i] = unsigned_term(&t->masks[r], i, 0, unit, -1000);
    in.E = t->rows;
    in.scores = t->x;
    const float *y = call(t, &in).scores_softmax;
    for (int r = 0; r < t->rows; r++)
        t->answers[r] = y[r * t->n + t->masks[r].big] < 1;
}

/* The sum of e^score over the keys: the first query component is 1, so scores are the keys' own;
 * the weight of BIG's key is what attends to a value of 1. */
static void run_attention_softmax(Trial *t)
{
    static float query[QUERIES * WIDTH], values[ROOM];
    model_forward_in in = idle();
    const float unit = (float)(log(0.75) - 24 * log(2));
    const Mask *mask = t->masks;
    for (int q = 0; q < QUERIES; q++)
        query[q * WIDTH] = 1;
    for (int i = 0; i < t->n; i++) {
        memset(t->x + i * WIDTH, 0, WIDTH * sizeof *t->x);
        t->x[i * WIDTH] = unsigned_term(mask, i, 0, unit, -1000);
        values[i * WIDTH] = i == mask->big;
    }
    in.F = 1;
    in.Q = QUERIES;
    in.K = t->n;
    in.query = query;
    in.keys = t->x;
    in.values = values;
    t->answers[0] = call(t, &in).attended[0] < 1;
}

/* A token's loss is ln(1 + e^x); BIG is 2^24, a unit 0.75. */
static void run_loss(Trial *t)
{
    model_forward_in in = idle();
    for (int i = 0; i < t->n; i++)
        t->x[2 * i + 1] = unsigned_term(t->masks, i, 0x1p24f, (float)log(exp(0.75) - 1), -1000),
                     t->x[2 * i] = 0;
    in.T = t->n;
    in.logits = t->x;
    t->answers[0] = (float)call(t, &in).tokens_loss > 0x1p24f / (float)t->n;
}

static const Kind kinds[] = {
    {"sum-columns", along_columns, run_columns, 0, 0},
    {"sum-rows", along_rows, run_rows, 0, 0},
    {"product", by_passes, run_product, 0, 0},
    {"layer-norm", along_columns, run_layer_norm, 0, 0},
    {"attention", by_passes, run_attention, WIDTH, 0},
    {"attention-softmax", one_by_one, run_attention_softmax, 1, 40},
    {"softmax", along_columns, run_softmax, 0, 300},
    {"loss-tokens", along_rows, run_loss, 1, 40},
};

static void run_masks(const Kind *kind, Trial *t, const Mask *masks, int count, int *answers)
{
    int most = kind->most_rows ? kind->most_rows : ROOM / t->n;
    for (int from = 0; from < count; from += t->rows) {
        t->rows = count - from < most ? count - from : most;
        t->masks = masks + from;
        t->answers = answers + from;
        kind->run(t);
    }
}

/* ---- the tree of what was computed ---- */

typedef struct Met {
    int term, size; /* of the smallest subtree that has the term and the one it met */
} Met;

static int by_size(const void *a, const void *b)
{
    const Met *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size) - (x->size < y->size) : x->term - y->term;
}

static void find_sizes(const Kind *kind, Trial *t, int term, Met *met, int count)
{
    int each = kind->most ? t->n : 1,
        *answers = room((size_t)count * (size_t)each, sizeof *answers);
    Mask *masks = room((size_t)count * (size_t)each, sizeof *masks);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < each; k++)
            masks[i * each + k] =
                kind->most ? (Mask){k, term, met[i].term} : (Mask){term, met[i].term, -1};
    run_masks(kind, t, masks, count * each, answers);
    for (int i = 0; i < count; i++) {
        met[i].size = t->n;
        for (int k = 0; k < each; k++)
            met[i].size -= answers[i * each + k];
    }
    free(masks);
    free(answers);
}

/* The subtree of these terms, in rising order. */
static Node *find_tree(const Kind *kind, Trial *t, const int *terms, int count)
{
    Node *node = leaf(terms[0]);
    Met *met = room((size_t)count, sizeof *met);
    int *part = room((size_t)count, sizeof *part);
    for (int i = 1; i < count; i++)
        met[i - 1].term = terms[i];
    find_sizes(kind, t, terms[0], met, count - 1);
    qsort(met, (size_t)count - 1, sizeof *met, by_size);
    for (int i = 0, n; i < count - 1; i += n) {
        for (n = 0; i + n < count - 1 && met[i + n].size == met[i].size; n++)
            part[n] = met[i + n].term;
        node = join(node, n == 1 ? leaf(part[0]) : find_tree(kind, t, part, n));
    }
    free(part);
    free(met);
    return node;
}

/* ---- samples ---- */

static int size_of_both(Node *const *leaves, int a, int b)
{
    for (const Node *node = leaves[a];; node = node->parent)
        for (const Node *at = leaves[b]; at; at = at->parent)
            if (at == node)
                return node->size;
}

static void find_leaves(Node *node, Node **leaves)
{
    if (!node->left) {
        leaves[node->first] = node;
        return;
    }
    find_leaves(node->left, leaves);
    find_leaves(node->right, leaves);
}

static int draw(int n)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

/* Whether, of many i, j and k, those meet first that do so in the tree. */
static bool samples_agree(const Kind *kind, Trial *t, Node *tree)
{
    const int samples = SAMPLED_TERMS / t->n < SAMPLES ? SAMPLED_TERMS / t->n : SAMPLES;
    static Mask masks[SAMPLES];
    static int answers[SAMPLES];
    Node **leaves = room((size_t)t->n, sizeof(Node *));
    bool agree = true;
    find_leaves(tree, leaves);
    for (int s = 0; s < samples; s++) {
        Mask *m = &masks[s];
        do
            *m = (Mask){draw(t->n), draw(t->n), draw(t->n)};
        while (m->big == m->a || m->big == m->b || m->a == m->b);
    }
    run_masks(kind, t, masks, samples, answers);
    for (int s = 0; s < samples; s++)
        agree &= answers[s] == (size_of_both(leaves, masks[s].a, masks[s].b) <
                                size_of_both(leaves, masks[s].a, masks[s].big));
    free(leaves);
    return agree;
}

static bool show(const Kind *kind, Trial *t)
{
    Node *documented = kind->documented(t->n), *found = NULL;
    bool sampled = kind->most && t->n > kind->most, same;
    if (!sampled) {
        int *terms = room((size_t)t->n, sizeof *terms);
        for (int i = 0; i < t->n; i++)
            terms[i] = i;
        found = find_tree(kind, t, terms, t->n);
        free(terms);
    }
    same = sampled ? samples_agree(kind, t, documented) : equal(found, documented);
    printf("%-18s %5d  ", kind->name, t->n);
    print_tree(sampled ? documented : found);
    printf("%s\n", !sampled ? "" : same ? "  (by samples)" : "  (documented: samples differ)");
    if (!same && !sampled) {
        printf("%-18s %5d  documented: ", kind->name, t->n);
        print_tree(documented);
        printf("\n");
    }
    release(found);
    release(documented);
    return same;
}

int main(int argc, char **argv)
{
    model *m;
    Trial trial = {.n = argc > 1 ? atoi(argv[1]) : 0, .x = room(ROOM, sizeof(float))};
    bool same = true;
    if (trial.n < 4 || trial.n > ROOM / WIDTH) {
        fprintf(stderr, "trees: 4 to %d terms\n", ROOM / WIDTH);
        return 1;
    }
    check(!model_open_new(1, &m) && !model_session_new(m, &trial.session), "no model");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        same &= show(&kinds[i], &trial);
    free(trial.x);
    model_close(m);
    return !same;
}
