/* The command line of a compiled program. */
#include "runtime/model/program.h"

#include "base/limits.h"
#include "runtime/decode/ctc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option of the program's own: a flag, a text, an id of the vocabulary, or a number of 1 to
 * `most`. `of`: whose it is. */
typedef struct OwnOption {
    const char *name, *value; /* NULL: a flag */
    enum { OWN_FLAG, OWN_TEXT, OWN_ID, OWN_COUNT } kind;
    unsigned of;
    size_t at; /* in ProgramOptions */
    int64_t most;
    const char *help;
} OwnOption;

#define OWN(name, value, kind, of, most, help) \
    {#name, value, kind, of, offsetof(ProgramOptions, name), most, help}
static const OwnOption own_options[] = {
    OWN(weights, "FILE", OWN_TEXT, OF_ALL, 0, "a safetensors file in place of the weights inside"),
    OWN(ids, NULL, OWN_FLAG, OF_DECODING, 0, "token ids in place of text"),
    OWN(prefix, "FILE", OWN_TEXT, OF_DECODING, 0, "how each result begins: a line for each line"),
    OWN(bos, "ID", OWN_ID, OF_DECODING, 0, "the id that begins a result"),
    OWN(first, "ID", OWN_ID, OF_DECODING, 0, "the first id of every result"),
    OWN(eos, "ID", OWN_ID, OF_DECODING, 0, "the id that ends it"),
    OWN(top, "K", OWN_COUNT, OF_PREDICTIONS, INT32_MAX,
        "the K most probable classes, or results with their log-probabilities (1; of a set its labels)"),
    OWN(beam, "N", OWN_COUNT, OF_LABELS, CTC_WIDEST,
        "search labels by a beam of N prefixes (1: the best path)"),
    OWN(lexicon, "FILE", OWN_TEXT, OF_LABELS, 0,
        "give only words of this list: in each line the labels of one"),
    OWN(separator, "L", OWN_TEXT, OF_LABELS, 0,
        "the label between words of the lexicon; without it a result is one"),
    OWN(json, NULL, OWN_FLAG, OF_PREDICTIONS, 0,
        "a JSON object for each line, as tfc predict prints it"),
    OWN(threads, "N", OWN_COUNT, OF_ALL, LIMIT_threads, "as many as processors"),
};
enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };
enum { ALL_OPTIONS = OWN_OPTIONS + SETTINGS };

/* Options by number: its own, then rows of settings. */
static const char *option_name(int i)
{
    return i < OWN_OPTIONS ? own_options[i].name : setting_help(i - OWN_OPTIONS)->option;
}
static const char *option_value(int i)
{
    return i < OWN_OPTIONS ? own_options[i].value : setting_help(i - OWN_OPTIONS)->value;
}

/* Whether the program has the option. */
static bool has_option(const Program *p, int i)
{
    const unsigned of = i < OWN_OPTIONS ? own_options[i].of : OF_DECODING;
    return option_name(i) && (of & (OF_ALL | p->kind->options(p->model)));
}

static bool is_ids(int i)
{
    return i < OWN_OPTIONS && own_options[i].at == offsetof(ProgramOptions, ids);
}

/* Words from column `at` on, as wide as a page: further lines begin below the first word. */
static void print_option_help(FILE *out, const char *text, size_t at)
{
    enum { PAGE_WIDTH = 80 };
    size_t column = at;
    while (*text) {
        const size_t n = strcspn(text, " ");
        if (column > at && column + 1 + n > PAGE_WIDTH) {
            fprintf(out, "\n%*s", (int)at, "");
            column = at;
        }
        fprintf(out, "%s%.*s", column > at ? " " : "", (int)n, text);
        column += n + (column > at);
        text += n + strspn(text + n, " ");
    }
    fprintf(out, "\n");
}

static void print_usage(const Program *p, FILE *out)
{
    const bool decodes = p->kind->options(p->model) & OF_DECODING;
    fprintf(out, "Usage: %s [OPTION ...]\n%s on standard input, a line each; %s\n", p->name,
            p->model->n_columns ? "Records as JSON objects"
            : !p->model->text   ? "Token ids"
            : decodes           ? "Text (with --ids token ids)"
                                : "Text",
            p->kind->answers);
    for (int i = 0; i < ALL_OPTIONS; i++) {
        const char *name = option_name(i), *value = option_value(i);
        if (!has_option(p, i) || (p->model->n_columns && is_ids(i)))
            continue;
        fprintf(out, "  --%s %-*s ", name, (int)(23 - strlen(name)), value ? value : "");
        print_option_help(
            out, i < OWN_OPTIONS ? own_options[i].help : setting_help(i - OWN_OPTIONS)->text, 29);
    }
}

