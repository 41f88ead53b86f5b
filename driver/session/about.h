/* About: what tfc is made with and what it runs on, in words for people. */
#ifndef DRIVER_SESSION_ABOUT_H
#define DRIVER_SESSION_ABOUT_H

#include "base/text.h"
#include "driver/session/job.h"

/* About: in the job's arena.
 *   llvm       version of the library that writes the code, "19.1.7"
 *   system     its distribution, kernel and machine
 *   processor  its model's name, or NULL where the system does not tell
 *   code       what code is made for here: LLVM's name, bits of vectors, products of bf16
 *   blas       OpenBLAS's version and the processor that its kernels are for
 *   mpi        names of the launchers whose modules are there, apart by ", "; "none"
 *   threads    that a command has unless --threads says another number */
typedef struct About {
    const char *llvm, *system, *processor, *code, *blas, *mpi;
    int threads;
} About;
/* False (with an error): this machine's code cannot be made. */
bool about_read(Job *job, About *about);
/* The version in the first line, then a line of each member. */
void about_put(const About *about, Text *out);

/* Model of the first processor; NULL: the system does not tell. In the arena. */
const char *about_processor(Arena *arena);

#endif
