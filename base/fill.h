/* Templates: texts with marks "@@NAME", each up to the end of its line, for which parts stand in. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include "base/text.h"

typedef struct FillPart {
    const char *name, *text;
} FillPart;

/* Appends the template, with each mark replaced by the part of its name; by nothing if no part has
 * that name. */
void fill_template(const char *template, const FillPart *parts, size_t n, Text *out);

#endif
