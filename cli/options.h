/* The one option parser: long options in full words, "--name VALUE" and
 * "--name=VALUE", a few single letters (-O0, -o FILE), --help on every command. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/cli.h"

#include <stdint.h>

typedef enum OptionKind {
    OPTION_FLAG,   /* bool * */
    OPTION_TEXT,   /* const char ** */
    OPTION_CHOICE, /* const char **; `value` lists the words: "f32|bf16" */
    OPTION_INT,    /* int64_t *, from `least` to limit_of(name); or one of "0|2" */
    OPTION_NUMBER, /* double *, from `least` to limit_of(name) */
    OPTION_BYTES,  /* int64_t *, such as 800M or 1.5G: of 10^6, of 10^9 */
    OPTION_LIST    /* TextList *; may be given several times */
} OptionKind;

typedef struct Option {
    const char *name; /* without the dashes; of one letter: "-O" */
    const char *value;
    OptionKind kind;
    void *into; /* keeps its value where the option is absent */
    double least;
    const char *help;
} Option;

typedef struct Usage {
    const char *command, *arguments; /* "train", "MODEL.tfg" */
    const char *text;                /* a paragraph for --help */
    int min_arguments, max_arguments;
} Usage;

typedef struct GivenOption {
    const char *name;
    OptionKind kind;
    const char *value; /* NULL of a flag */
} GivenOption;

typedef struct Arguments {
    const char **words; /* what is no option */
    int count;
    VEC(GivenOption) given; /* in order */
} Arguments;

/* Goes through argv. OPTIONS_GO: all is well; otherwise help or an error was
 * printed and `*status` is the exit status. */
typedef enum OptionsResult { OPTIONS_GO, OPTIONS_STOP } OptionsResult;
OptionsResult options_parse(Job *job, const Usage *usage, const Option *options, int n, int argc,
                            char **argv, Arguments *arguments, int *status);
/* Once there is a listener, options_parse only tells it what the command has. NULL: it
 * parses again. */
typedef void OptionsListener(const Usage *usage, const Option *options, int n);
void options_listen(OptionsListener *listener);

#define OPTION_GEMM(job)                                                                           \
    {"gemm", "blas|native|auto", OPTION_CHOICE, &(job)->gemm, 0,                                   \
     "products by OpenBLAS, kernels of our own, or the faster of both for each shape (auto)"}

#define OPTION_CPU(job)                                                                            \
    {"cpu", "NAME", OPTION_TEXT, &(job)->cpu, 0,                                                   \
     "code for this processor, such as x86-64-v3 (this machine)"}

#define OPTION_PASSES(job)                                                                         \
    {"passes", "LIST", OPTION_TEXT, &(job)->passes, 0,                                             \
     "only these passes, or -NAME,… without these (tfc opt --list)"}

#define OPTION_MEMORY(bytes)                                                                       \
    {"memory", "SIZE", OPTION_BYTES, (bytes), 0,                                                   \
     "params and values within so much, such as 800M or 1.5G: what does not fit is recomputed"}

#define OPTION_LINE_LIMIT(bytes)                                                                   \
    {                                                                                              \
        "line-limit", "SIZE", OPTION_BYTES, (bytes), 0, "longest line that is read, in bytes (1M)" \
    }

#define OPTION_COUNT(options) ((int)(sizeof(options) / sizeof(options)[0]))

#endif
