/* Limits by name. */
#include "base/limits.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

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
#define TRAIN_SETTING(name, initial, block, least, most, ...) LIMIT(name, most)
#include "base/training_settings.def"
#undef LIMIT
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (same_name(name, rows[i].name))
            return rows[i].largest;
    return INFINITY;
}

void range_text(char *text, bool whole, double least, double most)
{
    const char *kind = whole ? "a whole number" : "a number";
    if (isinf(most))
        snprintf(text, RANGE_TEXT, "%s of at least %.10g", kind, least);
    else
        snprintf(text, RANGE_TEXT, "%s from %.10g to %.10g", kind, least, most);
}
