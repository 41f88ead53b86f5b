/* This machine's processor; see cpu.h. */
#include "base/cpu.h"

int cpu_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
        return 4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return 3;
    return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#else
    return 0;
#endif
}
