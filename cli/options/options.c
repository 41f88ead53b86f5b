/* Option parsing. */
#define _GNU_SOURCE
#include "cli/options/options.h"

#include "base/limits.h"
#include "base/quants.h"
#include "runtime/decode/settings.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool option_is_letter(const Option *option) { return option->name[0] == '-'; }

bool option_is_choice(const Option *option) { return option->value && strchr(option->value, '|'); }

static bool is_size(const Option *option) { return !strcmp(option->value, "SIZE"); }

const char *option_remark(const Option *option)
{
    double value;
    if (option->kind == OPTION_LIST)
        return "may be given again";
    bool number = option->kind == OPTION_INT || option->kind == OPTION_NUMBER;
    if (!option->initial || !*option->initial || option->kind == OPTION_FLAG ||
        (number && text_real(option->initial, &value) && value < option->least))
        return NULL;
    return option->initial;
}

/* ---- values ---- */

/* Two words for one format: GGUF's, and that of --dtype. Where a choice has one of them, either is
 * taken. */
static const char *const same_format[] = {"int4", "q4_0"};

/* The choice that the word names; NULL: none of them. */
static const char *find_choice(const char *const *names, size_t n, const char *word)
{
    const char *other = !strcmp(word, same_format[0])   ? same_format[1]
                        : !strcmp(word, same_format[1]) ? same_format[0]
                                                        : NULL;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], word))
            return names[i];
    for (size_t i = 0; other && i < n; i++)
        if (!strcmp(names[i], other))
            return names[i];
    return NULL;
}

/* What other programs' words are here, of those of `names`: NULL: another word, or none of them. */
static const char *known_choice(const char *const *names, size_t n, const char *word)
{
    static const char *const alike[][2] = {
        {"q4_0", "int4"},   {"i8", "int8"},     {"i4", "int4"},  {"bfloat16", "bf16"},
        {"float32", "f32"}, {"float64", "f64"}, {"fp32", "f32"}, {"fp64", "f64"},
    };
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        word = strcasecmp(word, alike[i][0]) ? word : alike[i][1];
    for (size_t i = 0; i < n; i++)
        if (!strcasecmp(word, names[i]))
            return names[i];
    return NULL;
}

/* Behind a list of choices: which of them the word may be, or why there is none. */
static const char *choice_hint(Job *job, const char *const *names, size_t n, const char *word)
{
    const char *known = known_choice(names, n, word);
    if (known)
        return arena_printf(job->arena, "; did you mean '%s'?", known);
    return quant_of_word(word) && n && !strcmp(names[0], "f32")
               ? "; integers have no gradient: tfc quantize makes a run in them of a trained one"
               : text_suggest(job->arena, "'", word, names, n);
}

/* Sets *choice to that of "a|b|c" which `word` names; NULL, or else the list with the nearest of
 * it. */
