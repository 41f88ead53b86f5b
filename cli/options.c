/* Option parsing and the text of --help. */
#define _GNU_SOURCE
#include "cli/options.h"

#include "base/limits.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_flush(Job *job)
{
    Text text = {0};
    diag_render(&job->diags, &text);
    if (text.length)
        fwrite(text.data, 1, text.length, stderr);
    text_free(&text);
    diag_init(&job->diags, job->arena);
}

int cli_finish(Job *job, bool ok)
{
    cli_flush(job);
    return ok ? EXIT_DONE : EXIT_INPUT;
}

int cli_usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("tfc: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_USAGE;
}

static OptionsListener *listener;

void options_listen(OptionsListener *told) { listener = told; }

static bool is_letter(const Option *option) { return option->name[0] == '-'; }

static void print_help(const Usage *usage, const Option *options, int n)
{
    printf("Usage: tfc %s %s%s\n\n%s\n\nOptions:\n", usage->command, usage->arguments,
           n ? " [OPTIONS]" : "", usage->text);
    for (int i = 0; i < n; i++) {
        char left[80];
        snprintf(left, sizeof left, "%s%s%s%s", is_letter(&options[i]) ? "" : "--", options[i].name,
                 options[i].value && !is_letter(&options[i]) ? " " : "",
                 options[i].value ? options[i].value : "");
        printf("  %-26s%s%s\n", left, strlen(left) > 25 ? "\n                            " : "",
               options[i].help);
    }
    printf("  %-26sthis text\n", "--help");
}

static void unknown_option(Job *job, const Usage *usage, const Option *options, int n,
                           const char *word)
{
    const char **names = ARENA_ARRAY(job->arena, const char *, n + 1);
    int n_names = 0;
    for (int i = 0; i < n; i++)
        if (!is_letter(&options[i]))
            names[n_names++] = arena_printf(job->arena, "--%s", options[i].name);
    names[n_names++] = "--help";
    const char *hint = text_suggest(job->arena, "'", word, names, (size_t)n_names);
    if (!*hint)
        hint = arena_printf(job->arena, "; see tfc %s --help", usage->command);
    cli_usage_error("%s: there is no option '%s'%s", usage->command, word, hint);
}

/* NULL if `word` is one of "a|b|c", else the list with the nearest of it. */
static const char *expected_choice(Job *job, const char *choices, const char *word)
{
    VEC(const char *) names = {0};
    char *list = arena_strdup(job->arena, choices), *rest = NULL;
    for (char *name = strtok_r(list, "|", &rest); name; name = strtok_r(NULL, "|", &rest)) {
        if (!strcmp(name, word))
            return NULL;
        vec_push(job->arena, names, name);
    }
    return arena_printf(job->arena, "%s%s", choices,
                        text_suggest(job->arena, "'", word, names.data, names.count));
}

static bool parse_int(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return false;
    *out = value;
    return true;
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* A number of bytes with a unit as sizes are printed with: k, M, G, T, of 1000 each. */
static bool parse_bytes(const char *text, int64_t *out)
{
    static const char units[] = "kMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (end == text || *text == '-' || (*end && (!unit || end[1])))
        return false;
    for (const char *at = units; unit && at <= unit; at++)
        value *= 1000;
    if (!(value >= 1 && value <= 9e18))
        return false;
    *out = (int64_t)value;
    return true;
}

/* "a whole number from 1 to 1024": the limits of an option. */
static const char *expected_range(Job *job, const char *kind, double least, double most)
{
    return isinf(most) ? arena_printf(job->arena, "%s, at least %g", kind, least)
                       : arena_printf(job->arena, "%s from %.10g to %.10g", kind, least, most);
}

static const char *store_int(Job *job, const Option *option, const char *text)
{
    int64_t value;
    double most = limit_of(option->name);
    if (strchr(option->value, '|')) {
        const char *expected = expected_choice(job, option->value, text);
        if (expected)
            return expected;
    }
    if (!parse_int(text, &value) || (double)value < option->least || (double)value > most)
        return expected_range(job, "a whole number", option->least, most);
    *(int64_t *)option->into = value;
    return NULL;
}

static const char *store_number(Job *job, const Option *option, const char *text)
{
    double value, most = limit_of(option->name);
    if (!parse_number(text, &value) || value < option->least || value > most)
        return expected_range(job, "a number", option->least, most);
    *(double *)option->into = value;
    return NULL;
}

/* Stores the value; NULL when it is fine, else what was expected. */
static const char *store_value(Job *job, const Option *option, const char *text)
{
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)option->into = true; return NULL;
    case OPTION_TEXT: *(const char **)option->into = text; return NULL;
    case OPTION_LIST: vec_push(job->arena, *(TextList *)option->into, text); return NULL;
    case OPTION_CHOICE: {
        const char *expected = expected_choice(job, option->value, text);
        if (!expected)
            *(const char **)option->into = text;
        return expected;
    }
    case OPTION_INT: return store_int(job, option, text);
    case OPTION_NUMBER: return store_number(job, option, text);
    case OPTION_BYTES: {
        int64_t bytes;
        if (!parse_bytes(text, &bytes) || (double)bytes > limit_of(option->name))
            return isinf(limit_of(option->name)) ? "a size such as 800M or 1.5G"
                                                 : "a size such as 800k or 20M, at most 1G";
        *(int64_t *)option->into = bytes;
        return NULL;
    }
    }
    return NULL;
}