/* -1: there is none. */
static int find_own_or_setting(const Program *p, const char *argument)
{
    for (int i = 0; !strncmp(argument, "--", 2) && i < ALL_OPTIONS; i++)
        if (has_option(p, i) && !strcmp(argument + 2, option_name(i)))
            return i;
    return -1;
}

/* A number of the option, whole or not, in range; false after saying what is wrong. */
static bool read_option_number(const char *program, const char *option, const DecodeSetting *range,
                               const char *text, int64_t *whole, double *number)
{
    char allowed[RANGE_TEXT];
    const bool is_whole = range->kind != SETTING_NUMBER;
    *whole = 0;
    *number = 0;
    const bool is = is_whole ? text_whole(text, whole) : text_real(text, number);
    *number = is_whole ? (double)*whole : *number;
    if (is && setting_fits(range, *number))
        return true;
    setting_range(range, allowed);
    fprintf(stderr, "%s: --%s takes %s, not '%s'\n", program, option, allowed, text);
    return false;
}

static bool read_own(Program *p, const OwnOption *own, const char *text)
{
    void *field = (char *)&p->options + own->at;
    const int64_t vocab = p->model->vocab;
    DecodeSetting range = {.kind = SETTING_WHOLE, .least = 1, .most = (double)own->most};
    double number;
    if (own->kind == OWN_ID) {
        range.least = 0;
        range.most = vocab > 0 ? (double)vocab - 1 : INT32_MAX;
    }
    switch (own->kind) {
    case OWN_FLAG: return *(bool *)field = true;
    case OWN_TEXT: *(const char **)field = text; return true;
    default: return read_option_number(p->name, own->name, &range, text, field, &number);
    }
}

static bool read_setting(Program *p, int row, const char *text)
{
    ProgramOptions *o = &p->options;
    const DecodeSetting *setting = &setting_rows[row];
    int64_t whole = 1;
    double number = 1;
    if (setting->kind != SETTING_FLAG &&
        !read_option_number(p->name, setting_help(row)->option, setting, text, &whole, &number))
        return false;
    setting_put(setting, &o->settings, whole, number);
    return o->given[row] = true;
}

/* The option that an argument names, whose value is `value` (NULL: there is none). The exit status;
 * *takes: the value is the option's. */
static int read_argument(Program *p, const char *argument, const char *value,
                         bool given[ALL_OPTIONS], bool *takes)
{
    const int option = find_own_or_setting(p, argument);
    *takes = option >= 0 && option_value(option);
    if (*takes && given[option]) {
        fprintf(stderr, "%s: %s is given twice; it may stand once\n", p->name, argument);
        return 2;
    }
    if (option < 0 || (*takes && !value)) {
        fprintf(stderr, *takes ? "%s: %s takes a value\n" : "%s: there is no option '%s'\n",
                p->name, argument);
        print_usage(p, stderr);
        return 2;
    }
    given[option] = true;
    return (option < OWN_OPTIONS ? read_own(p, &own_options[option], value)
                                 : read_setting(p, option - OWN_OPTIONS, value))
               ? 0
               : 2;
}

int program_options_read(Program *p, int argc, char **argv)
{
    bool given[ALL_OPTIONS] = {false}, takes;
    ProgramOptions *o = &p->options;
    *o = (ProgramOptions){.threads = -1, .bos = -1, .first = -1, .eos = -1, .beam = 1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_usage(p, stdout);
            o->help = true;
            return 0;
        }
        const int status = read_argument(p, argv[i], argv[i + 1], given, &takes);
        if (status)
            return status;
        i += takes;
    }
    if (p->model->n_columns && o->ids) {
        fprintf(stderr, "%s: --ids is for texts: each line is a record\n", p->name);
        return 2;
    }
    o->ids = o->ids || !p->model->text;
    const TfcGeneration *s = &o->settings;
    const SettingConflict *conflict =
        settings_conflict(s->sample, s->nbest, s->best_of, s->alternatives);
    if (conflict)
        fprintf(stderr, "%s: %s\n", p->name, conflict->options);
    return conflict ? 2 : 0;
}

int program_options_set(const Program *p, TfcGeneration *s)
{
    const ProgramOptions *o = &p->options;
    char conflict[SETTINGS_TEXT];
    for (int i = 0; i < SETTINGS; i++)
        if (o->given[i])
            setting_copy(&setting_rows[i], &o->settings, s);
    if (o->given[SETTING_beam] || o->given[SETTING_alternatives])
        s->sample = o->settings.sample;
    if (settings_given_conflict(o->given, s->sample, s->nbest, s->beam, conflict)) {
        fprintf(stderr, "%s: %s\n", p->name, conflict);
        return 2;
    }
    s->beam = settings_beam(s->beam, s->nbest);
    s->bos = o->bos >= 0 ? (int32_t)o->bos : s->bos;
    s->first = o->first >= 0 ? (int32_t)o->first : s->first;
    s->eos = o->eos >= 0 ? (int32_t)o->eos : s->eos;
    return 0;
}
