/* bench_rates: what the machine can do at most, as JSON: bytes read from memory a second by one
 * thread and by two at the same time, FLOPs a second of one thread in f32 and in bf16 (of pairs
 * where the processor has such products). Medians of ROUNDS.
 *
 *   build/release/bench_rates [--cpu NAME]
 *
 * bench/decode runs it and gives its own figures as shares of these. */
#include "base/clock.h"
#include "bench/ceilings.h"
#include "runtime/exec/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, MOST_READERS = 2 };
static const size_t part_bytes = (size_t)256 << 20; /* of each reader: more than any cache has */
static const double flops = 2e9;

static int in_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, in_order);
    return values[ROUNDS / 2];
}

static void *read_part(void *part)
{
    read_memory(part, part_bytes);
    return NULL;
}

/* Bytes a second; 0: no thread could be started. */
static double read_rate(char *memory, int readers)
{
    double rates[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t others[MOST_READERS];
        const double begin = clock_seconds();
        for (int i = 1; i < readers; i++)
            if (pthread_create(&others[i], NULL, read_part, memory + (size_t)i * part_bytes))
                return 0;
        read_part(memory);
        for (int i = 1; i < readers; i++)
            pthread_join(others[i], NULL);
        rates[r] = (double)readers * (double)part_bytes / (clock_seconds() - begin);
    }
    return median(rates);
}

static double multiply_rate(Ceiling *ceiling)
{
    double rates[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = clock_seconds();
        ceiling(flops);
        rates[r] = flops / (clock_seconds() - begin);
    }
    return median(rates);
}

int main(int argc, char **argv)
{
    const char *cpu = argc == 3 && !strcmp(argv[1], "--cpu") ? argv[2] : NULL;
    char *memory = memory_raw((int64_t)(MOST_READERS * part_bytes));
    if ((argc > 1 && !cpu) || !memory) {
        fputs(memory ? "usage: bench_rates [--cpu NAME]\n" : "bench_rates: no memory\n", stderr);
        return 1;
    }
    memset(memory, 1, MOST_READERS * part_bytes);
    const Ceilings c = ceilings_of(cpu);
    printf("{\"read\": [%.4g, %.4g], \"f32\": %.4g, \"bf16\": %.4g}\n", read_rate(memory, 1),
           read_rate(memory, 2), multiply_rate(c.multiply_add), multiply_rate(c.pairs));
    free(memory);
    return 0;
}
