/* Registers that hold the state of arithmetic; see float_state.h. */
#include "base/float_state.h"

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

/* All exceptions masked, nothing else; their flags, the low bits, are kept. */
enum { MXCSR_IEEE = 0x1f80, MXCSR_FLAGS = 0x3f };
static uint64_t float_state_read(void) { return _mm_getcsr(); }
static void float_state_write(uint64_t state) { _mm_setcsr((unsigned)state); }
static uint64_t float_state_ieee(uint64_t state) { return MXCSR_IEEE | (state & MXCSR_FLAGS); }
#elif defined(__aarch64__)
static uint64_t float_state_read(void)
{
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
}
static void float_state_write(uint64_t state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
static uint64_t float_state_ieee(uint64_t state) { return 0; }
#elif defined(__riscv_flen)
static uint64_t float_state_read(void)
{
    uint64_t state;
    __asm__ volatile("frrm %0" : "=r"(state));
    return state;
}
static void float_state_write(uint64_t state) { __asm__ volatile("fsrm %0" : : "r"(state)); }
static uint64_t float_state_ieee(uint64_t state) { return 0; }
#else /* WebAssembly has one state */
static uint64_t float_state_read(void) { return 0; }
static void float_state_write(uint64_t state) { (void)state; }
static uint64_t float_state_ieee(uint64_t state) { return state; }
#endif

/* Of each thread: how deep its calls are nested, and the state outside of them. */
static _Thread_local int calls_entered;
static _Thread_local uint64_t state_outside;

static uint64_t float_state_swap(void)
{
    const uint64_t before = float_state_read(), wanted = float_state_ieee(before);
    if (before != wanted)
        float_state_write(wanted);
    return before;
}

void float_state_set(void) { float_state_swap(); }

void float_state_enter(void)
{
    const uint64_t before = float_state_swap();
    if (!calls_entered++)
        state_outside = before;
}

void float_state_leave(void)
{
    if (!--calls_entered && state_outside != float_state_read())
        float_state_write(state_outside);
}
