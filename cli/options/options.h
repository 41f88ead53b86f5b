/* Commands and their options as tables, and the one parser of both: long options in full
 * words, "--name VALUE" and "--name=VALUE", a few single letters (-O0, -o FILE), --help on
 * every command. The same tables give --help, the manual page and the completions. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include "cli/cli.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* OptionKind: the type of an option's value, and of the field in which it is stored. */
typedef enum OptionKind {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char *; one of the words where `value` lists them: "f32|bf16" */
    /* const char *, a file that the command writes, and so none that it reads (outputs.c) */
    OPTION_OUTPUT,
    /* int64_t, from `least` to the limit of the option's name (base/limits.h, settings.def of
     * decoding); a "SIZE" is bytes, such as 800M or 1.5G: of 10^6, of 10^9 */
    OPTION_INT,
    OPTION_NUMBER, /* double, with limits from the same tables */
    OPTION_LIST    /* TextList, in the order given */
} OptionKind;

/* OptionRole: what an option decides.
 *               in run.json (option_is_recorded)   the same on all ranks (option_is_shared)
 *   RESULT      yes                                yes
 *   MACHINE     yes                                no
 *   CALL        no                                 yes
 * An OPTION_OUTPUT is neither in run.json nor the same on all ranks. */
typedef enum OptionRole {
    ROLE_RESULT,  /* what is computed */
    ROLE_MACHINE, /* how this machine computes it, such as --threads: the result is the same */
    ROLE_CALL     /* what this call does, such as --resume; or where it writes */
} OptionRole;

/* Option: a row of a table. An option with one value may be given once; a second time is a usage
 * error. A list's option may be given several times, and a flag, too, with no further effect. */
typedef struct Option {
    /* without the dashes; of one letter: "-O". What the command makes is "output" everywhere, which
     * -o and --out name, too (options.c) */
    const char *name;
    const char *value; /* what stands for it in --help: "FILE", "N"; NULL of a flag */
    OptionKind kind;
    size_t at; /* of the field in the command's record */
    OptionRole role;
    double least;
    /* the value where the option is absent; NULL: 0, no text. One below `least` cannot be given,
     * and --help does not show it. */
    const char *initial;
    const char *help; /* with a line break only where a new line is to begin */
} Option;

/* The kind, the place and the role of an option that is stored in a field of a record: FIELD of
 * ROLE_RESULT, the others as they say. */
/* clang-format off */
#define FIELD_OF(role, record, field)                                                              \
    _Generic(((record *)0)->field, bool : OPTION_FLAG, const char * : OPTION_TEXT,                 \
             int64_t : OPTION_INT, double : OPTION_NUMBER, TextList : OPTION_LIST),                \
        offsetof(record, field), role
#define FIELD(record, field) FIELD_OF(ROLE_RESULT, record, field)
#define MACHINE(record, field) FIELD_OF(ROLE_MACHINE, record, field)
#define CALL(record, field) FIELD_OF(ROLE_CALL, record, field)
#define OUTPUT(record, field) OPTION_OUTPUT, offsetof(record, field), ROLE_CALL
/* clang-format on */

typedef struct GivenOption {
    const Option *option;
    const char *value; /* NULL of a flag */
} GivenOption;

/* Arguments: a command line after parsing. */
typedef struct Arguments {
    int argc;
    char **argv;        /* as it came; argv[0] is the command's name */
    const char **words; /* the arguments that are no options, then NULL */
    int count;
    VEC(GivenOption) given; /* in order */
    const char *file;       /* that the words were read from, as options_parse_file does; or NULL */
} Arguments;

/* Command: a subcommand. `run` gets the record with its options, and returns an exit status. */
typedef struct Command {
    const char *name, *summary;
    const char *arguments, *text; /* of --help: "MODEL.tfg", a paragraph */
    int min_arguments, max_arguments;
    bool trains; /* --gemm auto is measured for it where it is not yet (driver/session/tuning.h) */
    bool joins_ranks; /* under mpirun it is always one of several ranks (cli/ranks.h) */
    const Option *options;
    int n_options;
    size_t record, common; /* bytes of the record; where it holds its Common (common.h) */
    int (*run)(Job *job, void *record, const Arguments *arguments);
} Command;

/* The fields of a Command that say where its options go. */
#define COMMAND_OPTIONS(type, table)                                          \
    .options = (table), .n_options = (int)(sizeof(table) / sizeof(table)[0]), \
    .record = sizeof(type), .common = offsetof(type, common)

/* Fills the record; an option that is not given gets its initial value. False: help or an error was
 * printed, and *status is the exit status. Texts point into argv. */
bool options_parse(Job *job, const Command *command, int argc, char **argv, void *record,
                   Arguments *arguments, int *status);
/* The same for words that a file has: run.json, perhaps of a stranger. They are options alone, and
 * none but those that are recorded. False after errors that name the file and the option; `words`
 * begins with the command's name. */
bool options_parse_file(Job *job, const Command *command, const char *file, const TextList *words,
                        Arguments *arguments);
/* Whether tfc train writes the option to run.json, from which --resume repeats it: no option that
 * names an output. */
bool option_is_recorded(const Option *option);
/* Whether ranks that run a command together must be given the same (cli/ranks.h). */
bool option_is_shared(const Option *option);
/* Whether what the option gives has the path of a file or folder in it. */
bool option_names_path(const Option *option);
/* What the record holds of the option, as a text for comparing: its value, or of a path, which may
 * be another on each machine, whether it is given. */
const char *option_value_text(Arena *arena, const Option *option, const void *record);
/* Checks that no output is a file that the command reads, another output, or a file of a run. False
 * after a usage error. (outputs.c) */
bool options_check_outputs(Job *job, const Arguments *arguments);
/* The remark of --help in parentheses: the default, or that the option may be given again; NULL:
 * none. */
const char *option_remark(const Option *option);
/* Of --help (help.c), as wide as COLUMNS says, or else the terminal that is printed to: a row of a
 * name and, from `column` on, a text; all of a command. */
void help_print_row(FILE *out, const char *left, size_t column, const char *text);
void options_print_help(const Command *command);
/* Calls `title` for each group of the command's options (groups.def), then `each` for the options
 * in it. */
void options_in_groups(const Command *command, void (*title)(const char *title),
                       void (*each)(const Option *option));
/* The hint "; HINT" for a word that a command (NULL: tfc) does not have; NULL: hints.def has no row
 * for it. */
const char *option_hint(Arena *arena, const Command *command, const char *word);
/* CliFileNote with the Arguments: the option that has named the file, " (--input)"; "": none. */
const char *option_of_file(const void *arguments, Arena *arena, const char *path);
bool option_is_letter(const Option *option);
/* The letter that stands for the option's name, 'o' of "output"; 0: none. */
char option_letter(const Option *option);
/* The option as messages and pages have it: "--input", "-o". */
const char *option_typed(Arena *arena, const Option *option);
/* Whether the option takes one of several words. */
bool option_is_choice(const Option *option);

#endif
