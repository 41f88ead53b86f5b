/* What this machine's processor says of itself. */
#define _GNU_SOURCE
#include "base/cpu.h"
#include "base/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Maker, family and model, extensions, and which registers the system saves (Intel SDM, volume 2,
 * CPUID): of each leaf the registers that do not differ between cores. */
void cpu_add_words(Sha256 *sha)
{
    static const struct {
        unsigned leaf, part;
        bool a, b, c, d;
    } leaves[] = {
        /* clang-format off */
        {0,          0, true,  true,  true,  true},
        {1,          0, true,  false, true,  true},
        {7,          0, false, true,  true,  true},
        {7,          1, true,  true,  true,  true},
        {0xd,        1, true,  false, false, false},
        {0x14,       0, false, true,  true,  false},
        {0x19,       0, false, true,  false, false},
        {0x24,       0, false, true,  false, false},
        {0x80000001, 0, false, false, true,  true},
        {0x80000008, 0, false, true,  false, false},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof leaves / sizeof leaves[0]; i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        __get_cpuid_count(leaves[i].leaf, leaves[i].part, &a, &b, &c, &d);
        unsigned words[] = {leaves[i].a ? a : 0, leaves[i].b ? b : 0, leaves[i].c ? c : 0,
                            leaves[i].d ? d : 0};
        sha256_add(sha, words, sizeof words);
        if (leaves[i].leaf == 1 && c & bit_OSXSAVE) {
            __asm__("xgetbv" : "=a"(words[0]), "=d"(words[1]) : "c"(0));
            sha256_add(sha, words, 2 * sizeof words[0]);
        }
    }
}

#else
#include <sys/auxv.h>

/* Extensions as the system has them, and the lines of the processor's name. */
void cpu_add_words(Sha256 *sha)
{
    static const char *const names[] = {"CPU ",      "Features", "isa",   "uarch",
                                        "mvendorid", "marchid",  "mimpid"};
    unsigned long words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2), (unsigned long)cpu_level()};
    sha256_add(sha, words, sizeof words);
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 0)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (!strncmp(line, names[i], strlen(names[i])))
                sha256_add(sha, line, strlen(line));
    free(line);
    if (file)
        fclose(file);
}

#endif
