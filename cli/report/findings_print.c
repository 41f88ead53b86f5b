/* Findings and lengths as text and as JSON. */
#include "cli/report/survey_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *print_grouped(int64_t number, char out[32])
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRId64, number), at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

double print_share(int64_t part, int64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

void print_lengths(Text *out, const char *side, const char *what, const SurveyLengths *l)
{
    char number[32];
    text_add(out, "%-7s %-10s %9.1f %7" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64 " %14s\n",
             side, what, l->mean, l->p50, l->p90, l->p99, l->most, print_grouped(l->total, number));
}

void print_lengths_json(JsonWriter *json, const char *key, const SurveyLengths *l)
{
    json_open(json, key, '{');
    json_put_integer(json, "total", l->total);
    json_put_number(json, "mean", l->mean, PRINT_DIGITS);
    json_put_integer(json, "p50", l->p50);
    json_put_integer(json, "p90", l->p90);
    json_put_integer(json, "p99", l->p99);
    json_put_integer(json, "most", l->most);
    json_close(json, '}');
}

static void put_example(const SurveyExample *e, Text *out)
{
    text_add(out, "    line %" PRId64 "%s%s: %s", e->line, e->note && *e->note ? ", " : "",
             e->note ? e->note : "", e->sides[0]);
    if (e->sides[1])
        text_add(out, "  |  %s", e->sides[1]);
    text_string(out, "\n");
}

static void put_findings(const Survey *s, bool faults, Text *out)
{
    bool any = false;
    for (int i = 0; i < SURVEY_KINDS; i++) {
        const SurveyFinding *f = &s->findings[i];
        char lines[32];
        if (f->is_fault != faults || !f->lines)
            continue;
        if (!any)
            text_add(out, "\n%-54s %9s %8s\n", faults ? "Faults" : "To know",
                     s->data == OF_TABLE ? "records" : "lines", "share");
        any = true;
        text_add(out, "%-54s %9s %6.2f %%\n", f->title, print_grouped(f->lines, lines),
                 print_share(f->lines, s->lines));
        for (size_t k = 0; k < f->examples.count; k++)
            put_example(&f->examples.data[k], out);
    }
}

/* What was looked for and not found, in lines of 100 characters. */
static void put_absent(const Survey *s, Text *out)
{
    size_t column = 0;
    for (int i = 0; i < SURVEY_KINDS; i++) {
        const SurveyFinding *f = &s->findings[i];
        if (!f->is_fault || f->lines || !f->is_looked_for)
            continue;
        const size_t width = strlen(f->title);
        text_string(out, !column ? "\nNot found: " : column + width > 100 ? ",\n  " : ", ");
        column = !column ? 11 + width : column + width > 100 ? 2 + width : column + 2 + width;
        text_string(out, f->title);
    }
    text_string(out, column ? ".\n" : "");
}

static void put_advice(const Survey *s, const char *further, Text *out)
{
    bool any = false;
    for (int i = 0; i < SURVEY_KINDS; i++) {
        const SurveyFinding *f = &s->findings[i];
        if (!f->is_fault || !f->lines)
            continue;
        text_add(out, "%s  %s: %s.\n", any ? "" : "\nWhat to do\n", f->title, f->advice);
        any = true;
    }
    if (further)
        text_add(out, "%s  %s\n", any ? "" : "\nWhat to do\n", further);
    else if (!any)
        text_string(out, "\nNothing to mend.\n");
}

void findings_print(const Survey *survey, const char *advice, Text *out)
{
    put_findings(survey, true, out);
    put_findings(survey, false, out);
    put_absent(survey, out);
    put_advice(survey, advice, out);
}

static void json_finding(JsonWriter *json, const Survey *s, const SurveyFinding *f)
{
    json_open(json, NULL, '{');
    json_put_text(json, "name", f->name);
    json_put_text(json, "title", f->title);
    json_put_bool(json, "fault", f->is_fault);
    json_put_bool(json, "looked_for", f->is_looked_for);
    json_put_integer(json, "lines", f->lines);
    json_put_number(json, "share", print_share(f->lines, s->lines) / 100, PRINT_DIGITS);
    json_open(json, "examples", '[');
    for (size_t i = 0; i < f->examples.count; i++) {
        const SurveyExample *e = &f->examples.data[i];
        json_open(json, NULL, '{');
        json_put_integer(json, "line", e->line);
        json_put_text(json, e->sides[1] ? "source" : "text", e->sides[0]);
        if (e->sides[1])
            json_put_text(json, "target", e->sides[1]);
        if (e->note && *e->note)
            json_put_text(json, "note", e->note);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void findings_print_json(const Survey *survey, JsonWriter *json)
{
    json_open(json, "findings", '[');
    for (int i = 0; i < SURVEY_KINDS; i++)
        json_finding(json, survey, &survey->findings[i]);
    json_close(json, ']');
}
