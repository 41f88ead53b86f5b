/* This machine's processor; see cpu.h. */
#define _GNU_SOURCE
#include "base/cpu.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

int cpu_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
        return 4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return 3;
    return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#elif defined(__aarch64__) && defined(__linux__)
    int length = prctl(PR_SVE_GET_VL); /* bytes, and flags above; negative without SVE */
    return length < 0 ? 0 : 8 * (length & PR_SVE_VL_LEN_MASK);
#else
    return 0;
#endif
}

bool cpu_allows_amx(void)
{
#if defined(__x86_64__) && defined(__linux__)
    /* arch_prctl(2); the state component of tile data (Intel SDM, volume 1, chapter 18) */
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
    enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24 }; /* of EDX, leaf 7 */
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & AMX_BF16) || !(d & AMX_TILE))
        return false;
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
#else
    return false;
#endif
}

bool cpu_has_dots(void)
{
#if defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return false;
#endif
}
