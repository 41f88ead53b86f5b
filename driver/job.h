/* Job: one use of the compiler, from a model's file to a result: its memory, its messages, and the
 * options that hold for all that it compiles. */
#ifndef DRIVER_JOB_H
#define DRIVER_JOB_H

#include "base/file.h"
#include "base/vec.h"

typedef VEC(const char *) TextList;
bool text_list_has(const TextList *list, const char *text);

typedef struct Job {
    Arena *arena; /* the caller's; results live in it unless noted otherwise */
    Diagnostics diags;
    const char *gemm;  /* what multiplies: "blas", "native", "auto"; NULL: as auto */
    const char *cpu;   /* NULL: this machine */
    bool emulates_fma; /* TargetOptions; products are native then */

    /* true for a training: OpenBLAS and native products are measured at first use (tuning.h) */
    bool measures;
    const struct TfcChoice *choice; /* shapes that OpenBLAS multiplies; NULL: not known yet */
    const char *passes;             /* that run, as pipeline_run takes them; NULL: the level's */
    bool allows_outside;            /* files that folders name may lie outside them (FileReach) */
    FileReach reach;                /* private: what job_reach gave of a folder last */
    struct RunRecords *records;     /* of the folders of runs (driver/run/record.h); NULL: none */
    void (*show)(struct Job *job);  /* prints and forgets the diagnostics; NULL: they are kept */
} Job;

/* A job with the same options that shows no messages, in an arena; in one of its own it reads
 * records of runs anew. */
Job job_quiet(const Job *job, Arena *arena);
/* The reach of what a folder names (NULL: of what the user names), as the job's options permit. */
FileReach job_reach(Job *job, const char *folder);
/* file_read_within of a file of the folder. */
const Source *job_read(Job *job, const char *folder, const char *path, size_t max_bytes);
/* Writes a file of the folder; false after an error. */
bool job_write(Job *job, const char *folder, const char *name, const char *bytes, size_t size);
/* Shows the diagnostics so far, before work that takes long. */
void job_show(Job *job);
/* Adds an error without a place; returns false. */
bool job_error(Job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the error that memory ran out, with how much this process has, how much is free, and what
 * needs less. Returns false. */
bool job_no_memory(Job *job);

#endif
