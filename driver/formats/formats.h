/* Files of weights: what a file is, by its first bytes, and its tensors by name. Whatever the
 * format, they are an StFile: tensors in the mapping of the file, of which some have a view or
 * blocks (runtime/data/safetensors.h). No format executes anything. */
#ifndef DRIVER_FORMATS_FORMATS_H
#define DRIVER_FORMATS_FORMATS_H

#include "runtime/data/safetensors.h"

/* FormatParse: the tensors of a file's bytes, which must outlive the StFile; NULL after an error,
 * which names the file and, if the error is about one, the tensor. The arena may fail: it has the
 * budget as its limit (base/budget.h). A parse checks what it allocates, and returns NULL then; an
 * error of its own is dropped, and format_parse adds one. */
typedef StParse FormatParse;
/* Format: a kind of file.
 *   name     in the user's words, after "is": "a PyTorch archive"
 *   parse    NULL: it is not read
 *   advice   what to do with a file that is not read; NULL: it is no file of weights
 *   has      whether bytes are of the format; NULL: only the ending of the name shows it
 *   ending   of the file's name, where bytes do not show the format; NULL: it has none of its own
 *   budget   of a file that is read */
typedef struct Format {
    const char *name;
    FormatParse *parse;
    const char *advice;
    bool (*has)(const unsigned char *bytes, uint64_t size);
    const char *ending;
    Budget budget;
} Format;

/* The name of a format that import knows more of. */
#define FORMAT_CTRANSLATE2 "a model of CTranslate2"

/* The format of a file's bytes, or else of its name; NULL: it is of none that is known. */
const Format *format_of(const char *path, const void *bytes, uint64_t size);
/* Maps a file of any format that is read; st_close unmaps. NULL after an error: the file cannot be
 * read or is damaged, or it is of another format, which the error names, with what to do. */
StFile *format_open(Diagnostics *diags, Arena *arena, const char *path);
/* The same of a file within reach. */
StFile *format_open_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path);
/* False after the error of format_open that a file is of a format that is not read; it says nothing
 * of a file that cannot be opened. */
bool format_check(Diagnostics *diags, Arena *arena, const char *path);
/* format_open of bytes in memory. */
StFile *format_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                     uint64_t size);

#endif
