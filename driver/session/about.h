/* About: what tfc was built with and what it runs on, as text for people. */
#ifndef DRIVER_SESSION_ABOUT_H
#define DRIVER_SESSION_ABOUT_H

#include "base/text.h"
#include "driver/job.h"

/* About: in the job's arena.
 *   llvm       version of the library that writes the code, "19.1.7"
 *   system     distribution, kernel and machine
 *   processor  the name of the model; NULL: the system does not say
 *   code       the target of generated code (codegen_processor)
 *   bits       which of its bits are common (processor_own_bits)
 *   blas       OpenBLAS's version and the processor that its kernels are for
 *   mpi        names of the MPI libraries with an installed module, separated by ", "; or "none"
 *   threads    the default of --threads */
typedef struct About {
    const char *llvm, *system, *processor, *code, *bits, *blas, *mpi;
    int threads;
} About;
/* False after an error: LLVM or OpenBLAS cannot be loaded, or LLVM has no code for this machine. */
bool about_read(Job *job, About *about);
/* Appends the version as the first line, then a line for the commit that was built, and for each
 * member. */
void about_put(const About *about, const char *commit, Text *out);

/* The name of the first processor's model; NULL: the system does not say. In the arena. */
const char *about_processor(Arena *arena);

#endif
