/* Excerpts of lines. */
#include "driver/corpus/survey/findings.h"

#include "driver/corpus/survey/encoding.h"

enum { EXCERPT = 60, BEFORE = 24 /* characters: of an excerpt, and before its place */ };

Findings findings_begin(Job *job, const SurveyOptions *options, Survey *out)
{
    static const struct {
        SurveyData data;
        SurveyFinding finding;
    } kinds[] = {
#define FINDING(name_, data_, is_fault_, title_, advice_) \
    {data_, {.name = #name_, .is_fault = is_fault_, .title = title_, .advice = advice_}},
#include "driver/corpus/survey/survey.def"
#undef FINDING
    };
    for (int i = 0; i < SURVEY_KINDS; i++) {
        out->findings[i] = kinds[i].finding;
        out->findings[i].is_looked_for = kinds[i].data & out->data;
    }
    if (out->data == OF_LINES && !options->lines) /* paragraphs, and lines that come again */
        out->findings[SURVEY_empty].is_fault = out->findings[SURVEY_duplicate].is_fault = false;
    return (Findings){job, out, options->examples};
}

/* The bytes of a text that begin no character. */
static bool is_inside(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* So many characters of a line around a byte, escaped where they would not show. */
static const char *excerpt_of(Arena *arena, const Line *line, size_t byte)
{
    size_t from = byte < line->length ? byte : 0, n = 0;
    for (int i = 0; from && (i < BEFORE || is_inside(line->text[from])); i++)
        from--;
    if (from < 4)
        from = 0;
    Text out = {0};
    text_string(&out, from ? "…" : "");
    size_t i = from;
    for (size_t size; i < line->length && n < EXCERPT; i += size, n++) {
        uint32_t c = encoding_decode(line->text + i, line->length - i, &size);
        if (encoding_is_control(c) || c == '\t' || (c == 0xFFFD && size == 1)) {
            if (c > 0xFF && size > 1)
                text_add(&out, "\\u%04x", (unsigned)c);
            else
                for (size_t k = 0; k < size; k++)
                    text_add(&out, "\\x%02x", (unsigned char)line->text[i + k]);
        } else {
            text_put(&out, line->text + i, size);
        }
    }
    text_string(&out, i < line->length ? "…" : "");
    return text_keep(arena, &out);
}

void findings_add(Findings *findings, SurveyKind kind, const RawPair *pair, FindingPlace place,
                  const char *note, ...)
{
    SurveyFinding *finding = &findings->out->findings[kind];
    Arena *arena = findings->job->arena;
    if (finding->lines++ >= findings->examples)
        return;
    SurveyExample example = {.line = pair->number};
    for (int k = 0; k < 1 + (findings->out->data == OF_PAIRS); k++)
        example.sides[k] =
            excerpt_of(arena, &pair->sides[k].line, k == place.side ? place.byte : 0);
    if (note) {
        va_list args;
        va_start(args, note);
        example.note = arena_vprintf(arena, note, args);
        va_end(args);
    }
    if (pair->file)
        example.note =
            arena_printf(arena, "%s%s%s", pair->file, note ? ", " : "", note ? example.note : "");
    vec_push(arena, finding->examples, example);
}

void findings_clear(Findings *findings, SurveyKind kind)
{
    findings->out->findings[kind].lines = 0;
    findings->out->findings[kind].examples.count = 0;
}
