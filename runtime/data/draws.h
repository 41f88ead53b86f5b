/* Random numbers that decide the order of data, and the rounds of data that is mixed in.
 *
 * Data that is mixed in is drawn round by round: a round has each row once, in an order of its own,
 * and each draw takes the next row of the round. */
#ifndef RUNTIME_DATA_DRAWS_H
#define RUNTIME_DATA_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

/* The next number of a sequence: splitmix64 (Steele et al. 2014). */
uint64_t draws_next(uint64_t *state);
/* From 0 to n - 1, n > 0. */
int64_t draws_below(uint64_t *state, int64_t n);
/* The order of a round's rows: writes a permutation of 0 to n - 1, the identity without `shuffle`.
 *   part    its place among the data that is mixed in
 *   block   which n rows of the part these are, where it is in memory block by block */
void draws_order(uint64_t seed, int part, int64_t round, int64_t block, int64_t n, bool shuffle,
                 int64_t *order);
/* How many rows are drawn beside so many of the main data. */
int64_t draws_wanted(double weight, int64_t rows);

#endif
