/* An ensemble: a stepper made of steppers, whose logits are the logarithm of the mean of the
 * members' probabilities, which all count alike. */
#ifndef RUNTIME_DECODE_STEPPER_MEAN_H
#define RUNTIME_DECODE_STEPPER_MEAN_H

#include "runtime/decode/stepper.h"

/* n >= 1 members with the same tokens, which belong to it from now on and are freed with it.
 * A step that gives NULL may have fed some of them: it must be begun again. false: memory
 * cannot be had, and the members stay the caller's. */
bool stepper_mean_new(const Stepper *members, int32_t n, Stepper *out);

#endif
