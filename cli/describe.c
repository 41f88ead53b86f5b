/* The man page and the completions; see describe.h. Each form has a head, a piece a
 * command, and a tail. */
#include "cli/describe.h"

#include "cli/commands/commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct Describer {
    const char *form;
    void (*head)(void);
    void (*command)(const Command *command);
    void (*tail)(void);
};

static const char *dashes(const Option *option) { return option_is_letter(option) ? "" : "--"; }
static bool names_file(const char *value) { return value && strstr(value, "FILE") != NULL; }
static bool names_folder(const char *value)
{
    return value && (strstr(value, "RUN") || strstr(value, "FOLDER"));
}

/* ".tfg" of "MODEL.tfg|RUN": what the file of the first argument is called; else NULL. */
static const char *file_suffix(const Command *command)
{
    static char suffix[16];
    const char *dot = strchr(command->arguments, '.');
    if (!dot)
        return NULL;
    snprintf(suffix, sizeof suffix, "%.*s", (int)strcspn(dot, " |"), dot);
    return suffix;
}

static void print_choices(const char *choices)
{
    for (const char *at = choices; *at; at++)
        putchar(*at == '|' ? ' ' : *at);
}

/* The help of an option with its remark, each by `print`. */
static void print_option_help(const Option *option, void (*print)(const char *text))
{
    const char *remark = option_remark(option);
    print(option->help);
    if (remark) {
        print(" (");
        print(remark);
        print(")");
    }
}

/* ---- man ---- */

/* A character beyond ASCII, by its number: every roff reads that. Returns its last byte. */
static const char *print_character(const char *at)
{
    unsigned code = (unsigned char)*at;
    int more = code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : 1;
    code &= 0x3fu >> more;
    for (; more && at[1]; more--)
        code = code << 6 | ((unsigned char)*++at & 0x3f);
    printf("\\[u%04X]", code);
    return at;
}

/* roff: a hyphen is a minus sign, a line does not begin with a dot or a quote, and a line break
 * stays one. */
static void print_roff(const char *text)
{
    for (const char *at = text; *at; at++) {
        if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else if (*at == '\n')
            fputs("\n.br\n", stdout);
        else if ((unsigned char)*at >= 0x80)
            at = print_character(at);
        else
            putchar(*at);
    }
}

static void head_man(void)
{
    printf(
        ".TH TFC 1 \"\" \"tfc %s\" \"User Commands\"\n.SH NAME\n"
        "tfc \\- a compiler and runtime for Transformers\n"
        ".SH SYNOPSIS\n.B tfc\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
        ".SH DESCRIPTION\nModels are texts in the language of \\fI.tfg\\fR files;\n"
        "tfc compiles them to native code, trains them, and runs them.\n"
        "Results go to standard output, messages to standard error.\n"
        "Options may stand anywhere among the arguments, as \\fB\\-\\-name VALUE\\fR or\n"
        "\\fB\\-\\-name=VALUE\\fR; \\fB\\-\\-\\fR ends them, and every command knows \\fB\\-\\-help\\fR.\n"
        ".SH COMMANDS\n",
        TFC_VERSION);
}

static void title_man(const char *title)
{
    printf(".PP\n\\fB");
    print_roff(title);
    printf("\\fR\n");
}

static void option_man(const Option *option)
{
    printf(".TP\n");
    if (option_letter(option))
        printf("\\fB\\-%c\\fR, ", option_letter(option));
    printf("\\fB");
    print_roff(dashes(option));
    print_roff(option->name);
    printf("\\fR");
    if (option->value) {
        printf("%s\\fI", option_is_letter(option) ? "" : " ");
        print_roff(option->value);
        printf("\\fR");
    }
    putchar('\n');
    print_option_help(option, print_roff);
    putchar('\n');
}

static void command_man(const Command *command)
{
    printf(".SS tfc %s ", command->name);
    print_roff(command->arguments);
    printf("%s\n", command->n_options ? " [OPTIONS]" : "");
    print_roff(command->text);
    putchar('\n');
    options_in_groups(command, title_man, option_man);
}

