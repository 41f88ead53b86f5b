/* Filling templates. */
#include "base/fill.h"

#include <string.h>

static const char *find_part(const FillPart *parts, size_t n, const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(parts[i].name) == length && !memcmp(parts[i].name, name, length))
            return parts[i].text;
    return NULL;
}

void fill_template(const char *template, const FillPart *parts, size_t n, Text *out)
{
    const char *at = template, *mark;
    while ((mark = strstr(at, "@@"))) {
        size_t length = strcspn(mark + 2, "\n");
        const char *part = find_part(parts, n, mark + 2, length);
        text_put(out, at, (size_t)(mark - at));
        text_string(out, part ? part : "");
        at = mark + 2 + length;
    }
    text_string(out, at);
}
