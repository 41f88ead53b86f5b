/* Encoding once a sentence, then one decode_step a token, or for many where they are known. What a
 * hypothesis remembers is its slot's record (slots.h). */
#include "runtime/decode/stepper_exec.h"

#include "runtime/decode/decode.h"
#include "runtime/decode/slots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 32 };

typedef struct ExecStepper {
    StepperPrograms programs;
    Exec *encode, *step;
    int dim_rows, dim_new;
    int dim_encode_rows;               /* of an encode that reads nothing; else -1 */
    int dim_chosen, dim_encode_chosen; /* of a shortlist's ids; -1: there is none */
    ExecDim *room;                     /* the shape that the step's slab is planned for */
    Slots slots;

    /* tokens that one step has room for beside one a slot */
    int32_t most_new;
    int32_t most_fed; /* most_new grows to that */
    int32_t *ones;    /* a row: how many tokens it is fed */
    int32_t n_rows_room;
    ShortlistBatch batch;     /* without a shortlist: zeros */
    int32_t *fed, n_fed_room; /* ids of the tokens of a step */
} ExecStepper;

static const TfcPort *stepper_port(const TfcPort *ports, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

static bool stepper_grow(int32_t **list, int32_t *room, int64_t n)
{
    if (n <= *room)
        return true;
    int32_t *grown = realloc(*list, (size_t)n * sizeof *grown);
    if (!grown)
        return false;
    *list = grown;
    *room = (int32_t)n;
    return true;
}

/* Plans the step once for all that the slots have room for, and not again at every token. */
static bool reserve_step(ExecStepper *s)
{
    const int64_t slots = s->slots.n_slots;
    if (s->dim_rows >= 0)
        s->room[s->dim_rows] = (ExecDim){slots, slots};
    if (s->dim_new >= 0) {
        s->room[s->dim_new] = (ExecDim){1 + s->most_new, slots + s->most_new};
        s->room[s->programs.decode_step->dims[s->dim_new].batch] = (ExecDim){slots, slots};
    }
    slots_shape(&s->slots, s->room);
    if (s->dim_chosen >= 0)
        s->room[s->dim_chosen] = (ExecDim){s->batch.chosen.n, s->batch.chosen.n};
    return exec_reserve(s->step, s->room, 1);
}

/* Room for rows that have `longest` tokens in the end and are fed `more` of them beside one
 * each. */
static bool reserve_tokens(ExecStepper *s, int64_t longest, int32_t more)
{
    int64_t capacity = s->slots.capacity;
    while (capacity < longest)
        capacity *= 2;
    if (capacity == s->slots.capacity && more <= s->most_new)
        return true;
    if (capacity > INT32_MAX || !slots_grow(&s->slots, (int32_t)capacity))
        return false;
    if (more > s->most_new) {
        const int32_t twice = 2 * s->most_new;
        s->most_new = more > twice ? more : twice < s->most_fed ? twice : s->most_fed;
    }
    return reserve_step(s);
}

static bool reserve_ones(ExecStepper *s, int32_t n)
{
    int32_t had = s->n_rows_room;
    if (!stepper_grow(&s->ones, &s->n_rows_room, n))
        return false;
    for (; had < n; had++)
        s->ones[had] = 1;
    return true;
}

/* Without an input encode gives one row, as which all texts begin. */
static bool encode_sources(ExecStepper *s, const Sources *sources)
{
    exec_set_dim(s->encode, s->dim_encode_rows, 1);
    if (sources)
        feed_sources(s->encode, s->programs.feed, sources);
    if (s->programs.shortlist) {
        exec_set_dim(s->encode, s->dim_encode_chosen, s->batch.chosen.n);
        exec_input(s->encode, s->programs.shortlist->input, s->batch.list);
    }
    return exec_run(s->encode);
}

static bool stepper_begin(void *self, const Sources *sources, int32_t n_slots)
{
    ExecStepper *s = self;
    const bool reads = s->dim_encode_rows < 0,
               encodes = s->encode && (!reads || (sources && sources->n));
    return slots_fit(n_slots, FIRST_CAPACITY) && reserve_ones(s, n_slots) &&
           (!encodes || encode_sources(s, reads ? sources : NULL)) &&
           slots_begin(&s->slots, encodes, n_slots, FIRST_CAPACITY) && reserve_step(s);
}

static bool stepper_choose(void *self, const TokenNeeds *needs, ChosenTokens *out)
{
    ExecStepper *s = self;
    const Shortlist *shortlist = s->programs.shortlist;
    bool ok = shortlist->calls->choose(shortlist, needs, &s->batch);
    *out = s->batch.chosen;
    return ok;
}

/* Replaces tokens that are numbered by the shortlist by their ids. False: memory ran out. */
static bool find_ids(ExecStepper *s, const int32_t **tokens, int64_t n)
{
    if (!s->programs.shortlist)
        return true;
    if (!stepper_grow(&s->fed, &s->n_fed_room, n))
        return false;
    for (int64_t i = 0; i < n; i++)
        s->fed[i] = s->batch.list[(*tokens)[i]];
    *tokens = s->fed;
    return true;
}

/* Runs the step by `run`. */
static bool stepper_run(ExecStepper *s, int32_t n, const int32_t *sentence, const int32_t *slot,
                        const int32_t *counts, const int32_t *tokens, bool (*run)(Exec *exec))
{
    int64_t longest = 0, total = 0;
    if (!reserve_ones(s, n))
        return false;
    counts = counts ? counts : s->ones;
    for (int32_t r = 0; r < n; r++) {
        const int64_t length = (int64_t)s->slots.list[slot[r]].length + counts[r];
        longest = length > longest ? length : longest;
        total += counts[r];
    }
    if (!find_ids(s, &tokens, total) || !reserve_tokens(s, longest, (int32_t)(total - n)))
        return false;
    if (s->dim_rows >= 0)
        exec_set_dim(s->step, s->dim_rows, n);
    if (s->dim_chosen >= 0)
        exec_set_dim(s->step, s->dim_chosen, s->batch.chosen.n);
    if (s->dim_new >= 0)
        exec_set_ragged(s->step, s->dim_new, n, counts, NULL);
    slots_load(&s->slots, n, sentence, slot, counts);
    exec_input(s->step, s->programs.target, tokens);
    if (!run(s->step))
        return false;
    slots_store(&s->slots, n, slot, counts);
    return true;
}

static const float *stepper_step(void *self, int32_t n, const int32_t *sentence,
                                 const int32_t *slot, const int32_t *counts, const int32_t *tokens)
{
    ExecStepper *s = self;
    return stepper_run(s, n, sentence, slot, counts, tokens, exec_run)
               ? exec_output(s->step, s->programs.logits)
               : NULL;
}

static bool stepper_feed(void *self, int32_t n, const int32_t *sentence, const int32_t *slot,
                         const int32_t *counts, const int32_t *tokens)
{
    return stepper_run(self, n, sentence, slot, counts, tokens, exec_run_state);
}

static int32_t stepper_length(void *self, int32_t slot)
{
    const ExecStepper *s = self;
    return s->slots.list[slot].length;
}

static int32_t stepper_roll_back(void *self, int32_t slot, int32_t length)
{
    ExecStepper *s = self;
    return slots_roll_back(&s->slots, slot, length);
}

static void stepper_copy(void *self, int32_t from, int32_t to)
{
    ExecStepper *s = self;
    slots_copy(&s->slots, from, to);
}

static size_t stepper_bytes(void *self, int32_t slot)
{
    const ExecStepper *s = self;
    return slots_bytes(&s->slots, slot);
}

static void stepper_save(void *self, int32_t slot, void *to)
{
    const ExecStepper *s = self;
    slots_save(&s->slots, slot, to);
}

static bool stepper_restore(void *self, int32_t slot, int32_t sentence, const void *from,
                            size_t bytes)
{
    ExecStepper *s = self;
    const int32_t length = slots_saved_length(&s->slots, sentence, from, bytes);
    if (length < 0 || !reserve_tokens(s, length, 0))
        return false;
    slots_restore(&s->slots, slot, sentence, from);
    return true;
}

static void free_stepper(void *self)
{
    ExecStepper *s = self;
    exec_free(s->encode);
    exec_free(s->step);
    shortlist_free_batch(&s->batch);
    slots_free(&s->slots);
    free(s->ones);
    free(s->room);
    free(s->fed);
    free(s);
}

/* The dimension of a shortlist's ids in both programs. */
static void find_shortlist(ExecStepper *s, const TfcPort *logits)
{
    const StepperPrograms *programs = &s->programs;
    if (!programs->shortlist)
        return;
    const TfcPort *ids = stepper_port(programs->encode->inputs, programs->encode->n_inputs,
                                      programs->shortlist->input);
    assert(ids);
    s->dim_encode_chosen = ids->shape.dims[0].dim;
    s->dim_chosen = logits->shape.dims[logits->shape.rank - 1].dim;
}

bool stepper_exec_new(const StepperPrograms *programs, Store *store, Stepper *out)
{
    ExecStepper *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->programs = *programs;
    s->most_fed = slots_many(programs->decode_step) ? STEPPER_MOST_FED_LATENT : STEPPER_MOST_FED;
    s->dim_encode_rows = s->dim_chosen = s->dim_encode_chosen = -1;
    const TfcPort *target = stepper_port(programs->decode_step->inputs,
                                         programs->decode_step->n_inputs, programs->target);
    const TfcPort *logits = stepper_port(programs->decode_step->outputs,
                                         programs->decode_step->n_outputs, programs->logits);
    assert(target && logits);
    s->dim_rows = target->shape.dims[0].dim;
    s->dim_new = target->shape.dims[1].dim;
    s->room = calloc((size_t)programs->decode_step->n_dims + 1, sizeof *s->room);
    s->step = exec_new(programs->decode_step, store);
    s->encode = programs->encode ? exec_new(programs->encode, store) : NULL;
    bool ok = s->room && s->step && (s->encode || !programs->encode) &&
              slots_open(&s->slots, s->step, s->encode, s->dim_rows, s->dim_new);
    if (s->encode && !programs->encode->n_inputs) {
        s->dim_encode_rows = programs->encode->outputs[0].shape.dims[0].dim;
        s->slots.one_beginning = true;
    }
    find_shortlist(s, logits);
    const Shortlist *shortlist = programs->shortlist;
    *out = (Stepper){.self = s,
                     .vocab = shortlist ? shortlist->n_targets
                                        : (int32_t)logits->shape.dims[logits->shape.rank - 1].size,
                     .most_fed = s->most_fed,
                     .many = s->slots.many,
                     .begin = stepper_begin,
                     .step = stepper_step,
                     .feed = stepper_feed,
                     .choose = shortlist ? stepper_choose : NULL,
                     .calls = shortlist ? shortlist->calls : NULL,
                     .copy = stepper_copy,
                     .length = stepper_length,
                     .roll_back = stepper_roll_back,
                     .bytes = stepper_bytes,
                     .save = stepper_save,
                     .restore = stepper_restore,
                     .free = free_stepper};
    if (!ok)
        free_stepper(s);
    return ok;
}
