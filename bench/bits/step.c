/* Trains a compiled model on made-up texts and prints a hash of its params; see bench/bits/run.
 *
 *   cc -DTRANSLATOR -IFOLDER step.c FOLDER/model.c -lm; a.out STEPS
 *
 * TRANSLATOR, TABLE or CTC say what a step is fed; without one of them it is a language model. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6, MOST = 300, TOKENS = 400, LETTERS = 100, SOUNDS = 12, CLASSES = 3 };

/* Ids: of each row's texts, one row's after the other's. */
typedef struct Ids {
    int32_t lengths[ROWS], ids[ROWS * MOST], next[ROWS * MOST];
    int n;
} Ids;

static uint32_t state = 1;

/* 0 … n - 1 (the generator of Numerical Recipes). */
static int draw(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

static void draw_ids(Ids *x, int least, int most, int from, int to)
{
    x->n = 0;
    for (int r = 0; r < ROWS; r++) {
        int first = x->n;
        x->lengths[r] = least + draw(most - least + 1);
        for (int i = 0; i < x->lengths[r]; i++)
            x->ids[x->n++] = from + draw(to - from);
        for (int i = first; i < x->n; i++)
            x->next[i] = i + 1 < x->n ? x->ids[i + 1] : 2;
    }
}

static int train(model_session *session, int step, double *loss)
{
    static Ids a;
    model_train_step_in in = {.seed = 1, .B = ROWS, .rate = 0.001 * (1 + step % 7)};
    model_train_step_out out;
#if defined TRANSLATOR
    static Ids b;
    draw_ids(&a, 3, 30, 3, TOKENS);
    draw_ids(&b, 3, 30, 3, TOKENS);
    in.S_lengths = a.lengths;
    in.src = a.ids;
    in.T_lengths = b.lengths;
    in.tgt = b.ids;
    in.tgt_next = b.next;
#elif defined TABLE
    static int32_t labels[ROWS];
    draw_ids(&a, 3, 40, 3, TOKENS);
    for (int r = 0; r < ROWS; r++)
        labels[r] = draw(CLASSES);
    in.S_lengths = a.lengths;
    in.text = a.ids;
    in.label = labels;
#elif defined CTC
    static Ids b;
    draw_ids(&a, 24, 40, 3, LETTERS);
    draw_ids(&b, 1, 8, 1, SOUNDS);
    in.S_lengths = a.lengths;
    in.word = a.ids;
    in.T_lengths = b.lengths;
    in.sound = b.ids;
#else
    draw_ids(&a, 20, MOST, 3, TOKENS);
    in.T_lengths = a.lengths;
    in.tokens = a.ids;
    in.tokens_next = a.next;
#endif
    int status = model_train_step(session, &in, &out);
    *loss = out.loss;
    return status;
}

/* FNV-1a of 64 bits. */
static uint64_t hash(uint64_t h, const void *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return h;
}

static int fail(int status)
{
    fprintf(stderr, "%s: %s\n", model_error_text(status), model_error_detail());
    return 1;
}

int main(int argc, char **argv)
{
    model *m;
    model_session *session;
    double loss = 0;
    uint64_t h = 14695981039346656037u;
    int status = model_open_new(7, &m);
    if (!status)
        status = model_session_new(m, &session);
    for (int step = 0; !status && step < (argc > 1 ? atoi(argv[1]) : 0); step++)
        status = train(session, step, &loss);
    for (int64_t i = 0; !status && i < model_parameter_count(m); i++) {
        model_parameter_info info;
        status = model_parameter(m, i, &info);
        if (!status)
            h = hash(h, info.data, 4 * info.count);
    }
    if (status)
        return fail(status);
    printf("%016" PRIx64 " %.9g\n", h, loss);
    return 0;
}
