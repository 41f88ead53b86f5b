/* Philox4x32-10 (Salmon et al. 2011): the one source of random numbers. Each block of four numbers
 * is a function of a counter and a key. */
#ifndef BASE_PHILOX_H
#define BASE_PHILOX_H

#include <stdint.h>

void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
