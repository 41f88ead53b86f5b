/* Random numbers that decide the order of data, and the rounds of data that is mixed in. */
#include "runtime/data/draws.h"

#include "base/map.h"

uint64_t draws_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t draws_below(uint64_t *state, int64_t n)
{
    return (int64_t)(draws_next(state) % (uint64_t)n);
}

void draws_order(uint64_t seed, int part, int64_t round, int64_t block, int64_t n, bool shuffle,
                 int64_t *order)
{
    uint64_t state = hash_u64(hash_u64(hash_u64(HASH_SEED, seed), (uint64_t)part), (uint64_t)round);
    if (block)
        state = hash_u64(state, (uint64_t)block);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; shuffle && i > 0; i--) {
        const int64_t j = draws_below(&state, i + 1), row = order[i];
        order[i] = order[j];
        order[j] = row;
    }
}

int64_t draws_wanted(double weight, int64_t rows) { return (int64_t)(weight * (double)rows + 0.5); }
