/* Templates: texts in which each "@@NAME", up to the end of its line, is replaced by the part with
 * that name. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include "base/text.h"

typedef struct FillPart {
    const char *name, *text;
} FillPart;

/* Appends the template after these replacements. If no part has the name, "@@NAME" is left out. */
void fill_template(const char *template, const FillPart *parts, size_t n, Text *out);

#endif
