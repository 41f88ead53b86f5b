/* Tables of what tfc data found in a table. */
#include "cli/report/records_print.h"

#include "cli/report/findings_print.h"

#include <inttypes.h>
#include <string.h>

/* ---- text ---- */

static bool is_text(const SurveyColumn *column) { return column->kind == COLUMN_TEXT; }

static void put_texts(const RecordSurvey *s, Text *out)
{
    bool any = false;
    for (int c = 0; c < s->n_columns; c++) {
        const SurveyColumn *column = &s->columns[c];
        char unknown[32];
        if (!is_text(column))
            continue;
        if (!any)
            text_add(out, "\n%-18s %9s %7s %7s %7s %7s %14s\n", "a text has", "mean", "50 %",
                     "90 %", "99 %", "most", "total");
        any = true;
        print_lengths(out, column->input, "characters", &column->characters);
        print_lengths(out, "", "words", &column->words);
        if (s->has_tokens) {
            print_lengths(out, "", "tokens", &column->tokens);
            text_add(out, "%-18s %s (%.3f %%)\n", "        unknown",
                     print_grouped(column->unknown, unknown),
                     print_share(column->unknown, column->tokens.total));
        }
    }
}

static void put_labels(const SurveyColumn *column, Text *out)
{
    enum { MOST_SHOWN = 12, LABEL_WIDTH = 30 };
    char number[32];
    int64_t all = 0;
    for (size_t i = 0; i < column->n_labels; i++)
        all += column->labels[i].n;
    text_add(out, "\n%s: %s label%s", column->input,
             print_grouped((int64_t)column->n_labels, number),
             text_plural((int64_t)column->n_labels, "", "s"));
    if (column->classes)
        text_add(out, "; the model tells %" PRId64 " apart", column->classes);
    text_string(out, "\n");
    for (size_t i = 0; i < column->n_labels && i < MOST_SHOWN; i++) {
        const size_t letters = text_letters(column->labels[i].label);
        text_add(out, "    %s%*s %14s %6.2f %%\n", column->labels[i].label,
                 letters < LABEL_WIDTH ? LABEL_WIDTH - (int)letters : 0, "",
                 print_grouped(column->labels[i].n, number), print_share(column->labels[i].n, all));
    }
    if (column->n_labels > MOST_SHOWN)
        text_add(out, "    and %zu more, the rarest '%s', %" PRId64 " time%s\n",
                 column->n_labels - MOST_SHOWN, column->labels[column->n_labels - 1].label,
                 column->labels[column->n_labels - 1].n,
                 text_plural(column->labels[column->n_labels - 1].n, "", "s"));
}

static bool has_too_many_labels(const SurveyColumn *column)
{
    return column->has_labels && column->classes && (int64_t)column->n_labels > column->classes;
}

static void put_numbers(const SurveyColumn *column, Text *out)
{
    char number[32];
    if (column->numbers)
        text_add(out, "\n%s: %s numbers from %g to %g, mean %g\n", column->input,
                 print_grouped(column->numbers, number), column->least, column->most, column->mean);
}

static void put_valid(const RecordSurvey *s, Text *out)
{
    for (size_t i = 0; i < s->valid.count; i++) {
        const SurveyTable *v = &s->valid.data[i];
        char records[32];
        text_add(out, "%sOf %s records of %s, the training table has %" PRId64 " (%.2f %%)",
                 i ? "" : "\n", print_grouped(v->records, records),
                 v->name ? v->name : "validation", v->whole, print_share(v->whole, v->records));
        if (v->inputs)
            text_add(out, "; %" PRId64 " with another label", v->inputs);
        text_string(out, ".\n");
    }
}

void records_print(const RecordSurvey *s, Text *out)
{
    char records[32];
    bool too_many = false;
    text_add(out, "%s: %s record%s\n", s->file, print_grouped(s->records, records),
             text_plural(s->records, "", "s"));
    put_texts(s, out);
    for (int c = 0; c < s->n_columns; c++) {
        too_many = too_many || has_too_many_labels(&s->columns[c]);
        if (s->columns[c].has_labels)
            put_labels(&s->columns[c], out);
        else
            put_numbers(&s->columns[c], out);
        if (s->columns[c].example)
            text_add(out, "    each token with its own, %s\n", s->columns[c].example);
    }
    put_valid(s, out);
    findings_print(s->findings, RECORD_KINDS, s->records, "records",
                   too_many ? "labels: the model tells fewer apart, which is an error when it is "
                              "trained: --set gives the constant that says how many another value."
                            : NULL,
                   out);
}

/* ---- JSON ---- */

static void json_column(JsonWriter *json, const RecordSurvey *s, const SurveyColumn *column)
{
    json_open(json, NULL, '{');
    json_put_text(json, "input", column->input);
    json_put_text(json, "field", column->field);
    if (is_text(column)) {
        print_lengths_json(json, "characters", &column->characters);
        print_lengths_json(json, "words", &column->words);
        if (s->has_tokens) {
            print_lengths_json(json, "tokens", &column->tokens);
            json_put_integer(json, "unknown_tokens", column->unknown);
        }
    }
    if (column->has_labels) {
        json_open(json, "labels", '{');
        for (size_t i = 0; i < column->n_labels; i++)
            json_put_integer(json, column->labels[i].label, column->labels[i].n);
        json_close(json, '}');
        if (column->classes)
            json_put_integer(json, "classes", column->classes);
    }
    if (column->numbers) {
        json_put_integer(json, "numbers", column->numbers);
        json_put_number(json, "least", column->least, PRINT_DIGITS);
        json_put_number(json, "mean", column->mean, PRINT_DIGITS);
        json_put_number(json, "most", column->most, PRINT_DIGITS);
    }
    if (column->example)
        json_put_text(json, "example", column->example);
    json_close(json, '}');
}

void records_print_json(const RecordSurvey *s, Text *out)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "kind", "records");
    json_put_text(&json, "file", s->file);
    json_put_integer(&json, "records", s->records);
    json_open(&json, "columns", '[');
    for (int c = 0; c < s->n_columns; c++)
        json_column(&json, s, &s->columns[c]);
    json_close(&json, ']');
    json_open(&json, "valid", '[');
    for (size_t i = 0; i < s->valid.count; i++) {
        const SurveyTable *v = &s->valid.data[i];
        json_open(&json, NULL, '{');
        json_put_text(&json, "name", v->name ? v->name : "validation");
        json_put_integer(&json, "records", v->records);
        json_put_integer(&json, "overlap", v->whole);
        json_put_integer(&json, "overlap_relabelled", v->inputs);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    findings_print_json(s->findings, RECORD_KINDS, s->records, "text", &json);
    json_close(&json, '}');
    text_put(out, "\n", 1);
}
