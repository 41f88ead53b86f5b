/* What a row remembers, as decoders see it: any prefix of a text that is taken, dropped and taken
 * again, in any order, slot and batch, gives the same logits, bit for bit. Small models with each
 * kind of what a slot keeps (runtime/decode/slots.h). */
#define _GNU_SOURCE /* realpath, setenv */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "driver/run/inference.h"
#include "tests/decode/sources.h"

#include <stdio.h>

enum { VOCAB = 40, ROWS = 3, SLOTS = 5, PIECES = 14, LONGEST = 80, TURNS = 250, SAVED = 3 };

/* A model; in `settings` its constants, NULL behind the last. */
typedef struct Case {
    const char *name, *path, *settings[12];
} Case;

/* clang-format off */
static const Case cases[] = {
    {"keys and values", "models/gpt.tfg",
     {"layers=2", "d_model=16", "heads=2", "context=80"}},
    {"window", "models/llama.tfg",
     {"layers=2", "d_model=16", "heads=2", "kv_heads=1", "d_ff=24", "window=5"}},
    {"last rows", "tests/models/canon.tfg", {"layers=2", "d_model=16", "d_ff=24", "heads=2"}},
    {"latents", "tests/strangers/mla.tfg",
     {"layers=2", "d_model=16", "heads=2", "q_rank=6", "kv_rank=8", "d_nope=4", "d_rope=4", "d_v=4"}},
    {"source", "models/multi30k_tiny.tfg", {"layers=1", "d_model=16", "d_ff=24", "heads=2"}},
    {"source and last rows", "tests/models/convs2s.tfg", {"layers=2", "d_model=16"}},
    {"once a sentence", "tests/strangers/performer.tfg",
     {"layers=1", "d_model=16", "d_ff=24", "heads=2", "features=8"}},
};
enum { CASES = sizeof cases / sizeof *cases };
/* clang-format on */

/* How many tokens each row is fed at a time, by its own rule: 8 are many for the latents. */
static const int32_t pieces[ROWS][PIECES] = {{16, 9, 1, 1, 3, 1, 1, 1, 8, 1, 1, 2, 1, 1},
                                             {3, 1, 1, 12, 1, 1, 1, 2, 1, 1, 1, 1, 9, 1},
                                             {20, 20, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

static uint64_t random_state;
static int below(int n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)n);
}

/* Fixture: a model, its rows' texts, and what their pieces give when each row is alone. */
typedef struct Fixture {
    Arena *arena;
    Job job;
    Session session;
    Store *store;
    Inference inference;
    Stepper *stepper;
    int32_t ids[ROWS][LONGEST], begins[ROWS][PIECES + 1], source_ids[ROWS][6];
    Tokens sources[ROWS];
    float want[ROWS][PIECES][VOCAB];
} Fixture;

static void draw_params(Store *store)
{
    random_state = 7;
    for (int64_t t = 0; t < store_count(store); t++) {
        StoreTensor *tensor = store_at(store, t);
        for (int64_t i = 0; store_is_param(tensor) && i < tensor->count; i++)
            ((float *)tensor->data)[i] =
                (float)below(1 << 20) / (1 << 20) - 0.5F + (strstr(tensor->name, "gain") ? 1 : 0);
    }
    store_changed(store);
}

static void open_case(Fixture *f, const Case *c, int opt_level)
{
    f->arena = arena_new();
    f->job = (Job){.arena = f->arena};
    diag_init(&f->job.diags, f->arena);
    SessionOptions options = session_defaults(c->path);
    options.opt_level = opt_level;
    vec_push(f->arena, options.settings, "vocab=40");
    for (int i = 0; c->settings[i]; i++)
        vec_push(f->arena, options.settings, c->settings[i]);
    bool ok = session_open(&f->session, &f->job, &options);
    f->store = store_new();
    if (ok)
        inference_init(&f->inference, &f->session, f->store, NULL);
    ok = ok && inference_prepare_decode(&f->inference) && store_initialise(f->store, 1);
    Text said = {0};
    diag_render(&f->job.diags, &said);
    if (!ok)
        fail_msg("%s: %s", c->name, said.data);
    text_free(&said);
    draw_params(f->store);
    f->stepper = &f->inference.stepper;
}

