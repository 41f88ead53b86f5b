/* short_test: whether this run is to have the few cases that guard a change (the test NAME.short of
 * tests/tiers.txt), and not all of them. The shell tests read the same variable. */
#ifndef TESTS_SHORT_H
#define TESTS_SHORT_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool short_test(void) { return getenv("TFC_SHORT") != NULL; }

#endif
