/* The text of --help: options in groups, as wide as the terminal. */
#define _GNU_SOURCE
#include "cli/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- groups ---- */

typedef struct OptionGroup {
    const char *title, *options;
} OptionGroup;

static const OptionGroup option_groups[] = {
#define GROUP(title, options) {title, options},
#include "cli/options/groups.def"
};
enum { GROUPS = sizeof option_groups / sizeof option_groups[0], FEW_OPTIONS = 9 };

static int group_with(const char *prefix, const char *colon, const char *name)
{
    char key[80];
    snprintf(key, sizeof key, " %s%s%s ", prefix, colon, name);
    for (int i = 0; i < GROUPS; i++)
        if (strstr(option_groups[i].options, key))
            return i;
    return GROUPS;
}

/* The option's group; GROUPS: groups.def does not have it. */
static int group_of_option(const Command *command, const Option *option)
{
    const int own = group_with(command->name, ":", option->name);
    return own < GROUPS ? own : group_with("", "", option->name);
}

void options_in_groups(const Command *command, void (*title)(const char *title),
                       void (*each)(const Option *option))
{
    const bool few = command->n_options <= FEW_OPTIONS;
    for (int group = few ? GROUPS : 0; group <= GROUPS; group++) {
        bool begun = false;
        for (int i = 0; i < command->n_options; i++) {
            const Option *option = &command->options[i];
            if (!few && group_of_option(command, option) != group)
                continue;
            if (!begun)
                title(few ? "Options" : group < GROUPS ? option_groups[group].title : "Other");
            begun = true;
            each(option);
        }
    }
}

/* ---- layout ---- */

enum { HELP_COLUMN = 24, LEAST_WIDTH = 50, MOST_WIDTH = 100 };

static size_t help_width(const FILE *out)
{
    const char *columns = getenv("COLUMNS");
    const long given = columns ? strtol(columns, NULL, 10) : 0;
    const int fd = out == stderr ? STDERR_FILENO : STDOUT_FILENO;
    const size_t width = given > 0 ? (size_t)given : cli_columns(fd);
    return width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
}

/* Prints words from column `at` on; further lines begin in the column `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t at, size_t indent)
{
    const size_t width = help_width(out);
    bool begins = true; /* no word stands in the line yet */
    while (*(text += strspn(text, " "))) {
        const size_t bytes = strcspn(text, " \n");
        char word[200];
        snprintf(word, sizeof word, "%.*s", (int)bytes, text);
        const size_t letters = text_letters(word);
        if (!begins && at + 1 + letters > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            begins = true;
        }
        fprintf(out, "%s%s", begins ? "" : " ", word);
        at += letters + !begins;
        begins = false;
        text += bytes;
        if (*text == '\n') {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            begins = true;
        }
        text += *text != 0;
    }
    fputc('\n', out);
}

void help_print_row(FILE *out, const char *left, size_t column, const char *text)
{
    size_t at = 2 + text_letters(left);
    fprintf(out, "  %s", left);
    if (at + 2 > column) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", (int)(column - at), "");
    print_wrapped(out, text, column, column);
}

static void print_title(const char *title) { printf("\n%s:\n", title); }

static void print_option(const Option *option)
{
    Text left = {0}, help = {0};
    const char letter = option_letter(option), *remark = option_remark(option);
    if (letter)
        text_add(&left, "-%c, ", letter);
    if (option_is_letter(option))
        text_add(&left, "%s%s", option->name, option->value ? option->value : "");
    else
        text_add(&left, "--%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
    text_add(&help, "%s%s%s%s", option->help, remark ? " (" : "", remark ? remark : "",
             remark ? ")" : "");
    help_print_row(stdout, left.data, HELP_COLUMN, help.data);
    text_free(&left);
    text_free(&help);
}

void options_print_help(const Command *command)
{
    Text usage = {0};
    text_add(&usage, "Usage: tfc %s%s%s%s", command->name, *command->arguments ? " " : "",
             command->arguments, command->n_options ? " [OPTIONS]" : "");
    print_wrapped(stdout, usage.data, 0, 4);
    text_free(&usage);
    putchar('\n');
    print_wrapped(stdout, command->text, 0, 0);
    options_in_groups(command, print_title, print_option);
    putchar('\n');
    help_print_row(stdout, "-h, --help", HELP_COLUMN, "print this text");
    putchar('\n');
    print_wrapped(stdout, "Values in parentheses hold where the option is not given.", 0, 0);
}
