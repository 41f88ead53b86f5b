/* A model as a library, an object file, C source, a program, a web page or a JavaScript package; or
 * as LLVM IR, bitcode or assembly. A library comes with a C header and a Python module, an object
 * file and C source with the header (docs/compile.md). */
#ifndef DRIVER_COMPILE_COMPILE_H
#define DRIVER_COMPILE_COMPILE_H

#include "driver/run/shortlist_file.h"
#include "driver/run/vocabularies.h"
#include "driver/session/session.h"

typedef struct CompileOptions {
    const char *output;    /* the file; of js the folder */
    const char *emit;      /* so, obj, exe, c, llvm, asm, bc, js, html */
    const char *name;      /* begins all names, in place of the model's own; NULL: that one */
    const char *functions; /* "forward,loss"; NULL: all that the model has and the output can use */
    const char *only;      /* the prediction of the function predict; NULL: all */
    const char *weights;   /* checkpoint to be put inside; NULL: the run's, or none */
    const char *store;     /* params of a page or package: "f32", or rounded to "bf16"; NULL: f32 */
    VocabularyChoice vocab; /* to be put inside; not chosen: the run's, or none */
    const char *target;     /* triple; NULL: this system */

    /* "x86-64-v3,x86-64-v4"; NULL: this machine, or the target's general one */
    const char *cpus;
    const char *gemm;     /* "native", "blas", "auto"; NULL: native */
    const char *run;      /* the model's run, a folder; NULL: it has none */
    const TextList *with; /* folders of further runs, for an ensemble; may be empty */
    bool one_type;        /* the model's type of products is that of all of these, too */
    ShortlistChoice shortlist;
} CompileOptions;

/* Why the names of a library cannot begin with this one; NULL: they can. It must be an identifier
 * of C that C, C++, Python, JavaScript and the runtime do not have. */
const char *compile_name_problem(Arena *arena, const char *name);
/* Writes the output. False after errors: then nothing new is left, except files that were renamed
 * before an error of renaming, and files in the folder of a package if it was not empty. */
bool compile_model(Job *job, const SessionOptions *model, const CompileOptions *options);

#endif
