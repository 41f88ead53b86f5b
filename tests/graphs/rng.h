/* Numbers at random from a seed (splitmix64, Steele et al. 2014): the same everywhere. */
#ifndef TESTS_GRAPHS_RNG_H
#define TESTS_GRAPHS_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Rng {
    uint64_t state;
} Rng;

static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static inline uint64_t rng_next(Rng *rng)
{
    return mix64(rng->state += UINT64_C(0x9e3779b97f4a7c15));
}
/* 0 … n-1 */
static inline int rng_below(Rng *rng, int n) { return (int)(rng_next(rng) >> 33) % n; }
/* from … to, both included */
static inline int rng_between(Rng *rng, int from, int to)
{
    return from + rng_below(rng, to - from + 1);
}
static inline bool rng_chance(Rng *rng, int percent) { return rng_below(rng, 100) < percent; }

#define RNG_PICK(rng, list) ((list)[rng_below((rng), (int)(sizeof(list) / sizeof *(list)))])

#endif