static const char *expected_choice(Job *job, const char *choices, const char *word,
                                   const char **choice)
{
    VEC(const char *) names = {0};
    char *list = arena_strdup(job->arena, choices), *rest = NULL;
    for (char *name = strtok_r(list, "|", &rest); name; name = strtok_r(NULL, "|", &rest))
        vec_push(job->arena, names, name);
    const char *found = find_choice(names.data, names.count, word);
    if (found) {
        *choice = found;
        return NULL;
    }
    return arena_printf(job->arena, "%s%s", choices,
                        choice_hint(job, names.data, names.count, word));
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

static double most_of(const Option *option)
{
    for (int i = 0; i < SETTINGS; i++)
        if (setting_help(i)->option && !strcmp(setting_help(i)->option, option->name))
            return setting_rows[i].most;
    return limit_of(option->name);
}

/* "" as a path would be the folder itself, or the file before a suffix. */
static bool is_lost_path(const Option *option, const char *text)
{
    return !*text && option_names_path(option);
}

static const char *store_text(Job *job, const Option *option, const char *text, const char **field)
{
    if (is_lost_path(option, text))
        return "a path";
    if (option_is_choice(option))
        return expected_choice(job, option->value, text, field);
    *field = text;
    return NULL;
}

static const char *store_size(Job *job, const Option *option, const char *text, int64_t *field)
{
    int64_t bytes = 0;
    double most = most_of(option);
    bool is_size = parse_bytes(text, &bytes);
    if (is_size && (double)bytes < option->least) {
        const bool has_unit = text[strspn(text, "0123456789.")];
        const char *hint =
            has_unit ? "" : arena_printf(job->arena, "; for gigabytes write %sG", text);
        return arena_printf(job->arena,
                            "a size such as 800M or 1.5G: %s is %lld bytes, which is too little%s",
                            text, (long long)bytes, hint);
    }
    if (!is_size || (double)bytes > most)
        return isinf(most) ? "a size such as 800M or 1.5G"
                           : "a size such as 800k or 20M, at most 1G";
    *field = bytes;
    return NULL;
}

/* Of both kinds of number. */
static const char *store_number(Job *job, const Option *option, const char *text, void *field)
{
    bool is_whole = option->kind == OPTION_INT;
    int64_t whole = 0;
    double value = 0, most = most_of(option);
    bool ok = is_whole ? text_whole(text, &whole) : text_real(text, &value);
    value = is_whole ? (double)whole : value;
    if (!ok || value < option->least || value > most) {
        char *range = arena_alloc(job->arena, RANGE_TEXT);
        range_text(range, is_whole, option->least, most);
        return range;
    }
    if (is_whole)
        *(int64_t *)field = whole;
    else
        *(double *)field = value;
    return NULL;
}

static void *field_of(const Option *option, void *record) { return (char *)record + option->at; }

/* Stores the value; NULL when it is fine, else what was expected. */
static const char *store_value(Job *job, const Option *option, const char *text, void *record)
{
    void *field = field_of(option, record);
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)field = true; return NULL;
    case OPTION_OUTPUT:
    case OPTION_TEXT: return store_text(job, option, text, field);
    case OPTION_INT:
        return is_size(option) ? store_size(job, option, text, field)
                               : store_number(job, option, text, field);
    case OPTION_NUMBER: return store_number(job, option, text, field);
    case OPTION_LIST:
        vec_push(job->arena, *(TextList *)field, text);
        return is_lost_path(option, text) ? "a path" : NULL;
    }
    return NULL;
}

/* The record as it is where no option is given. */
static void fill_record(const Command *command, void *record)
{
    memset(record, 0, command->record);
    for (int i = 0; i < command->n_options; i++) {
        const Option *option = &command->options[i];
        void *field = field_of(option, record);
        bool ok = true;
        if (!option->initial || option->kind == OPTION_FLAG)
            continue;
        switch (option->kind) {
        case OPTION_TEXT: *(const char **)field = option->initial; break;
        case OPTION_INT: ok = text_whole(option->initial, field); break;
        case OPTION_NUMBER: ok = text_real(option->initial, field); break;
        case OPTION_FLAG:
        case OPTION_OUTPUT:
        case OPTION_LIST: ok = false; /* nothing but absent */
        }
        assert(ok);
        (void)ok;
    }
}

/* ---- words ---- */

/* Other names of options. What a command writes is called -o and --output in help, messages and
 * pages; tfc train and tfc run of 0.2.0 called it --out. */
static const struct {
    const char *alias, *name;
} aliases[] = {{"-o", "output"}, {"out", "output"}};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

char option_letter(const Option *option)
{
    for (int i = 0; i < ALIASES; i++)
        if (*aliases[i].alias == '-' && !strcmp(aliases[i].name, option->name))
            return aliases[i].alias[1];
    return 0;
}

static const Option *find_named(const Command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->n_options; i++) {
        const Option *option = &command->options[i];
        if (!option_is_letter(option) && strlen(option->name) == length &&
            !strncmp(option->name, name, length))
            return option;
    }
    return NULL;
}

/* The option of the name or alias; NULL: the command has none. */
static const Option *find_option(const Command *command, const char *name, size_t length)
{
    const Option *option = find_named(command, name, length);
    for (int i = 0; i < ALIASES && !option; i++)
        if (strlen(aliases[i].alias) == length && !strncmp(aliases[i].alias, name, length))
            option = find_named(command, aliases[i].name, strlen(aliases[i].name));
    return option;
}

static const Option *find_letter(const Command *command, char letter)
{
    for (int i = 0; i < command->n_options; i++)
        if (option_is_letter(&command->options[i]) && command->options[i].name[1] == letter)
            return &command->options[i];
    return find_option(command, (const char[]){'-', letter}, 2);
}

/* Whether the row is for the command: one of every command's, "*", that names an option in its
 * place is for those that have this option. */
static bool has_row(const Command *command, const char *row, const char *hint)
{
    if (!command || strcmp(row, "*"))
        return !strcmp(row, command ? command->name : "");
    return strncmp(hint, "--", 2) || find_option(command, hint + 2, strcspn(hint + 2, " "));
}

