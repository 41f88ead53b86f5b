/* An ensemble: a stepper made of steppers. Its logits are the logarithm of the mean of the members'
 * probabilities, with equal weights. */
#ifndef RUNTIME_DECODE_STEPPER_MEAN_H
#define RUNTIME_DECODE_STEPPER_MEAN_H

#include "runtime/decode/stepper.h"

/* Makes a stepper of n >= 1 members with the same vocabulary and, if they have one, the
 * same shortlist. It owns and frees the members. false:
 * memory ran out, and the caller still owns the members. */
bool stepper_mean_new(const Stepper *members, int32_t n, Stepper *out);

#endif
