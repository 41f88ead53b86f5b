/* Texts as a command's options name them: pairs of two files, pairs of one, or lines. Each option
 * may be given several times: several files are one text, in order. */
#ifndef DRIVER_CORPUS_TEXT_FILES_H
#define DRIVER_CORPUS_TEXT_FILES_H

#include "driver/session/job.h"
#include "runtime/data/lines.h"

/* TextFiles: paths in the order given; "-" is standard input.
 *   source, target   file i of the one is paired with file i of the other
 *   data             a source, a tab and its target a line, or a translation memory (FILE.tmx)
 *   text             lines of one side */
typedef struct TextFiles {
    TextList source, target, data, text;
} TextFiles;

/* Whether any file is named. */
bool text_files_given(const TextFiles *files);
/* Whether files of only one of source and target are named. */
bool text_files_has_one_side(const TextFiles *files);
/* What is wrong with the files of both sides, in the arena: "there are 2 of --source and 1 of --target …", with
 * `prefix` ("valid-") before the names; NULL: nothing. */
const char *text_files_mistake(Arena *arena, const TextFiles *files, const char *prefix);
/* All paths, in the order of the fields. */
TextList text_files_paths(Arena *arena, const TextFiles *files);

/* Reads the files into the job's arena. Returns the lines of text (*targets NULL), or the sources, with as many targets
 * at *targets. Paired files must have the same number of lines. `languages`: of translation memories (tmx.h);
 * line_limit: as in LineLimits. NULL after an error. */
Lines *text_files_read(Job *job, const TextFiles *files, const char *languages, int64_t line_limit,
                       Lines **targets);
/* The same for one file of pairs. */
Lines *pair_text_read(Job *job, const char *path, const char *languages, int64_t line_limit, Lines **targets);

#endif
