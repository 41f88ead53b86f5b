/* A Stepper over the programs `encode` and `decode_step` of a model. */
#ifndef RUNTIME_DECODE_STEPPER_EXEC_H
#define RUNTIME_DECODE_STEPPER_EXEC_H

#include "runtime/decode/shortlist.h"
#include "runtime/decode/stepper.h"
#include "runtime/exec/exec.h"

typedef struct StepperPrograms {
    const TfcProgram *encode; /* NULL for a decoder-only model */
    const TfcProgram *decode_step;
    const Feed *feed;   /* of encode, which outlives the stepper; without encode NULL */
    const char *target; /* input of decode_step: the new tokens of each row, i32[B, Q~] */
    const char *logits; /* output of decode_step: [B, Q~, V], or, with a shortlist, [B, Q~, K] */

    const Shortlist *shortlist; /* K ids are chosen for each batch; NULL: none */
} StepperPrograms;

/* Both programs' tensors must be in the store; store and programs must outlive the stepper. The
 * stepper owns the memory of the caches ("cache.N"): slots of equal capacity, which
 * doubles when a hypothesis outgrows it. Steppers over one store share its params and what is
 * prepared of them; exec.h says when they may run at the same time. false: memory ran out. */
bool stepper_exec_new(const StepperPrograms *programs, Store *store, Stepper *out);

#endif
