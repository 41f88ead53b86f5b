/* Counting the values of columns. */
#include "driver/corpus/survey/record_fields.h"

#include "runtime/data/corpus_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void count_label(RecordField *field, const char *text, size_t length)
{
    enum { SHORT = 256 };
    char key[SHORT];
    length = length < SHORT ? length : SHORT - 1;
    memcpy(key, text, length);
    key[length] = 0;
    map_set(&field->counts, key, (void *)((uintptr_t)map_get(&field->counts, key) + 1));
}

static void count_value(RecordField *field, int32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    const double value = field->kind == COLUMN_FLOATS ? (double)number : (double)bits;
    field->numbers++;
    field->sum += value;
    field->least = fmin(field->least, value);
    field->most = fmax(field->most, value);
}

/* What a value is called: a label, or the number as text has it. */
static const char *value_text(const RecordField *field, int32_t value, char text[24])
{
    float number;
    memcpy(&number, &value, sizeof number);
    if (field->kind == COLUMN_LABELS)
        return value < field->spec->first
                   ? "none"
                   : field->spec->labels->words.data[value - field->spec->first];
    snprintf(text, 24, "%g", field->kind == COLUMN_FLOATS ? (double)number : (double)value);
    return text;
}

void record_field_count(RecordField *field, int32_t value)
{
    char text[24];
    if (field->has_labels && value < 0)
        return; /* no label; of words, none begins here */
    const char *label = value_text(field, value, text);
    if (field->has_labels)
        count_label(field, label, strlen(label));
    else
        count_value(field, value);
}

/* Word i of a text; "" behind the last. */
static const char *word_of(Arena *arena, const Line *text, int64_t i)
{
    const char *at = text->text, *end = at + text->length, *stop = at;
    for (int64_t word = 0; word <= i; word++) {
        for (at = stop; at < end && *at == ' ';)
            at++;
        for (stop = at; stop < end && *stop != ' ';)
            stop++;
    }
    return arena_strndup(arena, at, (size_t)(stop - at));
}

static bool values_differ(const ValuedTokens *valued, int64_t width)
{
    for (int64_t i = 1; i < valued->n; i++)
        if (memcmp(valued->values, valued->values + i * width,
                   (size_t)width * sizeof *valued->values) != 0)
            return true;
    return false;
}

/* Token i with its values. */
static void put_token(const RecordField *field, const ValuedTokens *valued, int64_t i,
                      const char *token, Text *out)
{
    const int64_t width = field->spec->width;
    text_add(out, "%s '%s'", i ? "," : "", token);
    for (int64_t k = 0; k < width; k++) {
        char text[24];
        text_add(out, " %s", value_text(field, valued->values[i * width + k], text));
    }
}

void record_field_count_beside(Arena *arena, RecordField *field, const Corpus *corpus, int column,
                               const Line *text, bool has_tokens, int64_t record)
{
    enum { MOST_TOKENS = 24 };
    const ValuedTokens valued = corpus_valued_tokens(corpus, column, 0);
    const bool differ = values_differ(&valued, field->spec->width);
    for (int64_t i = 0; i < valued.n * field->spec->width; i++)
        record_field_count(field, valued.values[i]);
    if (!valued.n || field->is_telling || (field->example && !differ))
        return;
    Text out = {0};
    text_add(&out, "record %lld:", (long long)record);
    for (int64_t i = 0; i < valued.n && i < MOST_TOKENS; i++)
        put_token(field, &valued, i,
                  has_tokens ? vocab_token(corpus->vocab, valued.tokens[i])
                             : word_of(arena, text, i),
                  &out);
    if (valued.n > MOST_TOKENS)
        text_string(&out, ", …");
    field->example = arena_strdup(arena, out.data);
    field->is_telling = differ;
    text_free(&out);
}
