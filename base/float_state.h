/* The state of a thread's arithmetic: how it rounds, and whether denormals count as zero (MXCSR,
 * FPCR, frm). Other libraries change it: one that is linked with -ffast-math does so for the thread
 * that loads it, and threads begin with the state of their creator. tfc and compiled libraries
 * compute in the state of IEEE 754: to nearest, with denormals. */
#ifndef BASE_FLOAT_STATE_H
#define BASE_FLOAT_STATE_H

/* Sets that state for the calling thread. */
void float_state_set(void);
/* The same until the matching float_state_leave, which restores what was before the first of nested
 * calls: for functions of compiled libraries. */
void float_state_enter(void);
void float_state_leave(void);

#endif
