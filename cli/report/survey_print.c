/* Tables of what tfc data found. */
#include "cli/report/survey_print.h"

#include "cli/report/findings_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void put_table(const Survey *s, Text *out)
{
    static const char *const names[] = {"source", "target"};
    text_add(out, "\n%-18s %9s %7s %7s %7s %7s %14s\n", "a line has", "mean", "50 %", "90 %",
             "99 %", "most", "total");
    for (int k = 0; k < 1 + s->is_pairs; k++) {
        const SurveySide *side = &s->sides[k];
        const char *name = s->is_pairs ? names[k] : "";
        print_lengths(out, name, "characters", &side->characters);
        print_lengths(out, "", "words", &side->words);
        if (s->has_tokens)
            print_lengths(out, "", "tokens", &side->coverage.tokens);
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
                 print_grouped(c->used, used), print_grouped(c->size, size),
                 print_share(c->used, c->size), words ? (double)c->tokens.total / (double)words : 0,
                 print_grouped(c->unknown, unknown), print_share(c->unknown, c->tokens.total));
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
                 i ? "" : "\n", print_grouped(v->lines, lines), s->is_pairs ? "pairs" : "lines",
                 v->name ? v->name : "validation", v->whole, print_share(v->whole, v->lines));
        if (s->is_pairs)
            text_add(out, "; sources %" PRId64 ", targets %" PRId64, v->sides[0], v->sides[1]);
        text_string(out, ".\n");
    }
}

static void put_sides(const Survey *s, Text *out)
{
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
             print_grouped(s->lines, lines), s->is_pairs ? "pairs" : "lines");
    put_table(s, out);
    put_coverage(s, out);
    put_valid(s, out);
    findings_print(s->findings, SURVEY_KINDS, s->lines, "lines", NULL, out);
    put_sides(s, out);
}

/* ---- JSON ---- */

static void json_side(JsonWriter *json, const Survey *s, int k)
{
    const SurveySide *side = &s->sides[k];
    json_open(json, !s->is_pairs ? "text" : k ? "target" : "source", '{');
    json_put_text(json, "file", side->file);
    print_lengths_json(json, "characters", &side->characters);
    print_lengths_json(json, "words", &side->words);
    if (s->has_tokens) {
        print_lengths_json(json, "tokens", &side->coverage.tokens);
        json_put_integer(json, "unknown_tokens", side->coverage.unknown);
        json_put_integer(json, "vocabulary", side->coverage.size);
        json_put_integer(json, "vocabulary_used", side->coverage.used);
        if (side->coverage.characters)
            json_put_text(json, "unknown_characters", side->coverage.characters);
    }
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
        json_put_number(&json, "ratio", s->ratio, PRINT_DIGITS);
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
    findings_print_json(s->findings, SURVEY_KINDS, s->lines, s->is_pairs ? "source" : "text",
                        &json);
    json_close(&json, '}');
    text_put(out, "\n", 1);
}
