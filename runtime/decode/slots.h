/* Slots: what each text that is being decoded remembers, one record a text, and nothing beside it.
 *
 * A kind of what decode_step reads says what a slot keeps for it:
 *
 *   kind           is                                a slot keeps        a run         roll back
 *   SLOT_GROWS     cache [B, P~, …]: keys, values,   a row a position    adds rows     fewer rows
 *                  latents
 *   SLOT_WHOLE     cache [B, r, …]: the last r rows  all, and as it was  replaces it   an older one
 *                  before the newest                 before the last run
 *   SLOT_SENTENCE  output of encode, [B, …]          its sentence        gathers rows  nothing
 *   SLOT_SOURCE    output of encode along S~         its sentence        reads it      nothing
 *                                                                        where it lies
 *
 * What is computed again is no input. derive_incremental (passes/incremental) chooses by price.
 * SLOT_GROWS begins with the rows of what stands before the text, if the model's dimensions have
 * such:
 *
 *   slot 0               slot 1
 *   before  tokens  gap  before  tokens  gap  … */
#ifndef RUNTIME_DECODE_SLOTS_H
#define RUNTIME_DECODE_SLOTS_H

#include "runtime/exec/exec.h"

typedef enum SlotKind { SLOT_GROWS, SLOT_WHOLE, SLOT_SENTENCE, SLOT_SOURCE } SlotKind;

/* SlotInput: what decode_step reads.
 *   bytes     of a position (SLOT_GROWS), of all (SLOT_WHOLE, SLOT_SENTENCE)
 *   past      SLOT_GROWS: its positions, in Slots.pasts; -1: of tokens alone
 *   kept      of all slots (SLOT_GROWS; SLOT_WHOLE: SLOT_POINTS times for each slot); owned
 *   rows      of a run's rows, in their order (SLOT_WHOLE, SLOT_SENTENCE); owned
 *   encoded   as encode gave it (SLOT_SENTENCE, SLOT_SOURCE)
 *   grown     what `kept` will be, while it grows
 * Without a name: the beginnings of pieces, which the program does not read. */
typedef struct SlotInput {
    const char *name;
    SlotKind kind;
    int past;
    size_t bytes;
    char *kept, *rows, *grown;
    const char *encoded;
} SlotInput;

/* SlotPast: a dimension of caches: all positions so far. */
typedef struct SlotPast {
    int step;         /* its number in decode_step */
    bool begins;      /* with what encode gives by the cache's name: [B, before, …] */
    int encode;       /* the number of `before` in encode; -1: it has n_before positions */
    int32_t n_before; /* of the longest sentence */
    int32_t room;     /* for them in each slot */
    int32_t *rows_length, *rows_offset; /* of a run's rows */
} SlotPast;

/* SlotSource: a ragged dimension that encode has, too, such as the source's. */
typedef struct SlotSource {
    int step, encode;                   /* its number in both programs */
    const TfcDim *sentences;            /* lengths and places of the sentences, as encoded */
    int32_t *rows_length, *rows_offset; /* those of the sentences of a run's rows */
} SlotSource;

/* As many states of SLOT_WHOLE a slot keeps: after the last run, and before it. */
enum { SLOT_POINTS = 2 };

/* SlotRecord: the record of a text.
 *   length     tokens fed
 *   sentence   whose beginning it has, -1: nobody's
 *   points     the lengths at which the states of SLOT_WHOLE were kept, -1: none; at length 0 they
 *              are zeros
 *   newest     the point at `length` */
typedef struct SlotRecord {
    int32_t length, sentence, newest, points[SLOT_POINTS];
} SlotRecord;

