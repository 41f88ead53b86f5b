/* Tables of what tfc data found. */
#include "cli/report/survey_print.h"

#include "base/json_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

/* "29,000" */
static const char *grouped(int64_t number, char out[32])
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

static double share(int64_t part, int64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_lengths(Text *out, const char *side, const char *what, const SurveyLengths *l)
{
    char number[32];
    text_add(out, "%-7s %-10s %9.1f %7" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64 " %14s\n",
             side, what, l->mean, l->p50, l->p90, l->p99, l->most, grouped(l->total, number));
}

static void put_table(const Survey *s, Text *out)
{
    static const char *const names[] = {"source", "target"};
    text_add(out, "\n%-18s %9s %7s %7s %7s %7s %14s\n", "a line has", "mean", "50 %", "90 %",
             "99 %", "most", "total");
    for (int k = 0; k < 1 + s->is_pairs; k++) {
        const SurveySide *side = &s->sides[k];
        const char *name = s->is_pairs ? names[k] : "";
        put_lengths(out, name, "characters", &side->characters);
        put_lengths(out, "", "words", &side->words);
        if (s->has_tokens)
            put_lengths(out, "", "tokens", &side->coverage.tokens);
    }
    if (s->is_pairs && s->ratio > 0)
        text_add(out, "\nA target typically has %.2f times the characters of its source.\n",
                 s->ratio);
}

static void put_coverage(const Survey *s, Text *out)
{
    char used[32], size[32], unknown[32];
    for (int k = 0; s->has_tokens && k < 1 + s->is_pairs; k++) {
        const SurveyCoverage *c = &s->sides[k].coverage;
        int64_t words = s->sides[k].words.total;
        text_add(out,
                 "%s%s: %s of %s tokens used (%.1f %%); %.2f tokens a word; %s unknown (%.3f %%)\n",
                 k ? "" : "\n", s->is_pairs ? k ? "Target" : "Source" : "Vocabulary",
                 grouped(c->used, used), grouped(c->size, size), share(c->used, c->size),
                 words ? (double)c->tokens.total / (double)words : 0, grouped(c->unknown, unknown),
                 share(c->unknown, c->tokens.total));
        if (c->characters)
            text_add(out, "  characters without a token: %s\n", c->characters);
    }
}

static void put_valid(const Survey *s, Text *out)
{
    for (size_t i = 0; i < s->valid.count; i++) {
        const SurveyValid *v = &s->valid.data[i];
        char lines[32];
        text_add(out, "%sOf %s %s of %s, the training text has %" PRId64 " (%.2f %%)",
                 i ? "" : "\n", grouped(v->lines, lines), s->is_pairs ? "pairs" : "lines",
                 v->name ? v->name : "validation", v->whole, share(v->whole, v->lines));
        if (s->is_pairs)
            text_add(out, "; sources %" PRId64 ", targets %" PRId64, v->sides[0], v->sides[1]);
        text_string(out, ".\n");
    }
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
            text_add(out, "\n%-54s %9s %8s\n", faults ? "Faults" : "To know", "lines", "share");
        any = true;
        text_add(out, "%-54s %9s %6.2f %%\n", f->title, grouped(f->lines, lines),
                 share(f->lines, s->lines));
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
        size_t n = strlen(f->title);
        text_string(out, !column ? "\nNot found: " : column + n > 100 ? ",\n  " : ", ");
        column = !column ? 11 + n : column + n > 100 ? 2 + n : column + 2 + n;
        text_string(out, f->title);
    }
    text_string(out, column ? ".\n" : "");
}

static void put_advice(const Survey *s, Text *out)
{
    bool any = false;
    for (int i = 0; i < SURVEY_KINDS; i++) {
        const SurveyFinding *f = &s->findings[i];
        if (!f->is_fault || !f->lines)
            continue;
        text_add(out, "%s  %s: %s.\n", any ? "" : "\nWhat to do\n", f->title, f->advice);
        any = true;
    }
    if (!any)
        text_string(out, "\nNothing to mend.\n");
    if (s->is_pairs && !s->knows_sides)
        text_string(
            out, "The sides are too few or too alike to tell which is which: swapped ones were not "
                 "looked for.\n");
}

