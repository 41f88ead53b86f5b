/* What the tests against references share: the program run as a user runs it, its
 * files in a folder of their own, tensors compared, and a table of what was found.
 *
 *   Harness h;
 *   harness_init(&h, argc, argv, "../shared/data/…");
 *       // argv[1]: the program; exits 77 without the data
 *   … harness_run, harness_check …
 *   return harness_finish(&h);
 *
 * Tests are run from the project's root. */
#ifndef TESTS_REFERENCE_HARNESS_H
#define TESTS_REFERENCE_HARNESS_H

#include "base/file.h"
#include "runtime/data/safetensors.h"

enum { HARNESS_SKIPPED = 77 };

typedef struct Harness {
    Arena *arena;
    Diagnostics diags;
    const char *tfc, *folder; /* the program; a folder that harness_finish removes */
    int checks, failures;
} Harness;

/* `needs`: a file without which the test is skipped; NULL: none. */
void harness_init(Harness *h, int argc, char **argv, const char *needs);
/* Tells the sum and gives the exit status. */
int harness_finish(Harness *h);

/* A path in the folder. */
const char *harness_path(Harness *h, const char *name);
/* Opens a file that must be there: ends the test otherwise. */
StFile *harness_open(Harness *h, const char *path);
/* Diagnostics, on stderr. */
void harness_tell(const Diagnostics *diags);

/* A growing command line. */
typedef VEC(const char *) Words;
#define words_add(h, words, ...)                                       \
    do {                                                               \
        const char *added_[] = {__VA_ARGS__};                          \
        for (size_t i_ = 0; i_ < sizeof added_ / sizeof *added_; i_++) \
            vec_push((h)->arena, words, added_[i_]);                   \
    } while (0)
/* Runs the program with these arguments: its exit status (128 + a signal's number).
 * What it said is in harness_said until the next run. */
int harness_run(Harness *h, const Words *words);
const char *harness_said(Harness *h);

/* ours against theirs. Tensors compare by their elements in order: leading
 * dimensions of 1 do not count. */
typedef struct Difference {
    bool same_count;
    double largest;      /* absolute; infinite where one is no number */
    double norm, theirs; /* of the difference; of theirs (Euclidean) */
} Difference;
Difference tensor_difference(const StTensor *ours, const StTensor *theirs);

/* Counts a check; prints FAILED with what it is if it does not hold. */
bool harness_check(Harness *h, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
