/* Looking into a compilation: what each pass made of a function, what its program
 * costs for given dimensions, and the two ways to show it: a report and a page. */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include "codegen/codegen.h"
#include "codegen/loop/loop.h"
#include "passes/pass.h"

/* ---- measure.c: a program for one batch ---- */

/* What one step of the program does, by its shapes. */
typedef struct StepCost {
    double flops, bytes; /* bytes: read and written */
    const char *shape; /* m × n × k, "1024 × 512 × 512"; or the iteration space, or "N elements" */
} StepCost;

typedef struct SlabBuffer {
    int32_t buffer;              /* of the program */
    int32_t first, last, writer; /* steps of first and last use; the first writer's, -1: none */
    int64_t offset, bytes;
} SlabBuffer;

typedef struct Measured {
    const TfcProgram *program;
    const Op *const *origins; /* of each step */

    int64_t *sizes; /* of each program dimension; of a ragged one the length of every sentence */
    StepCost *steps;
    SlabBuffer *slab;
    int32_t n_slab;
    int64_t slab_bytes; /* of the whole slab, with what is kept behind it */
    int64_t peak_bytes; /* sum of the buffers live at peak_step, where this sum is greatest */
    int32_t peak_step;
} Measured;

enum { DEFAULT_SIZE = 32 }; /* of a dimension that `sizes` does not name */

/* Below, `sizes` is n texts "NAME=SIZE" (--dim); the last one for a dimension counts. */

/* The size that the texts give a dimension; DEFAULT_SIZE: none does, or it is wrong. */
int64_t size_given(const char *const *sizes, size_t n, const char *name);
/* False after errors, wrong sizes among them. */
bool measure_program(const Function *function, const TfcProgram *program, const Op *const *origins,
                     const char *const *sizes, size_t n, Arena *arena, Measured *out,
                     Diagnostics *diags);
const char *slab_buffer_name(const Measured *measured, const SlabBuffer *buffer);

/* ---- report.c ---- */

void inspect_report(const Report *report, const Measured *measured, Text *out);

/* ---- snapshot.c: the function after each pass ---- */

typedef struct Snapshots Snapshots;
Snapshots *snapshots_new(Arena *arena);
/* Keeps the function as it is now. */
void snapshots_take(Snapshots *snapshots, const char *name, const char *help,
                    const Function *function);
/* The number that the op has in the page; the op must be part of a snapshot. */
int snapshots_op(Snapshots *snapshots, const Op *op);
/* The number of a place (a list of source lines) in the page. */
int snapshots_place(Snapshots *snapshots, Loc loc);
/* Appends members of a JSON object, each followed by a comma. */
void snapshots_write(const Snapshots *snapshots, Text *out);

/* ---- page.c: a page in one HTML file, which needs no other ---- */

typedef struct PageInput {
    const char *title;
    /* in the order of reading; the path of the model's own file is the title */
    const Source *const *files;
    size_t n_files;
    Snapshots *snapshots;
    const Report *report;
    const Measured *measured;
    LoModule *loops;             /* of all kernels (codegen_loops) */
    const char *llvm, *assembly; /* … as text (codegen_dump) */
} PageInput;
void page_write(const PageInput *input, Arena *arena, Text *out);

/* PageParts: HTML with lines "@@css", "@@js" and "@@data", which page_fill replaces by the style,
 * the script and the data. */
typedef struct PageParts {
    const char *html, *css, *js;
} PageParts;
void page_fill(const PageParts *parts, const Text *data, Text *out);

/* Appends the bytes as a JSON string that is safe inside a script element. */
void quote_json(const char *bytes, size_t length, Text *out);

#endif
