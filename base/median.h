/* The median of measured numbers. */
#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stdlib.h>

static inline int median_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts n > 0 numbers, the least first, and returns their median; if n is even, the greater of the
 * two in the middle. */
static inline double median_sort(double *numbers, size_t n)
{
    qsort(numbers, n, sizeof *numbers, median_compare);
    return numbers[n / 2];
}

#endif
