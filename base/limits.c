/* Limits by name. */
#include "base/limits.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static bool same_name(const char *a, const char *b)
{
    for (; *a && (*a == '-' ? '_' : *a) == *b; a++)
        b++;
    return !*a && !*b;
}

double limit_of(const char *name)
{
    static const struct {
        const char *name;
        double largest;
    } rows[] = {
#define LIMIT(name, largest) {#name, largest},
        LIMITS
#undef LIMIT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (same_name(name, rows[i].name))
            return rows[i].largest;
    return INFINITY;
}
