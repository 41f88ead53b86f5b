/* Templates: texts in which a line "@@NAME" stands for what is put there. */
#ifndef BASE_FILL_H
#define BASE_FILL_H

#include "base/text.h"

typedef struct FillPart {
    const char *name, *text;
} FillPart;

/* The template with each such line as the part of its name; a name without a part gives nothing. */
void fill_template(const char *template, const FillPart *parts, size_t n, Text *out);

#endif
