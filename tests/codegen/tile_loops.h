/* What the loops of native products' tiles keep in memory, by their assembly for x86. */
#ifndef TESTS_CODEGEN_TILE_LOOPS_H
#define TESTS_CODEGEN_TILE_LOOPS_H

#include <stdbool.h>

/* Fails unless there are `least` loops of tiles that multiply by this instruction, and
 * none of them keeps anything on the stack; with `constants` they may read there what does not
 * change. A loop is the lines from its label to the jump back to it. */
void check_tile_loops(const char *assembly, const char *cpu, const char *instruction, int least,
                      bool constants);

#endif
