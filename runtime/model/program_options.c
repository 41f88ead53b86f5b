/* The command line of a compiled program. */
#include "runtime/model/program_options.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option of the program's own; `value` says of what kind: FILE is text, ID and N are numbers,
 * NULL is a flag. */
typedef struct OwnOption {
    const char *name, *value;
    size_t at; /* in ProgramOptions */
    const char *help;
} OwnOption;

static const OwnOption own_options[] = {
    {"weights", "FILE", offsetof(ProgramOptions, weights),
     "a safetensors file in place of the weights inside"},
    {"ids", NULL, offsetof(ProgramOptions, ids), "token ids in place of text"},
    {"prefix", "FILE", offsetof(ProgramOptions, prefix),
     "how each result begins: a line for each line"},
    {"bos", "ID", offsetof(ProgramOptions, bos), "the id that begins a result"},
    {"first", "ID", offsetof(ProgramOptions, first), "the first id of every result"},
    {"eos", "ID", offsetof(ProgramOptions, eos), "the id that ends it"},
    {"threads", "N", offsetof(ProgramOptions, threads), "as many as processors"},
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

static bool is_ids(const OwnOption *option) { return option->at == offsetof(ProgramOptions, ids); }

static void print_usage(const TfcModel *model, const char *program, FILE *out)
{
    fprintf(
        out,
        "Usage: %s [OPTION ...]\n"
        "%s on standard input, a line each; the answers, a line each, out. Several results of a\n"
        "line are a line each: NUMBER ||| RESULT ||| SCORE.\n",
        program,
        model->n_columns ? "Records as JSON objects"
        : model->text    ? "Text (with --ids token ids)"
                         : "Token ids");
    for (int i = 0; i < ALL_OPTIONS; i++) {
        const char *name = option_name(i), *value = option_value(i);
        if (name && !(model->n_columns && i < OWN_OPTIONS && is_ids(&own_options[i])))
            fprintf(out, "  --%s %-*s %s\n", name, (int)(23 - strlen(name)), value ? value : "",
                    i < OWN_OPTIONS ? own_options[i].help : setting_help(i - OWN_OPTIONS)->text);
    }
}

/* -1: there is none. */
static int find_own_or_setting(const char *argument)
{
    for (int i = 0; !strncmp(argument, "--", 2) && i < ALL_OPTIONS; i++)
        if (option_name(i) && !strcmp(argument + 2, option_name(i)))
            return i;
    return -1;
}

/* A number of the option, whole or not, in range; false after saying what is wrong. */
static bool read_option_number(const char *program, const char *option, const DecodeSetting *range,
                               const char *text, int64_t *whole, double *number)
{
    char *end, allowed[RANGE_TEXT];
    bool is_whole = range->kind != SETTING_NUMBER;
    errno = 0;
    *whole = is_whole ? strtoll(text, &end, 10) : 0;
    *number = is_whole ? (double)*whole : strtod(text, &end);
    if (end != text && !*end && !(is_whole && errno) && setting_fits(range, *number))
        return true;
    setting_range(range, allowed);
    fprintf(stderr, "%s: --%s takes %s, not '%s'\n", program, option, allowed, text);
    return false;
}

static bool read_own(const TfcModel *model, const char *program, const OwnOption *own,
                     const char *text, ProgramOptions *o)
{
    void *field = (char *)o + own->at;
    bool is_id = own->value && !strcmp(own->value, "ID");
    DecodeSetting range = {.kind = SETTING_WHOLE, .least = !is_id};
    double number;
    if (!own->value)
        *(bool *)field = true;
    else if (!strcmp(own->value, "FILE"))
        *(const char **)field = text;
    else {
        range.most = !is_id             ? LIMIT_threads
                     : model->vocab > 0 ? (double)model->vocab - 1
                                        : INT32_MAX;
        return read_option_number(program, own->name, &range, text, field, &number);
    }
    return true;
}

static bool read_setting(const char *program, int row, const char *text, ProgramOptions *o)
{
    const DecodeSetting *setting = &setting_rows[row];
    int64_t whole = 1;
    double number = 1;
    if (setting->kind != SETTING_FLAG &&
        !read_option_number(program, setting_help(row)->option, setting, text, &whole, &number))
        return false;
    setting_put(setting, &o->settings, whole, number);
    return o->given[row] = true;
}

int program_options_read(const TfcModel *model, int argc, char **argv, ProgramOptions *o)
{
    bool given[ALL_OPTIONS] = {false};
    *o = (ProgramOptions){.threads = -1, .bos = -1, .first = -1, .eos = -1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_usage(model, argv[0], stdout);
            o->help = true;
            return 0;
        }
        int option = find_own_or_setting(argv[i]);
        bool takes = option >= 0 && option_value(option);
        if (takes && given[option]) {
            fprintf(stderr, "%s: %s is given twice; it may stand once\n", argv[0], argv[i]);
            return 2;
        }
        if (option < 0 || (takes && i + 1 == argc)) {
            fprintf(stderr, takes ? "%s: %s takes a value\n" : "%s: there is no option '%s'\n",
                    argv[0], argv[i]);
            print_usage(model, argv[0], stderr);
            return 2;
        }
        given[option] = true;
        i += takes;
        if (!(option < OWN_OPTIONS ? read_own(model, argv[0], &own_options[option], argv[i], o)
                                   : read_setting(argv[0], option - OWN_OPTIONS, argv[i], o)))
            return 2;
    }
    if (model->n_columns && o->ids) {
        fprintf(stderr, "%s: --ids is for texts: each line is a record\n", argv[0]);
        return 2;
    }
    o->ids = o->ids || !model->text;
    const TfcGeneration *s = &o->settings;
    const SettingConflict *conflict =
        settings_conflict(s->sample, s->nbest, s->best_of, s->alternatives);
    if (conflict)
        fprintf(stderr, "%s: %s\n", argv[0], conflict->options);
    return conflict ? 2 : 0;
}

int program_options_set(const ProgramOptions *o, const char *program, TfcGeneration *s)
{
    char conflict[SETTINGS_TEXT];
    for (int i = 0; i < SETTINGS; i++)
        if (o->given[i])
            setting_copy(&setting_rows[i], &o->settings, s);
    if (o->given[SETTING_beam] || o->given[SETTING_alternatives])
        s->sample = o->settings.sample;
    if (settings_given_conflict(o->given, s->sample, s->nbest, s->beam, conflict)) {
        fprintf(stderr, "%s: %s\n", program, conflict);
        return 2;
    }
    s->beam = settings_beam(s->beam, s->nbest);
    s->bos = o->bos >= 0 ? (int32_t)o->bos : s->bos;
    s->first = o->first >= 0 ? (int32_t)o->first : s->first;
    s->eos = o->eos >= 0 ? (int32_t)o->eos : s->eos;
    return 0;
}