void survey_print(const Survey *s, Text *out)
{
    char lines[32];
    bool two = s->is_pairs && strcmp(s->sides[0].file, s->sides[1].file);
    text_add(out, "%s%s%s: %s %s\n", s->sides[0].file, two ? ", " : "", two ? s->sides[1].file : "",
             grouped(s->lines, lines), s->is_pairs ? "pairs" : "lines");
    put_table(s, out);
    put_coverage(s, out);
    put_valid(s, out);
    put_findings(s, true, out);
    put_findings(s, false, out);
    put_absent(s, out);
    put_advice(s, out);
}

/* ---- JSON ---- */

enum { DIGITS = 6 };

static void json_lengths(JsonWriter *json, const char *key, const SurveyLengths *l)
{
    json_open(json, key, '{');
    json_put_integer(json, "total", l->total);
    json_put_number(json, "mean", l->mean, DIGITS);
    json_put_integer(json, "p50", l->p50);
    json_put_integer(json, "p90", l->p90);
    json_put_integer(json, "p99", l->p99);
    json_put_integer(json, "most", l->most);
    json_close(json, '}');
}

static void json_side(JsonWriter *json, const Survey *s, int k)
{
    const SurveySide *side = &s->sides[k];
    json_open(json, !s->is_pairs ? "text" : k ? "target" : "source", '{');
    json_put_text(json, "file", side->file);
    json_lengths(json, "characters", &side->characters);
    json_lengths(json, "words", &side->words);
    if (s->has_tokens) {
        json_lengths(json, "tokens", &side->coverage.tokens);
        json_put_integer(json, "unknown_tokens", side->coverage.unknown);
        json_put_integer(json, "vocabulary", side->coverage.size);
        json_put_integer(json, "vocabulary_used", side->coverage.used);
        if (side->coverage.characters)
            json_put_text(json, "unknown_characters", side->coverage.characters);
    }
    json_close(json, '}');
}

static void json_finding(JsonWriter *json, const Survey *s, const SurveyFinding *f)
{
    json_open(json, NULL, '{');
    json_put_text(json, "name", f->name);
    json_put_text(json, "title", f->title);
    json_put_bool(json, "fault", f->is_fault);
    json_put_bool(json, "looked_for", f->is_looked_for);
    json_put_integer(json, "lines", f->lines);
    json_put_number(json, "share", share(f->lines, s->lines) / 100, DIGITS);
    json_open(json, "examples", '[');
    for (size_t i = 0; i < f->examples.count; i++) {
        const SurveyExample *e = &f->examples.data[i];
        json_open(json, NULL, '{');
        json_put_integer(json, "line", e->line);
        json_put_text(json, s->is_pairs ? "source" : "text", e->sides[0]);
        if (e->sides[1])
            json_put_text(json, "target", e->sides[1]);
        if (e->note && *e->note)
            json_put_text(json, "note", e->note);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void survey_print_json(const Survey *s, Text *out)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "kind", s->is_pairs ? "pairs" : "lines");
    json_put_integer(&json, "lines", s->lines);
    for (int k = 0; k < 1 + s->is_pairs; k++)
        json_side(&json, s, k);
    if (s->is_pairs)
        json_put_number(&json, "ratio", s->ratio, DIGITS);
    json_open(&json, "valid", '[');
    for (size_t i = 0; i < s->valid.count; i++) {
        const SurveyValid *v = &s->valid.data[i];
        json_open(&json, NULL, '{');
        json_put_text(&json, "name", v->name ? v->name : "validation");
        json_put_integer(&json, "lines", v->lines);
        json_put_integer(&json, "overlap", v->whole);
        if (s->is_pairs) {
            json_put_integer(&json, "overlap_source", v->sides[0]);
            json_put_integer(&json, "overlap_target", v->sides[1]);
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_open(&json, "findings", '[');
    for (int i = 0; i < SURVEY_KINDS; i++)
        json_finding(&json, s, &s->findings[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    text_put(out, "\n", 1);
}
