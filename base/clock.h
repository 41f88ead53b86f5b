/* The clock for measuring times: it never goes back, even if the date is changed. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time since a fixed moment before the process began. */
static inline int64_t clock_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline double clock_seconds(void) { return 1e-9 * (double)clock_nanoseconds(); }

#endif
