/* About: what tfc was built with and what it runs on, as text for people. */
#ifndef DRIVER_SESSION_ABOUT_H
#define DRIVER_SESSION_ABOUT_H

#include "base/text.h"
#include "driver/session/job.h"

/* About: in the job's arena.
 *   llvm       version of the library that writes the code, "19.1.7"
 *   system     its distribution, kernel and machine
 *   processor  its model's name; NULL: the system does not say
 *   code       the target of generated code: LLVM's name, bits of vectors, products of bf16
 *   blas       OpenBLAS's version and the processor that its kernels are for
 *   mpi        names of the MPI libraries with an installed module, separated by ", "; or "none"
 *   threads    the default of --threads */
typedef struct About {
    const char *llvm, *system, *processor, *code, *blas, *mpi;
    int threads;
} About;
/* False after an error: code cannot be generated for this machine. */
bool about_read(Job *job, About *about);
/* Appends the version as the first line, then a line for each member. */
void about_put(const About *about, Text *out);

/* The model of the first processor; NULL: the system does not say. In the arena. */
const char *about_processor(Arena *arena);

#endif
