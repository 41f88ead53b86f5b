/* Tables of what tfc data found. */
#include "cli/report/survey_print.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- text ---- */

static bool is_text(const SurveyColumn *column) { return column->kind == COLUMN_TEXT; }

static void put_lengths(const Survey *s, Text *out)
{
    bool any = false;
    for (int c = 0; c < s->n_columns; c++) {
        const SurveyColumn *column = &s->columns[c];
        if (!is_text(column))
            continue;
        if (!any)
            text_add(out, "\na %s has%*s %9s %7s %7s %7s %7s %14s\n",
                     s->data == OF_TABLE ? "text" : "line", 8, "", "mean", "50 %", "90 %", "99 %",
                     "most", "total");
        any = true;
        print_lengths(out, column->name, "characters", &column->characters);
        print_lengths(out, "", "words", &column->words);
        if (s->has_tokens)
            print_lengths(out, "", "tokens", &column->tokens);
    }
    if (s->ratio > 0)
        text_add(out, "\nA target typically has %.2f times the characters of its source.\n",
                 s->ratio);
}

static void put_coverage(const Survey *s, Text *out)
{
    char used[32], size[32], unknown[32];
    bool any = false;
    for (int c = 0; s->has_tokens && c < s->n_columns; c++) {
        const SurveyColumn *column = &s->columns[c];
        const int64_t words = column->words.total, tokens = column->tokens.total;
        if (!is_text(column))
            continue;
        text_add(
            out, "%s%s: %s of %s tokens used (%.1f %%); %.2f tokens a word; %s unknown (%.3f %%)\n",
            any ? "" : "\n", *column->name ? column->name : "vocabulary",
            print_grouped(column->used, used), print_grouped(column->size, size),
            print_share(column->used, column->size), words ? (double)tokens / (double)words : 0,
            print_grouped(column->unknown, unknown), print_share(column->unknown, tokens));
        any = true;
        if (column->lacking)
            text_add(out, "  characters without a token: %s\n", column->lacking);
    }
}

static void put_labels(const SurveyColumn *column, Text *out)
{
    enum { MOST_SHOWN = 12, LABEL_WIDTH = 30 };
    char number[32];
    int64_t all = 0;
    for (size_t i = 0; i < column->n_labels; i++)
        all += column->labels[i].n;
    text_add(out, "\n%s: %s label%s", column->name,
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
        text_add(out, "\n%s: %s numbers from %g to %g, mean %g\n", column->name,
                 print_grouped(column->numbers, number), column->least, column->most, column->mean);
}

static void put_valid(const Survey *s, Text *out)
{
    for (size_t i = 0; i < s->valid.count; i++) {
        const SurveyValid *v = &s->valid.data[i];
        char lines[32];
        text_add(out, "%sOf %s %ss of %s, the training %s has %" PRId64 " (%.2f %%)", i ? "" : "\n",
                 print_grouped(v->lines, lines), s->unit, v->name ? v->name : "validation",
                 s->data == OF_TABLE ? "table" : "text", v->found[0],
                 print_share(v->found[0], v->lines));
        if (s->data == OF_PAIRS)
            text_add(out, "; sources %" PRId64 ", targets %" PRId64, v->found[1], v->found[2]);
        else if (v->found[1])
            text_add(out, "; %" PRId64 " with another label", v->found[1]);
        text_string(out, ".\n");
    }
}

void survey_print(const Survey *s, Text *out)
{
    char lines[32];
    bool too_many = false;
    text_add(out, "%s: %s %s%s\n", s->file, print_grouped(s->lines, lines), s->unit,
             text_plural(s->lines, "", "s"));
    put_lengths(s, out);
    put_coverage(s, out);
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
    findings_print(s,
                   too_many ? "labels: the model tells fewer apart, which is an error when it is "
                              "trained: --set gives the constant that says how many another value."
                            : NULL,
                   out);
    if (s->data == OF_PAIRS && !s->knows_sides)
        text_string(
            out, "The sides are too few or too alike to tell which is which: swapped ones were not "
                 "looked for.\n");
}

/* ---- JSON ---- */

static void json_tokens(JsonWriter *json, const SurveyColumn *column)
{
    print_lengths_json(json, "tokens", &column->tokens);
    json_put_integer(json, "unknown_tokens", column->unknown);
    json_put_integer(json, "vocabulary", column->size);
    json_put_integer(json, "vocabulary_used", column->used);
    if (column->lacking)
        json_put_text(json, "unknown_characters", column->lacking);
}

static void json_labels(JsonWriter *json, const SurveyColumn *column)
{
    json_open(json, "labels", '{');
    for (size_t i = 0; i < column->n_labels; i++)
        json_put_integer(json, column->labels[i].label, column->labels[i].n);
    json_close(json, '}');
    if (column->classes)
        json_put_integer(json, "classes", column->classes);
}

/* A column is an element of "columns", a side a member of the whole. */
static void json_column(JsonWriter *json, const Survey *s, const SurveyColumn *column)
{
    json_open(json, column->field ? NULL : *column->name ? column->name : "text", '{');
    json_put_text(json, column->field ? "input" : "file",
                  column->field ? column->name : column->file);
    if (column->field)
        json_put_text(json, "field", column->field);
    if (is_text(column)) {
        print_lengths_json(json, "characters", &column->characters);
        print_lengths_json(json, "words", &column->words);
        if (s->has_tokens)
            json_tokens(json, column);
    }
    if (column->has_labels)
        json_labels(json, column);
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

static void json_valid(JsonWriter *json, const Survey *s, const SurveyValid *v, const char *lines)
{
    json_open(json, NULL, '{');
    json_put_text(json, "name", v->name ? v->name : "validation");
    json_put_integer(json, lines, v->lines);
    json_put_integer(json, "overlap", v->found[0]);
    if (s->data == OF_PAIRS) {
        json_put_integer(json, "overlap_source", v->found[1]);
        json_put_integer(json, "overlap_target", v->found[2]);
    } else if (s->data == OF_TABLE) {
        json_put_integer(json, "overlap_relabelled", v->found[1]);
    }
    json_close(json, '}');
}

void survey_print_json(const Survey *s, Text *out)
{
    JsonWriter json = {.out = out};
    char kind[16];
    const bool is_table = s->data == OF_TABLE;
    const char *lines = is_table ? "records" : "lines";
    snprintf(kind, sizeof kind, "%ss", s->unit);
    json_open(&json, NULL, '{');
    json_put_text(&json, "kind", kind);
    json_put_text(&json, "file", s->file);
    json_put_integer(&json, lines, s->lines);
    if (is_table)
        json_open(&json, "columns", '[');
    for (int c = 0; c < s->n_columns; c++)
        json_column(&json, s, &s->columns[c]);
    if (is_table)
        json_close(&json, ']');
    if (s->data == OF_PAIRS)
        json_put_number(&json, "ratio", s->ratio, PRINT_DIGITS);
    json_open(&json, "valid", '[');
    for (size_t i = 0; i < s->valid.count; i++)
        json_valid(&json, s, &s->valid.data[i], lines);
    json_close(&json, ']');
    findings_print_json(s, &json);
    json_close(&json, '}');
    text_put(out, "\n", 1);
}