static const Option *find_option(const Option *options, int n, const char *name, size_t length)
{
    for (int i = 0; i < n; i++)
        if (!is_letter(&options[i]) && strlen(options[i].name) == length &&
            !strncmp(options[i].name, name, length))
            return &options[i];
    return NULL;
}

static const Option *find_letter(const Option *options, int n, char letter)
{
    for (int i = 0; i < n; i++)
        if (is_letter(&options[i]) && options[i].name[1] == letter)
            return &options[i];
    return NULL;
}

/* The arguments that are left to read. */
typedef struct Reader {
    const Usage *usage;
    const Option *options;
    int n, argc, at;
    char **argv;
} Reader;

/* The option that a word names, and its value if the word has one; NULL after an
 * error was printed. */
static const Option *match_option(Job *job, const Reader *r, const char *word, const char **value)
{
    const Option *option;
    if (word[1] != '-') {
        option = find_letter(r->options, r->n, word[1]);
        *value = word[2] ? word + 2 : NULL;
        if (!option)
            cli_usage_error("%s: there is no option '%s'; see tfc %s --help", r->usage->command,
                            word, r->usage->command);
        return option;
    }
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    *value = equals ? equals + 1 : NULL;
    option = find_option(r->options, r->n, word + 2, length);
    if (!option)
        unknown_option(job, r->usage, r->options, r->n, arena_strndup(job->arena, word, length + 2));
    return option;
}

/* Stores the option at the reader's place, with the word after it if it needs one.
 * false after an error was printed. */
static bool read_option(Job *job, Reader *r, Arguments *arguments)
{
    const char *word = r->argv[r->at], *value, *command = r->usage->command;
    const Option *option = match_option(job, r, word, &value);
    if (!option)
        return false;
    if (option->kind == OPTION_FLAG && value) {
        cli_usage_error("%s: the option '%s' takes no value", command, word);
        return false;
    }
    if (option->kind != OPTION_FLAG && !value) {
        if (r->at + 1 == r->argc) {
            cli_usage_error("%s: the option '%s' needs a value (%s)", command, word, option->value);
            return false;
        }
        value = r->argv[++r->at];
    }
    const char *expected = store_value(job, option, value);
    if (expected)
        cli_usage_error("%s: %s%s is '%s'; expected %s", command, is_letter(option) ? "" : "--",
                        option->name, value, expected);
    vec_push(job->arena, arguments->given, ((GivenOption){option->name, option->kind, value}));
    return !expected;
}

static bool count_fits(const Usage *usage, const Arguments *arguments)
{
    if (arguments->count > usage->max_arguments)
        cli_usage_error("%s: '%s' is one argument too many; usage: tfc %s %s [OPTIONS]",
                        usage->command, arguments->words[usage->max_arguments], usage->command,
                        usage->arguments);
    else if (arguments->count < usage->min_arguments)
        cli_usage_error("%s: expected %s; see tfc %s --help", usage->command, usage->arguments,
                        usage->command);
    else
        return true;
    return false;
}

OptionsResult options_parse(Job *job, const Usage *usage, const Option *options, int n, int argc,
                            char **argv, Arguments *arguments, int *status)
{
    Reader r = {usage, options, n, argc, 1, argv};
    *arguments = (Arguments){.words = ARENA_ARRAY(job->arena, const char *, argc + 1)};
    *status = EXIT_USAGE;
    if (listener) {
        listener(usage, options, n);
        return OPTIONS_STOP;
    }
    for (bool only_words = false; r.at < argc; r.at++) {
        const char *word = argv[r.at];
        if (only_words || word[0] != '-' || !word[1])
            arguments->words[arguments->count++] = word;
        else if (!strcmp(word, "--"))
            only_words = true;
        else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            print_help(usage, options, n);
            *status = EXIT_DONE;
            return OPTIONS_STOP;
        } else if (!read_option(job, &r, arguments))
            return OPTIONS_STOP;
    }
    if (!count_fits(usage, arguments))
        return OPTIONS_STOP;
    *status = EXIT_DONE;
    return OPTIONS_GO;
}
