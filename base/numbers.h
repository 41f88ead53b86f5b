/* The version of the numbers that programs compute. */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

/* Raised with each change of tfc after which the same training gives other bits on a processor
 * whose bits are common (processor_own_bits, codegen/processor.h). A run's record has it
 * (driver/train/record.c): a run of another version is resumed under --allow-change alone. */
enum { NUMBERS_VERSION = 1 };

#endif
