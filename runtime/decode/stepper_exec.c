/* Encoding once a sentence, then one decode_step a token, or for many where they are known.
 * Hypotheses of one sentence share its memory by pointing at the same tokens; each has its own
 * slot in the caches (caches.h). */
#include "runtime/decode/stepper_exec.h"

#include "runtime/decode/caches.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/rings.h"
#include "runtime/exec/size.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 32 };

/* A ragged dimension that encode has, too, such as the source's: its number in both programs. */
typedef struct SourceDim {
    int step, encode;
    const TfcDim *sentences;            /* lengths and places of the sentences, as encoded */
    int32_t *rows_length, *rows_offset; /* those of the sentences of a step's rows */
} SourceDim;

/* Output of encode that is an input of decode_step. */
typedef struct Memory {
    const char *name;
    bool per_sentence; /* [B, …], none ragged: rows are gathered for each hypothesis */
    size_t row_bytes;
    void *rows;
    const void *encoded;
} Memory;

typedef struct ExecStepper {
    StepperPrograms programs;
    Exec *encode, *step;
    int dim_rows, dim_new, dim_past;
    int dim_encode_rows;               /* of an encode that reads nothing; else -1 */
    int dim_chosen, dim_encode_chosen; /* of a shortlist's ids; -1: there is none */
    ExecDim *room;                     /* the shape that the step's slab is planned for */
    Memory *memories;
    int n_memories;
    SourceDim *sources;
    int n_sources;
    SlotCaches caches;
    Rings rings;

    /* tokens that one step has room for beside one a slot */
    int32_t most_new;
    int32_t most_fed; /* most_new grows to that */
    int32_t *ones;    /* a row: how many tokens it is fed */
    int32_t n_rows_room;
    ShortlistBatch batch;     /* without a shortlist: zeros */
    int32_t *fed, n_fed_room; /* ids of the tokens of a step */
} ExecStepper;

/* Bytes of one element of the leading dimensions: the product of the rest. */
static size_t inner_bytes(const TfcShape *shape, int from, TfcType type)
{
    size_t bytes = element_info(type)->bytes;
    for (int i = from; i < shape->rank; i++)
        bytes *= (size_t)shape->dims[i].size;
    return bytes;
}

static const TfcPort *stepper_port(const TfcPort *ports, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

/* The ragged dimension of a shape, or -1. */
static int ragged_dim(const TfcProgram *program, const TfcShape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i].dim >= 0 && program->dims[shape->dims[i].dim].batch >= 0)
            return shape->dims[i].dim;
    return -1;
}

static bool stepper_grow(void *array, size_t count, size_t size)
{
    void *grown = realloc(*(void **)array, count ? count * size : 1);
    if (!grown)
        return false;
    *(void **)array = grown;
    return true;
}

/* A step in which rows with many new positions go their own way has a dimension of such rows. */
static int32_t most_fed_of(const TfcProgram *step)
{
    for (int32_t i = 0; i < step->n_dims; i++)
        if (step->dims[i].formula.least > 0)
            return STEPPER_MOST_FED_LATENT;
    return STEPPER_MOST_FED;
}

static void set_room(ExecStepper *s, int dim, int64_t longest, int64_t total)
{
    if (dim < 0)
        return;
    s->room[dim] = (ExecDim){longest, total};
    s->room[s->programs.decode_step->dims[dim].batch] =
        (ExecDim){s->caches.n_slots, s->caches.n_slots};
}

/* Plans the step once for all that the caches have room for, and not again at every token. */
static bool reserve_step(ExecStepper *s)
{
    const int64_t slots = s->caches.n_slots;
    if (s->dim_rows >= 0)
        s->room[s->dim_rows] = (ExecDim){slots, slots};
    set_room(s, s->dim_new, 1 + s->most_new, slots + s->most_new);
    set_room(s, s->dim_past, s->caches.capacity, slots * s->caches.capacity);
    for (int i = 0; i < s->n_sources; i++) {
        const int64_t longest = s->sources[i].sentences ? s->sources[i].sentences->extent : 0;
        set_room(s, s->sources[i].step, longest, slots * longest);
    }
    if (s->dim_chosen >= 0)
        s->room[s->dim_chosen] = (ExecDim){s->batch.chosen.n, s->batch.chosen.n};
    return exec_reserve(s->step, s->room, 1);
}

/* Room for rows that have `longest` tokens in the end and are fed `more` of them beside one
 * each. */