static void close_case(Fixture *f)
{
    inference_free(&f->inference);
    store_free(f->store);
    session_close(&f->session);
    arena_free(f->arena);
}

static const Sources *sources_in(Fixture *f, const int *order, int n)
{
    Tokens texts[ROWS];
    for (int i = 0; i < n; i++)
        texts[i] = f->sources[order[i]];
    return f->inference.encode ? pack_sources(f->arena, texts, n) : NULL;
}

/* Feeds a piece of each of n rows, and gives the logits behind its last token. */
static void feed(Fixture *f, int n, const int *row, const int *piece, const int32_t *sentence,
                 const int32_t *slot, const float **out)
{
    int32_t counts[SLOTS] = {0}, tokens[SLOTS * LONGEST] = {0}, total = 0;
    for (int i = 0; i < n; i++) {
        counts[i] = pieces[row[i]][piece[i]];
        memcpy(tokens + total, f->ids[row[i]] + f->begins[row[i]][piece[i]],
               sizeof *tokens * (size_t)counts[i]);
        total += counts[i];
    }
    const float *logits = f->stepper->step(f->stepper->self, n, sentence, slot, counts, tokens);
    assert_non_null(logits);
    for (int i = 0; i < n; i++) {
        logits += (size_t)counts[i] * VOCAB;
        out[i] = logits - VOCAB;
    }
}

static void make_texts(Fixture *f)
{
    static const int alone[ROWS] = {0, 1, 2};
    const int32_t slot = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int t = 0; t < LONGEST; t++)
            f->ids[r][t] = (7 * t + t / 5 + 3 * r + 1) % VOCAB;
        for (int t = 0; t < 6; t++)
            f->source_ids[r][t] = (5 * t + r) % VOCAB;
        f->sources[r] = (Tokens){f->source_ids[r], 4 + r % 3};
        for (int k = 0; k < PIECES; k++)
            f->begins[r][k + 1] = f->begins[r][k] + pieces[r][k];
        assert_true(f->stepper->begin(f->stepper->self, sources_in(f, &alone[r], 1), 1));
        for (int k = 0; k < PIECES; k++) {
            const float *logits;
            feed(f, 1, &r, &k, &slot, &slot, &logits);
            memcpy(f->want[r][k], logits, sizeof f->want[r][k]);
        }
    }
}

/* Walk: what is in each slot, and what was saved: a row (-1: none), and how many of its pieces. */
typedef struct Walk {
    Fixture *f;
    int order[ROWS]; /* sentence i of the batch is row order[i] */
    int row[SLOTS], taken[SLOTS];
    int saved_row[SAVED], saved_taken[SAVED];
    char *saved[SAVED];
    size_t bytes[SAVED];
    int steps, dropped, restored, exact;
} Walk;

static int32_t sentence_of(const Walk *w, int row)
{
    int i = 0;
    while (w->order[i] != row)
        i++;
    return i;
}

/* Another batch, in another order; nothing is in its slots. */
static void begin_batch(Walk *w)
{
    for (int i = 0; i < ROWS; i++) {
        const int other = below(ROWS), moved = w->order[i];
        w->order[i] = w->order[other];
        w->order[other] = moved;
    }
    assert_true(w->f->stepper->begin(w->f->stepper->self, sources_in(w->f, w->order, ROWS), SLOTS));
    for (int i = 0; i < SLOTS; i++) {
        w->row[i] = below(ROWS);
        w->taken[i] = 0;
    }
}

