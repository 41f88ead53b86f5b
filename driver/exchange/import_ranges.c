/* The ranges of the consts, by their names: sizes are of models that a machine could hold. */
#include "driver/exchange/import_ranges.h"

#include <assert.h>
#include <string.h>

/* Kinds: a whole number, any number, true or false, a string. */
typedef enum ImportRangeKind { RANGE_WHOLE, RANGE_REAL, RANGE_TRUTH, RANGE_STRING } ImportRangeKind;
typedef struct ImportRange {
    ImportRangeKind kind;
    double least, most;
    const char *expected;
    const char *names; /* each between blanks */
} ImportRange;

static const ImportRange ranges[] = {
    {RANGE_WHOLE, 1, 1 << 24, "a whole number from 1 to 16777216", " vocab d_ff decoder_d_ff "},
    {RANGE_WHOLE, 1, 1 << 20, "a whole number from 1 to 1048576", " d_model d_embedding d_k d_kv "},
    {RANGE_WHOLE, 1, 10000, "a whole number from 1 to 10000", /* the most that `repeat` takes */
     " layers encoder_layers decoder_layers "},
    {RANGE_WHOLE, 1, 1 << 16, "a whole number from 1 to 65536",
     " heads decoder_heads kv_heads buckets full_every "},
    {RANGE_WHOLE, 1, 1 << 30, "a whole number from 1 to 1073741824",
     " context rope_context longest window "},
    {RANGE_WHOLE, 0, 1 << 16, "a whole number from 0 to 65536",
     " segments first_position window_from "},
    {RANGE_WHOLE, 0, (1 << 24) - 1, "an id from 0 to 16777215", " absent "},
    {RANGE_REAL, 0, 0.999, "a number from 0 to 0.999", " p_drop p_attention p_inner p_head "},
    {RANGE_REAL, 1e-20, 1, "a number from 1e-20 to 1", " norm_eps rotary_part "},
    {RANGE_REAL, 1e-6, 1e15, "a number from 1e-6 to 1e15",
     " rotary_base window_base position_base rope_factor rope_low rope_high rope_fast rope_slow "
     "query_scale "},
    {RANGE_REAL, 0, 1e15, "a number from 0 to 1e15",
     " rope_scale rope_mscale rope_mscale_all score_cap logit_cap "},
    {RANGE_TRUTH, 0, 0, "true or false",
     " tied scaled scaled_output biased output_biased inner_biased windowed rope_truncated "},
    {RANGE_STRING, 0, 0, "a string", " rope_type pooled_by "},
};
enum { N_RANGES = sizeof ranges / sizeof *ranges };

static const ImportRange *find_range(const char *name)
{
    const size_t n = strlen(name);
    for (int i = 0; i < N_RANGES; i++)
        for (const char *at = strstr(ranges[i].names, name); at; at = strstr(at + 1, name))
            if (at[-1] == ' ' && at[n] == ' ')
                return &ranges[i];
    return NULL;
}

bool import_range_is_known(const char *name) { return find_range(name) != NULL; }

bool import_range_has(const char *name, const JsonValue *value, const char **expected)
{
    const ImportRange *range = find_range(name);
    assert(range);
    *expected = range->expected;
    const bool is_whole = value->kind == JV_INTEGER;
    switch (range->kind) {
    case RANGE_TRUTH: return value->kind == JV_TRUE || value->kind == JV_FALSE;
    case RANGE_STRING: return value->kind == JV_STRING;
    case RANGE_WHOLE:
        return is_whole && value->number >= range->least && value->number <= range->most;
    default:
        return (is_whole || value->kind == JV_NUMBER) && value->number >= range->least &&
               value->number <= range->most;
    }
}
