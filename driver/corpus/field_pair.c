/* Choosing two fields of a table. */
#include "driver/corpus/field_pair.h"

#include <inttypes.h>
#include <string.h>

/* The field of the last "NAME=FIELD" for that name; NULL: it is not given. */
static const char *field_of_name(const TextList *given, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = given->count; i-- > 0;)
        if (!strncmp(given->data[i], name, length) && given->data[i][length] == '=')
            return given->data[i] + length + 1;
    return NULL;
}

bool field_pair_check(Job *job, const FieldPair *pair, const TextList *given, const char *advice)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->data[i], *equals = strchr(text, '=');
        bool known = false;
        for (int k = 0; equals && k < 2; k++)
            known = known || (!strncmp(text, pair->names[k], (size_t)(equals - text)) &&
                              !pair->names[k][equals - text]);
        if (!known || !equals[1])
            return job_error(job, "--column %s: expected %s=FIELD or %s=FIELD%s", text,
                             pair->names[0], pair->names[1], advice);
    }
    return true;
}

static bool is_number(const char *field) { return field[strspn(field, "0123456789")] == 0; }

bool field_pair_is_numbered(const char *const fields[2])
{
    return is_number(fields[0]) && is_number(fields[1]);
}

/* Whether a field of the first line, which may be in quotes, has that name. */
static bool header_has(const Line *line, TableFormat format, char mark, const char *name)
{
    const char *at = line->text, *end = at + line->length;
    const size_t length = strlen(name);
    while (at <= end) {
        const char *next = memchr(at, mark, (size_t)(end - at));
        size_t n = (size_t)((next ? next : end) - at);
        if (format == TABLE_CSV && n >= 2 && at[0] == '"' && at[n - 1] == '"')
            at++, n -= 2;
        if (n == length && !memcmp(at, name, n))
            return true;
        if (!next)
            break;
        at = next + 1;
    }
    return false;
}

/* Whether a field is given by its name. */
static bool name_is_given(const FieldPair *pair, const TextList *given)
{
    for (int k = 0; k < 2; k++) {
        const char *field = field_of_name(given, pair->names[k]);
        if (field && !is_number(field))
            return true;
    }
    return false;
}

/* Whether fields have names: keys of JSON, or a header with the pair's. */
static bool has_names(const FieldPair *pair, const Source *source, TableFormat format)
{
    const char *start = source_start(source), *end = source->text + source->length;
    if (table_is_conll(format))
        return false;
    if (format == TABLE_FASTTEXT) /* its fields are always label and text */
        return !strcmp(pair->names[0], "text") || !strcmp(pair->names[1], "text");
    Line first = {start, 0};
    const char *next = start < end ? record_line(start, end, &first.length) : end;
    if (next < end && table_head_records(format, source->text, source->length) > 1)
        record_line(first.text = next, end, &first.length); /* behind "sep=;" */
    bool named = table_is_json(format);
    for (const char *mark = format == TABLE_CSV ? ",;" : "\t"; *mark && !named; mark++) {
        const bool has[2] = {header_has(&first, format, *mark, pair->names[0]),
                             header_has(&first, format, *mark, pair->names[1])};
        named = pair->needs_both ? has[0] && has[1] : has[0] || has[1];
    }
    return named;
}

/* The fields of a file whose fields have numbers. */
static void number_fields(Job *job, const Source *source, TableFormat format,
                          const char *numbers[2])
{
    numbers[0] = format == TABLE_CONLLU ? "2" : "1";
    numbers[1] = format == TABLE_CONLLU ? "4" : "2";
    if (format == TABLE_CONLL)
        numbers[1] = arena_printf(job->arena, "%" PRId64,
                                  table_width(&job->diags, job->arena, source, format));
}

void field_pair_choose(Job *job, const FieldPair *pair, const TextList *given,
                       const Source *beginning, TableFormat format, const char *fields[2])
{
    const char *numbers[2];
    const bool named = name_is_given(pair, given) || has_names(pair, beginning, format);
    number_fields(job, beginning, format, numbers);
    for (int k = 0; k < 2; k++) {
        const char *field = field_of_name(given, pair->names[k]);
        fields[k] = field ? field : named ? pair->names[k] : numbers[k];
    }
}

void field_pair_advise(Job *job, const FieldPair *pair, const Source *source)
{
    diag_note(&job->diags, (Loc){.source = source},
              "--column %s=FIELD and --column %s=FIELD choose other fields", pair->names[0],
              pair->names[1]);
}