typedef struct Slots {
    Exec *step, *encode; /* encode NULL: there is none */
    SlotInput *inputs;
    SlotPast *pasts;
    SlotSource *sources;
    SlotRecord *list;
    int n_inputs, n_pasts, n_sources;
    int dim_tokens;            /* of decode_step: all tokens so far, without what is before; -1 */
    int32_t n_slots, capacity; /* tokens that a slot has room for */
    int32_t n_rows;            /* that there is room for */
    int32_t many;              /* slots_many */
    bool has_whole;            /* some input is SLOT_WHOLE */
    bool one_beginning;        /* all sentences begin alike: encode has one row */
} Slots;

/* The least tokens that a row has to be fed at once to be computed in another order, which rounds
 * otherwise (passes/incremental/rows.c); 0: there is one order. */
int32_t slots_many(const TfcProgram *step);

/* Of the programs of these executors, which must outlive it. rows, newest: the dimensions of
 * decode_step's tokens. False: memory ran out; only slots_free may follow. */
bool slots_open(Slots *s, Exec *step, Exec *encode, int rows, int newest);
void slots_free(Slots *s);
/* Empties all slots, as many as are asked for or more, each with room for `capacity` tokens or
 * more. `encoded`: encode has run, and they are of its sentences. False: memory ran out. */
bool slots_begin(Slots *s, bool encoded, int32_t n_slots, int32_t capacity);
/* Whether caches can hold so much at all: tokens are counted in 31 bits. Asked before
 * anything is written to memory of n_slots slots. */
bool slots_fit(int32_t n_slots, int32_t capacity);
/* Room for `capacity` tokens a slot; what is in them is kept. False: memory ran out. */
bool slots_grow(Slots *s, int32_t capacity);
/* The dimensions of a run over all slots when they are full, but for the newest tokens; room:
 * an entry for each of decode_step's. */
void slots_shape(const Slots *s, ExecDim *room);

/* Before a run: row r of it adds counts[r] tokens to slot[r], a text of sentence[r]; no slot twice.
 * Gives decode_step all inputs but the tokens. A run that fails changes no slot. */
void slots_load(Slots *s, int32_t n, const int32_t *sentence, const int32_t *slot,
                const int32_t *counts);
/* After a run that did not fail: the tokens are added. */
void slots_store(Slots *s, int32_t n, const int32_t *slot, const int32_t *counts);

/* Forgets the slot's last tokens, so that `length` are left, or fewer where it cannot stand there:
 * the rest is to be fed again, and then gives the same bits. Returns how many are left. It can
 * stand
 *   before its last run, always
 *   anywhere, but inside of tokens that were fed as many (slots_many)
 *   with an input SLOT_WHOLE: before and after the last run that was not forgotten, and at 0 */
int32_t slots_roll_back(Slots *s, int32_t slot, int32_t length);
/* Makes slot `to` a copy of slot `from`. With an input SLOT_WHOLE a copy does not have the state
 * before the last run. (slots_state.c, as the next ones) */
void slots_copy(Slots *s, int32_t from, int32_t to);
/* A slot's record as bytes, for any slot over the same programs: another's, of a later begin, of
 * another stepper. slots_save writes slots_bytes bytes. */
size_t slots_bytes(const Slots *s, int32_t slot);
void slots_save(const Slots *s, int32_t slot, void *to);
/* The tokens of what slots_save wrote; -1: it was of other programs, or another sentence. */
int32_t slots_saved_length(const Slots *s, int32_t sentence, const void *from, size_t bytes);
/* Makes the slot what was saved, as a text of the sentence, which must have the source that the
 * saved slot's had. The slot has room for slots_saved_length tokens. */
void slots_restore(Slots *s, int32_t slot, int32_t sentence, const void *from);

/* ---- shared by slots.c and slots_state.c ---- */

/* The positions of the input that are before the text of that sentence, and where those of a slot
 * begin. */
int32_t slots_before(const Slots *s, const SlotInput *input, int32_t sentence);
char *slots_data(const Slots *s, const SlotInput *input, int32_t slot);
/* A state of SLOT_WHOLE. */
char *slots_point(const SlotInput *input, int32_t slot, int32_t point);

#endif