const char *option_hint(Arena *arena, const Command *command, const char *word)
{
    static const struct {
        const char *command, *word, *hint;
    } rows[] = {
#define HINT(command, word, hint) {command, word, hint},
#include "cli/options/hints.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].word, word) && has_row(command, rows[i].command, rows[i].hint))
            return arena_printf(arena, "; %s", rows[i].hint);
    return NULL;
}

/* The problem of a word that names no option of the command. */
static const char *unknown_option(Job *job, const Command *command, const char *word)
{
    const char **names = ARENA_ARRAY(job->arena, const char *, command->n_options + 1);
    int n_names = 0;
    for (int i = 0; i < command->n_options; i++)
        if (!option_is_letter(&command->options[i]))
            names[n_names++] = arena_printf(job->arena, "--%s", command->options[i].name);
    names[n_names++] = "--help";
    char *dashed = arena_strdup(job->arena, word); /* --batch_size is --batch-size */
    for (char *at = dashed; (at = strchr(at, '_'));)
        *at = '-';
    const char *hint = option_hint(job->arena, command, dashed);
    if (!hint && !strncmp(command->arguments, "-- ", 3))
        hint = arena_printf(job->arena, "; a command's own options stand behind --: tfc %s %s",
                            command->name, command->arguments);
    if (!hint)
        hint = text_suggest(job->arena, "'", word, names, (size_t)n_names);
    if (!*hint)
        hint = arena_printf(job->arena, "; see tfc %s --help", command->name);
    return arena_printf(job->arena, "there is no option '%s'%s", word, hint);
}

/* match_option of a word that begins with one dash. */
static const char *match_letter(Job *job, const Command *command, const char *word,
                                const Option **option, const char **value)
{
    /* a whole word is no letter with a value: -output is not -o utput */
    size_t whole = strcspn(word + 1, "=");
    const Option *full = find_option(command, word + 1, whole);
    const char *hint =
        option_hint(job->arena, command,
                    arena_printf(job->arena, "%s%.*s", whole > 1 ? "-" : "", (int)whole + 1, word));
    *option = full || (hint && whole > 1) ? NULL : find_letter(command, word[1]);
    *value = word[2] ? word + 2 : NULL;
    if (*option)
        return NULL;
    if (full)
        hint = arena_printf(job->arena, "; did you mean '--%s'?", full->name);
    else if (!hint)
        hint = arena_printf(job->arena, "; see tfc %s --help", command->name);
    return arena_printf(job->arena, "there is no option '%s'%s", word, hint);
}

/* Sets the option that a word names, and its value if the word has one. NULL when there is one,
 * else the problem. */
static const char *match_option(Job *job, const Command *command, const char *word,
                                const Option **option, const char **value)
{
    if (word[1] != '-')
        return match_letter(job, command, word, option, value);
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    *value = equals ? equals + 1 : NULL;
    *option = find_option(command, word + 2, length);
    return *option ? NULL
                   : unknown_option(job, command, arena_strndup(job->arena, word, length + 2));
}

static bool is_given(const Arguments *arguments, const Option *option)
{
    for (size_t i = 0; i < arguments->given.count; i++)
        if (arguments->given.data[i].option == option)
            return true;
    return false;
}

const char *option_typed(Arena *arena, const Option *option)
{
    const char letter = option_letter(option);
    return letter ? arena_printf(arena, "-%c", letter)
                  : arena_printf(arena, "%s%s", option_is_letter(option) ? "" : "--", option->name);
}

/* What to type for a value that the option does not take; "". */
static const char *value_hint(Job *job, const Command *command, const Option *option,
                              const char *value)
{
    const char *hint =
        option_hint(job->arena, command,
                    arena_printf(job->arena, "%s %s", option_typed(job->arena, option), value));
    return hint ? hint : "";
}

/* Stores the option at argv[*at], with the word after it if it needs one, and leaves *at at
 * its last word. NULL when it is fine, else the problem. */
static const char *read_option(Job *job, const Command *command, int *at, void *record,
                               Arguments *arguments)
{
    const char *word = arguments->argv[*at], *value;
    const Option *option;
    const char *problem = match_option(job, command, word, &option, &value);
    if (problem)
        return problem;
    const char *typed = option_typed(job->arena, option);
    bool flag = option->kind == OPTION_FLAG;
    if (arguments->file && !option_is_recorded(option))
        return arena_printf(job->arena, "%s is not an option that a run records: remove it", typed);
    if (flag && value)
        return arena_printf(job->arena, "the option '%s' takes no value", word);
    if (!flag && !value) {
        if (*at + 1 == arguments->argc)
            return arena_printf(job->arena, "the option '%s' needs a value (%s)", word,
                                option->value);
        value = arguments->argv[++*at];
    }
    if (!flag && option->kind != OPTION_LIST && is_given(arguments, option))
        return arena_printf(job->arena,
                            "%s is given twice, the second time as '%s'; it may stand once", typed,
                            value);
    const char *expected = store_value(job, option, value, record);
    vec_push(job->arena, arguments->given, ((GivenOption){option, value}));
    return expected ? arena_printf(job->arena, "%s is '%s'; expected %s%s", typed, value, expected,
                                   value_hint(job, command, option, value))
                    : NULL;
}

static bool fits_place(const Command *command, const Arguments *arguments, const char *name,
                       const char *after)
{
    const Option *option = find_option(command, name, strlen(name));
    const Option *given = option && after ? find_option(command, after, strlen(after)) : NULL;
    const bool takes_texts = command->max_arguments > 1; /* as arguments */
    return option && !takes_texts &&
           (!after || (given && is_given(arguments, given) && !is_given(arguments, option)));
}

/* By what option the word would be given. */
static const char *place_hint(Arena *arena, const Command *command, const Arguments *arguments,
                              const char *word)
{
#define PLACE(option, after, hint)                     \
    if (fits_place(command, arguments, option, after)) \
        return arena_printf(arena, ": " hint, word);
#include "cli/options/hints.def"
    return arena_printf(arena, "; usage: tfc %s %s [OPTIONS]", command->name, command->arguments);
}

/* The problem of the number of arguments; NULL: there is none. */
static const char *misfit_of_count(Job *job, const Command *command, const Arguments *arguments)
{
    if (arguments->count > command->max_arguments) {
        const char *word = arguments->words[command->max_arguments];
        return arena_printf(job->arena, "'%s' is one argument too many%s", word,
                            place_hint(job->arena, command, arguments, word));
    }
    return arguments->count < command->min_arguments
               ? arena_printf(job->arena, "expected %s; see tfc %s --help", command->arguments,
                              command->name)
               : NULL;
}

static bool is_help(const char *word) { return !strcmp(word, "--help") || !strcmp(word, "-h"); }

/* Reads the words of a command line up to the end, or up to --help, which *helps says. NULL when
 * they are fine, else the problem. */
static const char *read_words(Job *job, const Command *command, void *record, Arguments *arguments,
                              bool *helps)
{
    const char *problem = NULL;
    bool only_words = false;
    *helps = false;
    for (int i = 1; i < arguments->argc && !problem && !*helps; i++) {
        const char *word = arguments->argv[i];
        if (!*word && !only_words)
            problem =
                arena_printf(job->arena, "an argument is empty; expected %s", command->arguments);
        else if (only_words || word[0] != '-' || !word[1])
            arguments->words[arguments->count++] = word;
        else if (!strcmp(word, "--"))
            only_words = true;
        else if (is_help(word))
            *helps = true;
        else
            problem = read_option(job, command, &i, record, arguments);
    }
    return problem || *helps ? problem : misfit_of_count(job, command, arguments);
}

bool options_parse(Job *job, const Command *command, int argc, char **argv, void *record,
                   Arguments *arguments, int *status)
{
    *arguments = (Arguments){
        .argc = argc, .argv = argv, .words = ARENA_ARRAY(job->arena, const char *, argc + 1)};
    bool helps;
    fill_record(command, record);
    const char *problem = read_words(job, command, record, arguments, &helps);
    if (problem)
        cli_usage_error("%s", problem);
    else if (helps)
        options_print_help(command);
    *status = helps ? EXIT_DONE : EXIT_USAGE;
    return !problem && !helps && options_check_outputs(job, arguments);
}

bool options_parse_file(Job *job, const Command *command, const char *file, const TextList *words,
                        Arguments *arguments)
{
    char **argv = ARENA_ARRAY(job->arena, char *, words->count + 1);
    void *record = arena_alloc(job->arena, command->record);
    const char *problem = NULL;
    argv[0] = arena_strdup(job->arena, command->name);
    for (size_t i = 0; i < words->count; i++)
        argv[i + 1] = arena_strdup(job->arena, words->data[i]);
    *arguments = (Arguments){.argc = (int)words->count + 1, .argv = argv, .file = file};
    fill_record(command, record);
    for (int i = 1; i < arguments->argc && !problem; i++)
        problem =
            strncmp(argv[i], "--", 2) || !argv[i][2] || is_help(argv[i])
                ? arena_printf(job->arena, "'%s' is not an option that a run records", argv[i])
                : read_option(job, command, &i, record, arguments);
    return !problem || job_error(job, "%s: \"arguments\": %s", file, problem);
}
