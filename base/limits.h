/* The largest numbers that options, settings of a train block and arguments of compiled libraries
 * may have. Limits of settings that both `tfc train` and the train block have are in
 * training_settings.def, those of decoding in runtime/decode/settings.def. Each limit is far beyond
 * any known use, and small enough that no number computed from it overflows. So a typing error is
 * reported, not tried. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdbool.h>

/* LIMIT(name, largest) */
#define LIMITS                                       \
    LIMIT(threads, 1024)                             \
    LIMIT(workers, 1024)                             \
    LIMIT(shortlist_size, 1 << 20)                   \
    LIMIT(batch, 1 << 20)                            \
    LIMIT(source_length, 1 << 20)                    \
    LIMIT(target_length, 1 << 20)                    \
    LIMIT(shapes, 1000000)                           \
    LIMIT(warm_up, 1000000)                          \
    LIMIT(rank_tokens, 1 << 24)                      \
    LIMIT(machine_ranks, 1024)                       \
    LIMIT(samples, 1000000)                          \
    LIMIT(retries, 1000000)                          \
    LIMIT(rank_timeout, 1000000) /* seconds */       \
    LIMIT(examples, 1 << 24)     /* of tfc data */   \
    LIMIT(threshold, 1)          /* a probability */ \
    LIMIT(rows_per_shard, 1000000000)                \
    LIMIT(window_rows, 1000000000)                   \
    LIMIT(line_limit, 1000000000) /* bytes */        \
    LIMIT(warmup, 1000000000)                        \
    LIMIT(minutes, 5256000) /* ten years */          \
    LIMIT(peak, 1000)       /* learning rates */     \
    LIMIT(rate, 1000)                                \
    LIMIT(final, 1000)                               \
    LIMIT(factor, 1000000)                           \
    LIMIT(weight_decay, 1000)

#define LIMIT(name, largest) LIMIT_##name = largest,
enum {
    LIMITS
#define TRAIN_SETTING(name, initial, block, least, most, ...) LIMIT(name, most)
#include "base/training_settings.def"
};
#undef LIMIT

/* The limit of the option or setting `name`, in which - counts as _; infinity: there is no row of
 * that name above or in training_settings.def. */
double limit_of(const char *name);

/* Writes a range in words: "a whole number from 1 to 1024", "a number of at least 0". `most` may be
 * infinite. */
enum { RANGE_TEXT = 96 };
void range_text(char *text, bool whole, double least, double most);

#endif
