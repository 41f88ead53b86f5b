/* Records of TSV: each line is one, cut at its tabs. Cells point into the text. */
#include "runtime/data/table_reader.h"

#include <string.h>

int64_t table_split(const Line *line, char mark, Line *cells, size_t room)
{
    const char *at = line->text, *end = at + line->length;
    for (size_t n = 0;; n++) {
        const char *stop = memchr(at, mark, (size_t)(end - at));
        if (n < room)
            cells[n] = (Line){at, (size_t)((stop ? stop : end) - at)};
        if (!stop)
            return (int64_t)n + 1;
        at = stop + 1;
    }
}

int64_t table_next_tsv(TableReader *r, Line *cells, size_t room)
{
    return table_split(&r->lines->at[r->line++], '\t', cells, room);
}
