/* Optimizers and schedules of the learning rate, by number and by word; defaults that depend on
 * more than a model. */
#ifndef BASE_TRAINING_H
#define BASE_TRAINING_H

/* The default of --steps without --minutes, and that of --shards for several ranks. TRAINING_TEXT:
 * such a number as a text, for help. */
#define TRAINING_STEPS 100000
#define TRAINING_RANKS_SHARDS 8
#define TRAINING_TEXT(number) TRAINING_DIGITS(number)
#define TRAINING_DIGITS(number) #number

typedef enum Optimizer {
#define OPTIMIZER(NAME, word) OPTIMIZER_##NAME,
#include "base/training.def"
    OPTIMIZER_COUNT
} Optimizer;

typedef enum Schedule {
#define SCHEDULE(NAME, word) RATE_##NAME,
#include "base/training.def"
    RATE_COUNT
} Schedule;

static inline const char *const *optimizer_words(void)
{
    static const char *const words[] = {
#define OPTIMIZER(NAME, word) #word,
#include "base/training.def"
    };
    return words;
}

static inline const char *const *schedule_words(void)
{
    static const char *const words[] = {
#define SCHEDULE(NAME, word) #word,
#include "base/training.def"
    };
    return words;
}

#endif
