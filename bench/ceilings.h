/* Ceilings of products: how fast one thread multiplies and adds, and reads memory, when
 * nothing else is to be done. Each runs the instructions of one kind of processor. */
#ifndef BENCH_CEILINGS_H
#define BENCH_CEILINGS_H

#include <stddef.h>

/* Runs so many FLOPs, or a few more. */
typedef void Ceiling(double flops);

/* The ceilings of a kind of processor.
 *   multiply_add       f32, operands and sums in registers
 *   read_multiply_add  f32, operands read from the first-level cache as a tile reads them
 *   pairs              bf16: products of pairs where the kind has them, else multiply_add */
typedef struct Ceilings {
    Ceiling *multiply_add, *read_multiply_add, *pairs;
} Ceilings;

/* Of code for the CPU, as tfc's --cpu names it; NULL: this machine. */
Ceilings ceilings_of(const char *cpu);

/* Reads the bytes once, in the order they lie; `size` is a multiple of 1,024. */
void read_memory(const void *data, size_t size);

#endif
