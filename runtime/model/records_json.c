/* Objects to columns: a member's numbers, however they are nested, or its text. */
#include "runtime/model/records_json.h"

#include <math.h>
#include <string.h>

/* JsonRecords: the objects, n of them, and the words that are made of them. */
typedef struct JsonRecords {
    const TfcModel *model;
    const TfcProgram *encode;
    const JsonValue *items;
    int64_t n;
    Arena *arena;
} JsonRecords;

static int64_t count_numbers(const JsonValue *value)
{
    int64_t n = value->kind == JV_INTEGER || value->kind == JV_NUMBER;
    for (size_t i = 0; value->kind == JV_LIST && i < value->n; i++)
        n += count_numbers(&value->items[i]);
    return n;
}

/* Whether there is nothing but numbers and lists. */
static bool are_numbers(const JsonValue *value, TfcType type)
{
    bool ok = value->kind == JV_LIST || value->kind == JV_INTEGER || value->kind == JV_NUMBER;
    if (value->kind != JV_LIST && ok)
        ok = type == TFC_I32 ? value->kind == JV_INTEGER && value->integer >= INT32_MIN &&
                                   value->integer <= INT32_MAX
                             : isfinite((float)value->number);
    for (size_t i = 0; ok && value->kind == JV_LIST && i < value->n; i++)
        ok = are_numbers(&value->items[i], type);
    return ok;
}

/* Writes them one after the other; behind the last. */
static char *flatten_numbers(const JsonValue *value, TfcType type, char *out)
{
    for (size_t i = 0; value->kind == JV_LIST && i < value->n; i++)
        out = flatten_numbers(&value->items[i], type, out);
    if (value->kind == JV_LIST)
        return out;
    const float number = (float)value->number;
    const int32_t integer = (int32_t)value->integer;
    memcpy(out, type == TFC_I32 ? (const void *)&integer : &number, sizeof number);
    return out + sizeof number;
}

/* `value`: what the record has of it; NULL: nothing. */
static int fail_member(int64_t record, const TfcPort *port, const JsonValue *value,
                       const char *expected)
{
    return tfc_model_fail(TFC_ERROR_ARGUMENT,
                          value ? "record %lld: `%s`: expected %s"
                                : "record %lld: the member `%s` is missing: expected %s",
                          (long long)record, port->name, expected);
}

static int take_texts(const JsonRecords *r, const TfcPort *port, TfcWord *out)
{
    const char **texts = ARENA_ARRAY(r->arena, const char *, r->n + 1);
    if (!texts)
        return tfc_model_no_memory();
    for (int64_t i = 0; i < r->n; i++)
        if (!(texts[i] = json_member_text(&r->items[i], port->name)))
            return fail_member(i, port, json_member(&r->items[i], port->name), "a text in quotes");
    out->data = texts;
    return TFC_OK;
}

/* lengths: of the dimension along which the input lies; NULL: none. known: whether they are those
 * of an input before. */
static int take_numbers(const JsonRecords *r, const TfcPort *port, int32_t *lengths, bool known,
                        TfcWord *out)
{
    const int64_t width = columns_width(r->encode, port);
    int64_t total = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const JsonValue *value = json_member(&r->items[i], port->name);
        if (!value || !are_numbers(value, port->type))
            return fail_member(i, port, value,
                               port->type == TFC_I32 ? "whole numbers of 32 bits"
                                                     : "finite numbers of f32");
        const int64_t n = count_numbers(value), length = width ? n / width : 0;
        const bool fits = n == length * width && length <= INT32_MAX && (lengths || length == 1);
        if (!fits)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "record %lld: `%s` has %lld numbers, and the model takes "
                                  "%lld%s",
                                  (long long)i, port->name, (long long)n, (long long)width,
                                  lengths ? " for each position" : "");
        if (lengths && known && lengths[i] != length)
            return tfc_model_fail(TFC_ERROR_ARGUMENT,
                                  "record %lld: `%s` has %lld positions, and what shares its "
                                  "dimension %d: give both as many",
                                  (long long)i, port->name, (long long)length, lengths[i]);
        if (lengths)
            lengths[i] = (int32_t)length;
        total += n;
    }
    char *values = (char *)ARENA_ARRAY(r->arena, float, total + 1), *end = values;
    for (int64_t i = 0; values && i < r->n; i++)
        end = flatten_numbers(json_member(&r->items[i], port->name), port->type, end);
    out->data = values;
    return values ? TFC_OK : tfc_model_no_memory();
}

static int check_objects(const JsonRecords *r)
{
    for (int64_t i = 0; i < r->n; i++)
        if (r->items[i].kind != JV_OBJECT)
            return tfc_model_fail(TFC_ERROR_ARGUMENT, "record %lld: expected an object",
                                  (long long)i);
    return TFC_OK;
}

int records_of_json(const TfcModel *model, const TfcProgram *encode, const JsonValue *list,
                    Arena *arena, TfcWord *out)
{
    const JsonRecords records = {model, encode, list->items, (int64_t)list->n, arena};
    int32_t *lengths[MOST_DIMS] = {NULL};
    bool known[MOST_DIMS] = {false};
    TfcWord *at = out;
    if (encode->n_dims > MOST_DIMS || encode->n_inputs > MOST_INPUTS)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "too many inputs");
    int status = check_objects(&records);
    for (int32_t d = 0; !status && d < encode->n_given; d++) {
        if (encode->dims[d].batch < 0)
            *at++ = (TfcWord){.extent = records.n};
        else if (records_say_lengths(encode, model->columns, d)) {
            lengths[d] = ARENA_ARRAY(arena, int32_t, records.n + 1);
            *at++ = (TfcWord){.data = lengths[d]};
            status = lengths[d] ? TFC_OK : tfc_model_no_memory();
        }
    }
    for (int32_t i = 0; !status && i < encode->n_inputs; i++, at++) {
        const TfcPort *port = &encode->inputs[i];
        const int32_t dim = port->shape.rank > 1 ? port->shape.dims[1].dim : -1;
        if (!column_has_numbers(&model->columns[i])) {
            status = take_texts(&records, port, at);
            continue;
        }
        if (dim >= encode->n_given)
            return tfc_model_fail(TFC_ERROR_FUNCTION,
                                  "`%s` lies along a dimension that is made of others", port->name);
        status =
            take_numbers(&records, port, dim < 0 ? NULL : lengths[dim], dim >= 0 && known[dim], at);
        if (dim >= 0)
            known[dim] = true;
    }
    return status;
}
