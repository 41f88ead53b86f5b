/* WASI's emulated mmap, and a madvise that does nothing and fails. */
#ifndef RUNTIME_WASI_SYS_MMAN_H
#define RUNTIME_WASI_SYS_MMAN_H

#include_next <sys/mman.h>

#define madvise(address, bytes, advice) ((void)(address), -1)

#endif
