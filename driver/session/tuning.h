/* What multiplies under --gemm auto in programs that train: for each class of shapes
 * (runtime/exec/choice.h) OpenBLAS or the native form, by a measurement on one thread of this
 * machine. All other programs are native: OpenBLAS's sums may depend on the number of rows, and
 * what a sentence gives is not to depend on its batch.
 *
 * It is made once and kept in the cache (codegen/cache.h) for the processor that code is for,
 * OpenBLAS's version and core, and this build of tfc: later programs are all of one choice. One
 * process measures; others wait for it. What is damaged there is as if it were absent. Where
 * nothing can be kept all shapes are native, so that two processes do not differ. */
#ifndef DRIVER_SESSION_TUNING_H
#define DRIVER_SESSION_TUNING_H

#include "driver/session/job.h"
#include "runtime/exec/choice.h"

/* GFLOP/s at the way operands lie at which OpenBLAS does worst; 0: not measured. */
typedef struct TuningRate {
    double native, blas;
} TuningRate;

typedef struct Tuning {
    const char *processor, *blas; /* what code is for; OpenBLAS's version and core */
    bool kept;                    /* in the cache */
    const char *note;             /* why it is not, or NULL */
    TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]; /* zeros: nothing was measured */
    TfcChoice choice;
} Tuning;

typedef enum TuningUse {
    TUNING_KEPT,  /* what is kept, or native */
    TUNING_ONCE,  /* the same, but measured where none is kept and it can be */
    TUNING_SHOWN, /* the same, but measured even where it cannot be kept */
    TUNING_RENEWED
} TuningUse;

/* For the processor of the job; false after errors. Texts live in the job's arena. */
bool tuning_find(Job *job, TuningUse use, Tuning *tuning);

/* OpenBLAS's version and core, "0.3.21 SkylakeX"; it is loaded where the cache does not have that. In the arena;
 * NULL after errors. */
const char *tuning_blas(Arena *arena, Diagnostics *diags);

/* OpenBLAS where it is clearly the faster one: by more than 5 %. */
TfcChoice tuning_choose(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* Measures all classes within a second; what is left by then, on a slow machine, stays native.
 * False after errors. (tuning_measure.c) */
bool tuning_measure(Job *job, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* The rates as they are kept, a line a class; false: not such a text. */
void tuning_write(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES], Text *out);
bool tuning_read(const char *text, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES]);

/* What multiplies in programs that train, as a text to compare: "native", "OpenBLAS 0.3.21 SkylakeX", or
 * the latter and the classes of shapes that it has. `gemm`: "native", "blas" or "auto"; `choice`: of
 * auto. In the arena. */
const char *tuning_text(Arena *arena, const char *gemm, const TfcChoice *choice);
/* The choice of such a text, if it is one that this machine can make: of the same OpenBLAS. */
bool tuning_from_text(const char *text, TfcChoice *choice);

#endif
