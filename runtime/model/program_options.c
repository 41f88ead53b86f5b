/* The command line of a compiled program. */
#include "runtime/model/program_options.h"

#include "base/limits.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { FLAG, WORD, WHOLE, NUMBER } Kind;

/* An option, as its name without the dashes has it. */
typedef struct OptionRow {
    const char *name, *value;
    Kind kind;
    size_t at; /* in ProgramOptions */
    double least;
    const char *help;
} OptionRow;

#define PLACE(field)                                                                               \
    _Generic(((ProgramOptions *)0)->field, bool : FLAG, const char * : WORD, int64_t : WHOLE,             \
             double : NUMBER), offsetof(ProgramOptions, field)
#define ROW_OF_DECODING(record, field, name, value, least, initial, help)                          \
    {name, value, PLACE(decoding.field), least, help}

static const OptionRow option_rows[] = {
    {"weights", "FILE", PLACE(weights), 0, "a safetensors file in place of the weights inside"},
    {"ids", NULL, PLACE(ids), 0, "token ids in place of text"},
    DECODE_OPTIONS_SEARCH(ROW_OF_DECODING, 0),
    {"tokens", "N", PLACE(tokens), 0, "the longest result, as --max-tokens"},
    {"nbest", "K", PLACE(nbest), 1, "K lines a line: NUMBER ||| RESULT ||| SCORE"},
    {"prefix", "FILE", PLACE(prefix), 0, "how each result begins: a line for each line"},
    {"alternatives", "K", PLACE(alternatives), 1,
     "K lines a line: after the prefix each of the K most probable tokens"},
    DECODE_OPTIONS_RULES(ROW_OF_DECODING, 0),
    DECODE_OPTIONS_SAMPLE(ROW_OF_DECODING, 0),
    DECODE_OPTIONS_DRAW(ROW_OF_DECODING, 0),
    {"bos", "ID", PLACE(bos), 0, "the id that begins a result"},
    {"first", "ID", PLACE(first), 0, "the first id of every result"},
    {"eos", "ID", PLACE(eos), 0, "the id that ends it"},
    {"threads", "N", PLACE(threads), 1, "as many as processors"},
};
enum { N_ROWS = sizeof option_rows / sizeof option_rows[0] };

static void print_usage(const TfcModel *model, const char *program, FILE *out)
{
    fprintf(out,
            "Usage: %s [OPTION ...]\n"
            "%s on standard input, a line each; the answers, a line each, out.\n",
            program, model->text ? "Text (with --ids token ids)" : "Token ids");
    for (int i = 0; i < N_ROWS; i++)
        fprintf(out, "  --%s%s%-*s %s\n", option_rows[i].name, option_rows[i].value ? " " : "",
                (int)(option_rows[i].value ? 23 - strlen(option_rows[i].name) : 24 - strlen(option_rows[i].name)),
                option_rows[i].value ? option_rows[i].value : "", option_rows[i].help);
}

/* A whole number from the least; else says so. */
static bool read_whole(const char *program, const OptionRow *row, double most, const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && (double)value >= row->least && (double)value <= most) {
        *out = value;
        return true;
    }
    fprintf(stderr, "%s: --%s takes a whole number from %.0f to %.0f, not '%s'\n", program,
            row->name, row->least, most, text);
    return false;
}

static bool read_number(const char *program, const OptionRow *row, double most, const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end != text && !*end && value >= row->least && value <= most) {
        *out = value;
        return true;
    }
    fprintf(stderr, "%s: --%s takes a number from %.9g to %.9g, not '%s'\n", program, row->name,
            row->least, most, text);
    return false;
}

/* The largest value: of a token the last of the vocabulary. */
static double most_of(const TfcModel *model, const OptionRow *row)
{
    double most = limit_of(row->name);
    if (!strcmp(row->value, "ID") && model->vocab > 0)
        return (double)model->vocab - 1;
    return most < INT32_MAX ? most : INT32_MAX;
}