static bool reserve_tokens(ExecStepper *s, int64_t longest, int32_t more)
{
    int64_t capacity = s->caches.capacity;
    while (capacity < longest)
        capacity *= 2;
    bool fits = capacity == s->caches.capacity && more <= s->most_new;
    if (fits)
        return true;
    if (capacity > INT32_MAX || !caches_reserve(&s->caches, s->caches.n_slots, (int32_t)capacity))
        return false;
    if (more > s->most_new) {
        const int32_t twice = 2 * s->most_new;
        s->most_new = more > twice ? more : twice < s->most_fed ? twice : s->most_fed;
    }
    return reserve_step(s);
}

static bool reserve_rows(ExecStepper *s, int32_t n)
{
    if (n <= s->n_rows_room)
        return true;
    size_t rows = (size_t)n;
    bool ok = caches_reserve_rows(&s->caches, n) && stepper_grow(&s->ones, rows, 4);
    for (int i = 0; ok && i < s->n_sources; i++)
        ok = stepper_grow(&s->sources[i].rows_length, rows, 4) &&
             stepper_grow(&s->sources[i].rows_offset, rows, 4);
    for (int32_t r = 0; ok && r < n; r++)
        s->ones[r] = 1;
    for (int i = 0; ok && i < s->n_memories; i++)
        if (s->memories[i].per_sentence)
            ok = stepper_grow(&s->memories[i].rows, rows, s->memories[i].row_bytes);
    if (ok)
        s->n_rows_room = n;
    return ok;
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
    if (!exec_run(s->encode))
        return false;
    for (int i = 0; i < s->n_memories; i++)
        s->memories[i].encoded = exec_output(s->encode, s->memories[i].name);
    for (int i = 0; i < s->n_sources; i++)
        s->sources[i].sentences = &exec_dims(s->encode)[s->sources[i].encode];
    return true;
}

static bool stepper_begin(void *self, const Sources *sources, int32_t n_slots)
{
    ExecStepper *s = self;
    const bool reads = s->dim_encode_rows < 0,
               encodes = s->encode && (!reads || (sources && sources->n));
    return caches_fit(n_slots, FIRST_CAPACITY) && reserve_rows(s, n_slots) &&
           (!encodes || encode_sources(s, reads ? sources : NULL)) &&
           caches_begin(&s->caches, encodes, n_slots, FIRST_CAPACITY) &&
           rings_begin(&s->rings, s->caches.n_slots) && reserve_step(s);
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
    if (n > s->n_fed_room) {
        if (!stepper_grow(&s->fed, (size_t)n, sizeof(int32_t)))
            return false;
        s->n_fed_room = (int32_t)n;
    }
    for (int64_t i = 0; i < n; i++)
        s->fed[i] = s->batch.list[(*tokens)[i]];
    *tokens = s->fed;
    return true;
}

static void feed_memories(ExecStepper *s, int32_t n, const int32_t *sentence)
{
    for (int i = 0; i < s->n_memories; i++) {
        Memory *memory = &s->memories[i];
        if (memory->per_sentence)
            for (int32_t r = 0; r < n; r++)
                memcpy((char *)memory->rows + (size_t)r * memory->row_bytes,
                       (const char *)memory->encoded + (size_t)sentence[r] * memory->row_bytes,
                       memory->row_bytes);
        exec_input(s->step, memory->name, memory->per_sentence ? memory->rows : memory->encoded);
    }
}

/* Rows of one sentence lie at the same place. */
static void set_source(ExecStepper *s, SourceDim *dim, int32_t n, const int32_t *sentence)
{
    for (int32_t r = 0; r < n; r++) {
        dim->rows_length[r] = dim->sentences->length[sentence[r]];
        dim->rows_offset[r] = dim->sentences->offset[sentence[r]];
    }
    exec_set_ragged(s->step, dim->step, n, dim->rows_length, dim->rows_offset);
}

