/* See ceilings.h. One function a width of vectors: KERNELS makes those of one width. */
#include "bench/ceilings.h"

#include "base/cpu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define FOR(features) __attribute__((target(features), optimize("O3", "fp-contract=fast")))
#else
#define FOR(features) __attribute__((optimize("O3", "fp-contract=fast")))
#endif

enum { TILE_ROWS = 6, TILE_TERMS = 128, MOST_LANES = 16, MOST_VECTORS = 4 };

/* Values like an operand's: such draw more power than zeros. */
static float some_value(int i) { return (float)(i * 7919 % 1001) / 1001 - 0.5f; }

/* chains_NAME: CHAINS sums in registers. tiles_NAME: a tile of 6 × VECTORS vectors over
 * TILE_TERMS terms, again and again. */
#define KERNELS(NAME, features, bytes, VECTORS, CHAINS)                                          \
    typedef float Vector_##NAME __attribute__((vector_size(bytes)));                             \
    FOR(features) static void chains_##NAME(double flops)                                        \
    {                                                                                            \
        Vector_##NAME sums[CHAINS] = {0}, x = {0}, y = {0};                                      \
        __asm__ volatile("" : "+m"(x), "+m"(y)); /* not known to be zeros */                     \
        for (int64_t r = (int64_t)(flops / (CHAINS * (bytes) / 2)); r >= 0; r--)                 \
            _Pragma("GCC unroll 16") for (int i = 0; i < CHAINS; i++) sums[i] = sums[i] * x + y; \
        for (int i = 0; i < CHAINS; i++)                                                         \
            __asm__ volatile("" : : "m"(sums[i]));                                               \
    }                                                                                            \
    FOR(features) static void tiles_##NAME(double flops)                                         \
    {                                                                                            \
        enum { LANES = (bytes) / 4 };                                                            \
        static _Alignas(64) float a[TILE_TERMS * TILE_ROWS], b[TILE_TERMS * VECTORS * LANES],    \
            c[TILE_ROWS * VECTORS * LANES];                                                      \
        const Vector_##NAME *right = (const Vector_##NAME *)b;                                   \
        for (int i = 0; i < TILE_TERMS * TILE_ROWS; i++)                                         \
            a[i] = some_value(i);                                                                \
        for (int i = 0; i < TILE_TERMS * VECTORS * LANES; i++)                                   \
            b[i] = some_value(i);                                                                \
        const double tile = 2.0 * TILE_ROWS * VECTORS * LANES * TILE_TERMS;                      \
        for (int64_t r = (int64_t)(flops / tile); r >= 0; r--) {                                 \
            Vector_##NAME sums[TILE_ROWS][VECTORS] = {0};                                        \
            for (int l = 0; l < TILE_TERMS; l++)                                                 \
                _Pragma("GCC unroll 6") for (int i = 0; i < TILE_ROWS; i++)                      \
                    _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) sums[i][v] +=      \
                    a[l * TILE_ROWS + i] * right[l * VECTORS + v];                               \
            memcpy(c, sums, sizeof sums);                                                        \
            __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");                          \
        }                                                                                        \
    }

#if defined(__x86_64__)
KERNELS(level4, "avx512f,avx512vl,avx512dq,avx512bw,fma", 64, 4, 12)
KERNELS(level3, "avx2,fma", 32, 2, 12)
#endif
KERNELS(narrow, "sse2", 16, 2, 12)

#if defined(__x86_64__)
enum { PAIR_CHAINS = 12, PAIR_FLOPS = 4 * 16 * PAIR_CHAINS };

__attribute__((target("avx512f,avx512bf16"))) static void dot_pairs(double flops)
{
    __m512 sums[PAIR_CHAINS] = {0};
    __m512bh x = {0}, y = {0};
    __asm__ volatile("" : "+m"(x), "+m"(y));
    for (int64_t r = (int64_t)(flops / PAIR_FLOPS); r >= 0; r--)
#pragma GCC unroll 12
        for (int i = 0; i < PAIR_CHAINS; i++)
            sums[i] = _mm512_dpbf16_ps(sums[i], x, y);
    for (int i = 0; i < PAIR_CHAINS; i++)
        __asm__ volatile("" : : "m"(sums[i]));
}

__attribute__((target("amx-tile,amx-bf16"))) static void dot_tiles(double flops)
{
    enum { REGISTER_FLOPS = 2 * 16 * 16 * 32 };
    static const struct {
        uint8_t palette, row, zeros[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } registers = {1, 0, {0}, {64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&registers);
    _tile_zero(4);
    _tile_zero(5);
    for (int64_t r = (int64_t)(flops / (4 * REGISTER_FLOPS)); r >= 0; r--) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_release();
}

/* x86-64's level of a CPU that is named by it, else of this machine. */
static int level_of(const char *cpu)
{
    static const char prefix[] = "x86-64-v";
    bool named = cpu && !strncmp(cpu, prefix, sizeof prefix - 1);
    return named ? atoi(cpu + sizeof prefix - 1) : cpu && !strcmp(cpu, "x86-64") ? 1 : cpu_level();
}

Ceilings ceilings_of(const char *cpu)
{
    int level = level_of(cpu);
    if (level < 3)
        return (Ceilings){chains_narrow, tiles_narrow, chains_narrow};
    if (level == 3)
        return (Ceilings){chains_level3, tiles_level3, chains_level3};
    Ceilings own = {chains_level4, tiles_level4, chains_level4};
    if (!cpu && cpu_allows_amx())
        own.pairs = dot_tiles;
    else if (!cpu && __builtin_cpu_supports("avx512bf16"))
        own.pairs = dot_pairs;
    return own;
}
#else
Ceilings ceilings_of(const char *cpu)
{
    (void)cpu;
    return (Ceilings){chains_narrow, tiles_narrow, chains_narrow};
}
#endif

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void read_memory(const void *data, size_t size)
{
    typedef uint64_t Words __attribute__((vector_size(64)));
    enum { STREAMS = 8 };
    const Words *at = data;
    Words sums[STREAMS] = {0};
    for (size_t i = 0; i < size / sizeof *at; i += STREAMS)
        for (size_t s = 0; s < STREAMS; s++) {
            sums[s] += at[i + s];
            __builtin_prefetch(&at[i + s + 64]);
        }
    __asm__ volatile("" : : "m"(sums) : "memory");
}
