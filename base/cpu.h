/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

/* N of the highest x86-64-vN whose instructions it has (the levels of the x86-64
 * psABI), 1 for the first; 0 where the processor is of another kind. */
int cpu_level(void);

#endif
