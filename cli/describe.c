/* The man page and the completions; see describe.h. Each form has a head, a piece a
 * command, and a tail. */
#include "cli/describe.h"

#include "cli/options.h"

#include <stdio.h>
#include <string.h>

struct Describer {
    const char *form;
    void (*head)(void);
    OptionsListener *command;
    void (*tail)(void);
};

static bool is_letter(const Option *option) { return option->name[0] == '-'; }
static const char *dashes(const Option *option) { return is_letter(option) ? "" : "--"; }
static bool names_file(const char *value) { return value && strstr(value, "FILE") != NULL; }
static bool names_folder(const char *value) { return value && strstr(value, "RUN") != NULL; }
/* Words to choose from, also where the table lists them for a number: "0|2". */
static bool is_choice(const Option *option) { return option->value && strchr(option->value, '|'); }

/* ".tfg" of "MODEL.tfg|RUN": what the file of the first argument is called; else NULL. */
static const char *file_suffix(const Usage *usage)
{
    static char suffix[16];
    const char *dot = strchr(usage->arguments, '.');
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

static const char *summary_of(const Usage *usage)
{
    for (int i = 0; i < command_count; i++)
        if (!strcmp(commands[i].name, usage->command))
            return commands[i].summary;
    return "";
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

/* roff: a hyphen is a minus sign, and a line does not begin with a dot or a quote. */
static void print_roff(const char *text)
{
    for (const char *at = text; *at; at++) {
        if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else if ((unsigned char)*at >= 0x80)
            at = print_character(at);
        else
            putchar(*at);
    }
}

static void head_man(void)
{
    printf(".TH TFC 1 \"\" \"tfc %s\" \"User Commands\"\n.SH NAME\n"
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

static void command_man(const Usage *usage, const Option *options, int n)
{
    printf(".SS tfc %s ", usage->command);
    print_roff(usage->arguments);
    printf("%s\n", n ? " [OPTIONS]" : "");
    print_roff(usage->text);
    putchar('\n');
    for (int i = 0; i < n; i++) {
        printf(".TP\n\\fB");
        print_roff(dashes(&options[i]));
        print_roff(options[i].name);
        printf("\\fR");
        if (options[i].value) {
            printf("%s\\fI", is_letter(&options[i]) ? "" : " ");
            print_roff(options[i].value);
            printf("\\fR");
        }
        putchar('\n');
        print_roff(options[i].help);
        putchar('\n');
    }
}

static void tail_man(void)
{
    fputs(".SH EXIT STATUS\n0 done, 1 the input was wrong, 2 the usage was wrong,\n"
          "3 interrupted but saved.\n"
          ".SH ENVIRONMENT\n.TP\n.B TFC_LIBRARY\nThe folder of the standard blocks that\n"
          ".B use\nreads, in place of the one beside the program.\n"
          ".TP\n.B TFC_CACHE\nThe folder that keeps compiled kernels, in place of the user's cache folder.\n",
          stdout);
}

/* ---- bash ---- */

static void print_names(void)
{
    for (int i = 0; i < command_count; i++)
        printf("%s%s", i ? " " : "", commands[i].name);
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
static bool print_pattern(const Option *options, int n, bool (*fits)(const char *value))
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (!is_choice(&options[i]) && fits(options[i].value))
            printf("%s%s%s", found++ ? "|" : "        ", dashes(&options[i]), options[i].name);
    return found > 0;
}

static bool names_other(const char *value)
{
    return value && !names_file(value) && !names_folder(value);
}

static void command_bash(const Usage *usage, const Option *options, int n)
{
    printf("    %s)\n        options='", usage->command);
    for (int i = 0; i < n; i++)
        printf("%s%s ", dashes(&options[i]), options[i].name);
    printf("--help' arguments='%s'\n        case $before in\n",
           file_suffix(usage) ? file_suffix(usage) : usage->arguments);
    for (int i = 0; i < n; i++)
        if (is_choice(&options[i])) {
            printf("        %s%s) COMPREPLY=($(compgen -W '", dashes(&options[i]), options[i].name);
            print_choices(options[i].value);
            printf("' -- \"$word\")); return ;;\n");
        }
    if (print_pattern(options, n, names_file))
        printf(") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
    if (print_pattern(options, n, names_folder))
        printf(") COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n");
    if (print_pattern(options, n, names_other))
        printf(") return ;;\n");
    printf("        esac ;;\n");
}

static void tail_bash(void)
{
    printf("    help) COMPREPLY=($(compgen -W \"");
    print_names();
    printf("\" -- \"$word\")); return ;;\n"
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
        printf("            '%s:", commands[i].name);
        print_zsh(commands[i].summary);
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

static void command_zsh(const Usage *usage, const Option *options, int n)
{
    printf("    %s) # %s\n        _arguments \\\n", usage->command, summary_of(usage));
    for (int i = 0; i < n; i++) {
        const Option *o = &options[i];
        printf("            '%s%s%s%s[", o->kind == OPTION_LIST ? "*" : "", dashes(o), o->name,
               !o->value ? "" : is_letter(o) ? "+" : "=");
        print_zsh(o->help);
        putchar(']');
        if (o->value) {
            putchar(':');
            print_zsh(o->value);
            putchar(':');
            if (is_choice(o)) {
                putchar('(');
                print_choices(o->value);
                putchar(')');
            } else
                fputs(zsh_action(o->value), stdout);
        }
        printf("' \\\n");
    }
    printf("            '--help[this text]' \\\n            '*:");
    print_zsh(usage->arguments);
    if (file_suffix(usage))
        printf(":_files -g \"*%s\"' ;;\n", file_suffix(usage));
    else
        printf(":%s' ;;\n", names_folder(usage->arguments) ? "_files -/" : "_files");
}

static void tail_zsh(void)
{
    printf("    help) _values command ");
    print_names();
    printf(" ;;\n    esac\n}\n_tfc \"$@\"\n");
}

/* ---- all ---- */

static const Describer describers[] = {
    {"man", head_man, command_man, tail_man},
    {"bash", head_bash, command_bash, tail_bash},
    {"zsh", head_zsh, command_zsh, tail_zsh},
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
    options_listen(describer->command);
    for (int i = 0; i < command_count; i++) {
        Job job = {.arena = arena_new()};
        diag_init(&job.diags, job.arena);
        char *argv[] = {(char *)commands[i].name, NULL};
        commands[i].run(&job, 1, argv);
        arena_free(job.arena);
    }
    options_listen(NULL);
    describer->tail();
    return EXIT_DONE;
}
