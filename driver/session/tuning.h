/* What multiplies under --gemm auto in programs that train: for each class of shapes
 * (runtime/exec/choice.h) OpenBLAS or the native form, by a measurement on one thread of this
 * machine. All other programs are native: OpenBLAS's sums may depend on the number of rows, and
 * a sentence's result must not depend on its batch.
 *
 * The choice is made once and kept in the cache (codegen/cache.h), for the processor that code is
 * generated for, OpenBLAS's version and core, and this build of tfc. Later programs have the same
 * choice, until it is renewed. One process measures; others wait for it. A damaged choice counts as
 * absent. If the cache cannot be written, all shapes are native, so that two processes do not
 * differ. */
#ifndef DRIVER_SESSION_TUNING_H
#define DRIVER_SESSION_TUNING_H

#include "driver/job.h"
#include "runtime/exec/choice.h"

/* TuningRate: GFLOP/s of the native form and of OpenBLAS, at the layout of operands at which
 * OpenBLAS does worst against the native form; 0: not measured. */
typedef struct TuningRate {
    double native, blas;
} TuningRate;

typedef struct Tuning {
    const char *processor, *blas; /* the target of code; OpenBLAS's version and core; or NULL */
    bool kept;                    /* the choice is in the cache */
    const char *note;             /* why the choice is not in the cache, or NULL */
    TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]; /* zeros: nothing was measured */
    TfcChoice choice;
} Tuning;

typedef enum TuningUse {
    TUNING_KEPT,   /* the kept choice, else native */
    TUNING_ONCE,   /* the kept choice, else one measured now and kept; native if none is kept */
    TUNING_SHOWN,  /* as TUNING_ONCE, but rates are measured also if they cannot be kept */
    TUNING_RENEWED /* as TUNING_SHOWN, but measured now even if a choice is kept */
} TuningUse;

/* The choice for the processor of the job. Texts live in the job's arena. Without a cache that can
 * be used, TUNING_KEPT and TUNING_ONCE give native, and processor and blas are NULL. False after
 * errors. */
bool tuning_find(Job *job, TuningUse use, Tuning *tuning);

/* OpenBLAS's version and core, "0.3.21 SkylakeX", from the cache or else from OpenBLAS, which is
 * then loaded. In the arena; NULL after errors. */
const char *tuning_blas(Arena *arena, Diagnostics *diags);

/* The choice from rates: OpenBLAS for each class in which it is faster by more than 5 %. */
TfcChoice tuning_choose(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* Measures classes for about a second; rates of those not measured by then are 0, which means
 * native. False after errors. (tuning_measure.c) */
bool tuning_measure(Job *job, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* Write and read rates as the cache keeps them, a line for each type and class. False: the text is
 * not of this form. */
void tuning_write(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES], Text *out);
bool tuning_read(const char *text, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* What multiplies in programs that train, as a text that can be compared: "native", "OpenBLAS
 * 0.3.21 SkylakeX", or both with OpenBLAS's classes of shapes as bits in hexadecimal. `gemm`:
 * "native", "blas", or "auto" (NULL), for which `choice` is read. In the arena. */
const char *tuning_text(Arena *arena, const char *gemm, const TfcChoice *choice);
/* Reads the choice of auto from such a text. False: the text has no choice ("OpenBLAS …" alone has
 * none), or names another OpenBLAS than this machine's. */
bool tuning_from_text(const char *text, TfcChoice *choice);

#endif