static bool read_value(const TfcModel *model, const char *program, const OptionRow *row, const char *text,
                       ProgramOptions *o)
{
    void *field = (char *)o + row->at;
    switch (row->kind) {
    case FLAG: *(bool *)field = true; return true;
    case WORD: *(const char **)field = text; return true;
    case WHOLE: return read_whole(program, row, most_of(model, row), text, field);
    case NUMBER: return read_number(program, row, most_of(model, row), text, field);
    }
    return false;
}

static const OptionRow *find_row(const char *argument)
{
    for (int i = 0; !strncmp(argument, "--", 2) && i < N_ROWS; i++)
        if (!strcmp(argument + 2, option_rows[i].name))
            return &option_rows[i];
    return NULL;
}

/* What options allow each other; NULL: nothing is wrong. */
static const char *find_mistake(const ProgramOptions *o)
{
    const DecodeOptions *d = &o->decoding;
    if (d->best_of > 0 && (!d->sample || d->best_of < o->nbest))
        return d->sample ? "--best-of is less than --nbest" : "--best-of is for --sample";
    if (o->alternatives > 0 && (d->sample || o->nbest > 1))
        return d->sample ? "--alternatives are searched for, one each: leave --sample out"
                         : "--alternatives are searched for, one each: leave --nbest out";
    return NULL;
}

static void clear_options(ProgramOptions *o)
{
    *o = (ProgramOptions){0};
    for (int i = 0; i < N_ROWS; i++) {
        void *field = (char *)o + option_rows[i].at;
        if (option_rows[i].kind == WHOLE)
            *(int64_t *)field = -1;
        else if (option_rows[i].kind == NUMBER)
            *(double *)field = -1;
    }
}

int program_options_read(const TfcModel *model, int argc, char **argv, ProgramOptions *o)
{
    bool given[N_ROWS] = {false};
    clear_options(o);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_usage(model, argv[0], stdout);
            o->help = true;
            return 0;
        }
        const OptionRow *row = find_row(argv[i]);
        if (row && row->value && given[row - option_rows]) {
            fprintf(stderr, "%s: %s is given twice; it may stand once\n", argv[0], argv[i]);
            return 2;
        }
        if (row)
            given[row - option_rows] = true;
        bool lacks = row && row->value && i + 1 == argc;
        if (!row || lacks) {
            fprintf(stderr, lacks ? "%s: %s takes a value\n" : "%s: there is no option '%s'\n",
                    argv[0], argv[i]);
            print_usage(model, argv[0], stderr);
            return 2;
        }
        i += row->value != NULL;
        if (!read_value(model, argv[0], row, argv[i], o))
            return 2;
    }
    o->ids = o->ids || !model->text;
    const char *mistake = find_mistake(o);
    if (mistake)
        fprintf(stderr, "%s: %s\n", argv[0], mistake);
    return mistake ? 2 : 0;
}

static void set_whole(int64_t given, int32_t *field) { *field = given >= 0 ? (int32_t)given : *field; }
static void set_number(double given, double *field) { *field = given >= 0 ? given : *field; }

void program_options_set(const ProgramOptions *o, TfcGeneration *s)
{
    const DecodeOptions *d = &o->decoding;
    int64_t longest = d->max_tokens >= 0 ? d->max_tokens : o->tokens;
    if (longest >= 0) {
        s->length_factor = 0;
        s->length_extra = (int32_t)longest;
    }
    if (d->sample || d->beam >= 0 || o->alternatives >= 0)
        s->sample = d->sample;
    set_whole(d->beam, &s->beam);
    set_whole(o->nbest, &s->nbest);
    s->beam = s->beam > s->nbest ? s->beam : s->nbest;
    set_whole(o->alternatives, &s->alternatives);
    set_whole(d->best_of, &s->best_of);
    set_whole(d->no_repeat_ngram, &s->no_repeat_ngram);
    set_whole(d->top_k, &s->top_k);
    set_number(d->length_penalty, &s->length_penalty);
    set_number(d->repetition_penalty, &s->repetition_penalty);
    set_number(d->temperature, &s->temperature);
    set_number(d->top_p, &s->top_p);
    s->seed = d->seed >= 0 ? (uint64_t)d->seed : s->seed;
    set_whole(o->bos, &s->bos);
    set_whole(o->first, &s->first);
    set_whole(o->eos, &s->eos);
}
