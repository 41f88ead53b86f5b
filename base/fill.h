/* Templates: texts in which the part NAME replaces a line "@@NAME". */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include "base/text.h"

typedef struct FillPart {
    const char *name, *text;
} FillPart;

/* Appends the template, with each such line replaced by the part of that name; by nothing if there
 * is no such part. */
void fill_template(const char *template, const FillPart *parts, size_t n, Text *out);

#endif