/* Some slots take their next pieces. */
static void take_pieces(Walk *w, const char *name)
{
    int32_t slot[SLOTS], sentence[SLOTS];
    int row[SLOTS], piece[SLOTS], n = 0;
    const float *logits[SLOTS];
    const int first = below(SLOTS);
    for (int i = 0; i < SLOTS; i++) {
        const int k = (first + i) % SLOTS;
        if (w->taken[k] == PIECES || below(3) == 0)
            continue;
        slot[n] = k;
        sentence[n] = sentence_of(w, w->row[k]);
        row[n] = w->row[k];
        piece[n++] = w->taken[k]++;
    }
    if (!n)
        return;
    feed(w->f, n, row, piece, sentence, slot, logits);
    for (int i = 0; i < n; i++)
        if (memcmp(logits[i], w->f->want[row[i]][piece[i]], sizeof w->f->want[0][0]))
            fail_msg("%s: row %d, piece %d, in slot %d: other bits than alone", name, row[i],
                     piece[i], slot[i]);
    w->steps += n;
}

/* A slot drops its last tokens, down to any length. */
static void drop_tokens(Walk *w)
{
    const Stepper *stepper = w->f->stepper;
    const int k = below(SLOTS), row = w->row[k];
    const int32_t *begins = w->f->begins[row];
    assert_int_equal(stepper->length(stepper->self, k), begins[w->taken[k]]);
    const int32_t asked =
        below(2) && w->taken[k] ? begins[w->taken[k] - 1] : below(begins[w->taken[k]] + 1);
    int32_t left = stepper->roll_back(stepper->self, k, asked);
    assert_true(left >= 0 && left <= asked);
    if (left == asked)
        w->exact++;
    int taken = 0;
    while (begins[taken + 1] <= left)
        taken++;
    if (begins[taken] != left) /* inside of a piece of ours: where it begins */
        left = stepper->roll_back(stepper->self, k, begins[taken]);
    while (begins[taken] > left)
        taken--;
    assert_int_equal(left, begins[taken]);
    w->taken[k] = taken;
    w->dropped++;
}

static void copy_slot(Walk *w)
{
    const int from = below(SLOTS), to = (from + 1 + below(SLOTS - 1)) % SLOTS;
    w->f->stepper->copy(w->f->stepper->self, from, to);
    w->row[to] = w->row[from];
    w->taken[to] = w->taken[from];
}

static void save_slot(Walk *w)
{
    const Stepper *stepper = w->f->stepper;
    const int k = below(SLOTS), at = below(SAVED);
    if (!w->taken[k])
        return;
    w->bytes[at] = stepper->bytes(stepper->self, k);
    w->saved[at] = realloc(w->saved[at], w->bytes[at]);
    stepper->save(stepper->self, k, w->saved[at]);
    w->saved_row[at] = w->row[k];
    w->saved_taken[at] = w->taken[k];
}

static void restore_slot(Walk *w)
{
    const Stepper *stepper = w->f->stepper;
    const int k = below(SLOTS), at = below(SAVED), row = w->saved_row[at];
    if (row < 0)
        return;
    assert_false(
        stepper->restore(stepper->self, k, sentence_of(w, row), w->saved[at], w->bytes[at] - 1));
    assert_true(
        stepper->restore(stepper->self, k, sentence_of(w, row), w->saved[at], w->bytes[at]));
    w->row[k] = row;
    w->taken[k] = w->saved_taken[at];
    w->restored++;
}

static void walk(Fixture *f, const Case *c)
{
    Walk w = {.f = f, .order = {0, 1, 2}, .saved_row = {-1, -1, -1}};
    begin_batch(&w);
    for (int turn = 0; turn < TURNS; turn++)
        switch (below(turn % 50 == 49 ? 1 : 12)) {
        case 0:
            if (turn % 50 == 49)
                begin_batch(&w);
            break;
        case 1:
        case 2: drop_tokens(&w); break;
        case 3: copy_slot(&w); break;
        case 4: save_slot(&w); break;
        case 5: restore_slot(&w); break;
        default: take_pieces(&w, c->name);
        }
    for (int i = 0; i < SAVED; i++)
        free(w.saved[i]);
    assert_true(w.steps > 150 && w.dropped > 10 && w.restored > 5 && w.exact > 5);
}

