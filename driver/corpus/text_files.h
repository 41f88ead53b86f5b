/* Texts as a command's options name them: pairs of two files, pairs of one, or lines. Each option
 * may be given several times: several files are one text, in order. */
#ifndef DRIVER_CORPUS_TEXT_FILES_H
#define DRIVER_CORPUS_TEXT_FILES_H

#include "driver/corpus/pair_files.h"
#include "driver/job.h"

/* TextFiles: paths in the order given; "-" is standard input.
 *   source, target   file i of `source` is paired with file i of `target`; a command of
 *                    TEXTS_SOURCE_ALONE may have no targets
 *   data             files of pairs (pair_files.h)
 *   text             lines of one side
 *   columns          "source=FIELD" and "target=FIELD" of --column: which fields of `data` they
 *                    are; no file */
typedef struct TextFiles {
    TextList source, target, data, text, columns;
} TextFiles;

/* Whether any file is named. */
bool text_files_given(const TextFiles *files);
/* Which texts a command takes. */
enum {
    TEXTS_PAIRS = 1,         /* --source and --target */
    TEXTS_DATA = 2,          /* --data */
    TEXTS_TEXT = 4,          /* --text */
    TEXTS_PREPARED = 8,      /* --prepared, which is no field of TextFiles */
    TEXTS_SOURCE_ALONE = 16, /* --source may stand without --target */
    TEXTS_HEADED = 32 /* of text_files_look: a first pair that looks like a header is an error */
};
/* How the options contradict each other, whatever the model reads, as a message in the arena: a
 * side without the other, sides of different numbers of files, two kinds at once. NULL: they do
 * not. `prefix` stands before the options' names: "valid-" or "". */
const char *text_files_mistake(Arena *arena, const TextFiles *files, const char *prefix,
                               unsigned kinds);
/* Which option has no effect on these texts, as a message: --lines without --text, or --languages
 * (NULL: not given) without a translation memory. A translation memory is a file of --data with
 * ".tmx" in its name, among `files`, `valid` or `named` (NAME=FILE, FILE:WEIGHT); the last two may
 * be NULL. NULL: each option has an effect. */
const char *text_files_in_vain(Arena *arena, const TextFiles *files, bool lines,
                               const char *languages, const TextFiles *valid,
                               const TextList *named);
/* --column without pairs that it could name the fields of, as a message; `valid` and `named` as
 * above. NULL: it is not given, or there are such. */
const char *text_files_columns_mistake(Arena *arena, const TextFiles *files, const TextFiles *valid,
                                       const TextList *named);
/* For messages, in the arena: the options by which texts of these kinds are given, such as
 * "--source FILE and --target FILE, or --data FILE". */
const char *text_files_options(Arena *arena, const char *prefix, unsigned kinds);
/* Why a model that reads pairs, or else one text, cannot use the texts given, as a message in the
 * arena: they are of the other kind, or none is given though `is_needed`. NULL: it can. `model`:
 * its name. */
const char *text_files_misfit(Arena *arena, const TextFiles *files, const char *prefix,
                              unsigned kinds, const char *model, bool reads_pairs, bool is_needed);
/* All paths, in the order of the fields. */
TextList text_files_paths(Arena *arena, const TextFiles *files);

/* Looks at the beginnings of regular files, and warns of what is suspicious: files of --source and
 * --target that seem to contain pairs, in which each whole line of the first 64 KiB has a tab
 * (`kinds` with TEXTS_DATA: the warning asks whether --data was meant); and of pairs what
 * pair_look_at_file lists. */
void text_files_look(Job *job, const TextFiles *files, const char *prefix, unsigned kinds);
/* text_files_look for one file of lines; `advice` says what to do. */
void text_file_look(Job *job, const char *path, const char *advice);

/* Reads the files into the job's arena. Returns the lines of text (*targets NULL), or the sources,
 * with as many targets at *targets. Paired files must have the same number of lines, and a text at
 * least one. `languages`: of translation memories (tmx.h); line_limit: as in LineLimits. NULL after
 * an error. */
Lines *text_files_read(Job *job, const TextFiles *files, const char *languages, int64_t line_limit,
                       Lines **targets);

/* Adds the error that a text has no lines, with the name of its first file; returns false. */
bool text_files_tell_empty(Job *job, const TextFiles *files);

/* ---- pair_look.c ---- */

/* A look at the beginning of pairs, about a megabyte, before they are read: a warning for each of
 *   - a first line that is a header, and would be a pair
 *   - a side of numbers
 *   - sides that are equal
 * Each names the --column that reads other fields. Pipes, translation memories and files that
 * cannot be read are passed over: reading them says what is wrong. */

/* A file of pairs; `columns`: of --column; must_say: a first pair like a header is an error. */
void pair_look_at_file(Job *job, const char *path, const TextList *columns, bool must_say);
/* Two files, with a side each. */
void pair_look_at_sides(Job *job, const char *source, const char *target);

#endif