static void tail_man(void)
{
    fputs(
        ".SH EXIT STATUS\n0 done, 1 the input was wrong, 2 the usage was wrong,\n"
        "3 interrupted but saved.\n"
        ".SH ENVIRONMENT\n.TP\n.B TFC_LIBRARY\nThe folder of the standard blocks that\n"
        ".B use\nreads, in place of the one beside the program.\n"
        ".TP\n.B TFC_CACHE\nThe folder that keeps compiled kernels, in place of the user's cache folder.\n"
        ".TP\n.B TFC_PERF_MAP\nIf it is set, /tmp/perf-PID.map names the kernels for perf(1).\n"
        ".TP\n.B NO_COLOR\nIf it is set and not empty, messages have no colours.\n"
        ".TP\n.B COLUMNS\nHow wide \\fB\\-\\-help\\fR is, in place of the terminal's width.\n",
        stdout);
}

/* ---- bash ---- */

static void print_names(void)
{
    for (int i = 0; i < command_count; i++)
        printf("%s%s", i ? " " : "", commands[i]->name);
}

static void head_bash(void)
{
    printf("# Completion of tfc for bash.\n"
           "_tfc() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local options= arguments=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$before\" = = ]; then # --name=VALUE comes as three words\n"
           "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    elif [ \"$word\" = = ]; then\n"
           "        word=\n"
           "    fi\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"");
    print_names();
    printf(" help --help --version\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n");
}

/* The options of a command whose values are completed the same way: "--a|--b". */
static bool print_pattern(const Command *command, bool (*fits)(const char *value))
{
    int found = 0;
    for (int i = 0; i < command->n_options; i++) {
        const Option *option = &command->options[i];
        if (option_is_choice(option) || !fits(option->value))
            continue;
        printf("%s%s%s", found++ ? "|" : "        ", dashes(option), option->name);
        if (option_letter(option))
            printf("|-%c", option_letter(option));
    }
    return found > 0;
}

static bool names_other(const char *value)
{
    return value && !names_file(value) && !names_folder(value);
}

static void command_bash(const Command *command)
{
    printf("    %s)\n        options='", command->name);
    for (int i = 0; i < command->n_options; i++) {
        if (option_letter(&command->options[i]))
            printf("-%c ", option_letter(&command->options[i]));
        printf("%s%s ", dashes(&command->options[i]), command->options[i].name);
    }
    printf("-h --help' arguments='%s'\n        case $before in\n",
           file_suffix(command) ? file_suffix(command) : command->arguments);
    for (int i = 0; i < command->n_options; i++)
        if (option_is_choice(&command->options[i])) {
            printf("        %s%s) COMPREPLY=($(compgen -W '", dashes(&command->options[i]),
                   command->options[i].name);
            print_choices(command->options[i].value);
            printf("' -- \"$word\")); return ;;\n");
        }
    if (print_pattern(command, names_file))
        printf(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
    if (print_pattern(command, names_folder))
        printf(") COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n");
    if (print_pattern(command, names_other))
        printf(") return ;;\n");
    printf("        esac ;;\n");
}

static void tail_bash(void)
{
    printf("    help) COMPREPLY=($(compgen -W \"");
    print_names();
    printf(
        "\" -- \"$word\")); return ;;\n"
        "    esac\n"
        "    case $word in\n"
        "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
        "    *)\n"
        "        case $arguments in\n"
        "        .*) COMPREPLY=($(compgen -d -S / -- \"$word\"; compgen -f -X \"!*$arguments\" -- \"$word\")) ;;\n"
        "        RUN) COMPREPLY=($(compgen -d -- \"$word\")) ;;\n"
        "        *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
        "        esac ;;\n"
        "    esac\n"
        "}\n"
        "complete -o filenames -F _tfc tfc\n");
}

/* ---- zsh ---- */

/* Within '…:…[…]': quotes end the word, brackets and colons the part. */
static void print_zsh(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            fputs("'\\'", stdout);
        else if (strchr("[]:\\", *at))
            putchar('\\');
        putchar(*at == '\n' ? ' ' : *at);
    }
}

static void head_zsh(void)
{
    printf("#compdef tfc\n"
           "# Completion of tfc for zsh.\n"
           "_tfc() {\n"
           "    if (( CURRENT == 2 )); then\n"
           "        local -a names=(\n");
    for (int i = 0; i < command_count; i++) {
        printf("            '%s:", commands[i]->name);
        print_zsh(commands[i]->summary);
        printf("'\n");
    }
    printf("        )\n"
           "        _describe command names\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
}

static const char *zsh_action(const char *value)
{
    return names_file(value) ? "_files" : names_folder(value) ? "_files -/" : " ";
}

/* The names of an option and "[", in a quote that is left open: '--name=[, or of one with a letter
 * '(-o --output)'{-o+,--output=}'[. */
static void print_zsh_names(const Option *o)
{
    const char letter = option_letter(o);
    if (letter)
        printf("            '(-%c --%s)'{-%c+,--%s=}'[", letter, o->name, letter, o->name);
    else
        printf("            '%s%s%s%s[", o->kind == OPTION_LIST ? "*" : "", dashes(o), o->name,
               !o->value             ? ""
               : option_is_letter(o) ? "+"
                                     : "=");
}

static void command_zsh(const Command *command)
{
    printf("    %s) # %s\n        _arguments \\\n", command->name, command->summary);
    for (int i = 0; i < command->n_options; i++) {
        const Option *o = &command->options[i];
        print_zsh_names(o);
        print_option_help(o, print_zsh);
        putchar(']');
        if (o->value) {
            putchar(':');
            print_zsh(o->value);
            putchar(':');
            if (option_is_choice(o)) {
                putchar('(');
                print_choices(o->value);
                putchar(')');
            } else
                fputs(zsh_action(o->value), stdout);
        }
        printf("' \\\n");
    }
    printf("            '(-h --help)'{-h,--help}'[print this text]' \\\n            '*:");
    print_zsh(command->arguments);
    if (file_suffix(command))
        printf(":_files -g \"*%s\"' ;;\n", file_suffix(command));
    else
        printf(":%s' ;;\n", names_folder(command->arguments) ? "_files -/" : "_files");
}

static void tail_zsh(void)
{
    printf("    help) _values command ");
    print_names();
    printf(" ;;\n    esac\n}\n_tfc \"$@\"\n");
}

/* ---- settings ---- */

enum { SETTING_HELP = 4 }; /* the column where a setting's meaning begins, below its row */

static void print_setting(const char *option, const char *value, const char *name, double initial,
                          double least, double most, const char *help)
{
    char left[40] = "", shown[16] = "", range[40], row[160];
    if (option)
        snprintf(left, sizeof left, "--%s %s", option, value ? value : "");
    if (initial >= least)
        snprintf(shown, sizeof shown, "%g", initial);
    snprintf(range, sizeof range, isinf(most) ? "%.10g or more" : "%.10g to %.10g", least, most);
    snprintf(row, sizeof row, "%-24s %-19s %-8s %s", left, name, shown, range);
    help_print_row(stdout, row, SETTING_HELP, help);
}

/* The rows of decoding's settings as a table, and those of training. */
static void head_settings(void)
{
    const char *heads =
        "  option                   setting             default  range\n    meaning\n";
    printf("%s", heads);
#define SETTING(kind, name, initial, least, most, option, value, help) \
    print_setting(option, value, #name, initial, least, most, help);
#define LONGEST(kind, name, initial, least, most, option, value, help) \
    print_setting(option, value, "", initial, least, most, help);
#include "runtime/decode/settings.def"
    printf("\n%s", heads);
#define TRAIN_SETTING(name, initial, block, least, most, option, help) \
    print_setting(option, "N", #name, initial, least, most, help);
#define BATCH(name, initial, block, least, most, option, help) \
    print_setting(option, "N", "batch", initial, least, most, help);
#include "base/training_settings.def"
}

/* ---- all ---- */

static const Describer describers[] = {
    {"man", head_man, command_man, tail_man},
    {"bash", head_bash, command_bash, tail_bash},
    {"zsh", head_zsh, command_zsh, tail_zsh},
    {"settings", head_settings, NULL, NULL},
};

const Describer *find_describer(const char *form)
{
    for (size_t i = 0; i < sizeof describers / sizeof describers[0]; i++)
        if (!strcmp(describers[i].form, form))
            return &describers[i];
    return NULL;
}

int describe_program(const Describer *describer)
{
    describer->head();
    for (int i = 0; describer->command && i < command_count; i++)
        describer->command(commands[i]);
    if (describer->tail)
        describer->tail();
    return EXIT_DONE;
}
