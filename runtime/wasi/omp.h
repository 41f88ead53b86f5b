/* OpenMP on a system without threads: the runtime's parallel loops run on the only one. */
#ifndef RUNTIME_WASI_OMP_H
#define RUNTIME_WASI_OMP_H

static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline void omp_set_num_threads(int n) { (void)n; }

#endif
