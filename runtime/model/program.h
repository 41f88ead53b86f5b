/* A model compiled to a program: lines on standard input, an answer to each out. program.c has what
 * every program does: it opens the model, reads lines, and answers those together that are there. A
 * ProgramKind is what one sort of program answers; only that of the program is linked.
 *
 * Messages go to standard error, and functions here print them. */
#ifndef RUNTIME_MODEL_PROGRAM_H
#define RUNTIME_MODEL_PROGRAM_H

#include "base/record_cutter.h"
#include "base/unknown.h"
#include "runtime/model/model.h"

/* Whose an option is: a bit each. */
enum { OF_ALL = 1, OF_DECODING = 2, OF_PREDICTIONS = 4, OF_LABELS = 8 };

/* ProgramOptions: the options of a command line; bos, first, eos and threads are -1 if they were
 * not given.
 *   given      which rows of settings.def were given; their values are in `settings`
 *   ids        the input has ids instead of text
 *   help       help was asked for and has been printed */
typedef struct ProgramOptions {
    bool given[SETTINGS];
    TfcGeneration settings;
    const char *weights, *prefix, *lexicon, *separator;
    int64_t threads, bos, first, eos, top, beam;
    bool ids, json, help;
} ProgramOptions;

/* Lines that are answered together, each ended by a CRLF.
 *   at, length   where each begins, and its bytes without its end */
enum { MOST_LINES = 256 };
typedef struct ProgramLines {
    char *text;
    size_t used, room;
    int64_t at[MOST_LINES], length[MOST_LINES];
} ProgramLines;

enum { FAULT_BYTES = 4096 };
typedef struct ProgramKind ProgramKind;
/* Program
 *   lines, prefixes   n lines, the first of which is line `number`, from 0; with --prefix one for
 *                     each; else prefixes.text is NULL
 *   empty             of records: the number of an empty line that a record may not follow; 0: none
 *   unknown           tokens of all lines
 *   fault             of the input, reported after the answers; "": none
 *   own               the kind's */
typedef struct Program {
    const TfcModel *model;
    const ProgramKind *kind;
    const char *name;
    ProgramOptions options;
    TfcSessionHandle *session;
    RecordCutter input, begun;
    ProgramLines lines, prefixes;
    int64_t n, number, empty;
    UnknownCount unknown;
    char fault[FAULT_BYTES];
    void *own;
} Program;

/* ProgramKind
 *   options   OF_… bits of a model's options
 *   answers   what comes out, for help
 *   begin     makes `own`, once there is a session; the exit status
 *   answer    prints the answers to n lines from the number `first` of the window on. False, with
 *             nothing printed: tfc_model_error_detail says why
 *   end       frees `own`, which may be NULL, after what it has to tell */
struct ProgramKind {
    unsigned (*options)(const TfcModel *model);
    const char *answers;
    int (*begin)(Program *program, TfcModelHandle *loaded);
    bool (*answer)(Program *program, int64_t first, int64_t n);
    void (*end)(Program *program);
};
extern const ProgramKind program_generates; /* program_generate.c */
extern const ProgramKind program_predicts;  /* program_predict.c */

/* The main function. */
int tfc_model_main(const TfcModel *model, const ProgramKind *kind, int argc, char **argv);
/* Prints "PROGRAM: WHAT: WHY" behind the answers so far, or without a `what` the reason alone.
 * Returns 1. */
int program_complain(const Program *program, const char *what, const char *why);
/* The same of a file, or with NULL of standard input, that cannot be read. */
int program_cannot_read(const Program *program, const char *path, int error);
/* Opens a file of lines, or with NULL standard input. The exit status. */
int program_open_lines(const Program *program, RecordCutter *lines, const char *path);
/* Sets `fault`: the line that was read last is too long. `name`: in front of the message. */
void program_fault_of_length(Program *program, const char *name, const RecordCutter *lines);

/* ---- program_options.c ---- */

/* Reads the command line. Returns 0; or the exit status, after a message about what is wrong. */
int program_options_read(Program *program, int argc, char **argv);
/* Replaces the model's defaults by the options that were given, and raises a beam below nbest to
 * it. --beam and --alternatives without --sample turn off drawing at random, even if that is the
 * model's default. Returns 0; or the exit status, after a message about options that exclude each
 * other. */
int program_options_set(const Program *program, TfcGeneration *settings);

#endif