/* ---- decoders ---- */

/* The same results of a decoder for texts together and for each alone. */
static void compare_decoded(Fixture *f, const Case *c, const DecodeSettings *settings,
                            const Tokens *prompts)
{
    static const int64_t numbers[ROWS] = {4, 5, 6};
    static const int order[ROWS] = {0, 1, 2};
    Decoded all[ROWS], one;
    const Tokens *given = f->inference.encode ? NULL : prompts;
    assert_true(decode_batch(f->stepper, settings, sources_in(f, order, ROWS), given, numbers, ROWS,
                             f->arena, all));
    for (int r = 0; r < ROWS; r++) {
        DecodeSettings own = *settings;
        own.prefixes = settings->prefixes ? settings->prefixes + r : NULL;
        assert_true(decode_batch(f->stepper, &own, sources_in(f, &order[r], 1),
                                 given ? &prompts[r] : NULL, &numbers[r], 1, f->arena, &one));
        assert_int_equal(one.n, all[r].n);
        for (int i = 0; i < one.n; i++)
            if (one.best[i].n != all[r].best[i].n ||
                memcmp(one.best[i].ids, all[r].best[i].ids,
                       sizeof(int32_t) * (size_t)one.best[i].n) ||
                memcmp(one.best[i].each, all[r].best[i].each,
                       sizeof(double) * (size_t)one.best[i].n_each))
                fail_msg("%s: text %d, result %d: another alone than beside others", c->name, r, i);
    }
}

static void decode_texts(Fixture *f, const Case *c)
{
    enum { SHARED = 30 };
    const bool is_long = !f->inference.encode && strcmp(c->name, "keys and values");
    /* Of the latents' 2,048 positions at once the third prompt would have room for all but its last
     * four, which would be few; and of the second all but five are what all begin with. */
    const int32_t lengths[ROWS] = {is_long ? 2300 : 50, SHARED + 6, is_long ? 1767 : 40};
    Tokens prompts[ROWS];
    for (int r = 0; r < ROWS; r++) {
        int32_t *ids = ARENA_ARRAY(f->arena, int32_t, lengths[r]);
        for (int t = 0; t < lengths[r]; t++)
            ids[t] = (7 * t + t / 5 + (t < SHARED ? 0 : 3 * r) + 1) % VOCAB;
        prompts[r] = (Tokens){ids, lengths[r]};
    }
    for (int beam = 1; beam <= 3; beam += 2) {
        DecodeSettings settings = decode_defaults();
        settings.beam = settings.nbest = beam;
        settings.sample = false;
        settings.bos = f->inference.encode ? 1 : -1;
        settings.eos = 2;
        settings.length_factor = 0;
        settings.length_extra = 8;
        compare_decoded(f, c, &settings, prompts);
        settings.sample = true;
        settings.prefixes = (Tokens[ROWS]){{f->ids[0], 20}, {f->ids[1], 3}, {f->ids[2], 11}};
        compare_decoded(f, c, &settings, prompts);
    }
}

static void test_case(void **state)
{
    const Case *c = *state;
    for (int level = 0; level <= 2; level += 2) {
        Fixture *f = calloc(1, sizeof *f);
        open_case(f, c, level);
        make_texts(f);
        walk(f, c);
        if (level)
            decode_texts(f, c);
        close_case(f);
        free(f);
    }
}

int main(void)
{
    struct CMUnitTest tests[CASES];
    char *library = realpath("models/lib", NULL);
    if (library)
        setenv("TFC_LIBRARY", library, 1);
    free(library);
    for (int i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = test_case, .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