/* Runs the step by `run`. */
static bool stepper_run(ExecStepper *s, int32_t n, const int32_t *sentence, const int32_t *slot,
                        const int32_t *counts, const int32_t *tokens, bool (*run)(Exec *exec))
{
    int64_t longest = 0, total = 0;
    if (!reserve_rows(s, n))
        return false;
    counts = counts ? counts : s->ones;
    for (int32_t r = 0; r < n; r++) {
        const int64_t length = (int64_t)s->caches.length[slot[r]] + counts[r];
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
    caches_feed(&s->caches, n, sentence, slot, counts);
    for (int i = 0; i < s->n_sources; i++)
        set_source(s, &s->sources[i], n, sentence);
    feed_memories(s, n, sentence);
    exec_input(s->step, s->programs.target, tokens);
    rings_load(&s->rings, n, slot);
    if (run(s->step)) {
        rings_store(&s->rings, n, slot);
        return true;
    }
    caches_take_back(&s->caches, n, slot, counts);
    return false;
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

static void stepper_copy(void *self, int32_t from, int32_t to)
{
    ExecStepper *s = self;
    caches_copy(&s->caches, from, to);
    rings_copy(&s->rings, from, to);
}

static void free_stepper(void *self)
{
    ExecStepper *s = self;
    exec_free(s->encode);
    exec_free(s->step);
    shortlist_free_batch(&s->batch);
    caches_free(&s->caches);
    rings_free(&s->rings);
    for (int i = 0; i < s->n_memories; i++)
        free(s->memories[i].rows);
    for (int i = 0; i < s->n_sources; i++) {
        free(s->sources[i].rows_length);
        free(s->sources[i].rows_offset);
    }
    void *arrays[] = {s->memories, s->sources, s->ones, s->room, s->fed};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    free(s);
}

/* Finds the inputs of decode_step that encode gives, and their dimensions. */
static bool find_memories(ExecStepper *s)
{
    const TfcProgram *step_program = s->programs.decode_step, *encode = s->programs.encode;
    s->memories = calloc((size_t)step_program->n_inputs + 1, sizeof *s->memories);
    if (!s->memories)
        return false;
    for (int i = 0; i < step_program->n_inputs; i++) {
        const TfcPort *port = &step_program->inputs[i];
        if (!encode || !stepper_port(encode->outputs, encode->n_outputs, port->name))
            continue;
        int ragged = ragged_dim(step_program, &port->shape);
        Memory *memory = &s->memories[s->n_memories++];
        memory->name = port->name;
        memory->per_sentence =
            ragged < 0 && port->shape.rank > 0 && port->shape.dims[0].dim == s->dim_rows;
        memory->row_bytes = inner_bytes(&port->shape, 1, port->type);
    }
    return true;
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

/* Ragged dimensions are those of encode, that of what is fed, that of all that was fed, which no
 * cache need have, and others made of these. */
static bool find_sources(ExecStepper *s)
{
    const TfcProgram *program = s->programs.decode_step;
    s->sources = calloc((size_t)program->n_dims + 1, sizeof *s->sources);
    for (int i = 0; s->sources && i < program->n_dims; i++) {
        int encode = s->encode ? exec_dim(s->encode, program->dims[i].name) : -1;
        if (program->dims[i].batch < 0 || i == s->dim_new || i == s->dim_past)
            continue;
        if (encode >= 0)
            s->sources[s->n_sources++] = (SourceDim){.step = i, .encode = encode};
        else if (!program->dims[i].formula.n)
            s->dim_past = i;
    }
    return s->sources != NULL;
}

bool stepper_exec_new(const StepperPrograms *programs, Store *store, Stepper *out)
{
    ExecStepper *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->programs = *programs;
    s->most_fed = most_fed_of(programs->decode_step);
    s->dim_rows = s->dim_new = s->dim_past = -1;
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
    bool ok = s->room && s->step && (s->encode || !programs->encode) && find_memories(s) &&
              find_sources(s) && caches_open(&s->caches, s->step, s->encode, s->dim_past) &&
              rings_open(&s->rings, s->step, programs->decode_step);
    if (s->encode && !programs->encode->n_inputs) {
        s->dim_encode_rows = programs->encode->outputs[0].shape.dims[0].dim;
        s->caches.one_beginning = true;
    }
    find_shortlist(s, logits);
    const Shortlist *shortlist = programs->shortlist;
    *out = (Stepper){.self = s,
                     .vocab = shortlist ? shortlist->n_targets
                                        : (int32_t)logits->shape.dims[logits->shape.rank - 1].size,
                     .most_fed = s->most_fed,
                     .begin = stepper_begin,
                     .step = stepper_step,
                     .feed = stepper_feed,
                     .choose = shortlist ? stepper_choose : NULL,
                     .calls = shortlist ? shortlist->calls : NULL,
                     .copy = stepper_copy,
                     .free = free_stepper};
    if (!ok)
        free_stepper(s);
    return ok;
}
