/* Ranges of ids, in words. */
#include "base/id_range.h"

#include <inttypes.h>
#include <stdio.h>

const char *id_range_noun(const IdRange *range) { return range->labels ? "label" : "id"; }

const char *id_range_text(const IdRange *range, char out[ID_RANGE_TEXT])
{
    snprintf(out, ID_RANGE_TEXT, "%ss go from %" PRId64 " to %" PRId64 "%s", id_range_noun(range),
             range->least < 0 ? 0 : range->least, range->below - 1,
             range->least < 0 ? ", and below 0 there is none" : "");
    return out;
}
